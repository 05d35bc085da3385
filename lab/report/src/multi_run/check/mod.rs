//! Checks that the figures of a submitted file follow from its rounds.
//!
//! A file contains its rounds, so that everything derived from them can be computed again: medians,
//! intervals, the noise floor, verdicts with their groups, published comparisons, answers and the
//! recommendation. Reading a file checks the ranges; this check computes. It cannot detect rounds that
//! were invented.

mod facts;
mod servers;
mod subjects;

use std::fmt::Display;

use jeton_lab_model::result::{
    AaPair, ClaimAnswered, NoiseFloor, PublishedTable, RunResult, Verdict,
};
use serde::Serialize;
use serde_json::Value;

use super::pooled::{NO_ROUNDS, PairRounds, is_like, objection, recomputed};
use super::runs::Work;
pub(super) use subjects::of_result as contradictions;

/// A part of a file that does not follow from its rounds, or contradicts another part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The row, pair, verdict or other part.
    pub about: String,
    /// The member, what the file says, and what follows from the rounds.
    pub what: String,
}

impl Contradiction {
    fn new(about: impl Into<String>, what: impl Into<String>) -> Self {
        let (about, what) = (about.into(), what.into());
        Self { about, what }
    }
}

/// Computes the figures of a file again, and returns those in the file that do not follow.
#[must_use]
pub fn check(result: &RunResult) -> Vec<Contradiction> {
    let own = recomputed(result);
    let mut found = facts::of_environment(result);
    for (file, own) in result.rows.measured.iter().zip(&own.rows.measured) {
        // The members of a time need no prefix.
        let timing = file.ns_per_op.as_ref().zip(own.ns_per_op.as_ref());
        let timing = timing.and_then(|(file, own)| difference(file, own));
        let what = timing.or_else(|| difference(file, own));
        found.extend(what.map(|what| Contradiction::new(Work::of(file).to_string(), what)));
    }
    found.extend(facts::of_rounds(result));
    found.extend(contradictions(result));
    for (file, own) in result.rows.servers.iter().zip(&own.rows.servers) {
        let what = difference(file, own).or_else(|| servers::of_row(file, &result.environment));
        let about = format!("{}, {}", file.subject.id, file.scenario);
        found.extend(what.map(|what| Contradiction { about, what }));
    }
    found.extend(of_noise(result, &own.noise_floor));
    found.extend(of_verdicts(&result.verdicts, &own.verdicts));
    found.extend(facts::of_titles(result));
    let table = |table: &PublishedTable| format!("published table \"{}\"", table.title);
    found.extend(of_list(&result.published, &own.published, table));
    let answer = |claim: &ClaimAnswered| format!("answer {}", claim.id);
    let (file, answers) = (&result.claims_answered, &own.claims_answered);
    found.extend(of_list(file, answers, answer));
    let what = difference(&result.recommendation, &own.recommendation);
    found.extend(what.map(|what| Contradiction::new("recommendation", what)));
    found
}

fn of_noise(result: &RunResult, own: &NoiseFloor) -> Vec<Contradiction> {
    let file = &result.noise_floor;
    let measured = file.floor.or(file.managed).is_some();
    if own.pairs.is_empty() && measured && file.pairs.iter().all(|p| p.rounds[0].is_empty()) {
        let what = "no A/A pair has rounds that it follows from";
        return vec![Contradiction::new("noise_floor", what)];
    }
    let floors = |noise: &NoiseFloor| NoiseFloor {
        pairs: Vec::new(),
        ..noise.clone()
    };
    let what = difference(&floors(file), &floors(own));
    let mut found = Vec::from_iter(what.map(|what| Contradiction::new("noise_floor", what)));
    let mut left: Vec<&AaPair> = own.pairs.iter().collect();
    let rounds: Vec<&PairRounds> = file.pairs.iter().map(|pair| &pair.rounds).collect();
    for (at, pair) in file.pairs.iter().enumerate() {
        let about = format!("A/A pair {} {}", pair.subject, pair.operation);
        let objection = objection(pair, rounds[at], &result.rows.measured, &rounds[..at]);
        // A subject may have two pairs with different claims; they are in order.
        let what = match (objection, left.iter().position(|own| is_like(own, pair))) {
            (Some(objection), _) => Some(objection.to_owned()),
            (None, None) => Some(NO_ROUNDS.to_owned()),
            (None, Some(at)) => difference(pair, left.remove(at)),
        };
        found.extend(what.map(|what| Contradiction { about, what }));
    }
    found
}

