//! Server results on the terminal: a table for each scenario, and the problems found.

use std::fmt::Write;

use crate::servers::{self, ScenarioTable, scenarios};
use crate::table;
use jeton_lab_model::result::{RunResult, ServerRow};
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
    let (head, lines) = table::terminal(&servers::columns(0), &table.lines());
    writeln!(out, "{DIM}{head}{DIM:#}")?;
    for (line, is_published) in lines {
        if is_published {
            writeln!(out, "{DIM}{line}{DIM:#}")?
        } else {
            writeln!(out, "{line}")?
        }
    }
    for sentence in table.sentences() {
        paragraph(&sentence, columns, out)?;
    }
    Ok(())
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
