//! Computes the noise floor and the verdicts of comparisons from rounds, for runs and for merged
//! results.

use crate::groups::groups;
use crate::interval::estimate;
use crate::mann_whitney::p_value;
use crate::noise::{IdenticalPair, floor, judge_each};
use crate::verdict::{Band, judge, more_rounds};
use jeton_lab_model::result::{AaPair, NoiseFloor, ThreadsFloor, Verdict};

/// The rounds of an A/A pair: one subject measured twice.
#[derive(Debug, Clone)]
pub struct AaRounds {
    /// The subject's id.
    pub subject: String,
    /// The operation.
    pub operation: String,
    /// The threads.
    pub threads: u32,
    /// True if the language compiles at run time.
    pub managed: bool,
    /// The rounds of the first and of the second measurement, of equal length.
    pub rounds: [Vec<f64>; 2],
}

/// One subject of a comparison.
#[derive(Debug, Clone)]
pub struct Entrant {
    /// The subject's id.
    pub id: String,
    /// True if the language compiles at run time.
    pub managed: bool,
    /// The factors that differ from the baseline.
    pub factors: Vec<String>,
    /// The rounds.
    pub rounds: Vec<f64>,
}

/// The input of a comparison: subjects with the same operation.
#[derive(Debug, Clone)]
pub struct ComparisonInput {
    /// The suite.
    pub suite: String,
    /// The operation.
    pub operation: String,
    /// The name of the claims set.
    pub claims: String,
    /// The threads.
    pub threads: u32,
    /// The title, unique in a result.
    pub title: String,
    /// The baseline first; its own factors are ignored.
    pub entrants: Vec<Entrant>,
}

/// Computes the noise floor from the A/A pairs with the fewest threads, and a floor for each larger
/// number of threads from its own pairs. Threads that share cores with each other are far noisier than
/// one thread.
pub fn noise_floor(aa_pairs: &[AaRounds]) -> NoiseFloor {
    let mut counts: Vec<u32> = aa_pairs.iter().map(|pair| pair.threads).collect();
    counts.sort_unstable();
    counts.dedup();
    let with = |threads: u32| aa_pairs.iter().filter(move |pair| pair.threads == threads);
    let Some((&fewest, more)) = counts.split_first() else {
        return NoiseFloor::default();
    };
    let mut noise = of_fewest(&with(fewest).collect::<Vec<_>>());
    for &threads in more {
        let (floor, pairs) = of_kind(&with(threads).collect::<Vec<_>>(), &[]);
        let floor = floor.map(|floor| ThreadsFloor { threads, floor });
        noise.threads.extend(floor);
        noise.pairs.extend(pairs);
    }
    noise
}

/// Compiled and managed code each have a floor if both have at least two pairs: with one pair there is
/// no other to judge it by.
fn of_fewest(aa_pairs: &[&AaRounds]) -> NoiseFloor {
    let (managed, compiled): (Vec<&AaRounds>, Vec<&AaRounds>) =
        aa_pairs.iter().partition(|pair| pair.managed);
    if managed.len() < 2 || compiled.len() < 2 {
        let (floor, pairs) = of_kind(aa_pairs, &[]);
        return NoiseFloor {
            floor,
            pairs,
            ..NoiseFloor::default()
        };
    }
    let (floor, mut pairs) = of_kind(&compiled, &managed);
    let (managed, pairs_of_managed) = of_kind(&managed, &compiled);
    pairs.extend(pairs_of_managed);
    NoiseFloor {
        floor,
        managed,
        threads: Vec::new(),
        pairs,
    }
}

