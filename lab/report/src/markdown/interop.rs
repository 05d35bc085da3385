//! Interop results in Markdown.

use std::fmt::{self, Write};

use super::cell;
use crate::interop::{Matrix, failure_groups, matrices, tally};
use jeton_lab_model::result::{Interop, InteropRow};

/// Writes the totals, the failures, and a matrix for each kind of token; nothing without interop rows.
pub(super) fn write(rows: &[InteropRow], out: &mut String) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Interoperability\n")?;
    writeln!(out, "{}\n", tally(rows).sentence())?;
    let failure_groups = failure_groups(rows);
    if !failure_groups.is_empty() {
        writeln!(
            out,
            "| outcome | pairs | tokens | reason |\n|---|--:|---|---|"
        )?;
        for group in failure_groups {
            writeln!(
                out,
                "| {} | {} | {} | {} |",
                group.outcome.label(),
                group.rows.len(),
                cell(&group.place()),
                cell(group.explanation)
            )?;
        }
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
        let numbers = 1..=matrix.drivers.len();
        let heads: Vec<String> = numbers.map(|n| n.to_string()).collect();
        writeln!(out, "| issuer | {} |", heads.join(" | "))?;
        writeln!(out, "|---|{}", ":-:|".repeat(matrix.drivers.len()))?;
    }
    for (i, (issuer, cells)) in matrix.drivers.iter().zip(&matrix.cells).enumerate() {
        let words = cells.iter().map(|row| row.and_then(|r| r.outcome));
        let words: Vec<&str> = words.map(|o| o.map_or("", word)).collect();
        writeln!(
            out,
            "| {} {} {} | {} |",
            i + 1,
            cell(&issuer.driver),
            cell(&issuer.version),
            words.join(" | ")
        )?;
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

fn word(outcome: Interop) -> &'static str {
    match outcome {
        Interop::Verified => "✓",
        Interop::NotOffered => "·",
        other => other.label(),
    }
}
