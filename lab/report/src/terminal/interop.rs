//! Interoperability on the terminal: totals, a matrix for each kind of token, and explanations.

use std::fmt::Write;

use crate::interop::{CELL_COLUMNS, Matrix, failure_groups, letter, matrices, tally};
use crate::table;
use jeton_lab_model::result::{Interop, InteropRow, RunResult};
use jeton_terminal::width::wrapped;

use super::{BOLD, DIM, paragraph};

/// Writes the interop section; nothing if the result has no interop rows.
pub(super) fn write(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let rows = &result.rows.interop;
    if rows.is_empty() {
        return Ok(());
    }
    let e = &result.environment;
    writeln!(
        out,
        "{BOLD}Interoperability{BOLD:#} in {:.0} s, seed {}",
        e.elapsed_s, result.seed
    )?;
    paragraph(&tally(rows).sentence(), columns, out)?;
    if !e.complete {
        writeln!(
            out,
            "{BOLD}Ended early{BOLD:#}: some kinds of token were not tested."
        )?;
    }
    legend(rows, columns, out)?;
    for matrix in matrices(rows) {
        write_matrix(&matrix, columns, out)?;
    }
    explanations(rows, columns, out)
}

/// Writes the meaning of the letters that occur; colour only repeats them.
fn legend(rows: &[InteropRow], columns: usize, out: &mut String) -> std::fmt::Result {
    let occurs = |o: &Interop| rows.iter().any(|row| row.outcome == Some(*o));
    let parts: Vec<String> = Interop::ALL
        .into_iter()
        .filter(occurs)
        .map(|outcome| format!("{} {}", letter(outcome), outcome.label()))
        .collect();
    let text = format!(
        "{DIM}Rows: issuer; columns: verifier. {}{DIM:#}",
        parts.join(", ")
    );
    paragraph(&text, columns, out)
}

fn write_matrix(matrix: &Matrix<'_>, columns: usize, out: &mut String) -> std::fmt::Result {
    writeln!(out)?;
    for line in wrapped(&matrix.title(), columns) {
        writeln!(out, "{BOLD}{line}{BOLD:#}")?;
    }
    let room = columns.saturating_sub(matrix.issuer_columns());
    let fit = (room / CELL_COLUMNS).max(1);
    let drivers: Vec<usize> = (0..matrix.drivers.len()).collect();
    for verifiers in drivers.chunks(fit) {
        let shown = matrix.columns(verifiers.iter().copied());
        let (head, lines) = table::terminal(&shown, &drivers);
        writeln!(out, "{head}")?;
        for (line, _) in lines {
            writeln!(out, "{line}")?;
        }
    }
    for (party, reason) in &matrix.absent {
        paragraph(
            &format!("unavailable: {}: {reason}", party.driver),
            columns,
            out,
        )?;
    }
    Ok(())
}

fn explanations(rows: &[InteropRow], columns: usize, out: &mut String) -> std::fmt::Result {
    let failure_groups = failure_groups(rows);
    if failure_groups.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}Failures{BOLD:#}")?;
    for group in failure_groups {
        let line = format!(
            "{} {}, {}: {}",
            group.rows.len(),
            group.outcome.label(),
            group.place(),
            group.explanation
        );
        for (i, part) in wrapped(&line, columns.saturating_sub(4)).iter().enumerate() {
            let indent = if i == 0 { "  " } else { "    " };
            writeln!(out, "{indent}{part}")?;
        }
    }
    Ok(())
}
