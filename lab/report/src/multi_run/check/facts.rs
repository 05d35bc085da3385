//! Facts of a file that contradict others, and are not computed from rounds alone: disturbances, counts
//! and titles.

use std::collections::BTreeSet;

use jeton_lab_harness::host;
use jeton_lab_model::claims::STANDARD;
use jeton_lab_model::result::{Row, RunResult};

use super::Contradiction;
use crate::grouped::distinct_by;
use crate::multi_run::runs::{Work, measured};

/// The reasons of a disturbed run that state a figure must be those of the figures.
pub(super) fn of_environment(result: &RunResult) -> Vec<Contradiction> {
    let mut disturbance = result.environment.disturbance.clone();
    let reasons = std::mem::take(&mut disturbance.reasons);
    let found: Vec<String> = if result.runs.is_empty() {
        let own = host::reasons_of_figures(&disturbance);
        let missing = own.iter().filter(|own| !reasons.contains(own));
        let missing = missing.map(|own| format!("do not say that {own}"));
        let of_figures = |reason: &&String| host::is_of_figures(reason) && !own.contains(reason);
        let wrong = reasons.iter().filter(of_figures);
        let wrong = wrong.map(|reason| format!("say that {reason}; the figures do not"));
        missing.chain(wrong).collect()
    } else {
        // A merged result has mean figures, and the reasons of each run. The reason of the pressure depends on a
        // second figure, so that a mean can have it and no run.
        disturbance.pressure = None;
        let own = host::reasons_of_figures(&disturbance).into_iter();
        let own = own.take(1).filter(|_| reasons.is_empty());
        own.map(|own| format!("is empty, although {own}")).collect()
    };
    let about = |what| Contradiction::new("environment.taint.reasons", what);
    found.into_iter().map(about).collect()
}

/// Every measured row has the rounds that the run finished.
pub(super) fn of_rounds(result: &RunResult) -> Vec<Contradiction> {
    let finished = result.environment.rounds_finished as usize;
    let rows = result.rows.measured.iter().filter_map(|row| {
        let rounds = measured(row)?.rounds.len();
        let what = format!("has {rounds} rounds; environment.rounds_finished is {finished}");
        (rounds != finished).then(|| Contradiction::new(Work::of(row).to_string(), what))
    });
    rows.collect()
}

/// The words of titles that are no names of formats, algorithms, libraries or claims.
const TITLE_WORDS: &str = "1's 2's 3's 4's JWE JWT Java Keys algorithms and back bits both claims encryptions from \
                           handling in key's of on or pair report signatures the there threads weak with";

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || "-.+'".contains(c)));
    words.filter(|word| !word.is_empty())
}

fn names(row: &Row) -> impl Iterator<Item = &String> {
    let subject = &row.subject;
    let own = [
        Some(&subject.format),
        subject.alg.as_ref(),
        subject.enc.as_ref(),
    ];
    own.into_iter().flatten()
}

fn has_word(row: &Row, word: &str) -> bool {
    let subject = &row.subject;
    let (library, version, keys) = (&subject.library, &subject.version, &subject.key_handling);
    let more = [library, version, keys, &row.claims.name, &row.operation];
    let mut all = names(row).chain(more).chain(&subject.runtime);
    all.any(|name| words(name).any(|own| own == word))
        || words(&subject.effective_alg()).any(|own| own == word)
}

/// A title says the work of its comparison: the operation, unusual claims and threads, and no algorithm
/// of other subjects.
pub(super) fn of_titles(result: &RunResult) -> Vec<Contradiction> {
    let rows = &result.rows.measured;
    let all: BTreeSet<&String> = rows.iter().flat_map(names).collect();
    let mut found = Vec::new();
    for verdict in distinct_by(&result.verdicts, |verdict| &verdict.comparison) {
        let title = &verdict.comparison;
        let own = result.verdicts.iter().filter(|v| v.comparison == *title);
        let subjects: BTreeSet<&String> = own.flat_map(|v| [&v.subject, &v.baseline]).collect();
        let rows = rows.iter().filter(|row| subjects.contains(&row.subject.id));
        let rows: Vec<&Row> = rows.collect();
        let is_theirs = |word: &str| {
            rows.iter().any(|row| {
                // Ed25519 is also the curve of EdDSA.
                let curve = names(row).any(|name| name == "EdDSA") && word == "Ed25519";
                curve || row.subject.effective_alg() == word || names(row).any(|name| name == word)
            })
        };
        let mut wrong = |what: String| {
            found.push(Contradiction::new(format!("comparison \"{title}\""), what));
        };
        for word in words(title) {
            let is_number = word.chars().all(|c| c.is_ascii_digit());
            let is_known = || {
                TITLE_WORDS.split(' ').any(|other| other == word)
                    || rows.iter().any(|row| has_word(row, word))
            };
            if is_number || is_theirs(word) {
                continue;
            } else if all.iter().any(|name| *name == word) {
                wrong(format!("no subject of it is of {word}"));
            } else if !is_known() {
                wrong(format!("\"{word}\" is no word of a title"));
            }
        }
        let claims = (verdict.claims != STANDARD).then(|| format!("claims {}", verdict.claims));
        let threads = (verdict.threads != 1).then(|| format!("{} threads", verdict.threads));
        let operation = Some(verdict.operation.clone());
        let parts = [claims, threads, operation].into_iter().flatten();
        for part in parts.filter(|part| !title.contains(part)) {
            wrong(format!("the title does not say {part}"));
        }
    }
    found
}
