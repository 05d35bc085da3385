//! The libraries of one language and kind of token, each compared with the first.

use jeton_lab_model::names;
use jeton_lab_model::recommendation::LANGUAGES;
use jeton_lab_model::result::{
    AttackOutcome, NoiseFloor, Practice, RunResult, Subject, VerdictKind,
};
use jeton_lab_stats::interval::{Ratio, estimate};
use jeton_lab_stats::verdict::{Band, judge};

use super::candidate::{Cost, candidates};
use super::properties::is_cache;
use super::sure::{Clear, clear};

/// A library that makes and opens a kind of token.
#[derive(Debug, Clone)]
pub(crate) struct Library<'a> {
    pub(crate) cost: Cost<'a>,
    /// The name, with what distinguishes it in its language.
    pub(crate) name: String,
    /// Called as documented, it accepts a token that must be rejected, or fails.
    pub(crate) has_findings: bool,
    pub(crate) against_first: Option<Against>,
}

/// The time of a library as a multiple of that of the first one.
#[derive(Debug, Clone)]
pub(crate) struct Against {
    pub(crate) ratio: Ratio,
    pub(crate) verdict: VerdictKind,
    band: Band,
}

impl Against {
    pub(crate) fn clear(&self) -> Clear {
        clear(self.verdict, self.ratio.interval(), self.band)
    }
}

impl Library<'_> {
    pub(crate) fn verdict(&self) -> VerdictKind {
        let against = self.against_first.as_ref();
        against.map_or(VerdictKind::Undecided, |against| against.verdict)
    }
}

/// Returns the number of comparisons among the libraries of a language: all pairs, because the fastest one is not known
/// in advance. Every place that says who is faster uses it, so that they agree.
pub(super) fn comparisons_among(libraries: usize) -> usize {
    libraries * libraries.saturating_sub(1) / 2
}

/// Compares each library with the first one.
pub(super) fn compare_with_first(all: &mut [Library<'_>], noise: &NoiseFloor) {
    let comparisons = comparisons_among(all.len());
    if let Some((first, others)) = all.split_first_mut() {
        for other in others {
            let ratio = estimate(
                &other.cost.both.rounds,
                &first.cost.both.rounds,
                comparisons,
            );
            let band = other.cost.band(&first.cost, noise);
            other.against_first = ratio.ok().map(|ratio| Against {
                verdict: judge(&ratio, band),
                ratio,
                band,
            });
        }
    }
}

/// What is done with a kind of token.
pub(crate) fn verbs(token: &str) -> [&'static str; 2] {
    if token.starts_with("JWE") || token.ends_with(".local") {
        ["encrypt", "decrypt"]
    } else {
        ["sign", "verify"]
    }
}

/// Returns the languages of the measured libraries.
pub(crate) fn languages(result: &RunResult) -> Vec<&'static str> {
    let is_it = |subject: &Subject| !is_cache(subject.driver()) && subject.superseded_by.is_none();
    let mut timed = candidates(&result.rows.measured, is_it);
    timed.retain(|one| one.making.or(one.opening).is_some());
    let has_time = |language: &&str| timed.iter().any(|one| one.subject.language == *language);
    LANGUAGES.into_iter().filter(has_time).collect()
}

/// Returns the libraries of a language that make and open this kind of token, the fastest first. Those with findings
/// follow.
pub(crate) fn ranking<'a>(result: &'a RunResult, language: &str, token: &str) -> Vec<Library<'a>> {
    let is_it = |subject: &Subject| {
        subject.language == language
            && !is_cache(subject.driver())
            && names::token(subject) == token
    };
    let costs = candidates(&result.rows.measured, is_it).into_iter();
    let costs = costs.filter_map(Cost::of);
    let mut found: Vec<Library<'a>> = costs
        .map(|cost| Library {
            name: match cost.subject.own_runtime() {
                Some(runtime) => format!("{} on {runtime}", cost.subject.library),
                None => cost.subject.library.clone(),
            },
            has_findings: result.rows.attack.iter().any(|row| {
                row.subject.driver == cost.subject.driver()
                    && row.practice == Practice::Documented
                    && row.outcome.is_some_and(AttackOutcome::counts_against)
            }),
            cost,
            against_first: None,
        })
        .collect();
    found.sort_by(|a, b| {
        let order = a.has_findings.cmp(&b.has_findings);
        order.then(a.cost.median.total_cmp(&b.cost.median))
    });
    compare_with_first(&mut found, &result.noise_floor);
    found
}