/// Computes the floor of these pairs, and judges each pair by the others and by those of the other
/// kind.
fn of_kind(aa_pairs: &[&AaRounds], others: &[&AaRounds]) -> (Option<f64>, Vec<AaPair>) {
    let pairs = identical(aa_pairs);
    let others = identical(others);
    // With too few rounds there is no floor.
    let judged = judge_each(&pairs, &others).unwrap_or_default();
    let judged = aa_pairs
        .iter()
        .zip(judged)
        .map(|(aa_pairs, (ratio, verdict))| AaPair {
            subject: aa_pairs.subject.clone(),
            operation: aa_pairs.operation.clone(),
            threads: aa_pairs.threads,
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

/// Returns the noise band of subjects of these kinds, on this number of threads. Without an A/A pair on as
/// many threads the noise is not known, and every verdict is undecided.
pub fn band_for(noise: &NoiseFloor, managed: impl Iterator<Item = bool>, threads: u32) -> Band {
    let floor = floor_for(noise, managed);
    if threads == noise.fewest_threads() {
        return Band::new(floor);
    }
    let own = noise.threads.iter().find(|own| own.threads == threads);
    own.map_or_else(Band::unknown, |own| {
        Band::new(Some(floor.map_or(own.floor, |floor| floor.max(own.floor))))
    })
}

/// Returns the floor for subjects of these kinds: that of the noisiest.
fn floor_for(noise: &NoiseFloor, mut managed: impl Iterator<Item = bool>) -> Option<f64> {
    let managed = noise.managed.filter(|_| managed.any(|m| m));
    match (noise.floor, managed) {
        (Some(floor), Some(managed)) => Some(floor.max(managed)),
        (floor, managed) => floor.or(managed),
    }
}

/// Computes the verdict of each subject; empty if the rounds cannot be compared.
pub fn verdicts(input: &ComparisonInput, noise: &NoiseFloor) -> Vec<Verdict> {
    let all = &input.entrants;
    let rounds: Vec<&[f64]> = all.iter().map(|c| c.rounds.as_slice()).collect();
    // The band depends on the pair only: a managed subject in the table must not widen the band of two
    // compiled ones.
    let band = |a: &Entrant, b: &Entrant| {
        let kinds = [a.managed, b.managed];
        band_for(noise, kinds.into_iter(), input.threads)
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
    use jeton_lab_model::result::VerdictKind;

    fn entrant(id: &str, managed: bool, mean: f64) -> Entrant {
        let noise = [0.99, 1.01, 1.0, 1.0, 1.01, 0.99, 1.0, 1.0];
        Entrant {
            id: id.to_owned(),
            managed,
            factors: vec!["library".to_owned()],
            rounds: noise.iter().map(|n| n * mean).collect(),
        }
    }

    /// A noisy subject in the table must not widen the band of two quiet ones.
    #[test]
    fn verdicts_managed_subject_does_not_widen_compiled_band() {
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
            ..NoiseFloor::default()
        };
        let judged = verdicts(&input, &noise);
        assert_eq!(judged[0].verdict, VerdictKind::Slower);
        assert_eq!((judged[0].group, judged[0].baseline_group), (2, Some(1)));
        assert_ne!(judged[1].verdict, VerdictKind::Slower);
        assert_eq!(judged[1].group, 1, "not slower beyond its own band");
    }

    fn pair(threads: u32, managed: bool, shift: f64) -> AaRounds {
        let rounds = |mean: f64| entrant("a", managed, mean).rounds;
        AaRounds {
            subject: "rust/a".to_owned(),
            operation: "sign".to_owned(),
            threads,
            managed,
            rounds: [rounds(100.0), rounds(100.0 * shift)],
        }
    }

    #[test]
    fn noise_floor_has_one_for_each_number_of_threads() {
        let quiet = [pair(1, false, 1.001), pair(1, false, 0.999)];
        let noisy = [pair(2, false, 1.1), pair(2, false, 0.95)];
        let noise = noise_floor(&[quiet.to_vec(), noisy.to_vec()].concat());
        assert_eq!(noise.floor, noise_floor(&quiet).floor);
        let [of_two] = noise.threads.as_slice() else {
            unreachable!("{:?}", noise.threads)
        };
        assert_eq!(of_two.threads, 2);
        assert!(of_two.floor > 0.1, "{}", of_two.floor);
        assert_eq!(noise.pairs.len(), 4);
        let threads = noise.pairs.iter().filter(|pair| pair.threads == 2);
        assert_eq!(threads.count(), 2);
        // If every pair has two threads, the floor is theirs.
        let alone = noise_floor(&noisy);
        assert_eq!(alone.floor, Some(of_two.floor));
        assert!(alone.threads.is_empty());
        assert_eq!(
            band_for(&alone, std::iter::empty(), 2),
            Band::new(alone.floor)
        );
    }

    #[test]
    fn verdict_on_threads_needs_a_pair_on_as_many() {
        let input = |threads| ComparisonInput {
            suite: "formats".to_owned(),
            operation: "sign".to_owned(),
            claims: "standard".to_owned(),
            threads,
            title: "JWT or v4.public".to_owned(),
            entrants: vec![
                entrant("rust/a", false, 100.0),
                entrant("rust/b", false, 150.0),
                entrant("rust/c", false, 100.1),
            ],
        };
        let kinds = |threads, noise: &NoiseFloor| -> Vec<VerdictKind> {
            let judged = verdicts(&input(threads), noise);
            judged.iter().map(|verdict| verdict.verdict).collect()
        };
        use VerdictKind::{Equivalent, Slower, Undecided};
        let quiet = [pair(1, false, 1.001), pair(1, false, 0.999)];
        let noise = noise_floor(&quiet);
        assert_eq!(kinds(1, &noise), [Slower, Equivalent]);
        assert_eq!(kinds(2, &noise), [Undecided, Undecided]);
        let unknown = verdicts(&input(2), &noise);
        assert!(
            unknown
                .iter()
                .all(|v| (v.group, v.baseline_group) == (1, Some(1)))
        );
        let both = [
            quiet.to_vec(),
            vec![pair(2, false, 1.01), pair(2, false, 0.99)],
        ]
        .concat();
        let noise = noise_floor(&both);
        assert_eq!(kinds(2, &noise)[0], Slower);
        assert_eq!(kinds(4, &noise), [Undecided, Undecided]);
        // The noisiest kind counts.
        let wide = NoiseFloor {
            managed: Some(0.8),
            ..noise
        };
        let band = band_for(&wide, std::iter::once(true), 2);
        assert!((band.believed_beyond() - 0.8).abs() < 1e-9);
    }
}
