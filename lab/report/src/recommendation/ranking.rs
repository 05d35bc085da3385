//! The weight of candidates by round, and the fastest group.

use jeton_lab_model::result::{NoiseFloor, Row};
use jeton_lab_stats::groups::groups;
use jeton_lab_stats::verdicts::band_for;

use super::candidate::{Candidate, THREADS};
use jeton_lab_model::recommendation::Weight;

/// Returns the values of the weight by round; `None` for sizes, which have no rounds.
pub(super) fn rounds(candidate: &Candidate<'_>, weight: Weight) -> Option<Vec<f64>> {
    let of = |row: Option<&Row>| Some(row?.ns_per_op.as_ref()?.rounds.clone());
    match weight {
        Weight::Verify => of(candidate.opening),
        Weight::Sign => of(candidate.making),
        Weight::RoundTrip => sum(of(candidate.making)?, &of(candidate.opening)?),
        Weight::Size => None,
    }
}

/// Adds two values round by round; `None` if they have different rounds.
pub(super) fn sum(mut first: Vec<f64>, second: &[f64]) -> Option<Vec<f64>> {
    if first.len() != second.len() {
        return None;
    }
    for (a, b) in first.iter_mut().zip(second) {
        *a += b;
    }
    Some(first)
}

/// A weighted candidate: its values by round, and the kind of its noise.
pub(super) struct Scored {
    /// Nanoseconds by round, or bytes once.
    pub(super) rounds: Vec<f64>,
    /// True if a managed runtime is involved.
    pub(super) managed: bool,
}

/// Returns the indices of the best candidates, which cannot be distinguished; empty if they cannot be
/// compared. Times are compared by groups from simultaneous intervals and the noise floor. Sizes are
/// exact.
pub(super) fn first_group(all: &[Scored], weight: Weight, noise: &NoiseFloor) -> Vec<usize> {
    if weight == Weight::Size {
        let bytes = |w: &Scored| w.rounds.first().copied().unwrap_or(f64::INFINITY);
        let least = all.iter().map(bytes).fold(f64::INFINITY, f64::min);
        return (0..all.len())
            .filter(|&i| bytes(&all[i]) <= least)
            .collect();
    }
    if all.len() == 1 {
        return vec![0];
    }
    let rounds: Vec<&[f64]> = all.iter().map(|w| w.rounds.as_slice()).collect();
    let band = |a: usize, b: usize| {
        let kinds = [all[a].managed, all[b].managed];
        band_for(noise, kinds.into_iter(), THREADS)
    };
    let Ok(groups) = groups(&rounds, band) else {
        return Vec::new();
    };
    (0..all.len()).filter(|&i| groups[i] == 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recommendation::sample::quiet;

    fn weighed(mean: f64) -> Scored {
        let noise = [0.99, 1.01, 1.0, 1.0, 1.01, 0.99, 1.0, 1.0];
        Scored {
            rounds: noise.iter().map(|n| n * mean).collect(),
            managed: false,
        }
    }

    #[test]
    fn first_group_contains_indistinguishable() {
        let all = [weighed(200.0), weighed(100.0), weighed(100.4)];
        let quiet = quiet();
        assert_eq!(first_group(&all, Weight::Verify, &quiet), [1, 2]);
        let noisy = NoiseFloor {
            floor: Some(1.5),
            ..NoiseFloor::default()
        };
        assert_eq!(first_group(&all, Weight::Verify, &noisy), [0, 1, 2]);
    }

    #[test]
    fn sizes_are_exact() {
        let all: Vec<Scored> = [300.0, 299.0, 299.0]
            .map(|bytes| Scored {
                rounds: vec![bytes],
                managed: false,
            })
            .into();
        assert_eq!(
            first_group(&all, Weight::Size, &NoiseFloor::default()),
            [1, 2]
        );
    }

    #[test]
    fn sum_different_rounds_is_none() {
        assert_eq!(sum(vec![1.0, 2.0], &[3.0, 4.0]), Some(vec![4.0, 6.0]));
        assert_eq!(sum(vec![1.0], &[3.0, 4.0]), None);
    }
}
