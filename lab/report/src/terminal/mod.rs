//! Prints a result on the terminal: summary, tables, then rows without figures.
//!
//! Rules of this output: the noise floor comes before any figure. A verdict is a word; colour only
//! repeats it. Each comparison has one table with the fastest subject first, and its operations in
//! columns.

mod multi_run;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::comparison::comparisons;
use crate::grouped::{distinct, grouped};
use crate::section::{Kind, Section};
use crate::table::{Form, Table};
use crate::words::{self, BOLD, percent, plural};
use crate::{advice, attack, interop, published_comparison, sentences, servers, visible};
use anstyle::{AnsiColor, Style};
use itertools::Itertools as _;
use jeton_lab_conformance::attack::{Attack, Family};
use jeton_lab_model::names;
use jeton_lab_model::result::{
    AaPair, Environment, Row, RunResult, RuntimeUsed, Status, SupportState, VerdictKind,
};
use jeton_lab_model::units::times;
use jeton_lab_stats::verdict::UNMEASURED_FLOOR;
use jeton_terminal::width::wrapped;

use table::blocks;

pub use multi_run::{comparison, describe_set_by, gate_summary};

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
    let after = [
        attack::section(result),
        is_timed.then(|| advice::in_short(result)),
        published_comparison::in_short(result),
    ];
    for part in after.into_iter().flatten() {
        out.push_str(if out.is_empty() { "" } else { "\n" });
        let _ = section(&part, columns, &mut out);
    }
    out
}

fn timed(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let comparisons = comparisons(result);
    let blocks = blocks(&result.verdicts, &comparisons);
    let shown = |row: &Row| blocks.iter().any(|block| block.shows(row));
    let alone: Vec<&Row> = measured(result).filter(|row| !shown(row)).collect();
    let spreads = !alone.is_empty() || blocks.iter().any(|g| table::shows_spread(g, columns));
    head(result, spreads, columns, out)?;
    for block in &blocks {
        table::write(block, columns, out)?;
    }
    table::write_alone(&alone, out)?;
    for text in older_versions(result).into_iter().chain(wrong_keys(result)) {
        paragraph(&text, columns, out)?;
    }
    left_out(result, columns, out)
}

fn measured(result: &RunResult) -> impl Iterator<Item = &Row> {
    let rows = result.rows.measured.iter();
    rows.filter(|row| row.ns_per_op.is_some())
}

fn head(result: &RunResult, spreads: bool, columns: usize, out: &mut String) -> std::fmt::Result {
    let (e, floor) = (&result.environment, &result.noise_floor);
    let (rows, all) = (measured(result).count(), result.rows.measured.len());
    let (finished, planned) = (e.rounds_finished, e.rounds_planned);
    let cut = if e.is_cut_by_budget() {
        " (time limit reached)"
    } else {
        ""
    };
    writeln!(
        out,
        "{BOLD}{rows} of {all} rows measured{BOLD:#} in {:.0} s, {finished} of {planned} rounds{cut}, seed {}",
        e.elapsed_s, result.seed
    )?;
    let (cpu, cores) = (e.cpu_in_full(), plural(e.cores, "core"));
    writeln!(out, "{DIM}{cpu}, {cores}, {}{DIM:#}", e.kernel)?;
    runtimes(e, columns, out)?;
    writeln!(out)?;
    let equivalent = |p: &&AaPair| p.verdict == VerdictKind::Equivalent;
    let text = match floor.floor {
        Some(noise) => {
            let managed = floor.wider_managed().map_or_else(String::new, |managed| {
                format!(
                    ", and {} for managed runtimes (Node, Java, Python)",
                    percent(managed)
                )
            });
            format!(
                "{BOLD}Noise floor {}{BOLD:#}{managed}{}: identical subjects can differ by this much in this run. {} of {} A/A pairs are equivalent; differences do not count below {}.",
                percent(noise),
                sentences::floors_of_threads(floor, percent),
                floor.pairs.iter().filter(equivalent).count(),
                floor.pairs.len(),
                sentences::bands_in_words(floor, percent)
            )
        }
        None => format!(
            "{BOLD}Noise floor not measured{BOLD:#}: no A/A pair finished, so less than {}× the time is undecided.",
            times(1.0 + UNMEASURED_FLOOR)
        ),
    };
    paragraph(&text, columns, out)?;
    let disturbance = &e.disturbance;
    if disturbance.disturbed {
        let reasons = disturbance.reasons.join("; ");
        let text = format!(
            "{BOLD}Disturbed run{BOLD:#}: {reasons}. The figures include this disturbance."
        );
        paragraph(&text, columns, out)?;
    }
    let mut timings = measured(result).filter_map(|r| r.ns_per_op.as_ref());
    let is_unsettled = timings.any(|t| t.unsettled);
    let unsettled = " ~: did not settle during warm-up.";
    let [spread, unsettled] = [
        (spreads, ", ± half the 95 % interval"),
        (is_unsettled, unsettled),
    ]
    .map(|(is_so, text)| if is_so { text } else { "" });
    let legend = format!("{DIM}Times in µs{spread}; ratios to the baseline.{unsettled}{DIM:#}");
    paragraph(&legend, columns, out)
}

