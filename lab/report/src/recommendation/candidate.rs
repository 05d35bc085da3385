//! Candidates: measured subjects with their rows, what one token of each costs, and the fastest of several.

use crate::grouped::grouped;
use jeton_lab_model::claims::{OWN, STANDARD};
use jeton_lab_model::names;
use jeton_lab_model::recommendation::Weight;
use jeton_lab_model::result::{NoiseFloor, Row, Status, Subject, Timing, VerdictKind};
use jeton_lab_stats::groups::groups;
use jeton_lab_stats::interval::estimate;
use jeton_lab_stats::median::median_interval;
use jeton_lab_stats::verdict::{Band, judge};
use jeton_lab_stats::verdicts::band_for;

#[derive(Debug, Clone)]
pub(super) struct Candidate<'a> {
    pub(super) subject: &'a Subject,
    pub(super) token: String,
    /// The time of issuing: `sign` or `encrypt`.
    pub(super) making: Option<&'a Timing>,
    /// The time of verifying: `verify` or `decrypt`.
    pub(super) opening: Option<&'a Timing>,
    pub(super) failed: Option<&'a Row>,
    pub(super) token_bytes: Option<u64>,
}

/// Returns the claims set for the recommendation: the user's own, or the standard set, or the first
/// one.
pub(crate) fn claims_of(rows: &[Row]) -> Option<&str> {
    let has = |name: &&str| rows.iter().any(|row| row.claims.name == *name);
    let first = || rows.first().map(|row| row.claims.name.as_str());
    [OWN, STANDARD].into_iter().find(has).or_else(first)
}

/// The threads of the rows that a recommendation is made of.
pub(super) const THREADS: u32 = 1;

/// Returns every such subject with a prepared key on one thread, except bare primitives and insecure tokens.
pub(super) fn candidates(rows: &[Row], is_it: impl Fn(&Subject) -> bool) -> Vec<Candidate<'_>> {
    let claims = claims_of(rows).unwrap_or_default();
    let is_eligible = |row: &&Row| {
        !row.reference
            && row.threads == THREADS
            && row.claims.name == claims
            && row.subject.key_handling == "prepared"
            && !matches!(row.subject.format.as_str(), "bare" | "none")
            && is_it(&row.subject)
    };
    let eligible = rows.iter().filter(is_eligible);
    let found = grouped(eligible.map(|row| (&row.subject.id, row))).into_iter();
    let found = found.map(|(_, rows)| Candidate::of(&rows));
    // A subject that could not start is missing, not excluded.
    found
        .filter(|c| c.making.or(c.opening).is_some() || c.failed.is_some())
        .collect()
}

impl<'a> Candidate<'a> {
    fn of(rows: &[&'a Row]) -> Self {
        use Status::{Crashed, Disturbed, FailedPreflight, TimedOut};
        let subject = &rows[0].subject;
        let has_failed = |row: &&Row| matches!(row.status, FailedPreflight | Crashed | TimedOut);
        let timed = |operation: &'static str| {
            let own = rows.iter().filter(move |row| row.operation == operation);
            own.filter(|row| matches!(row.status, Status::Ok | Disturbed))
                .filter_map(|row| row.ns_per_op.as_ref())
        };
        Self {
            subject,
            token: names::token(subject),
            making: timed("sign")
                .next_back()
                .or_else(|| timed("encrypt").next()),
            opening: timed("verify")
                .next_back()
                .or_else(|| timed("decrypt").next()),
            failed: rows.iter().copied().find(has_failed),
            token_bytes: rows.iter().filter_map(|row| row.token_bytes).max(),
        }
    }

    /// Returns the values of the weight, with the kind of their noise; `None` if it was not measured.
    pub(super) fn scored(&self, weight: Weight) -> Option<Scored> {
        let rounds = match weight {
            Weight::Verify => self.opening?.rounds.clone(),
            Weight::Sign => self.making?.rounds.clone(),
            Weight::RoundTrip => sum(self.making?.rounds.clone(), &self.opening?.rounds)?,
            Weight::Size => vec![self.token_bytes? as f64],
        };
        let managed = self.subject.is_managed();
        Some(Scored { rounds, managed })
    }
}

