//! Groups: subjects that cannot be distinguished from the fastest of the group.
//!
//! The fastest subject (by geometric mean) leads group 1. All subjects that are not *slower* than it,
//! by the rule of [`verdict`](super::verdict), are in group 1. The fastest of the others leads group 2,
//! and so on. Inside a group there is no order.
//!
//! Each pair has its own noise band: a noisy subject in the table does not widen the band of two quiet
//! ones.
//!
//! The leaders are not known in advance, so the intervals correct for *all* n(n−1)/2 pairs. They are
//! wider than those of the n−1 verdicts against the baseline. A subject may therefore be faster than
//! the baseline and share its group; the group is the more careful statement.
//!
//! Different groups are a statement about the leader, not about every pair: a noisy subject may be
//! indistinguishable both from the leader of group 1 and from members of group 2. It then gets the
//! better group.

use super::StatsError;
use super::interval::Family;
use super::verdict::{Band, judge};
use jeton_lab_model::result::VerdictKind;

/// Returns the group of each subject, in the given order; 1 is the fastest. `band` returns the noise
/// band of two subjects.
///
/// # Errors
/// If two subjects' rounds cannot be compared.
pub fn groups(
    subjects: &[&[f64]],
    band: impl Fn(usize, usize) -> Band,
) -> Result<Vec<u32>, StatsError> {
    let pairs = subjects.len() * subjects.len().saturating_sub(1) / 2;
    let rounds = subjects.first().map_or(0, |rounds| rounds.len());
    let family = Family::new(rounds, pairs);
    let mut groups = vec![0; subjects.len()];
    let mut waiting = by_speed(subjects)?;
    let mut group = 0;
    while let Some(&leader) = waiting.first() {
        group += 1;
        groups[leader] = group;
        let mut slower = Vec::with_capacity(waiting.len());
        for &subject in &waiting[1..] {
            let ratio = family.estimate(subjects[subject], subjects[leader])?;
            if judge(&ratio, band(subject, leader)) == VerdictKind::Slower {
                slower.push(subject);
            } else {
                groups[subject] = group;
            }
        }
        waiting = slower;
    }
    Ok(groups)
}

/// Returns the indices from the fastest to the slowest, by geometric mean; equal values keep their
/// order.
fn by_speed(subjects: &[&[f64]]) -> Result<Vec<usize>, StatsError> {
    let mut means = Vec::with_capacity(subjects.len());
    for (index, rounds) in subjects.iter().enumerate() {
        super::error::check_times(rounds, super::interval::MIN_ROUNDS)?;
        let log_mean = rounds.iter().map(|time| time.ln()).sum::<f64>() / rounds.len() as f64;
        means.push((log_mean, index));
    }
    means.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    Ok(means.into_iter().map(|(_, index)| index).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn rounds(mean: f64) -> [f64; 8] {
        [0.99, 1.01, 1.0, 1.0, 1.01, 0.99, 1.0, 1.0].map(|noise| noise * mean)
    }

    /// One band for all pairs.
    fn every(floor: Option<f64>) -> impl Fn(usize, usize) -> Band {
        move |_, _| Band::new(floor)
    }

    /// Noisy enough to cover everything from half to double.
    const NOISY: [f64; 8] = [50.0, 240.0, 60.0, 200.0, 55.0, 220.0, 70.0, 230.0];

    #[test]
    fn groups_fastest_lead() {
        let (a, b, c, d) = (rounds(300.0), rounds(100.0), rounds(100.5), rounds(200.0));
        assert_eq!(
            groups(&[&a, &b, &c, &d], every(Some(0.0))).unwrap(),
            [3, 1, 1, 2]
        );
    }

    #[test]
    fn groups_chain_splits_at_difference_to_leader() {
        let steps: Vec<[f64; 8]> = [100.0, 101.5, 103.0, 104.5]
            .iter()
            .map(|&mean| rounds(mean))
            .collect();
        let subjects: Vec<&[f64]> = steps.iter().map(|s| s.as_slice()).collect();
        assert_eq!(groups(&subjects, every(Some(0.0))).unwrap(), [1, 1, 2, 2]);
    }

    #[test]
    fn groups_noise_floor_joins_subjects() {
        let (a, b) = (rounds(100.0), rounds(104.0));
        assert_eq!(groups(&[&a, &b], every(Some(0.01))).unwrap(), [1, 2]);
        assert_eq!(groups(&[&a, &b], every(Some(0.05))).unwrap(), [1, 1]);
    }

    #[test]
    fn groups_use_band_of_each_pair() {
        let (a, b, c) = (rounds(100.0), rounds(104.0), rounds(104.0));
        let of_the_third = |one: usize, other: usize| {
            Band::new(Some(if one.max(other) == 2 { 0.05 } else { 0.01 }))
        };
        assert_eq!(groups(&[&a, &b, &c], of_the_third).unwrap(), [1, 2, 1]);
    }

    #[test]
    fn groups_correct_for_all_pairs() {
        // 4 % slower at t = 3: enough for one pair (2.4), too little for one of 21 (4.4).
        let (a, slow) = ([100.0; 8], [300.0; 8]);
        let b = [1, -1, 1, -1, 1, -1, 1, -1].map(|sign| 104.0 * (0.0353 * f64::from(sign)).exp());
        assert_eq!(groups(&[&a, &b], every(Some(0.0))).unwrap(), [1, 2]);
        let crowd: [&[f64]; 7] = [&a, &b, &slow, &slow, &slow, &slow, &slow];
        assert_eq!(
            groups(&crowd, every(Some(0.0))).unwrap(),
            [1, 1, 2, 2, 2, 2, 2]
        );
    }

    #[test]
    fn groups_noisy_subject_gets_better_group() {
        let (a, b) = (rounds(100.0), rounds(106.0));
        assert_eq!(
            groups(&[&a, &b, &NOISY], every(Some(0.0))).unwrap(),
            [1, 2, 1]
        );
    }

    #[test]
    fn groups_of_one_and_of_none() {
        assert_eq!(groups(&[&rounds(5.0)], every(Some(0.0))).unwrap(), [1]);
        assert!(groups(&[], every(Some(0.0))).unwrap().is_empty());
        assert!(groups(&[&[1.0]], every(Some(0.0))).is_err());
    }
}
