//! Server results on the terminal: a table for each scenario, and the problems found.

use std::fmt::Write;

use crate::servers::{ScenarioTable, marks, mebibytes, ms, scenarios, statuses};
use jeton_lab_model::result::{RunResult, ServerLoad, ServerRow};
use jeton_lab_published::servers::MACHINE;

use super::{BOLD, DIM, paragraph};

/// Writes the servers section; nothing if the result has no server rows.
pub(super) fn write(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let rows = &result.rows.servers;
    if rows.is_empty() {
        return Ok(());
    }
    let e = &result.environment;
    writeln!(
        out,
        "{BOLD}Cost of issuing tokens over gRPC{BOLD:#}, measured in {:.0} s, seed {}",
        e.elapsed_s, result.seed
    )?;
    paragraph(
        "Tokens count successful calls only. CPU is the server's CPU time per token in microseconds; \
         latencies are in milliseconds, memory is in MiB.",
        columns,
        out,
    )?;
    if e.disturbance.disturbed {
        let reasons = e.disturbance.reasons.join("; ");
        paragraph(&format!("Disturbed run: {reasons}."), columns, out)?;
    }
    for table in scenarios(rows) {
        write_table(&table, columns, out)?;
    }
    published_machine(columns, out)?;
    failures(rows, columns, out)
}

fn write_table(table: &ScenarioTable<'_>, columns: usize, out: &mut String) -> std::fmt::Result {
    let mut title = table.title.clone();
    if table.oversubscribed {
        title.push_str(" (oversubscribed: compare only CPU time)");
    }
    writeln!(out, "\n{BOLD}{title}{BOLD:#}")?;
    writeln!(
        out,
        "{DIM}{:<18}{:>9}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>6}{DIM:#}",
        "server", "tokens/s", "CPU", "p50", "p90", "p99", "p99.9", "p99.99", "slowest", "MiB"
    )?;
    for (row, load) in &table.measured {
        measured(row, load, out)?;
    }
    for run in &table.published {
        let of = |name: &str| {
            let found = run.latency_ms.iter().find(|(n, _)| *n == name);
            ms(found.and_then(|(_, value)| *value))
        };
        let rate = run
            .requests_per_s
            .map_or_else(String::new, |v| format!("{v:.0}"));
        writeln!(
            out,
            "{DIM}{:<18}{rate:>9}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}  {}{DIM:#}",
            format!("{}, report", run.server),
            "",
            of("p50"),
            of("p90"),
            of("p99"),
            "",
            "",
            of("slowest"),
            run.peak_memory
        )?;
    }
    for sentence in table.sentences() {
        paragraph(&sentence, columns, out)?;
    }
    Ok(())
}

fn measured(row: &ServerRow, load: &ServerLoad, out: &mut String) -> std::fmt::Result {
    let of = |name: &str| ms(load.latency_ms.get(name).copied());
    let cpu = (load.cpu_us_per_request).map_or_else(|| "n/a".to_owned(), |us| format!("{us:.1}"));
    let mut remarks = marks(row, load).join(", ");
    if load.errors() > 0 {
        let _ = write!(remarks, " {}", statuses(load));
    }
    writeln!(
        out,
        "{:<18}{:>9.0}{cpu:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>8}{:>6}  {}",
        row.subject.id,
        load.requests_per_s,
        of("p50"),
        of("p90"),
        of("p99"),
        of("p99.9"),
        of("p99.99"),
        of("slowest"),
        mebibytes(load.peak_rss_bytes),
        remarks.trim()
    )
}

fn published_machine(columns: usize, out: &mut String) -> std::fmt::Result {
    writeln!(out)?;
    paragraph(
        &format!("The report's figures come from another machine: {MACHINE}."),
        columns,
        out,
    )
}

/// Writes each problem once per server.
fn failures(rows: &[ServerRow], columns: usize, out: &mut String) -> std::fmt::Result {
    let mut said: Vec<(&str, &str, &str)> = Vec::new();
    for row in rows {
        let Some(reason) = &row.reason else { continue };
        let one = (row.subject.id.as_str(), row.status.name(), reason.as_str());
        if !said.contains(&one) {
            said.push(one);
        }
    }
    if said.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}Problems{BOLD:#}")?;
    for (server, status, reason) in said {
        paragraph(&format!("{server} ({status}): {reason}"), columns, out)?;
    }
    Ok(())
}
