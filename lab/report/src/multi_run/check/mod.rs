//! Checks that the figures of a submitted file follow from its rounds.
//!
//! A file contains its rounds, so that everything derived from them can be computed again: medians,
//! intervals, the noise floor, verdicts with their groups, published comparisons, answers and the
//! recommendation. Reading a file checks the ranges; this check computes. It cannot detect rounds that
//! were invented.

mod facts;
mod members;
mod servers;
mod subjects;

use jeton_lab_model::result::{Environment, NoiseFloor, Row, RunResult, ServerRow, Verdict};
use serde::Serialize;

use super::aa_pairs::{PairRounds, objection};
use super::contradiction::Contradiction;
use super::recompute::recomputed;
use super::same::Work;
pub(super) use subjects::of_result as contradictions;

use members::{close, difference, says};

/// What a check computed again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checked {
    /// The number of timed rows and loads of servers.
    pub rows: usize,
    /// The number of A/A pairs.
    pub pairs: usize,
    /// The number of verdicts.
    pub verdicts: usize,
    /// The number of published figures beside measured ones.
    pub published: usize,
    /// The number of answered conclusions.
    pub answers: usize,
    /// The number of recommendations: 0 or 1.
    pub recommendations: usize,
    /// The figures that do not follow.
    pub contradictions: Vec<Contradiction>,
}

/// Computes the figures of a file again, and compares them with those in the file.
#[must_use]
pub fn check(result: &RunResult) -> Checked {
    let own = recomputed(result);
    let mut found = facts::of_environment(result);
    let rows = result.rows.measured.iter().zip(&own.rows.measured);
    found.extend(rows.filter_map(|(file, own)| of_row(file, own)));
    found.extend(facts::of_rounds(result));
    found.extend(contradictions(result));
    let rows = result.rows.servers.iter().zip(&own.rows.servers);
    found.extend(rows.filter_map(|(file, own)| of_server(file, own, &result.environment)));
    found.extend(of_noise(result, &own.noise_floor));
    found.extend(of_verdicts(&result.verdicts, &own.verdicts));
    found.extend(facts::of_titles(result));
    found.extend(of_list(&result.published, &own.published, |table| {
        format!("published table \"{}\"", table.title)
    }));
    found.extend(of_list(
        &result.claims_answered,
        &own.claims_answered,
        |claim| format!("answer {}", claim.id),
    ));
    let what = difference(&result.recommendation, &own.recommendation);
    found.extend(what.map(|what| Contradiction::new("recommendation", what)));
    let timed = result.rows.measured.iter();
    let timed = timed.filter(|row| row.ns_per_op.is_some()).count();
    let loaded = result.rows.servers.iter().filter(|row| row.load.is_some());
    let published = result.published.iter().flat_map(|table| &table.rows);
    Checked {
        rows: timed + loaded.count(),
        pairs: result.noise_floor.pairs.len(),
        verdicts: result.verdicts.len(),
        published: published.map(|row| row.figures.len()).sum(),
        answers: result.claims_answered.len(),
        recommendations: usize::from(result.recommendation.is_some()),
        contradictions: found,
    }
}

fn of_row(file: &Row, own: &Row) -> Option<Contradiction> {
    let timing = file.ns_per_op.as_ref().zip(own.ns_per_op.as_ref());
    // The members of a time need no prefix.
    let what = timing
        .and_then(|(file, own)| difference(file, own))
        .or_else(|| difference(file, own))?;
    Some(Contradiction::new(Work::of(file).to_string(), what))
}

fn of_server(
    file: &ServerRow,
    own: &ServerRow,
    environment: &Environment,
) -> Option<Contradiction> {
    let about = || format!("{}, {}", file.subject.id, file.scenario);
    let what = difference(file, own).or_else(|| servers::of_row(file, environment))?;
    Some(Contradiction::new(about(), what))
}

fn of_noise(result: &RunResult, own: &NoiseFloor) -> Vec<Contradiction> {
    let file = &result.noise_floor;
    let mut found = Vec::new();
    let measured = file.floor.or(file.managed).is_some();
    if own.pairs.is_empty() && measured && file.pairs.iter().all(|p| p.rounds[0].is_empty()) {
        let what = "no A/A pair has rounds that it follows from";
        return vec![Contradiction::new("noise_floor", what)];
    }
    for (name, file, own) in [
        ("floor", file.floor, own.floor),
        ("managed", file.managed, own.managed),
    ] {
        let same = match (file, own) {
            (Some(file), Some(own)) => close(file, own),
            (file, own) => file == own,
        };
        if !same {
            let what = says(name, known(file), known(own));
            found.push(Contradiction::new("noise_floor", what));
        }
    }
    if let Some(what) = difference(&file.threads, &own.threads) {
        found.push(Contradiction::new("noise_floor.threads", what));
    }
    let mut left: Vec<_> = own.pairs.iter().collect();
    let rounds: Vec<&PairRounds> = file.pairs.iter().map(|pair| &pair.rounds).collect();
    for (at, pair) in file.pairs.iter().enumerate() {
        let about = format!("A/A pair {} {}", pair.subject, pair.operation);
        // A subject may have two pairs with different claims; they are in order.
        let same = |own: &&jeton_lab_model::result::AaPair| {
            (&own.subject, &own.operation, own.threads)
                == (&pair.subject, &pair.operation, pair.threads)
        };
        let objection = objection(pair, rounds[at], &result.rows.measured, &rounds[..at]);
        let what = match (objection, left.iter().position(same)) {
            (Some(objection), _) => Some(objection.to_owned()),
            (None, None) => Some("has no rounds that it follows from".to_owned()),
            (None, Some(at)) => difference(pair, left.remove(at)),
        };
        found.extend(what.map(|what| Contradiction::new(about, what)));
    }
    found
}

fn of_verdicts(file: &[Verdict], own: &[Verdict]) -> Vec<Contradiction> {
    let of_file = file.iter().filter_map(|verdict| {
        let counterpart = own.iter().find(|own| {
            (&own.comparison, &own.subject, &own.baseline)
                == (&verdict.comparison, &verdict.subject, &verdict.baseline)
        });
        let what = match counterpart {
            None => Some("has no rounds that it follows from".to_owned()),
            Some(own) => of_verdict(verdict, own),
        };
        let about = format!("verdict on {}, {}", verdict.subject, verdict.comparison);
        what.map(|what| Contradiction::new(about, what))
    });
    of_file.collect()
}

fn of_verdict(file: &Verdict, own: &Verdict) -> Option<String> {
    if file.verdict != own.verdict {
        // Some stored words differ from those for people.
        return Some(says("verdict", file.verdict.label(), own.verdict.label()));
    }
    difference(file, own)
}

/// Compares two lists of parts with names.
fn of_list<T: Serialize>(
    file: &[T],
    own: &[T],
    about: impl Fn(&T) -> String,
) -> Vec<Contradiction> {
    let mut found = Vec::new();
    for i in 0..file.len().max(own.len()) {
        let (name, what) = match (file.get(i), own.get(i)) {
            (Some(file), Some(own)) => (about(file), difference(file, own)),
            (Some(file), None) => (
                about(file),
                Some("does not follow from the rows".to_owned()),
            ),
            (None, Some(own)) => (about(own), Some("is missing".to_owned())),
            (None, None) => continue,
        };
        found.extend(what.map(|what| Contradiction::new(name, what)));
    }
    found
}

fn known(value: Option<f64>) -> String {
    value.map_or_else(|| "null".to_owned(), |value| value.to_string())
}
