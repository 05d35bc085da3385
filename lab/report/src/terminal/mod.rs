//! Prints a result on the terminal: summary, tables, then rows without figures.
//!
//! Rules of this output: the noise floor comes before any figure. A verdict is a word; colour only
//! repeats it. Each comparison has one table with the fastest subject first, and its operations in
//! columns.

mod advice;
mod attacks;
mod block;
mod multi_run;
mod published_comparison;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::section::{Kind, Section};
use crate::table::{Form, Table};
use crate::words::{self, percent, plural};
use crate::{attack, interop, sentences, servers, visible};
use anstyle::{AnsiColor, Style};
use jeton_lab_model::names;
use jeton_lab_model::result::{
    AaPair, Environment, Row, RunResult, Status, SupportState, VerdictKind,
};
use jeton_lab_model::units::times;
use jeton_lab_stats::verdict::UNMEASURED_FLOOR;
use jeton_terminal::width::wrapped;

use block::blocks;

pub use attacks::attacks;
pub use multi_run::{comparison, describe_set_by, gate_summary};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Formats the whole result as styled text.
#[must_use]
pub fn show(result: &RunResult, columns: usize) -> String {
    let visible = visible::result(result);
    let result = &*visible;
    let mut out = String::new();
    // Results of commands without timings skip the timed sections.
    let is_timed = !result.rows.measured.is_empty() || result.rows.is_empty();
    // Writing to a string cannot fail.
    let before = [interop::section(result), servers::section(result)];
    for part in before.into_iter().flatten() {
        let _ = section(&part, columns, &mut out);
    }
    if is_timed {
        let _ = timed(result, columns, &mut out);
    }
    if let Some(attacks) = attack::section(result) {
        out.push_str(if is_timed { "\n" } else { "" });
        let _ = section(&attacks, columns, &mut out);
    }
    if is_timed {
        let _ = advice::write(result, columns, &mut out);
    }
    let _ = published_comparison::write(result, columns, &mut out);
    out
}

/// Writes the summary, the tables and the rows without figures.
fn timed(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let blocks = blocks(result);
    let shown = |row: &Row| blocks.iter().any(|g| g.shows(row));
    let alone = |row: &&Row| row.ns_per_op.is_some() && !shown(row);
    let alone: Vec<&Row> = result.rows.measured.iter().filter(alone).collect();
    let spreads = !alone.is_empty() || blocks.iter().any(|g| table::shows_spread(g, columns));
    head(result, spreads, columns, out)?;
    for block in &blocks {
        table::write(block, columns, out)?;
    }
    table::write_alone(&alone, out)?;
    older_versions(result, columns, out)?;
    wrong_keys(result, columns, out)?;
    left_out(result, columns, out)
}

/// Writes the summary. `spreads` tells whether the tables show intervals.
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
            " (time limit reached)"
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
            "{BOLD}Noise floor {}{BOLD:#}{}{}: identical subjects can differ by this much in this run. {} of {} A/A pairs are equivalent; differences do not count below {}.",
            percent(noise),
            floor
                .wider_managed()
                .map_or_else(String::new, |managed| format!(
                    ", and {} for managed runtimes (Node, Java, Python)",
                    percent(managed)
                )),
            sentences::floors_of_threads(floor, percent),
            floor.pairs.iter().filter(equivalent).count(),
            floor.pairs.len(),
            sentences::bands_in_words(floor, percent)
        ),
        None => format!(
            "{BOLD}Noise floor not measured{BOLD:#}: no A/A pair finished, so less than {}× the time is undecided.",
            times(1.0 + UNMEASURED_FLOOR)
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
        " ~: did not settle during warm-up."
    } else {
        ""
    };
    let legend = if spreads {
        "Times in µs, ± half the 95 % interval; ratios to the baseline."
    } else {
        "Times in µs; ratios to the baseline."
    };
    paragraph(&format!("{DIM}{legend}{unsettled}{DIM:#}"), columns, out)
}

/// Writes the runtimes of the drivers, and those out of support.
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
            "{BOLD}Out of support{BOLD:#}: {ended}. A newer runtime may give other figures; use --runtimes newest for the newest installed one."
        );
        paragraph(&text, columns, out)?;
    }
    Ok(())
}

/// Writes the libraries that are measured in an older version because a published report used it.
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
                "\n{BOLD}Older versions from published reports{BOLD:#}: {}.",
                older.join(", ")
            );
            paragraph(&text, columns, out)
        }
    }
}

