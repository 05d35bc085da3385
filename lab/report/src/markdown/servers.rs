//! Servers in Markdown: a table for each scenario.

use std::fmt::{self, Write};

use super::cell;
use crate::servers::{ScenarioTable, columns, scenarios};
use crate::table;
use jeton_lab_model::result::ServerRow;

/// Writes a table for each scenario.
pub(super) fn write(rows: &[ServerRow], out: &mut String) -> fmt::Result {
    for table in scenarios(rows) {
        one(&table, out)?;
    }
    Ok(())
}

fn one(table: &ScenarioTable<'_>, out: &mut String) -> fmt::Result {
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
    table::markdown(&columns(0), &table.lines(), out)?;
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
