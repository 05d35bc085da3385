//! Facts of a file that contradict others, and are not computed from rounds alone: disturbances, counts
//! and titles.

use std::collections::BTreeSet;

use jeton_lab_harness::host;
use jeton_lab_model::claims::STANDARD;
use jeton_lab_model::result::{Row, RunResult, Status};

use super::Contradiction;
use crate::multi_run::same::Work;

/// The reasons of a disturbed run that state a figure must be those of the figures.
pub(super) fn of_environment(result: &RunResult) -> Vec<Contradiction> {
    let disturbance = &result.environment.disturbance;
    // A merged result has mean figures, and the reasons of each run.
    let merged = !result.runs.is_empty();
    let mut figures = disturbance.clone();
    if merged {
        // Its reason depends on a second figure, so that a mean can have it and no run.
        figures.pressure = None;
    }
    let own = host::reasons_of_figures(&figures);
    let mut found = Vec::new();
    let mut add = |what: String| found.push(Contradiction::new("environment.taint.reasons", what));
    let reasons = &disturbance.reasons;
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

/// The words of titles that are no names of formats, algorithms, libraries or claims.
const TITLE_WORDS: [&str; 29] = [
    "1's",
    "2's",
    "3's",
    "4's",
    "JWE",
    "JWT",
    "Keys",
    "algorithms",
    "and",
    "back",
    "bits",
    "both",
    "claims",
    "encryptions",
    "from",
    "handling",
    "in",
    "key's",
    "of",
    "on",
    "or",
    "pair",
    "report",
    "signatures",
    "the",
    "there",
    "threads",
    "weak",
    "with",
];

/// Returns the words of a title or a name.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || "-.+'".contains(c)));
    words.filter(|word| !word.is_empty())
}

/// Returns the words of the names that a title can have: those of its rows.
fn words_of<'r>(rows: impl Iterator<Item = &'r Row>) -> BTreeSet<String> {
    let names = rows.flat_map(|row| {
        let subject = &row.subject;
        let known = [
            &subject.library,
            &subject.version,
            &subject.format,
            &subject.key_handling,
            &row.claims.name,
            &row.operation,
        ];
        let optional = [&subject.alg, &subject.enc, &subject.runtime];
        let names = known.into_iter().chain(optional.into_iter().flatten());
        names.cloned().chain([subject.effective_alg()])
    });
    let words = names.flat_map(|name| words(&name).map(str::to_owned).collect::<Vec<_>>());
    words.collect()
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
        let rows: Vec<&Row> =
            (rows.filter(|row| subjects.contains(row.subject.id.as_str()))).collect();
        let known = words_of(rows.iter().copied());
        let rows = rows.into_iter();
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
        for word in words(title) {
            let is_number = word.chars().all(|c| c.is_ascii_digit());
            if theirs.contains(word) || is_number {
                continue;
            }
            if all.contains(word) {
                wrong(format!("no subject of it is of {word}"));
            } else if !known.contains(word) && !TITLE_WORDS.contains(&word) {
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
