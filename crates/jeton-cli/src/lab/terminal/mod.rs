//! A result on the terminal: what was found first, then the tables, then what was left out.
//!
//! Rules of this output: the noise floor comes before any figure; a verdict is a word, and colour
//! only repeats it; one table per comparison, its contracts side by side, the fastest first.

mod advice;
mod attack;
mod interop;
mod multi_run;
mod published_comparison;
mod section;
mod servers;
mod table;
mod words;

use std::fmt::Write;

use anstyle::Style;
use jeton_lab::report::visible;
use jeton_lab::result::{AaPair, Environment, Row, RunResult, Status, SupportState, VerdictKind};
use jeton_lab::stats::verdict::PRACTICAL_DIFFERENCE;

use section::sections;
use words::{percent, plural};

pub(super) use attack::attacks;
pub(super) use multi_run::{comparison, gate_summary, set_by_words};
pub(super) use words::wrapped;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// How wide the terminal is; 100 columns if nobody says.
pub(super) fn columns() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    asked.or_else(console_width).unwrap_or(100)
}

/// The whole result as text with styles.
pub(super) fn show(result: &RunResult, columns: usize) -> String {
    let visible = visible::result(result);
    let result = &*visible;
    let mut out = String::new();
    // A result of a verb that times nothing has no times to show.
    let is_timed = !result.rows.measured.is_empty() || result.rows.is_empty();
    // Writing to a string cannot fail.
    let _ = interop::write(result, columns, &mut out);
    let _ = servers::write(result, columns, &mut out);
    if is_timed {
        let _ = timed(result, columns, &mut out);
    }
    let _ = attack::write(result, columns, &mut out);
    if is_timed {
        let _ = published_comparison::write(result, columns, &mut out);
        let _ = advice::write(result, columns, &mut out);
    }
    out
}

/// What may be believed, the tables, and what was left out.
fn timed(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let sections = sections(result);
    let shown = |row: &Row| sections.iter().any(|g| g.shows(row));
    let alone = |row: &&Row| row.ns_per_op.is_some() && !shown(row);
    let alone: Vec<&Row> = result.rows.measured.iter().filter(alone).collect();
    let spreads = !alone.is_empty() || sections.iter().any(|g| table::shows_spread(g, columns));
    head(result, spreads, columns, out)?;
    for section in &sections {
        table::write(section, columns, out)?;
    }
    table::write_alone(&alone, out)?;
    older_versions(result, columns, out)?;
    left_out(result, columns, out)
}

/// `spreads`: whether any figure below has its interval beside it.
fn head(result: &RunResult, spreads: bool, columns: usize, out: &mut String) -> std::fmt::Result {
    let e = &result.environment;
    let measured = result
        .rows
        .measured
        .iter()
        .filter(|r| r.ns_per_op.is_some());
    writeln!(
        out,
        "{BOLD}{} of {} rows measured{BOLD:#} in {:.0} s, {} of {} rounds{}, seed {}",
        measured.count(),
        result.rows.measured.len(),
        e.elapsed_s,
        e.rounds_finished,
        e.rounds_planned,
        if e.is_cut_by_budget() {
            " (the budget had time for no more)"
        } else {
            ""
        },
        result.seed
    )?;
    let cores = plural(e.cores, "core");
    let cpu = e.cpu_in_full();
    writeln!(out, "{DIM}{cpu}, {cores}, {}{DIM:#}", e.kernel)?;
    runtimes(e, columns, out)?;
    writeln!(out)?;
    let floor = &result.noise_floor;
    let equivalent = |p: &&AaPair| p.verdict == VerdictKind::Equivalent;
    let text = match floor.floor {
        Some(noise) => format!(
            "{BOLD}Noise floor {}{BOLD:#}{}: so far apart can identical subjects come out here. {} of {} identical pairs came out equivalent; a difference below {} is not believed.",
            percent(noise),
            floor.managed.map_or_else(String::new, |managed| format!(
                ", and {} where a managed runtime (Node) takes part",
                percent(managed)
            )),
            floor.pairs.iter().filter(equivalent).count(),
            floor.pairs.len(),
            percent(noise.max(PRACTICAL_DIFFERENCE))
        ),
        None => format!(
            "{BOLD}Noise floor not measured{BOLD:#}: no identical pair was finished, so believe no small difference."
        ),
    };
    paragraph(&text, columns, out)?;
    disturbance(result, columns, out)?;
    let mut timings = result
        .rows
        .measured
        .iter()
        .filter_map(|r| r.ns_per_op.as_ref());
    let unsettled = if timings.any(|t| t.unsettled) {
        " ~: never settled while it warmed up."
    } else {
        ""
    };
    let legend = match spreads {
        true => "Times in µs, ± half the 95 % interval; ratios to the baseline.",
        false => "Times in µs; ratios to the baseline.",
    };
    paragraph(&format!("{DIM}{legend}{unsettled}{DIM:#}"), columns, out)
}

