//! The table under a chart: every figure the chart draws, and what it could not draw.

use maud::{Markup, html};

use crate::result::{Row, Status, Timing};

use super::comparison::{Comparison, Entry, Role, time};
use super::units::Unit;
use super::{gaps, names, trust, units};

/// A figure of memory, and how it is shown.
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

pub(super) fn section(comparison: &Comparison<'_>, unit: Unit, id: &str) -> Markup {
    // A column that would hold only "n/a" is left out.
    let memory: Vec<&Memory> = MEMORY
        .iter()
        .filter(|m| {
            comparison
                .entries
                .iter()
                .any(|e| (m.figure)(e.row).is_some())
        })
        .collect();
    html! {
        div.scroll tabindex="0" role="region" aria-label={ (comparison.title) ", table" } {
            table #(id) {
                caption {
                    (comparison.title) ": time per operation in " (unit.name)
                    @if let Some(baseline) = comparison.baseline() { "; ratios to " (baseline.name) }
                }
                thead { tr {
                    th scope="col" { "Subject, version" }
                    th.number scope="col" { "Median, " (unit.name) " " span.below { "95 % interval" } }
                    th.number scope="col" { "Ratio to baseline " span.below { "95 % interval" } }
                    th scope="col" { "Verdict" }
                    th.number scope="col" { "Tier" }
                    @for column in &memory { th.number scope="col" { (column.heading) } }
                    th.number scope="col" { "Rounds" }
                    th.number scope="col" { "Outliers" }
                } }
                tbody {
                    @for entry in comparison.entries.iter().chain(&comparison.references) {
                        @if let Some(timing) = time(entry.row) {
                            (measured(comparison, entry, timing, unit, &memory))
                        }
                    }
                    @for entry in &comparison.missing { (missing(entry, 6 + memory.len())) }
                }
            }
        }
    }
}

fn measured(
    comparison: &Comparison<'_>,
    entry: &Entry<'_>,
    timing: &Timing,
    unit: Unit,
    memory: &[&Memory],
) -> Markup {
    let row = entry.row;
    html! {
        tr.reference[matches!(entry.role, Role::Reference)] {
            th scope="row" {
                (subject(entry))
                @if row.status == Status::Tainted { " " (gaps::status(row.status)) }
                @if timing.unsettled { " " span.tag.warn { "never settled" } }
            }
            td.number {
                strong { (unit.figure(timing.median)) }
                " " (interval(timing.interval, |end| unit.figure(end)))
            }
            @match entry.role {
                Role::Compared(verdict) => {
                    td.number {
                        strong { (units::ratio(verdict.ratio)) }
                        " " (interval(verdict.interval, units::ratio))
                    }
                    td {
                        (trust::verdict(verdict.verdict))
                        @if let Some(more) = verdict.more_rounds {
                            " " span.below { "≈ " (units::count(more as usize, "more round", "more rounds")) }
                        }
                    }
                }
                Role::Baseline => { td.number { "1" } td { (role("\u{25c6}", "baseline")) } }
                Role::Reference => { td.number { (none()) } td { (role("|", "bare primitive")) } }
                Role::Alone => { td.number { (none()) } td { (role("\u{25a0}", "not compared")) } }
            }
            td.number {
                @match comparison.tier(entry) { Some(tier) => (tier), None => (none()) }
            }
            @for column in memory {
                td.number {
                    @match (column.figure)(row) {
                        Some(value) => (units::fixed(value, column.decimals)),
                        None => span.muted { "n/a" },
                    }
                }
            }
            td.number { (timing.rounds.len()) }
            td.number { (timing.outliers) }
        }
    }
}

fn missing(entry: &Entry<'_>, columns: usize) -> Markup {
    html! {
        tr.missing {
            th scope="row" { (subject(entry)) }
            td.reason colspan=(columns) { (gaps::status(entry.row.status)) " " (gaps::reason(entry.row)) }
        }
    }
}

fn subject(entry: &Entry<'_>) -> Markup {
    let subject = &entry.row.subject;
    html! {
        (entry.name) " " span.below { (subject.version) " · " (names::language(subject)) }
    }
}

fn interval([low, high]: [f64; 2], figure: impl Fn(f64) -> String) -> Markup {
    html! { span.below { (figure(low)) " – " (figure(high)) } }
}

fn role(mark: &str, word: &str) -> Markup {
    html! { span.verdict.plain { span aria-hidden="true" { (mark) } " " (word) } }
}

fn none() -> Markup {
    html! { span.muted { span aria-hidden="true" { "–" } span.spoken { "none" } } }
}
