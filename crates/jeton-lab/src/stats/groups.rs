//! Groups: who cannot be told apart from the fastest shares its place.
//!
//! The fastest subject (by geometric mean) leads tier 1, and everybody who is not *slower* than
//! it by the rule of [`verdict`](super::verdict) is in tier 1 with it. The fastest of the rest
//! leads tier 2, and so on. Within a tier there is no order.
//!
//! What is not believed between two subjects is that pair's own: a table with a noisy kind of subject in
//! it tells two quiet ones apart as well as their verdicts do.
//!
//! Leaders are chosen after the fact, so the intervals allow for *all* n(n−1)/2 pairs: they are
//! wider than those of the n−1 verdicts against the baseline. A subject may hence be faster than
//! the baseline and share its tier; the tier is the more careful statement.
//!
//! Being in different tiers is a statement about the leader, not about every pair: a noisy
//! subject can be told apart neither from tier 1's leader nor from some members of tier 2. It
//! has the benefit of the doubt, and the better tier.

use super::StatsError;
use super::interval::Family;
use super::verdict::{Band, judge};
use crate::result::VerdictKind;

/// The tier of each subject, in the order given; 1 is the fastest. `band` is what is not believed between
/// two of them.
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

/// Indices from the fastest to the slowest, by geometric mean; the first of equals first.
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

    /// As noisy as to cover everything from half to double.
    const NOISY: [f64; 8] = [50.0, 240.0, 60.0, 200.0, 55.0, 220.0, 70.0, 230.0];

    #[test]
    fn the_fastest_lead_and_the_rest_follow() {
        let (a, b, c, d) = (rounds(300.0), rounds(100.0), rounds(100.5), rounds(200.0));
        assert_eq!(
            groups(&[&a, &b, &c, &d], every(None)).unwrap(),
            [3, 1, 1, 2]
        );
    }

    #[test]
    fn a_chain_of_small_steps_is_cut_where_the_leader_is_told_apart() {
        let steps: Vec<[f64; 8]> = [100.0, 101.5, 103.0, 104.5]
            .iter()
            .map(|&mean| rounds(mean))
            .collect();
        let subjects: Vec<&[f64]> = steps.iter().map(|s| s.as_slice()).collect();
        assert_eq!(groups(&subjects, every(None)).unwrap(), [1, 1, 2, 2]);
    }

    #[test]
    fn the_noise_floor_holds_tiers_together() {
        let (a, b) = (rounds(100.0), rounds(104.0));
        assert_eq!(groups(&[&a, &b], every(Some(0.01))).unwrap(), [1, 2]);
        assert_eq!(groups(&[&a, &b], every(Some(0.05))).unwrap(), [1, 1]);
    }

    #[test]
    fn a_pair_is_told_apart_by_its_own_band() {
        let (a, b, c) = (rounds(100.0), rounds(104.0), rounds(104.0));
        let of_the_third = |one: usize, other: usize| {
            Band::new(Some(if one.max(other) == 2 { 0.05 } else { 0.01 }))
        };
        assert_eq!(groups(&[&a, &b, &c], of_the_third).unwrap(), [1, 2, 1]);
    }

    #[test]
    fn all_pairs_are_allowed_for() {
        // 4 % slower at t = 3: enough for one pair (2.4), too little for one of 21 (4.4).
        let (a, slow) = ([100.0; 8], [300.0; 8]);
        let b = [1, -1, 1, -1, 1, -1, 1, -1].map(|sign| 104.0 * (0.0353 * f64::from(sign)).exp());
        assert_eq!(groups(&[&a, &b], every(None)).unwrap(), [1, 2]);
        let crowd: [&[f64]; 7] = [&a, &b, &slow, &slow, &slow, &slow, &slow];
        assert_eq!(groups(&crowd, every(None)).unwrap(), [1, 1, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn a_noisy_subject_has_the_benefit_of_the_doubt() {
        let (a, b) = (rounds(100.0), rounds(106.0));
        assert_eq!(groups(&[&a, &b, &NOISY], every(None)).unwrap(), [1, 2, 1]);
    }

    #[test]
    fn one_subject_and_none() {
        assert_eq!(groups(&[&rounds(5.0)], every(None)).unwrap(), [1]);
        assert!(groups(&[], every(None)).unwrap().is_empty());
        assert!(groups(&[&[1.0]], every(None)).is_err());
    }
}