/// What the drivers ran on, and which of it gets no fixes any more.
fn runtimes(e: &Environment, columns: usize, out: &mut String) -> std::fmt::Result {
    let names: Vec<String> = e
        .runtimes_used
        .iter()
        .map(|r| match r.support {
            SupportState::Unknown => r.in_words(),
            SupportState::Supported | SupportState::Ended => r.name.clone(),
        })
        .collect();
    if !names.is_empty() {
        paragraph(&format!("{DIM}{}{DIM:#}", names.join(", ")), columns, out)?;
    }
    if let Some(ended) = e.out_of_support() {
        let text = format!(
            "{BOLD}Out of support{BOLD:#}: {ended}. A newer runtime may give other figures; --runtimes newest takes the newest that is installed."
        );
        paragraph(&text, columns, out)?;
    }
    Ok(())
}

/// The libraries that are there in an older version, because a published report measured that.
fn older_versions(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let mut older: Vec<String> = Vec::new();
    for row in result
        .rows
        .measured
        .iter()
        .filter(|r| r.ns_per_op.is_some())
    {
        let s = &row.subject;
        if let Some(age) = s.older_version() {
            let line = format!("{} {} ({age})", s.library, s.version);
            if !older.contains(&line) {
                older.push(line);
            }
        }
    }
    match older.as_slice() {
        [] => Ok(()),
        older => {
            let text = format!(
                "\n{BOLD}Kept for published reports{BOLD:#}: {}.",
                older.join(", ")
            );
            paragraph(&text, columns, out)
        }
    }
}

/// What else happened on the machine.
fn disturbance(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let disturbance = &result.environment.disturbance;
    if !disturbance.disturbed {
        return Ok(());
    }
    let text = format!(
        "{BOLD}Disturbed{BOLD:#}: {}. The figures stand as they were measured.",
        disturbance.reasons.join("; ")
    );
    paragraph(&text, columns, out)
}

fn paragraph(text: &str, columns: usize, out: &mut String) -> std::fmt::Result {
    for line in words::wrapped(text, columns) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Rows without a figure, one line per reason.
fn left_out(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for row in result
        .rows
        .measured
        .iter()
        .filter(|r| r.ns_per_op.is_none())
    {
        if matches!(row.status, Status::Ok | Status::Disturbed) {
            continue;
        }
        let status = row.status.name();
        let reason = row.reason.as_deref().unwrap_or("no reason was given");
        let line = format!("{}, {status}: {reason}", words::library(&row.subject));
        match reasons.iter_mut().find(|(l, _)| *l == line) {
            Some((_, count)) => *count += 1,
            None => reasons.push((line, 1)),
        }
    }
    if reasons.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}Not measured{BOLD:#}")?;
    for (line, count) in reasons {
        let line = format!("{line} ({})", plural(count, "row"));
        for (i, part) in words::wrapped(&line, columns.saturating_sub(4))
            .iter()
            .enumerate()
        {
            let indent = if i == 0 { "  " } else { "    " };
            writeln!(out, "{indent}{part}")?;
        }
    }
    Ok(())
}

fn console_width() -> Option<usize> {
    let (columns, _) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(usize::from(columns.0))
}
