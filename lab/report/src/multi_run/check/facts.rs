//! Facts of a file that contradict others, and are not computed from rounds alone: disturbances, counts
//! and titles.

use std::collections::BTreeSet;

use jeton_lab_harness::host;
use jeton_lab_model::claims::STANDARD;
use jeton_lab_model::result::{Row, RunResult, ServerRow, Status};

use super::Contradiction;
use super::members::{close, says};
use crate::multi_run::same::Work;

/// The reasons of a disturbed run that state a figure must be those of the figures.
pub(super) fn of_environment(result: &RunResult) -> Vec<Contradiction> {
    let disturbance = &result.environment.disturbance;
    let own = host::reasons_of_figures(disturbance);
    let mut found = Vec::new();
    let mut add = |what: String| found.push(Contradiction::new("environment.taint.reasons", what));
    let reasons = &disturbance.reasons;
    // A merged result has mean figures, and the reasons of each run.
    let merged = !result.runs.is_empty();
    if merged && !own.is_empty() && reasons.is_empty() {
        add(format!("is empty, although {}", own[0]));
    }
    if merged {
        return found;
    }
    for missing in own.iter().filter(|own| !reasons.contains(own)) {
        add(format!("do not say that {missing}"));
    }
    let of_figures = |reason: &&String| host::is_of_figures(reason) && !own.contains(reason);
    for reason in reasons.iter().filter(of_figures) {
        add(format!("say that {reason}; the figures do not"));
    }
    found
}

/// Every measured row has the rounds that the run finished.
pub(super) fn of_rounds(result: &RunResult) -> Vec<Contradiction> {
    let finished = result.environment.rounds_finished as usize;
    let uneven = |row: &&Row| {
        let counts = matches!(row.status, Status::Ok | Status::Disturbed);
        let rounds = row.ns_per_op.as_ref().map(|t| t.rounds.len());
        counts && rounds.is_some_and(|rounds| rounds != finished)
    };
    let rows = result.rows.measured.iter().filter(uneven);
    rows.map(|row| {
        let rounds = row.ns_per_op.as_ref().map_or(0, |t| t.rounds.len());
        let what = format!("has {rounds} rounds; environment.rounds_finished is {finished}");
        Contradiction::new(Work::of(row).to_string(), what)
    })
    .collect()
}

/// The rates of the repetitions must make the number of tokens.
#[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
pub(super) fn of_tokens(row: &ServerRow) -> Option<String> {
    let repetitions = &row.load.as_ref()?.repetitions;
    let made: f64 = repetitions
        .iter()
        .map(|one| one.requests_per_s * one.seconds)
        .sum();
    let tokens = row.tokens() as f64;
    (!close(tokens, made)).then(|| says("number of tokens in statuses", tokens, made))
}

/// A title says the work of its comparison: the operation, unusual claims and threads, and no algorithm
/// of other subjects.
pub(super) fn of_titles(result: &RunResult) -> Vec<Contradiction> {
    let names = |row: &Row| {
        let subject = &row.subject;
        [
            Some(subject.format.clone()),
            subject.alg.clone(),
            subject.enc.clone(),
        ]
    };
    let all = result.rows.measured.iter().flat_map(names).flatten();
    let all: BTreeSet<String> = all.collect();
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for verdict in &result.verdicts {
        let title = &verdict.comparison;
        if !seen.insert(title) {
            continue;
        }
        let own = result.verdicts.iter().filter(|v| v.comparison == *title);
        let subjects: BTreeSet<&str> = own
            .flat_map(|v| [v.subject.as_str(), v.baseline.as_str()])
            .collect();
        let rows = result.rows.measured.iter();
        let rows = rows.filter(|row| subjects.contains(row.subject.id.as_str()));
        let mut theirs: BTreeSet<String> = rows
            .flat_map(|row| {
                let effective = Some(row.subject.effective_alg());
                names(row).into_iter().chain([effective]).flatten()
            })
            .collect();
        // Ed25519 is also the curve of EdDSA.
        if theirs.contains("EdDSA") {
            theirs.insert("Ed25519".to_owned());
        }
        let mut wrong = |what: String| {
            found.push(Contradiction::new(format!("comparison \"{title}\""), what));
        };
        let words = title.split(|c: char| !(c.is_alphanumeric() || "-.+".contains(c)));
        for word in words.filter(|word| all.contains(*word) && !theirs.contains(*word)) {
            wrong(format!("no subject of it is of {word}"));
        }
        let claims = (verdict.claims != STANDARD).then(|| format!("claims {}", verdict.claims));
        let threads = (verdict.threads != 1).then(|| format!("{} threads", verdict.threads));
        let operation = Some(verdict.operation.clone());
        for part in [claims, threads, operation].into_iter().flatten() {
            if !title.contains(&part) {
                wrong(format!("the title does not say {part}"));
            }
        }
    }
    found
}
