//! What the four reports concluded, with the answers of this run.

use std::fmt::Write;

use jeton_lab::result::{Answer, RunResult};

use super::words::{plural, wrapped};
use super::{BOLD, DIM};

/// The conclusions that this run answers, and where the published figures are to be seen. Nothing of a
/// run that has to do with none of them.
pub(super) fn write(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let answered = result.claims_answered.iter();
    let answered: Vec<_> = answered
        .filter(|claim| claim.answer != Answer::NotMeasured)
        .collect();
    if !answered.is_empty() {
        let open = result.claims_answered.len() - answered.len();
        writeln!(
            out,
            "\n{BOLD}What four reports concluded{BOLD:#} ({}, and {open} not measured here)",
            plural(answered.len(), "answer")
        )?;
    }
    for claim in answered {
        let answer = claim.answer.words();
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
            "\n{tables} beside what was measured here: `jeton lab report results.json --md`, or the page."
        );
        for part in wrapped(&text, columns) {
            writeln!(out, "{part}")?;
        }
    }
    Ok(())
}
