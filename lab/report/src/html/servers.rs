//! The servers section: the findings, then a chart and a short table for each scenario. The published
//! figures, percentiles and histograms are folded.

use std::collections::BTreeSet;

use maud::{Markup, html};

use crate::recommendation::answers::Bar;
use crate::servers::{
    Line, ScenarioTable, columns, findings, histogram, marks, ms, name, scenarios,
};
use crate::table::{Column, Page, Value, picked};

use super::answers::dots;
use jeton_lab_model::result::{ServerLoad, ServerRow};
use jeton_lab_model::units;
use jeton_lab_published::servers::MACHINE;

/// Where the marks of a chart begin, and the width that they use, in per cent.
const MARKS: [f64; 2] = [42.0, 40.0];

/// Renders the section.
pub(super) fn section(rows: &[ServerRow]) -> Markup {
    let findings = findings(rows);
    html! {
        @if !findings.is_empty() {
            ul.findings { @for (server, what) in &findings { li { strong { (server) } ": " span.reason { (coded(what)) } "." } } }
        }
        p.note {
            "Each server had its own cores, except in loads on shared cores, for which the machine has too few; all had the same keys. "
            "A loader on another core loaded the servers interleaved. "
            "Tokens count successful calls only; errors are not throughput. CPU time includes all threads and processes of the "
            "server. 3×50 means 3 connections with 50 calls in flight on each." (repetitions(rows)) " published: a server of the gRPC "
            "report as it was; fixed: without its faults. One project makes this lab and rust/jeton."
        }
        @if let Some(loader) = rows.iter().find_map(|row| row.loader.as_ref()) {
            p { strong { "Imported: " } "rows with this mark were measured with " (loader) ", on an unknown machine." }
        }
        @let tables = scenarios(rows);
        @for (number, table) in tables.iter().enumerate() { (one(table, number, is_open(&tables, number))) }
    }
}

/// Reports whether a scenario is open: the first of each algorithm.
fn is_open(tables: &[ScenarioTable<'_>], number: usize) -> bool {
    let alg = |table: &ScenarioTable<'_>| {
        let mut rows = table.measured.iter().map(|(row, _)| *row);
        rows.next()
            .or(table.missing.first().copied())
            .map(|row| row.alg)
    };
    let first = tables
        .iter()
        .position(|table| alg(table) == alg(&tables[number]));
    first == Some(number)
}

/// Says how often and how long each load ran, if that is the same for all.
fn repetitions(rows: &[ServerRow]) -> String {
    let loads = rows.iter().filter_map(|row| row.load.as_ref());
    let counts: BTreeSet<usize> = loads.clone().map(|load| load.repetitions.len()).collect();
    let seconds = loads
        .flat_map(|load| &load.repetitions)
        .map(|one| one.seconds.round());
    let seconds: BTreeSet<String> = seconds.map(|seconds| units::fixed(seconds, 0)).collect();
    match (counts.first(), seconds.first()) {
        (Some(count), Some(seconds_each)) if counts.len() == 1 && seconds.len() == 1 => format!(
            " Each load ran {} of {seconds_each} s.",
            units::count(*count, "repetition", "repetitions")
        ),
        _ => String::new(),
    }
}

/// Renders a scenario.
fn one(table: &ScenarioTable<'_>, number: usize, is_open: bool) -> Markup {
    html! {
        details.fold open[is_open] {
            summary {
                h3 { (table.title) }
                @if table.oversubscribed { " " small { "shared cores: CPU time only" } }
            }
            (short(table, number))
            @if !table.measured.is_empty() {
                details {
                    summary { "All figures, with those of the public report" }
                    @if !table.published.is_empty() {
                        p.note { "Rows in italics are figures that the gRPC report published, measured on " (MACHINE) "." }
                    }
                    (whole(table))
                    (behind(table))
                }
            }
        }
    }
}

/// Renders the remarks, the chart and the six columns.
fn short(table: &ScenarioTable<'_>, number: usize) -> Markup {
    let id = format!("servers-{number}");
    html! {
        @if table.rate.is_some() {
            p { "Open loop: latencies count from when a call was due." }
        }
        @if table.oversubscribed {
            p { strong { "Shared cores: " } "server and loader use the same. Compare only the CPU time per token." }
        }
        @if !table.sentences().is_empty() {
            ul { @for sentence in table.sentences() { li { (sentence) } } }
        }
        @if !table.measured.is_empty() {
            (chart(table, &id))
            (shown(table, id))
        }
        @if !table.missing.is_empty() {
            ul {
                @for row in &table.missing {
                    li { (row.subject.id) " (" (row.status.name()) "): " span.reason { (coded(row.reason.as_deref().unwrap_or_default())) } }
                }
            }
        }
    }
}

