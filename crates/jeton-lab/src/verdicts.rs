//! From rounds to what a result says of them: the noise floor, and the verdicts of a comparison.
//!
//! A run judges what it has just measured, and a merge judges rounds of several runs again: both do
//! it here.

use crate::result::{AaPair, NoiseFloor, Verdict};
use crate::stats::groups::groups;
use crate::stats::interval::estimate;
use crate::stats::mann_whitney::p_value;
use crate::stats::noise::{IdenticalPair, floor, judge_each};
use crate::stats::verdict::{Band, judge, more_rounds};

/// One subject measured twice under two names.
#[derive(Debug, Clone)]
pub(crate) struct AaRounds {
    pub(crate) subject: String,
    pub(crate) operation: String,
    /// Whether its language compiles while it runs.
    pub(crate) managed: bool,
    /// The rounds of the first and of the second: as many.
    pub(crate) rounds: [Vec<f64>; 2],
}

/// One subject in a comparison.
#[derive(Debug, Clone)]
pub(crate) struct Entrant {
    pub(crate) id: String,
    /// Whether its language compiles while it runs.
    pub(crate) managed: bool,
    /// What differs between it and the baseline.
    pub(crate) factors: Vec<String>,
    pub(crate) rounds: Vec<f64>,
}

/// Subjects of one contract side by side.
#[derive(Debug, Clone)]
pub(crate) struct ComparisonInput {
    pub(crate) suite: String,
    pub(crate) operation: String,
    /// The name of the claims set: one for all.
    pub(crate) claims: String,
    pub(crate) threads: u32,
    pub(crate) title: String,
    /// The baseline first; its own factors are of no account.
    pub(crate) entrants: Vec<Entrant>,
}

/// What the identical pairs came to. Compiled and managed code have a floor each, as soon as both
/// have two pairs: fewer cannot judge each other.
pub(crate) fn noise_floor(aa_pairs: &[AaRounds]) -> NoiseFloor {
    let (managed, compiled): (Vec<&AaRounds>, Vec<&AaRounds>) =
        aa_pairs.iter().partition(|t| t.managed);
    if managed.len() < 2 || compiled.len() < 2 {
        let all: Vec<&AaRounds> = aa_pairs.iter().collect();
        let (floor, pairs) = of_kind(&all, &[]);
        return NoiseFloor {
            floor,
            managed: None,
            pairs,
        };
    }
    let (floor, mut pairs) = of_kind(&compiled, &managed);
    let (managed, pairs_of_managed) = of_kind(&managed, &compiled);
    pairs.extend(pairs_of_managed);
    NoiseFloor {
        floor,
        managed,
        pairs,
    }
}

/// The floor of these pairs, and each judged by the rest, beside those of the other kind.
fn of_kind(aa_pairs: &[&AaRounds], others: &[&AaRounds]) -> (Option<f64>, Vec<AaPair>) {
    let pairs = identical(aa_pairs);
    let others = identical(others);
    // Too few rounds give no floor.
    let judged = judge_each(&pairs, &others).unwrap_or_default();
    let judged = aa_pairs
        .iter()
        .zip(judged)
        .map(|(aa_pairs, (ratio, verdict))| AaPair {
            subject: aa_pairs.subject.clone(),
            operation: aa_pairs.operation.clone(),
            ratio: ratio.ratio(),
            interval: ratio.interval(),
            verdict,
            rounds: aa_pairs.rounds.clone(),
        });
    (floor(&pairs, &others).ok().flatten(), judged.collect())
}

fn identical<'t>(aa_pairs: &[&'t AaRounds]) -> Vec<IdenticalPair<'t>> {
    let pairs = aa_pairs.iter().map(|aa_pairs| IdenticalPair {
        first: &aa_pairs.rounds[0],
        second: &aa_pairs.rounds[1],
    });
    pairs.collect()
}

/// The floor for subjects of these kinds: that of the noisiest among them.
pub(crate) fn floor_for(
    noise: &NoiseFloor,
    mut managed: impl Iterator<Item = bool>,
) -> Option<f64> {
    let managed = noise.managed.filter(|_| managed.any(|m| m));
    match (noise.floor, managed) {
        (Some(floor), Some(managed)) => Some(floor.max(managed)),
        (floor, managed) => floor.or(managed),
    }
}

/// What a comparison came to for each of its subjects; nothing if its rounds cannot be compared.
pub(crate) fn verdicts(input: &ComparisonInput, noise: &NoiseFloor) -> Vec<Verdict> {
    let all = &input.entrants;
    let rounds: Vec<&[f64]> = all.iter().map(|c| c.rounds.as_slice()).collect();
    // The same band as for the pair's verdict: two of compiled code are not noisier because Node is in
    // their table.
    let band = |a: &Entrant, b: &Entrant| {
        let kinds = [a.managed, b.managed];
        Band::new(floor_for(noise, kinds.into_iter()))
    };
    let of_pair = |a: usize, b: usize| band(&all[a], &all[b]);
    let (Ok(groups), [baseline, others @ ..]) = (groups(&rounds, of_pair), all.as_slice()) else {
        return Vec::new();
    };
    let judged = others
        .iter()
        .zip(&groups[1..])
        .filter_map(|(subject, group)| {
            let ratio = estimate(&subject.rounds, &baseline.rounds, others.len()).ok()?;
            let band = band(baseline, subject);
            Some(Verdict {
                suite: input.suite.clone(),
                operation: input.operation.clone(),
                claims: input.claims.clone(),
                threads: input.threads,
                comparison: input.title.clone(),
                confounded: subject.factors.len() > 1,
                factors: subject.factors.clone(),
                baseline: baseline.id.clone(),
                subject: subject.id.clone(),
                ratio: ratio.ratio(),
                interval: ratio.interval(),
                verdict: judge(&ratio, band),
                group: *group,
                baseline_group: Some(groups[0]),
                more_rounds: more_rounds(&ratio, band),
                p_value: p_value(&subject.rounds, &baseline.rounds),
            })
        });
    judged.collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::result::VerdictKind;

    fn entrant(id: &str, managed: bool, mean: f64) -> Entrant {
        let noise = [0.99, 1.01, 1.0, 1.0, 1.01, 0.99, 1.0, 1.0];
        Entrant {
            id: id.to_owned(),
            managed,
            factors: vec!["library".to_owned()],
            rounds: noise.iter().map(|n| n * mean).collect(),
        }
    }

    /// What stands beside them makes two subjects no noisier: slower is not in the same tier.
    #[test]
    fn a_managed_subject_in_the_table_puts_no_compiled_one_into_a_better_tier() {
        let input = ComparisonInput {
            suite: "libraries".to_owned(),
            operation: "verify".to_owned(),
            claims: "standard".to_owned(),
            threads: 1,
            title: "EdDSA, verify".to_owned(),
            entrants: vec![
                entrant("rust/a", false, 100.0),
                entrant("rust/b", false, 106.0),
                entrant("node/c", true, 106.0),
            ],
        };
        let noise = NoiseFloor {
            floor: Some(0.01),
            managed: Some(0.08),
            pairs: Vec::new(),
        };
        let judged = verdicts(&input, &noise);
        assert_eq!(judged[0].verdict, VerdictKind::Slower);
        assert_eq!((judged[0].group, judged[0].baseline_group), (2, Some(1)));
        assert_ne!(judged[1].verdict, VerdictKind::Slower);
        assert_eq!(judged[1].group, 1, "the benefit of the doubt");
    }
}
