//! Published conclusions of the four reports, with the answers of this run.

use std::fmt::Write;

use jeton_lab_model::result::{Answer, RunResult};

use super::words::{plural, wrapped};
use super::{BOLD, DIM};

/// Writes the conclusions that this run answers, and where to see the published figures. Writes nothing if
/// the run relates to no report.
pub(super) fn write(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let answered = result.claims_answered.iter();
    let answered: Vec<_> = answered
        .filter(|claim| claim.answer != Answer::NotMeasured)
        .collect();
    if !answered.is_empty() {
        let open = result.claims_answered.len() - answered.len();
        writeln!(
            out,
            "\n{BOLD}Published conclusions{BOLD:#} ({}; {open} not measured in this run)",
            plural(answered.len(), "answer")
        )?;
    }
    for claim in answered {
        let answer = claim.answer.label();
        let line = format!("{:<6} {BOLD}{answer}{BOLD:#}: {}", claim.id, claim.claim);
        for (i, part) in wrapped(&line, columns.saturating_sub(9)).iter().enumerate() {
            let indent = if i == 0 { "  " } else { "         " };
            writeln!(out, "{indent}{part}")?;
        }
        let why = format!("{}; {}", claim.measured, claim.why);
        for part in wrapped(&why, columns.saturating_sub(9)) {
            writeln!(out, "         {DIM}{part}{DIM:#}")?;
        }
    }
    if !result.published.is_empty() {
        let tables = plural(result.published.len(), "published table");
        let text = format!(
            "\nTo compare {tables} with this run, use `jeton lab report results.json --md` or the page."
        );
        for part in wrapped(&text, columns) {
            writeln!(out, "{part}")?;
        }
    }
    Ok(())
}
