//! The servers section: a table for each scenario with the published figures, percentiles and
//! histograms.

use maud::{Markup, html};

use crate::servers::{ScenarioTable, histogram, marks, mebibytes, ms, scenarios, spread, statuses};
use jeton_lab_model::result::{ServerLoad, ServerRow};
use jeton_lab_model::units;
use jeton_lab_published::servers::{MACHINE, PublishedRun};

/// Renders the section.
pub(super) fn section(rows: &[ServerRow]) -> Markup {
    html! {
        p {
            "Each server had its own cores and the same keys. A loader on another core loaded the servers interleaved. "
            "Tokens count successful calls only; errors are not throughput. CPU time includes all threads and processes of the "
            "server. Italic rows are figures that the gRPC report published, measured on " (MACHINE) "."
        }
        @if let Some(loader) = rows.iter().find_map(|row| row.loader.as_ref()) {
            p { strong { "Imported: " } "rows with this mark were measured with " (loader) ", on an unknown machine." }
        }
        @for table in scenarios(rows) { (one(&table)) }
    }
}

fn one(table: &ScenarioTable<'_>) -> Markup {
    html! {
        h3 { (table.title) }
        @if table.rate.is_some() {
            p { "Open loop: latencies count from when a call was due." }
        }
        @if table.oversubscribed {
            p { strong { "Oversubscribed: " } "server and loader share cores. Compare only the CPU time per token." }
        }
        @if !table.sentences().is_empty() {
            ul { @for sentence in table.sentences() { li { (sentence) } } }
        }
        div.scroll tabindex="0" role="region" aria-label={ (table.title) ", table" } {
            table {
                caption { (table.title) ": tokens, CPU time, latency in milliseconds, memory" }
                thead { tr {
                    th scope="col" { "Server" }
                    @for name in ["Tokens/s", "Repetitions", "CPU µs", "Loader µs", "Average", "p50", "p90", "p99", "p99.9", "p99.99", "Slowest", "MiB idle", "MiB peak"] {
                        th.number scope="col" { (name) }
                    }
                    th scope="col" { "Statuses" }
                    th scope="col" { "Remarks" }
                } }
                tbody {
                    @for (row, load) in &table.measured { (measured(row, load)) }
                    @for run in &table.published { (published(run)) }
                }
            }
        }
        @if !table.missing.is_empty() {
            ul {
                @for row in &table.missing {
                    li { (row.subject.id) " (" (row.status.name()) "): " span.reason { (row.reason.as_deref().unwrap_or_default()) } }
                }
            }
        }
        @if !table.measured.is_empty() { (behind(table)) }
    }
}

fn measured(row: &ServerRow, load: &ServerLoad) -> Markup {
    let (low, high) = spread(load);
    let us = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), |v| units::fixed(v, 1));
    html! {
        tr {
            th scope="row" { (row.subject.id) " " span.muted { (row.subject.libraries) } }
            td.number { (units::fixed(load.requests_per_s, 0)) }
            td.number { (units::fixed(low, 0)) " to " (units::fixed(high, 0)) }
            td.number { (us(load.cpu_us_per_request)) }
            td.number { (us(load.client_cpu_us_per_request)) }
            @for name in ["average", "p50", "p90", "p99", "p99.9", "p99.99", "slowest"] {
                td.number { (ms(load.latency_ms.get(name).copied())) }
            }
            td.number { (mebibytes(load.base_rss_bytes)) }
            td.number { (mebibytes(load.peak_rss_bytes)) }
            td { (statuses(load)) }
            td {
                @for mark in marks(row, load) { span.tag.warn { (mark) } " " }
                @if let Some(reason) = &row.reason { span.reason { (reason) } }
            }
        }
    }
}

fn published(run: &PublishedRun) -> Markup {
    let of = |name: &str| {
        let found = run.latency_ms.iter().find(|(n, _)| *n == name);
        ms(found.and_then(|(_, value)| *value))
    };
    let ended: Vec<String> = run
        .statuses
        .iter()
        .map(|(s, n)| format!("{s} {n}"))
        .collect();
    html! {
        tr {
            th scope="row" { em { (run.server) ", published" } }
            td.number { @if let Some(rate) = run.requests_per_s { (units::fixed(rate, 0)) } }
            td.number {} td.number {} td.number {}
            @for name in ["average", "p50", "p90", "p99"] { td.number { (of(name)) } }
            td.number {} td.number {}
            td.number { (of("slowest")) }
            td.number {}
            td.number { (run.peak_memory) }
            td { (ended.join(", ")) }
            td { (MACHINE) }
        }
    }
}

/// Renders all percentiles, and histograms in the form of the published report.
fn behind(table: &ScenarioTable<'_>) -> Markup {
    const PERCENTILES: [&str; 11] = [
        "fastest", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99", "slowest",
    ];
    html! {
        details {
            summary { "Percentiles and histograms" }
            div.scroll tabindex="0" role="region" aria-label={ (table.title) ", percentiles" } {
                table {
                    caption { "Latency in milliseconds" }
                    thead { tr {
                        th scope="col" { "Server" }
                        th.number scope="col" { "Calls" }
                        @for name in PERCENTILES { th.number scope="col" { (name) } }
                    } }
                    tbody {
                        @for (row, load) in &table.measured {
                            tr {
                                th scope="row" { (row.subject.id) }
                                td.number { (units::whole(load.statuses.values().sum())) }
                                @for name in PERCENTILES { td.number { (ms(load.latency_ms.get(name).copied())) } }
                            }
                        }
                        @for run in &table.published {
                            tr {
                                th scope="row" { em { (run.server) ", published" } }
                                td.number { @if let Some(count) = run.count { (units::fixed(count, 0)) } }
                                @for name in PERCENTILES {
                                    td.number { (ms(run.latency_ms.iter().find(|(n, _)| *n == name).and_then(|(_, v)| *v))) }
                                }
                            }
                        }
                    }
                }
            }
            @for (row, load) in &table.measured {
                (steps(&table.title, &row.subject.id, &histogram(load).iter().map(|(bound, calls)| (*bound, units::whole(*calls))).collect::<Vec<_>>()))
            }
            @for run in &table.published {
                (steps(&table.title, &format!("{}, published", run.server), &run.histogram.iter().map(|(bound, calls)| (*bound, units::fixed(*calls, 0))).collect::<Vec<_>>()))
            }
        }
    }
}

fn steps(title: &str, name: &str, steps: &[(f64, String)]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label={ (title) ", " (name) ", histogram" } {
            table {
                caption { (name) ": calls by latency, up to this many milliseconds" }
                thead { tr { @for (bound, _) in steps { th.number scope="col" { (ms(Some(*bound))) } } } }
                tbody { tr { @for (_, calls) in steps { td.number { (calls) } } } }
            }
        }
    }
}