fn shown(table: &ScenarioTable<'_>, id: String) -> Markup {
    let caption = format!(
        "{}: latencies in milliseconds; the verdict compares {} with the best server",
        table.title,
        table.quantity()
    );
    let measured = table.measured.iter();
    let lines: Vec<Line<'_>> = measured
        .map(|(row, _)| Line::Measured(row, false))
        .collect();
    let figures = [
        "tokens_per_s",
        "cpu_us_per_token",
        "p50_ms",
        "p99_ms",
        "peak_rss_bytes",
    ];
    let mut columns = picked(columns(0), &figures);
    columns.insert(
        0,
        Column::text("server", |line: &Line<'_>| {
            let Some((row, _)) = line.load() else {
                return Value::none();
            };
            Value::text(&row.subject.id).and_on_page(html! { small { (row.subject.libraries) } })
        }),
    );
    columns.push(Column::text("verdict", |line: &Line<'_>| {
        verdict(table, line)
    }));
    Page::new(caption, format!("{}, table", table.title))
        .id(id)
        .table(&columns, &lines)
}

fn verdict(table: &ScenarioTable<'_>, line: &Line<'_>) -> Value {
    let Some((row, load)) = line.load() else {
        return Value::none();
    };
    let marks = marks(row, load)
        .into_iter()
        // The verdict and the name of the server say these.
        .filter(|mark| !["faulty", "as published"].contains(mark));
    Value::text(table.verdict(row, load))
        .and_on_page(html! { @for mark in marks { " " span.tag.warn { (mark) } } })
}

/// Renders the compared figure of each server. The line reaches from the lowest to the highest repetition.
fn chart(table: &ScenarioTable<'_>, id: &str) -> Markup {
    let bar = |(row, load): &(&ServerRow, &ServerLoad)| {
        let (median, interval) = table.figure(load)?;
        let name = match row.reason {
            Some(_) => format!("{}, faulty", row.subject.id),
            None => row.subject.id.clone(),
        };
        Some(Bar {
            in_full: name.clone(),
            name,
            median,
            interval,
        })
    };
    let bars: Vec<Bar> = table.measured.iter().filter_map(bar).collect();
    let text = |value: f64| match value {
        value if value < 100.0 => units::fixed(value, 1),
        value => units::fixed(value, 0),
    };
    let said: Vec<String> = bars
        .iter()
        .map(|bar| format!("{} {}", bar.name, text(bar.median)))
        .collect();
    html! {
        @if !bars.is_empty() {
            figure.dots {
                figcaption {
                    (units::capitalised(table.quantity()))
                    ": the median of the repetitions, and the lowest and the highest one. The axis is logarithmic."
                }
                (dots(&format!("{}, {}, on a log axis: {}.", table.title, table.quantity(), units::list(&said)), id, &bars, MARKS, text))
            }
        }
    }
}

/// Renders text between backticks as code.
fn coded(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Renders every figure, with the published ones.
fn whole(table: &ScenarioTable<'_>) -> Markup {
    let caption = format!(
        "{}: tokens, CPU time, latency in milliseconds, memory",
        table.title
    );
    Page::new(caption, format!("{}, all figures", table.title)).table(&columns(0), &table.lines())
}

/// Renders all percentiles, and histograms in the form of the published report.
fn behind(table: &ScenarioTable<'_>) -> Markup {
    let label = format!("{}, percentiles", table.title);
    html! {
        details {
            summary { "Percentiles and histograms" }
            (Page::new("Latency in milliseconds", label).table(&percentiles(), &table.lines()))
            @for (row, load) in &table.measured {
                (steps(&table.title, &row.subject.id, &histogram(load).iter().map(|(bound, calls)| (*bound, units::whole(*calls))).collect::<Vec<_>>()))
            }
            @for run in &table.published {
                (steps(&table.title, &format!("{}, published", run.server), &run.histogram.iter().map(|(bound, calls)| (*bound, units::fixed(*calls, 0))).collect::<Vec<_>>()))
            }
        }
    }
}

fn percentiles<'a>() -> Vec<Column<'a, Line<'a>>> {
    let calls = Column::number("calls", |line: &Line<'_>| match (line, line.load()) {
        (_, Some((_, load))) => Value::count(load.statuses.values().sum()),
        (Line::Published(run), _) => run.count.map_or_else(Value::none, |count| {
            Value::number(count, units::fixed(count, 0))
        }),
        _ => Value::none(),
    });
    let names = [
        "fastest_ms",
        "p10_ms",
        "p25_ms",
        "p50_ms",
        "p75_ms",
        "p90_ms",
        "p95_ms",
        "p99_ms",
        "p99.9_ms",
        "p99.99_ms",
        "slowest_ms",
    ];
    let latencies = picked(columns(0), &names);
    [name(), calls].into_iter().chain(latencies).collect()
}

fn steps(title: &str, name: &str, steps: &[(f64, String)]) -> Markup {
    let column = |(bound, calls): &(f64, String)| {
        let (bound, calls) = (ms(Some(*bound)), calls.clone());
        Column::number(&bound, move |()| Value::number(&calls, calls.clone())).named(&bound)
    };
    let columns: Vec<_> = std::iter::once(Column::text("up to, ms", |()| Value::text("calls")))
        .chain(steps.iter().map(column))
        .collect();
    let caption = format!("{name}: calls by latency, up to this many milliseconds");
    Page::new(caption, format!("{title}, {name}, histogram")).table(&columns, &[()])
}
