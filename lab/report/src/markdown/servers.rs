//! Servers in Markdown: a table for each scenario.

use std::fmt::{self, Write};

use super::cell;
use crate::servers::{ScenarioTable, marks, mebibytes, ms, scenarios, spread, statuses};
use jeton_lab_model::result::{ServerLoad, ServerRow};
use jeton_lab_model::units;
use jeton_lab_published::servers::MACHINE;

/// Writes a table for each scenario.
pub(super) fn write(rows: &[ServerRow], out: &mut String) -> fmt::Result {
    for table in scenarios(rows) {
        self::table(&table, out)?;
    }
    Ok(())
}

fn table(table: &ScenarioTable<'_>, out: &mut String) -> fmt::Result {
    writeln!(out, "\n## {}\n", cell(&table.title))?;
    if table.rate.is_some() {
        writeln!(
            out,
            "Open loop: latencies count from when a call was due.\n"
        )?;
    }
    if table.oversubscribed {
        writeln!(
            out,
            "**Oversubscribed**: server and loader share cores. Compare only CPU time.\n"
        )?;
    }
    writeln!(
        out,
        "| server | tokens | tokens/s | repetitions | CPU µs | loader µs | average ms | fastest | p10 | p25 | p50 | p75 | p90 | p95 | p99 | p99.9 | p99.99 | slowest | MiB | statuses | |"
    )?;
    writeln!(
        out,
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|---|"
    )?;
    for (row, load) in &table.measured {
        measured(row, load, out)?;
    }
    for run in &table.published {
        let of = |name: &str| {
            let found = run.latency_ms.iter().find(|(n, _)| *n == name);
            ms(found.and_then(|(_, value)| *value))
        };
        let ended: Vec<String> = run
            .statuses
            .iter()
            .map(|(s, n)| format!("{s} {n}"))
            .collect();
        let figure = |value: Option<f64>| value.map_or_else(String::new, |v| units::fixed(v, 0));
        writeln!(
            out,
            "| *{}, published* | {} | {} | | | | {} | {} | {} | {} | {} | {} | {} | {} | {} | | | {} | {} | {} | {} |",
            cell(&run.server),
            figure(run.count),
            figure(run.requests_per_s),
            of("average"),
            of("fastest"),
            of("p10"),
            of("p25"),
            of("p50"),
            of("p75"),
            of("p90"),
            of("p95"),
            of("p99"),
            of("slowest"),
            cell(&run.peak_memory),
            cell(&ended.join(", ")),
            cell(MACHINE)
        )?;
    }
    writeln!(out)?;
    for sentence in table.sentences() {
        writeln!(out, "- {}", cell(&sentence))?;
    }
    let reasons = (table.measured.iter().map(|(row, _)| *row)).chain(table.missing.iter().copied());
    for row in reasons {
        if let Some(reason) = &row.reason {
            writeln!(
                out,
                "- `{}` {}: {}",
                cell(&row.subject.id),
                row.status.name(),
                cell(reason)
            )?;
        }
    }
    Ok(())
}

fn measured(row: &ServerRow, load: &ServerLoad, out: &mut String) -> fmt::Result {
    let (low, high) = spread(load);
    let of = |name: &str| ms(load.latency_ms.get(name).copied());
    let us = |value: Option<f64>| value.map_or_else(|| "n/a".to_owned(), |v| units::fixed(v, 1));
    write!(
        out,
        "| {} | {} | {} | {} to {} | {} | {} ",
        cell(&row.subject.id),
        units::whole(row.tokens()),
        units::fixed(load.requests_per_s, 0),
        units::fixed(low, 0),
        units::fixed(high, 0),
        us(load.cpu_us_per_request),
        us(load.client_cpu_us_per_request),
    )?;
    for name in [
        "average", "fastest", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99",
        "slowest",
    ] {
        write!(out, "| {} ", of(name))?;
    }
    writeln!(
        out,
        "| {} | {} | {} |",
        mebibytes(load.peak_rss_bytes),
        cell(&statuses(load)),
        marks(row, load).join(", ")
    )
}
