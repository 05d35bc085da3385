//! What one token costs: the time to sign and verify it once.

use jeton_lab_model::recommendation::Requirements;
use jeton_lab_model::result::{Row, Timing};
use jeton_lab_stats::median::median_interval;

use super::attacks::Attacks;
use super::candidate::{Candidate, candidates};
use super::ranking::{Scored, sum};
use super::rules::refusal;

/// A subject with the time to sign and verify one token.
#[derive(Debug, Clone)]
pub(super) struct Cost<'a> {
    pub(super) candidate: Candidate<'a>,
    pub(super) sign: &'a Timing,
    pub(super) verify: &'a Timing,
    /// Nanoseconds to sign and verify, by round.
    pub(super) rounds: Vec<f64>,
    pub(super) median: f64,
    pub(super) interval: [f64; 2],
}

/// Returns the cost of every subject that the rules do not exclude.
pub(super) fn costs<'a>(
    rows: &'a [Row],
    requirements: &Requirements,
    attacks: &Attacks,
) -> Vec<Cost<'a>> {
    let all = candidates(rows).into_iter();
    let usable = all.filter(|c| refusal(c, requirements, attacks).is_none());
    usable.filter_map(cost).collect()
}

fn cost(candidate: Candidate<'_>) -> Option<Cost<'_>> {
    if candidate.subject.superseded_by.is_some() {
        return None;
    }
    let sign = candidate.making?.ns_per_op.as_ref()?;
    let verify = candidate.opening?.ns_per_op.as_ref()?;
    let rounds = sum(sign.rounds.clone(), &verify.rounds)?;
    let median = median_interval(&rounds).ok()?;
    Some(Cost {
        sign,
        verify,
        median: median.median,
        interval: median.interval,
        rounds,
        candidate,
    })
}

impl Cost<'_> {
    /// Returns the rounds, to compare them with others.
    pub(super) fn scored(&self) -> Scored {
        Scored {
            rounds: self.rounds.clone(),
            managed: self.candidate.subject.is_managed(),
        }
    }
}
