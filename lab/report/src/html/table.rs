//! The table below a chart: all its figures, and the rows without figures.

use maud::{Markup, html};

use jeton_lab_model::result::{Row, Status, Timing};

use super::comparison::{Comparison, Entry, Role, time};
use super::units::Unit;
use super::{names, trust, units};

/// A memory figure and its format.
struct Memory {
    heading: &'static str,
    figure: fn(&Row) -> Option<f64>,
    decimals: usize,
}

const MEMORY: [Memory; 3] = [
    Memory {
        heading: "B/op",
        figure: |row| row.bytes_per_op,
        decimals: 0,
    },
    Memory {
        heading: "allocs/op",
        figure: |row| row.allocs_per_op,
        decimals: 1,
    },
    Memory {
        heading: "RSS, MiB",
        figure: |row| row.peak_rss_bytes.map(|bytes| bytes as f64 / 1_048_576.0),
        decimals: 1,
    },
];

pub(super) fn section(comparison: &Comparison<'_>, unit: Unit) -> Markup {
    let timed = || comparison.entries.iter().chain(&comparison.references);
    let timed = || timed().filter_map(|e| Some((e, time(e.row)?)));
    // Columns with only "n/a", or with one equal number, are omitted.
    let columns = Columns {
        unit,
        memory: MEMORY
            .iter()
            .filter(|m| timed().any(|(e, _)| (m.figure)(e.row).is_some()))
            .collect(),
        rounds: rounds(timed().map(|(_, timing)| timing)),
        outliers: timed().any(|(_, timing)| timing.outliers > 0),
    };
    html! {
        div.scroll tabindex="0" role="region" aria-labelledby=(comparison.anchor) {
            table.figures #(comparison.table_id()) {
                caption {
                    "Time per operation in " (unit.name)
                    @if let Some(baseline) = comparison.baseline() { "; ratios to " (baseline.name) }
                    @if let Some(rounds) = columns.rounds { "; " (units::count(rounds, "round", "rounds")) }
                    @if !columns.outliers { ", no outliers" }
                }
                thead { tr {
                    th.text scope="col" { "Subject, version" }
                    th scope="col" { "Median, " (unit.name) " " small { "95 % interval" } }
                    th scope="col" { "Ratio to baseline " small { "95 % interval" } }
                    th.text scope="col" { "Verdict" }
                    th scope="col" { "Group" }
                    @for column in &columns.memory { th scope="col" { (column.heading) } }
                    @if columns.rounds.is_none() { th scope="col" { "Rounds" } }
                    @if columns.outliers { th scope="col" { "Outliers" } }
                } }
                tbody {
                    @for (entry, timing) in timed() { (measured(comparison, entry, timing, &columns)) }
                    @for entry in &comparison.missing { (missing(entry, columns.count() - 1)) }
                }
            }
        }
    }
}

/// The columns of one table.
struct Columns {
    unit: Unit,
    memory: Vec<&'static Memory>,
    /// The number of rounds, if all rows have the same; it then has no column.
    rounds: Option<usize>,
    outliers: bool,
}

impl Columns {
    fn count(&self) -> usize {
        5 + self.memory.len() + usize::from(self.rounds.is_none()) + usize::from(self.outliers)
    }
}

/// Returns the number of rounds if it is the same for all.
fn rounds<'a>(mut timings: impl Iterator<Item = &'a Timing>) -> Option<usize> {
    let first = timings.next()?.rounds.len();
    timings.all(|t| t.rounds.len() == first).then_some(first)
}

fn measured(
    comparison: &Comparison<'_>,
    entry: &Entry<'_>,
    timing: &Timing,
    columns: &Columns,
) -> Markup {
    let row = entry.row;
    let unit = columns.unit;
    html! {
        tr class=[matches!(entry.role, Role::Reference).then_some("reference")] {
            th scope="row" {
                (subject(entry))
                @if row.status == Status::Disturbed { " " (status(row.status)) }
                @if timing.unsettled { " " span.tag.warn { "did not settle" } }
            }
            td { b { (unit.figure(timing.median)) } " " (interval(timing.interval, |end| unit.figure(end))) }
            @match entry.role {
                Role::Compared(verdict) => {
                    td { b { (units::ratio(verdict.ratio)) } " " (interval(verdict.interval, units::ratio)) }
                    td.text {
                        (trust::verdict(verdict.verdict))
                        @if let Some(more) = verdict.more_rounds {
                            " " small { "≈ " (units::count(more as usize, "more round", "more rounds")) }
                        }
                    }
                }
                Role::Baseline => { td { "1" } td.text { span.verdict.baseline { "baseline" } } }
                Role::Reference => { td {} td.text { span.verdict.primitive { "bare primitive" } } }
                Role::Alone => { td {} td.text { span.verdict.alone { "not compared" } } }
            }
            td { @if let Some(group) = comparison.group(entry) { (group) } }
            @for column in &columns.memory {
                td { @if let Some(value) = (column.figure)(row) { (units::fixed(value, column.decimals)) } @else { "n/a" } }
            }
            @if columns.rounds.is_none() { td { (timing.rounds.len()) } }
            @if columns.outliers { td { (timing.outliers) } }
        }
    }
}

fn missing(entry: &Entry<'_>, columns: usize) -> Markup {
    html! {
        tr.missing {
            th scope="row" { (subject(entry)) }
            td.text.reason colspan=(columns) { (status(entry.row.status)) " " (reason(entry.row)) }
        }
    }
}

fn subject(entry: &Entry<'_>) -> Markup {
    let subject = &entry.row.subject;
    html! {
        (entry.name) " "
        small {
            (subject.version) " · " (names::language(subject))
            @for remark in subject.remarks() { " · " (remark) }
        }
    }
}

fn interval([low, high]: [f64; 2], figure: impl Fn(f64) -> String) -> Markup {
    html! { small { (figure(low)) " – " (figure(high)) } }
}

/// Renders the status of a row as a tag.
pub(super) fn status(status: Status) -> Markup {
    let (class, word) = match status {
        Status::Ok => ("good", "measured"),
        Status::Unavailable => ("plain", "unavailable"),
        Status::FailedPreflight => ("bad", "failed preflight"),
        Status::Crashed => ("bad", "crashed"),
        Status::TimedOut => ("bad", "timed out"),
        Status::Disturbed => ("warn", "disturbed"),
    };
    html! { span.tag.(class) { (word) } }
}

/// Returns the reason of a row.
pub(super) fn reason(row: &Row) -> &str {
    match (&row.reason, row.status) {
        (Some(reason), _) => reason,
        (None, Status::Ok) => "no usable time was recorded",
        (None, _) => "no reason recorded",
    }
}
