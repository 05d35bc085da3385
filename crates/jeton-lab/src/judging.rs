//! From rounds to what a result says of them: the noise floor, and the verdicts of a comparison.
//!
//! A run judges what it has just measured, and a merge judges rounds of several runs again: both do
//! it here.

use crate::result::{AaPair, NoiseFloor, Verdict};
use crate::stats::interval::estimate;
use crate::stats::mann_whitney::p_value;
use crate::stats::noise::{IdenticalPair, floor, judge_each};
use crate::stats::tiers::tiers;
use crate::stats::verdict::{Band, judge, more_rounds};

/// One subject measured twice under two names.
#[derive(Debug, Clone)]
pub(crate) struct Twins {
    pub(crate) subject: String,
    pub(crate) contract: String,
    /// Whether its language compiles while it runs.
    pub(crate) managed: bool,
    /// The rounds of the first and of the second: as many.
    pub(crate) rounds: [Vec<f64>; 2],
}

/// One subject in a comparison.
#[derive(Debug, Clone)]
pub(crate) struct Contestant {
    pub(crate) id: String,
    /// Whether its language compiles while it runs.
    pub(crate) managed: bool,
    /// What differs between it and the baseline.
    pub(crate) factors: Vec<String>,
    pub(crate) rounds: Vec<f64>,
}

/// Subjects of one contract side by side.
#[derive(Debug, Clone)]
pub(crate) struct Contest {
    pub(crate) suite: String,
    pub(crate) contract: String,
    /// The name of the claims set: one for all.
    pub(crate) claims: String,
    pub(crate) threads: u32,
    pub(crate) title: String,
    /// The baseline first; its own factors are of no account.
    pub(crate) contestants: Vec<Contestant>,
}

/// What the identical pairs came to. Compiled and managed code have a floor each, as soon as both
/// have two pairs: fewer cannot judge each other.
pub(crate) fn noise_floor(twins: &[Twins]) -> NoiseFloor {
    let (managed, compiled): (Vec<&Twins>, Vec<&Twins>) = twins.iter().partition(|t| t.managed);
    if managed.len() < 2 || compiled.len() < 2 {
        let all: Vec<&Twins> = twins.iter().collect();
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
fn of_kind(twins: &[&Twins], others: &[&Twins]) -> (Option<f64>, Vec<AaPair>) {
    let pairs = identical(twins);
    let others = identical(others);
    // Too few rounds give no floor.
    let judged = judge_each(&pairs, &others).unwrap_or_default();
    let judged = twins
        .iter()
        .zip(judged)
        .map(|(twins, (ratio, verdict))| AaPair {
            subject: twins.subject.clone(),
            contract: twins.contract.clone(),
            ratio: ratio.ratio(),
            interval: ratio.interval(),
            verdict,
            rounds: twins.rounds.clone(),
        });
    (floor(&pairs, &others).ok().flatten(), judged.collect())
}

fn identical<'t>(twins: &[&'t Twins]) -> Vec<IdenticalPair<'t>> {
    let pairs = twins.iter().map(|twins| IdenticalPair {
        first: &twins.rounds[0],
        second: &twins.rounds[1],
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
pub(crate) fn verdicts(contest: &Contest, noise: &NoiseFloor) -> Vec<Verdict> {
    let all = &contest.contestants;
    let rounds: Vec<&[f64]> = all.iter().map(|c| c.rounds.as_slice()).collect();
    // The same band as for the pair's verdict: two of compiled code are not noisier because Node is in
    // their table.
    let band = |a: &Contestant, b: &Contestant| {
        let kinds = [a.managed, b.managed];
        Band::new(floor_for(noise, kinds.into_iter()))
    };
    let of_pair = |a: usize, b: usize| band(&all[a], &all[b]);
    let (Ok(tiers), [baseline, others @ ..]) = (tiers(&rounds, of_pair), all.as_slice()) else {
        return Vec::new();
    };
    let judged = others
        .iter()
        .zip(&tiers[1..])
        .filter_map(|(subject, tier)| {
            let ratio = estimate(&subject.rounds, &baseline.rounds, others.len()).ok()?;
            let band = band(baseline, subject);
            Some(Verdict {
                suite: contest.suite.clone(),
                contract: contest.contract.clone(),
                claims: contest.claims.clone(),
                threads: contest.threads,
                comparison: contest.title.clone(),
                confounded: subject.factors.len() > 1,
                factors: subject.factors.clone(),
                baseline: baseline.id.clone(),
                subject: subject.id.clone(),
                ratio: ratio.ratio(),
                interval: ratio.interval(),
                verdict: judge(&ratio, band),
                tier: *tier,
                baseline_tier: Some(tiers[0]),
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
    use crate::result::Judgement;

    fn contestant(id: &str, managed: bool, mean: f64) -> Contestant {
        let noise = [0.99, 1.01, 1.0, 1.0, 1.01, 0.99, 1.0, 1.0];
        Contestant {
            id: id.to_owned(),
            managed,
            factors: vec!["library".to_owned()],
            rounds: noise.iter().map(|n| n * mean).collect(),
        }
    }

    /// What stands beside them makes two subjects no noisier: slower is not in the same tier.
    #[test]
    fn a_managed_subject_in_the_table_puts_no_compiled_one_into_a_better_tier() {
        let contest = Contest {
            suite: "libraries".to_owned(),
            contract: "verify".to_owned(),
            claims: "standard".to_owned(),
            threads: 1,
            title: "EdDSA, verify".to_owned(),
            contestants: vec![
                contestant("rust/a", false, 100.0),
                contestant("rust/b", false, 106.0),
                contestant("node/c", true, 106.0),
            ],
        };
        let noise = NoiseFloor {
            floor: Some(0.01),
            managed: Some(0.08),
            pairs: Vec::new(),
        };
        let judged = verdicts(&contest, &noise);
        assert_eq!(judged[0].verdict, Judgement::Slower);
        assert_eq!((judged[0].tier, judged[0].baseline_tier), (2, Some(1)));
        assert_ne!(judged[1].verdict, Judgement::Slower);
        assert_eq!(judged[1].tier, 1, "the benefit of the doubt");
    }
}
