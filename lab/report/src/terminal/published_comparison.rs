//! The questions of the four published reports, with the answers of this run.

use jeton_lab_model::result::{Answer, ClaimAnswered, RunResult};
use jeton_lab_model::units::list;
use jeton_lab_published::{Source, decidable, reports};

use super::BOLD;
use crate::section::Section;

/// Returns how many conclusions this run answers, and for each report the answers that matter most; `None` if the
/// run relates to no report.
pub(super) fn section(result: &RunResult) -> Option<Section> {
    let claims = &result.claims_answered;
    let measured = claims.iter().filter(|claim| claim.answer.is_measured());
    let (measured, all) = (measured.count(), decidable());
    let title = format!("The four public reports: {measured} of {all} conclusions measured");
    let parts = reports()
        .into_iter()
        .filter_map(|source| report(&source, claims));
    let note = "The page has every conclusion and table of the reports.";
    (measured > 0).then(|| Section::new(title).note(note).parts(parts))
}

fn report(source: &Source, claims: &[ClaimAnswered]) -> Option<Section> {
    let of_report = || claims.iter().filter(|claim| claim.report == source.report);
    let counts = Answer::ALL.into_iter().filter_map(|answer| {
        match of_report().filter(|claim| claim.answer == answer).count() {
            0 => None,
            1 => Some(format!("1 {}", answer.label())),
            several => Some(format!("{several} {}", answer.plural())),
        }
    });
    let counts = list(&counts.collect::<Vec<_>>());
    let told = source.in_short.iter();
    let told = told.filter_map(|id| of_report().find(|claim| claim.id == *id));
    let is_open = of_report().all(|claim| !claim.answer.is_measured());
    // A report without a measured conclusion says what it needs.
    let needs = told.clone().next().filter(|_| is_open);
    let needs = needs.map(|claim| format!("needs {}", claim.measured));
    let told = told
        .filter(|claim| claim.answer.is_measured())
        .map(|claim| {
            let (said, answer, measured) = (&claim.claim, claim.answer.label(), &claim.measured);
            format!(
                "\u{201c}{said}\u{201d} {BOLD}{answer}{BOLD:#}: {measured}; {}.",
                claim.why
            )
        });
    let (number, question) = (source.report, source.question);
    let section = Section::new(format!("{number} {question}")).say(format!("{counts}."));
    (!counts.is_empty()).then(|| section.items(told).items(needs))
}