/// Adds two values round by round; `None` if they have different rounds.
pub(super) fn sum(mut first: Vec<f64>, second: &[f64]) -> Option<Vec<f64>> {
    let added = first.iter_mut().zip(second);
    added.for_each(|(a, b)| *a += b);
    (first.len() == second.len()).then_some(first)
}

/// A weighted candidate: nanoseconds by round, or bytes once, and whether a managed runtime is involved.
#[derive(Debug, Clone)]
pub(super) struct Scored {
    pub(super) rounds: Vec<f64>,
    pub(super) managed: bool,
}

/// Returns the indices of the best candidates, which cannot be distinguished; empty if they cannot be
/// compared. Times are compared by groups from simultaneous intervals and the noise floor. Sizes are
/// exact.
pub(super) fn first_group(all: &[&Scored], weight: Weight, noise: &NoiseFloor) -> Vec<usize> {
    if weight == Weight::Size {
        let bytes = |index: usize| all[index].rounds.first().copied().unwrap_or(f64::INFINITY);
        let least = (0..all.len()).map(bytes).fold(f64::INFINITY, f64::min);
        return (0..all.len()).filter(|&i| bytes(i) <= least).collect();
    }
    if all.len() == 1 {
        return vec![0];
    }
    let rounds: Vec<&[f64]> = all.iter().map(|one| one.rounds.as_slice()).collect();
    let band = |a: usize, b: usize| band_of(noise, [all[a], all[b]]);
    let groups = groups(&rounds, band).unwrap_or_default();
    (0..groups.len()).filter(|&i| groups[i] == 1).collect()
}

fn band_of(noise: &NoiseFloor, pair: [&Scored; 2]) -> Band {
    band_for(noise, pair.iter().map(|one| one.managed), THREADS)
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

#[derive(Debug, Clone)]
pub(crate) struct Cost<'a> {
    pub(crate) subject: &'a Subject,
    pub(super) token: String,
    pub(super) token_bytes: Option<u64>,
    pub(crate) sign: &'a Timing,
    pub(crate) verify: &'a Timing,
    /// Nanoseconds to sign and verify, by round.
    pub(super) both: Scored,
    pub(crate) median: f64,
    pub(crate) interval: [f64; 2],
}

impl<'a> Cost<'a> {
    pub(super) fn of(candidate: Candidate<'a>) -> Option<Self> {
        if candidate.subject.superseded_by.is_some() {
            return None;
        }
        let both = candidate.scored(Weight::RoundTrip)?;
        let median = median_interval(&both.rounds).ok()?;
        Some(Self {
            subject: candidate.subject,
            token: candidate.token,
            token_bytes: candidate.token_bytes,
            sign: candidate.making?,
            verify: candidate.opening?,
            both,
            median: median.median,
            interval: median.interval,
        })
    }

    pub(super) fn judged(
        &self,
        other: &Self,
        comparisons: usize,
        noise: &NoiseFloor,
    ) -> VerdictKind {
        let (own, others) = (&self.both.rounds, &other.both.rounds);
        judged(own, others, comparisons, self.band(other, noise))
    }

    pub(super) fn band(&self, other: &Self, noise: &NoiseFloor) -> Band {
        band_of(noise, [&self.both, &other.both])
    }

    pub(super) fn library(&self) -> String {
        named(self.subject)
    }

    pub(super) fn alg(&self) -> &'a str {
        self.subject.alg.as_deref().unwrap_or_default()
    }
}

/// Names the library of a subject with its language: `jeton (Rust)`.
pub(super) fn named(subject: &Subject) -> String {
    format!("{} ({})", subject.library, names::language(subject))
}

pub(super) fn fastest<'c, 'a>(costs: &[&'c Cost<'a>], noise: &NoiseFloor) -> Vec<&'c Cost<'a>> {
    let scored: Vec<&Scored> = costs.iter().map(|cost| &cost.both).collect();
    let group = first_group(&scored, Weight::RoundTrip, noise).into_iter();
    let mut group: Vec<_> = group.map(|index| costs[index]).collect();
    group.sort_by(|a, b| a.median.total_cmp(&b.median));
    group
}

pub(super) fn jwts<'c, 'a>(costs: &'c [Cost<'a>], alg: &str) -> Vec<&'c Cost<'a>> {
    let is_it = |cost: &&Cost<'_>| cost.subject.format == "jwt" && cost.alg() == alg;
    costs.iter().filter(is_it).collect()
}
