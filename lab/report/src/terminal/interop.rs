//! Interoperability on the terminal: totals, a matrix for each kind of token, and explanations.

use std::fmt::Write;

use crate::interop::{Matrix, failure_groups, matrices, tally};
use anstyle::{AnsiColor, Style};
use jeton_lab_model::result::{Interop, InteropRow, RunResult};

use super::{BOLD, DIM, paragraph, words};

/// Longest driver name that is printed in full.
const NAME_COLUMNS_MAX: usize = 26;

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

fn letter(outcome: Interop) -> char {
    match outcome {
        Interop::NotOffered => '.',
        Interop::Verified => '+',
        Interop::Refused => 'R',
        Interop::IssueFailed => 'M',
        Interop::WrongClaims => 'C',
        Interop::Crashed => 'X',
        Interop::Hung => 'H',
        Interop::Void => 'V',
    }
}

fn colour(outcome: Interop) -> Style {
    match outcome {
        Interop::NotOffered => Style::new().dimmed(),
        Interop::Verified => AnsiColor::Green.on_default(),
        Interop::Refused | Interop::IssueFailed => AnsiColor::Yellow.on_default(),
        Interop::WrongClaims | Interop::Crashed | Interop::Hung | Interop::Void => {
            AnsiColor::Red.on_default().bold()
        }
    }
}

fn write_matrix(matrix: &Matrix<'_>, columns: usize, out: &mut String) -> std::fmt::Result {
    writeln!(out)?;
    for line in words::wrapped(&matrix.title(), columns) {
        writeln!(out, "{BOLD}{line}{BOLD:#}")?;
    }
    let names = matrix.drivers.iter().map(|d| d.driver.chars().count());
    let name = names.max().unwrap_or(0).min(NAME_COLUMNS_MAX);
    // Rows and columns have the same numbers: ` 12 go/golang-jwt`.
    let label = 3 + 1 + name;
    let fit = (columns.saturating_sub(label) / 3).max(1);
    let all: Vec<usize> = (0..matrix.drivers.len()).collect();
    for shown in all.chunks(fit) {
        write!(out, "{:label$}", "")?;
        for verifier in shown {
            write!(out, "{:>3}", verifier + 1)?;
        }
        writeln!(out)?;
        for (i, issuer) in matrix.drivers.iter().enumerate() {
            let short: String = issuer.driver.chars().take(name).collect();
            write!(out, "{:>3} {short:<name$}", i + 1)?;
            for &verifier in shown {
                match matrix.cells[i][verifier].and_then(|row| row.outcome) {
                    Some(outcome) => {
                        let style = colour(outcome);
                        write!(out, "  {style}{}{style:#}", letter(outcome))?;
                    }
                    None => write!(out, "   ")?,
                }
            }
            writeln!(out)?;
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
        for (i, part) in words::wrapped(&line, columns.saturating_sub(4))
            .iter()
            .enumerate()
        {
            let indent = if i == 0 { "  " } else { "    " };
            writeln!(out, "{indent}{part}")?;
        }
    }
    Ok(())
}