fn of_verdicts(file: &[Verdict], own: &[Verdict]) -> Vec<Contradiction> {
    let is_same = |a: &Verdict, b: &Verdict| {
        (&a.comparison, &a.subject, &a.baseline) == (&b.comparison, &b.subject, &b.baseline)
    };
    let of_file = file.iter().filter_map(|verdict| {
        let what = match own.iter().find(|own| is_same(own, verdict)) {
            None => Some(NO_ROUNDS.to_owned()),
            // Some stored words differ from those for people.
            Some(own) if own.verdict != verdict.verdict => {
                let (file, own) = (verdict.verdict.label(), own.verdict.label());
                Some(says("verdict", file, own))
            }
            Some(own) => difference(verdict, own),
        };
        Some(Contradiction::new(subjects::about_verdict(verdict), what?))
    });
    of_file.collect()
}

fn of_list<T: Serialize>(
    file: &[T],
    own: &[T],
    about: impl Fn(&T) -> String,
) -> Vec<Contradiction> {
    let pairs = (0..file.len().max(own.len())).map(|i| (file.get(i), own.get(i)));
    let found = pairs.filter_map(|(file, own)| {
        let what = match (file, own) {
            (Some(file), Some(own)) => difference(file, own)?,
            (_, None) => "does not follow from the rows".to_owned(),
            (None, _) => "is missing".to_owned(),
        };
        Some(Contradiction::new(about(file.or(own)?), what))
    });
    found.collect()
}

/// A stored and a recomputed figure may differ by the rounding of another compiler's logarithms.
const ROUNDING: f64 = 1e-6;

/// The longest text of a value in a message.
const SHOWN_MAX: usize = 120;

fn difference(file: &impl Serialize, own: &impl Serialize) -> Option<String> {
    // Serialising these types cannot fail: the keys of all maps are strings.
    let file = serde_json::to_value(file).unwrap_or_default();
    let own = serde_json::to_value(own).unwrap_or_default();
    let (member, file, own) = first(&file, &own, "")?;
    let named = match member.as_str() {
        "interval[0]" => "lower end of the interval",
        "interval[1]" => "upper end of the interval",
        "tier" => "group",
        "baseline_tier" => "group of the baseline",
        other => other,
    };
    Some(says(named, shown(file), shown(own)))
}

fn says(member: &str, file: impl Display, own: impl Display) -> String {
    format!("the {member} is {file}; {own} follows from the rounds")
}

/// Reports whether two figures are equal, apart from rounding.
fn close(file: f64, own: f64) -> bool {
    (file - own).abs() <= ROUNDING * own.abs().max(1e-9)
}

type Difference<'v> = (String, Option<&'v Value>, Option<&'v Value>);

fn first<'v>(file: &'v Value, own: &'v Value, at: &str) -> Option<Difference<'v>> {
    let both = |at: String, file: Option<&'v Value>, own: Option<&'v Value>| match (file, own) {
        (Some(a), Some(b)) => first(a, b, &at),
        (a, b) => Some((at, a, b)),
    };
    let is_same = match (file, own) {
        (Value::Object(a), Value::Object(b)) => {
            let more = b.keys().filter(|name| !a.contains_key(*name));
            return a.keys().chain(more).find_map(|name| {
                let at = if at.is_empty() {
                    name.clone()
                } else {
                    format!("{at}.{name}")
                };
                both(at, a.get(name), b.get(name))
            });
        }
        (Value::Array(a), Value::Array(b)) => {
            let mut all = 0..a.len().max(b.len());
            return all.find_map(|i| both(format!("{at}[{i}]"), a.get(i), b.get(i)));
        }
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => close(a, b),
            _ => a == b,
        },
        _ => file == own,
    };
    (!is_same).then(|| (at.to_owned(), Some(file), Some(own)))
}

fn shown(value: Option<&Value>) -> String {
    let text = match value {
        None => return "nothing".to_owned(),
        Some(Value::String(text)) => format!("\"{text}\""),
        Some(value) => value.to_string(),
    };
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