/// Writes which libraries load wrong keys: their loading does less than that of the others.
fn wrong_keys(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let mut by_key: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in &result.rows.measured {
        for what in &row.loads_wrong_keys {
            let libraries = by_key.entry(what).or_default();
            libraries.insert(&row.subject.library);
        }
    }
    if by_key.is_empty() {
        return Ok(());
    }
    let libraries = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
    let each = by_key
        .iter()
        .map(|(what, names)| format!("{what}: {}", libraries(names)));
    let text = format!(
        "\n{BOLD}Loading a key is less work for libraries that check less{BOLD:#}: {}.",
        each.collect::<Vec<_>>().join("; ")
    );
    paragraph(&text, columns, out)
}

/// Writes what disturbed the run.
fn disturbance(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let disturbance = &result.environment.disturbance;
    if !disturbance.disturbed {
        return Ok(());
    }
    let text = format!(
        "{BOLD}Disturbed run{BOLD:#}: {}. The figures include this disturbance.",
        disturbance.reasons.join("; ")
    );
    paragraph(&text, columns, out)
}

/// Writes a section and its parts. Sentences are above the tables, and lists below them.
fn section(section: &Section, columns: usize, out: &mut String) -> std::fmt::Result {
    let (own, aside) = &section.on_terminal;
    let title = own.as_ref().unwrap_or(&section.title);
    let lines = wrapped(title, columns);
    for (index, line) in lines.iter().enumerate().filter(|_| !title.is_empty()) {
        let aside = if index + 1 == lines.len() { aside } else { "" };
        writeln!(out, "{BOLD}{line}{BOLD:#}{aside}")?;
    }
    let (items, sentences): (Vec<_>, Vec<_>) = section
        .said(Form::Terminal)
        .partition(|sentence| sentence.kind == Kind::Item);
    for sentence in sentences {
        let style = if sentence.kind == Kind::Note {
            DIM
        } else {
            Style::new()
        };
        paragraph(&format!("{style}{}{style:#}", sentence.text), columns, out)?;
    }
    let tables = section
        .tables
        .iter()
        .filter(|table| table.is_on(Form::Terminal));
    let tables: Vec<&Table> = tables.collect();
    for table in &tables {
        self::lines(table, columns, out)?;
    }
    for item in items {
        match tables.as_slice() {
            [] => hanging(&item.text, columns, out)?,
            _ => paragraph(&item.text, columns, out)?,
        }
    }
    for part in section
        .parts
        .iter()
        .filter(|part| part.is_on(Form::Terminal))
    {
        writeln!(out)?;
        self::section(part, columns, out)?;
    }
    Ok(())
}

/// Writes a table, and what belongs below each row or in its place.
fn lines(table: &Table, columns: usize, out: &mut String) -> std::fmt::Result {
    for (head, lines) in table.terminal(columns) {
        writeln!(out, "{DIM}{head}{DIM:#}")?;
        for (index, (line, is_emphasised)) in lines.iter().enumerate() {
            let style = if *is_emphasised { DIM } else { Style::new() };
            let below = match table.below.get(index) {
                Some(Err(instead)) => {
                    paragraph(instead, columns, out)?;
                    continue;
                }
                Some(Ok(below)) => below.as_slice(),
                None => &[],
            };
            writeln!(out, "{style}{line}{style:#}")?;
            for text in below {
                for line in wrapped(text, columns.saturating_sub(2).max(20)) {
                    writeln!(out, "  {BAD}{line}{BAD:#}")?;
                }
            }
        }
    }
    Ok(())
}

/// Writes a text whose first line is indented less than the others.
fn hanging(text: &str, columns: usize, out: &mut String) -> std::fmt::Result {
    for (i, part) in wrapped(text, columns.saturating_sub(4)).iter().enumerate() {
        writeln!(out, "{}{part}", if i == 0 { "  " } else { "    " })?;
    }
    Ok(())
}

fn paragraph(text: &str, columns: usize, out: &mut String) -> std::fmt::Result {
    for line in wrapped(text, columns) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Writes the rows without a figure, one line per reason.
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
        let (library, language) = (words::library(&row.subject), names::language(&row.subject));
        let line = format!("{library} ({language}), {status}: {reason}");
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
        hanging(&line, columns, out)?;
    }
    Ok(())
}
