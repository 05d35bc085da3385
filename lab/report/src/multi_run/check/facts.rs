//! Facts of a file that contradict others, and are not computed from rounds alone: disturbances, counts
//! and titles.

use std::collections::BTreeSet;

use jeton_lab_harness::host;
use jeton_lab_model::claims::STANDARD;
use jeton_lab_model::result::{Row, RunResult};

use super::Contradiction;
use crate::multi_run::runs::{Work, measured};

/// The reasons of a disturbed run that state a figure must be those of the figures.
pub(super) fn of_environment(result: &RunResult) -> Vec<Contradiction> {
    let disturbance = &result.environment.disturbance;
    let reasons = &disturbance.reasons;
    let found = if result.runs.is_empty() {
        let own = host::reasons_of_figures(disturbance);
        let missing = own.iter().filter(|own| !reasons.contains(own));
        let missing = missing.map(|own| format!("do not say that {own}"));
        let of_figures = |reason: &&String| host::is_of_figures(reason) && !own.contains(reason);
        let wrong = reasons.iter().filter(of_figures);
        let wrong = wrong.map(|reason| format!("say that {reason}; the figures do not"));
        missing.chain(wrong).collect()
    } else {
        // A merged result has mean figures, and the reasons of each run. The reason of the pressure depends on a
        // second figure, so that a mean can have it and no run.
        let mut figures = disturbance.clone();
        figures.pressure = None;
        let own = host::reasons_of_figures(&figures).into_iter().next();
        let own = own.filter(|_| reasons.is_empty());
        own.map(|own| format!("is empty, although {own}"))
            .into_iter()
            .collect::<Vec<_>>()
    };
    let found = found.into_iter();
    found
        .map(|what| Contradiction::new("environment.taint.reasons", what))
        .collect()
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

/// Returns the words of a title or a name.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || "-.+'".contains(c)));
    words.filter(|word| !word.is_empty())
}

/// Returns the names of a row that a title can have, the format and the algorithms first.
fn names(row: &Row) -> Vec<String> {
    let subject = &row.subject;
    let own = [
        Some(&subject.format),
        subject.alg.as_ref(),
        subject.enc.as_ref(),
    ];
    own.into_iter().flatten().cloned().collect()
}

/// Returns the words of all names of a row.
fn words_of(row: &Row) -> Vec<String> {
    let subject = &row.subject;
    let more = [
        &subject.library,
        &subject.version,
        &subject.key_handling,
        &row.claims.name,
        &row.operation,
    ];
    let more = more.into_iter().chain(&subject.runtime).cloned();
    let names = names(row)
        .into_iter()
        .chain(more)
        .chain([subject.effective_alg()]);
    names
        .flat_map(|name| words(&name).map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// A title says the work of its comparison: the operation, unusual claims and threads, and no algorithm
/// of other subjects.
pub(super) fn of_titles(result: &RunResult) -> Vec<Contradiction> {
    let all: BTreeSet<String> = result.rows.measured.iter().flat_map(names).collect();
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    for verdict in &result.verdicts {
        let title = &verdict.comparison;
        if !seen.insert(title) {
            continue;
        }
        let own = result.verdicts.iter().filter(|v| v.comparison == *title);
        let subjects: BTreeSet<&String> = own.flat_map(|v| [&v.subject, &v.baseline]).collect();
        let rows = result.rows.measured.iter();
        let rows: Vec<&Row> = rows
            .filter(|row| subjects.contains(&row.subject.id))
            .collect();
        let known: BTreeSet<String> = rows.iter().flat_map(|row| words_of(row)).collect();
        let effective = rows.iter().map(|row| row.subject.effective_alg());
        let mut theirs: BTreeSet<String> = rows
            .iter()
            .flat_map(|row| names(row))
            .chain(effective)
            .collect();
        // Ed25519 is also the curve of EdDSA.
        if theirs.contains("EdDSA") {
            theirs.insert("Ed25519".to_owned());
        }
        let mut wrong = |what: String| {
            found.push(Contradiction::new(format!("comparison \"{title}\""), what));
        };
        for word in words(title) {
            let is_number = word.chars().all(|c| c.is_ascii_digit());
            if theirs.contains(word) || is_number {
                continue;
            }
            if all.contains(word) {
                wrong(format!("no subject of it is of {word}"));
            } else if !known.contains(word) && !TITLE_WORDS.split(' ').any(|other| other == word) {
                wrong(format!("\"{word}\" is no word of a title"));
            }
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
