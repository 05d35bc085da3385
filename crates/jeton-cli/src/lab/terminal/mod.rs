//! A result on the terminal: what was found first, then the tables, then what was left out.
//!
//! Rules of this output: the noise floor comes before any figure; a verdict is a word, and colour
//! only repeats it; one table per comparison, its contracts side by side, the fastest first.

mod group;
mod table;
mod words;

use std::fmt::Write;

use anstyle::Style;
use jeton_lab::result::{RunResult, Status};

use group::groups;
use words::{judgement, percent, plural};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// How wide the terminal is; 100 columns if nobody says.
pub(super) fn columns() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    asked.or_else(console_width).unwrap_or(100)
}

/// The whole result as text with styles.
pub(super) fn show(result: &RunResult, columns: usize, allow_noisy: bool) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = head(result, &mut out);
    for group in groups(result) {
        let _ = table::write(&group, columns, &mut out);
    }
    let _ = left_out(result, columns, &mut out);
    let _ = taint(result, allow_noisy, &mut out);
    out
}

fn head(result: &RunResult, out: &mut String) -> std::fmt::Result {
    let e = &result.environment;
    let measured = result.rows.iter().filter(|r| r.ns_per_op.is_some()).count();
    writeln!(
        out,
        "{BOLD}{measured} of {} rows measured{BOLD:#} in {:.0} s: {} of {} rounds, seed {}",
        result.rows.len(),
        e.elapsed_s,
        e.rounds_finished,
        e.rounds_planned,
        result.seed
    )?;
    let cores = plural(e.cores, "core");
    writeln!(out, "{DIM}{}, {cores}, {}{DIM:#}", e.cpu, e.kernel)?;
    writeln!(out)?;
    let floor = &result.noise_floor;
    match floor.floor {
        Some(noise) => {
            let equivalent = floor
                .pairs
                .iter()
                .filter(|p| judgement(p.verdict) == "equivalent")
                .count();
            writeln!(
                out,
                "{BOLD}Noise floor {}{BOLD:#}: what identical subjects may differ by in this run ({equivalent} of {} pairs",
                percent(noise),
                floor.pairs.len()
            )?;
            writeln!(
                out,
                "came out equivalent). Differences below {} are not believed.",
                percent(noise.max(0.02))
            )
        }
        None => writeln!(
            out,
            "{BOLD}Noise floor not measured{BOLD:#}: no identical pair was finished, so believe no small difference."
        ),
    }
}

/// Rows without a figure, one line per reason.
fn left_out(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for row in result.rows.iter().filter(|r| r.ns_per_op.is_none()) {
        let status = match row.status {
            Status::Ok | Status::Tainted => continue,
            Status::Unavailable => "unavailable",
            Status::FailedPreflight => "failed-preflight",
            Status::Crashed => "crashed",
            Status::TimedOut => "timed-out",
        };
        let reason = row.reason.as_deref().unwrap_or("no reason was given");
        let line = format!(
            "{} {}, {status}: {reason}",
            row.subject.library, row.subject.version
        );
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

fn taint(result: &RunResult, allow_noisy: bool, out: &mut String) -> std::fmt::Result {
    let taint = &result.environment.taint;
    if !taint.tainted {
        return Ok(());
    }
    writeln!(
        out,
        "\n{BOLD}Disturbed{BOLD:#}: {}.",
        taint.reasons.join("; ")
    )?;
    if !allow_noisy {
        writeln!(
            out,
            "The figures stand; no advice is drawn from them unless --allow-noisy is given."
        )?;
    }
    Ok(())
}

fn console_width() -> Option<usize> {
    let (columns, _) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(usize::from(columns.0))
}