fn runtimes(e: &Environment, columns: usize, out: &mut String) -> std::fmt::Result {
    let name = |used: &RuntimeUsed| match used.support {
        SupportState::Unknown => used.in_words(),
        SupportState::Supported | SupportState::Ended => used.name.clone(),
    };
    let names: Vec<String> = e.runtimes_used.iter().map(name).collect();
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

/// Names the libraries that are measured in an older version because a published report used it.
fn older_versions(result: &RunResult) -> Option<String> {
    let older = measured(result).filter_map(|row| {
        let (s, age) = (&row.subject, row.subject.older_version()?);
        Some(format!("{} {} ({age})", s.library, s.version))
    });
    let older = distinct(older).join(", ");
    let said = format!("\n{BOLD}Older versions from published reports{BOLD:#}: {older}.");
    (!older.is_empty()).then_some(said)
}

/// Says which libraries load wrong keys: their loading does less than that of the others.
fn wrong_keys(result: &RunResult) -> Option<String> {
    let mut by_key: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in &result.rows.measured {
        for what in &row.loads_wrong_keys {
            by_key.entry(what).or_default().insert(&row.subject.library);
        }
    }
    let each = by_key.iter();
    let each = each.map(|(what, names)| format!("{what}: {}", names.iter().join(", ")));
    let each = each.collect::<Vec<_>>().join("; ");
    let said = format!(
        "\n{BOLD}Loading a key is less work for libraries that check less{BOLD:#}: {each}."
    );
    (!each.is_empty()).then_some(said)
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
    let said = section.said(Form::Terminal);
    let (items, sentences): (Vec<_>, Vec<_>) = said.partition(|one| one.kind == Kind::Item);
    for sentence in sentences {
        let is_note = sentence.kind == Kind::Note;
        let style = if is_note { DIM } else { Style::new() };
        paragraph(&format!("{style}{}{style:#}", sentence.text), columns, out)?;
    }
    let tables: Vec<&Table> = section.tables_on(Form::Terminal).collect();
    for table in &tables {
        self::lines(table, columns, out)?;
    }
    for item in items {
        match tables.as_slice() {
            [] => hanging(&item.text, columns, out)?,
            _ => paragraph(&item.text, columns, out)?,
        }
    }
    for part in section.parts_on(Form::Terminal) {
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
            let room = columns.saturating_sub(2).max(20);
            for line in below.iter().flat_map(|text| wrapped(text, room)) {
                writeln!(out, "  {BAD}{line}{BAD:#}")?;
            }
        }
    }
    Ok(())
}

fn hanging(text: &str, columns: usize, out: &mut String) -> std::fmt::Result {
    indented(text, ["  ", "    "], columns.saturating_sub(4), out)
}

fn paragraph(text: &str, columns: usize, out: &mut String) -> std::fmt::Result {
    indented(text, [""; 2], columns, out)
}

/// Writes a text in so many columns, with the indents of its first line and of the others.
fn indented(
    text: &str,
    [first, more]: [&str; 2],
    room: usize,
    out: &mut String,
) -> std::fmt::Result {
    for (index, line) in wrapped(text, room).iter().enumerate() {
        writeln!(out, "{}{line}", if index == 0 { first } else { more })?;
    }
    Ok(())
}

/// Writes the rows without a figure, one line per reason.
fn left_out(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let rows = result.rows.measured.iter();
    let failed = rows.filter(|row| {
        row.ns_per_op.is_none() && !matches!(row.status, Status::Ok | Status::Disturbed)
    });
    let reasons = grouped(failed.map(|row| {
        let reason = row.reason.as_deref().unwrap_or("no reason was given");
        let (library, language) = (words::library(&row.subject), names::language(&row.subject));
        let line = format!("{library} ({language}), {}: {reason}", row.status.name());
        (line, ())
    }));
    if !reasons.is_empty() {
        writeln!(out, "\n{BOLD}Not measured{BOLD:#}")?;
    }
    for (line, rows) in reasons {
        let rows = plural(rows.len(), "row");
        hanging(&format!("{line} ({rows})"), columns, out)?;
    }
    Ok(())
}

/// Lists every attack and the check that it defeats.
#[must_use]
pub fn attacks(all: &[Attack]) -> String {
    let mut out = String::new();
    for family in Family::ALL {
        let _ = writeln!(out, "{BOLD}{}{BOLD:#}", family.name());
        for attack in all.iter().filter(|a| a.family == family) {
            let formats: Vec<&str> = attack.formats.iter().map(|k| k.name()).collect();
            let _ = writeln!(out, "  {:<28} {}", attack.id, attack.title);
            let (defeats, formats) = (attack.defeats, formats.join(", "));
            let _ = writeln!(out, "  {:<28} {DIM}{defeats}; {formats}{DIM:#}", "");
        }
    }
    let _ = writeln!(out, "\n{} attacks", all.len());
    out
}
