//! What one token costs: the time to sign and verify it once.

use jeton_lab_model::names;
use jeton_lab_model::recommendation::Requirements;
use jeton_lab_model::result::{NoiseFloor, Row, Timing, VerdictKind};
use jeton_lab_stats::interval::estimate;
use jeton_lab_stats::median::median_interval;
use jeton_lab_stats::verdict::{Band, judge};
use jeton_lab_stats::verdicts::band_for;

use super::attacks::Attacks;
use super::candidate::{Candidate, THREADS, candidates};
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

/// Judges rounds against others; undecided if they cannot be compared.
pub(super) fn judged(
    subject: &[f64],
    baseline: &[f64],
    comparisons: usize,
    band: Band,
) -> VerdictKind {
    let ratio = estimate(subject, baseline, comparisons);
    ratio.map_or(VerdictKind::Undecided, |ratio| judge(&ratio, band))
}

impl Cost<'_> {
    /// Judges the time to sign and verify against another's.
    pub(super) fn judged(
        &self,
        other: &Self,
        comparisons: usize,
        noise: &NoiseFloor,
    ) -> VerdictKind {
        judged(
            &self.rounds,
            &other.rounds,
            comparisons,
            self.band(other, noise),
        )
    }

    /// Returns the noise band of a pair.
    pub(super) fn band(&self, other: &Self, noise: &NoiseFloor) -> Band {
        let kinds = [self, other].map(|cost| cost.candidate.subject.is_managed());
        band_for(noise, kinds.into_iter(), THREADS)
    }

    /// Names the library with its language: `jeton (Rust)`.
    pub(super) fn library(&self) -> String {
        let subject = self.candidate.subject;
        format!("{} ({})", subject.library, names::language(subject))
    }

    /// Returns the rounds, to compare them with others.
    pub(super) fn scored(&self) -> Scored {
        Scored {
            rounds: self.rounds.clone(),
            managed: self.candidate.subject.is_managed(),
        }
    }
}
