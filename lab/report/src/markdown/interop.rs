//! Interop results in Markdown.

use std::fmt::{self, Write};

use super::cell;
use crate::interop::{Matrix, failure_columns, failure_groups, matrices, tally};
use crate::table;
use jeton_lab_model::result::InteropRow;

/// Writes the totals, the failures, and a matrix for each kind of token; nothing without interop rows.
pub(super) fn write(rows: &[InteropRow], out: &mut String) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Interoperability\n")?;
    writeln!(out, "{}\n", tally(rows).sentence())?;
    let failure_groups = failure_groups(rows);
    if !failure_groups.is_empty() {
        table::markdown(&failure_columns(), &failure_groups, out)?;
    }
    writeln!(
        out,
        "\nRows: issuers; columns: verifiers, with the numbers of the rows."
    )?;
    matrices(rows)
        .iter()
        .try_for_each(|matrix| one(matrix, out))
}

fn one(matrix: &Matrix<'_>, out: &mut String) -> fmt::Result {
    writeln!(out, "\n### {}\n", cell(&matrix.title()))?;
    if !matrix.drivers.is_empty() {
        let drivers: Vec<usize> = (0..matrix.drivers.len()).collect();
        table::markdown(&matrix.columns(drivers.iter().copied()), &drivers, out)?;
    }
    for (party, reason) in &matrix.absent {
        writeln!(
            out,
            "\nUnavailable: {}: {}",
            cell(&party.driver),
            cell(reason)
        )?;
    }
    Ok(())
}
