//! The questions of the four published reports, with the answers of this run.

use std::fmt::Write;

use jeton_lab_model::result::{Answer, ClaimAnswered, RunResult};
use jeton_lab_published::{Source, decidable, reports};
use jeton_terminal::width::wrapped;

use super::{BOLD, DIM};
use jeton_lab_model::units::list;

/// Writes how many conclusions this run answers, and for each report the answers that matter most. Writes
/// nothing if the run relates to no report.
pub(super) fn write(result: &RunResult, columns: usize, out: &mut String) -> std::fmt::Result {
    let claims = &result.claims_answered;
    let measured = claims.iter().filter(|claim| claim.answer.is_measured());
    let measured = measured.count();
    if measured == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "\n{BOLD}The four public reports: {measured} of {} conclusions measured{BOLD:#}",
        decidable()
    )?;
    for source in reports() {
        report(&source, claims, columns, out)?;
    }
    let text = format!("{DIM}The page has every conclusion and table of the reports.{DIM:#}");
    paragraph(&text, "  ", columns, out)
}

fn report(
    source: &Source,
    claims: &[ClaimAnswered],
    columns: usize,
    out: &mut String,
) -> std::fmt::Result {
    let of_report = || claims.iter().filter(|claim| claim.report == source.report);
    if of_report().next().is_none() {
        return Ok(());
    }
    let counts = Answer::ALL.map(|answer| {
        let count = of_report().filter(|claim| claim.answer == answer).count();
        match count {
            0 => None,
            1 => Some(format!("1 {}", answer.label())),
            several => Some(format!("{several} {}", answer.plural())),
        }
    });
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    let (number, question) = (source.report, source.question);
    let head = format!("{BOLD}{number} {question}{BOLD:#} {}.", list(&counts));
    paragraph(&head, "  ", columns, out)?;
    let told = source.in_short.iter();
    let told = told.filter_map(|id| of_report().find(|claim| claim.id == *id));
    let (told, open): (Vec<_>, Vec<_>) = told.partition(|claim| claim.answer.is_measured());
    for claim in told {
        let (said, answer) = (&claim.claim, claim.answer.label());
        let (measured, why) = (&claim.measured, &claim.why);
        let line = format!("\u{201c}{said}\u{201d} {BOLD}{answer}{BOLD:#}: {measured}; {why}.");
        paragraph(&line, "    ", columns, out)?;
    }
    // A report without a measured conclusion says what it needs.
    if let Some(claim) = open
        .first()
        .filter(|_| of_report().all(|c| !c.answer.is_measured()))
    {
        let needs = format!("{DIM}needs {}{DIM:#}", claim.measured);
        paragraph(&needs, "    ", columns, out)?;
    }
    Ok(())
}

fn paragraph(text: &str, indent: &str, columns: usize, out: &mut String) -> std::fmt::Result {
    for part in wrapped(text, columns.saturating_sub(indent.len())) {
        writeln!(out, "{indent}{part}")?;
    }
    Ok(())
}
