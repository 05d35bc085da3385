//! The median of a row's rounds, and an interval that assumes nothing about their distribution.

use super::StatsError;
use super::error::check_times;
use super::interval::CONFIDENCE;

/// A median and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Median {
    /// The median, in the unit of the rounds.
    pub median: f64,
    /// The ends of the interval: two of the rounds.
    pub interval: [f64; 2],
    /// The chance that such an interval covers the true median: at least 0.95 from 6 rounds on.
    /// Below that the whole range is given, and this says what it is worth.
    pub confidence: f64,
}

/// The median of a row's rounds with the narrowest symmetric order-statistic interval of at least
/// 95 %: the number of rounds below the true median is binomial(R, ½), whatever the noise.
///
/// 8 rounds give their whole range (99.2 %), 12 the third to the tenth (96.1 %), 30 the tenth to
/// the twenty-first (95.7 %). benchstat prints the same interval.
///
/// # Errors
/// Without rounds, or if a round is not a time above zero.
pub fn median_interval(rounds: &[f64]) -> Result<Median, StatsError> {
    check_times(rounds, 1)?;
    let sorted = sorted(rounds);
    let count = sorted.len();
    // Leaving `cut` rounds off at both ends misses with 2 × P(fewer than cut + 1 below).
    let mut probability = 0.5f64.powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut below = probability;
    let mut cut = 0;
    let mut confidence = 1.0 - 2.0 * below;
    while cut + 1 < count / 2 {
        probability *= (count - cut) as f64 / (cut + 1) as f64;
        below += probability;
        if 1.0 - 2.0 * below < CONFIDENCE {
            break;
        }
        cut += 1;
        confidence = 1.0 - 2.0 * below;
    }
    Ok(Median {
        median: middle(&sorted),
        interval: [sorted[cut], sorted[count - 1 - cut]],
        confidence: confidence.max(0.0),
    })
}

/// The median. `None` of nothing.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| middle(&sorted(values)))
}

/// A round's value from its batches, or from their slices: the lower quartile, the shortest of three.
/// `None` without batches.
///
/// Whatever else the machine does only ever adds to a batch, never takes away from it. So the shorter
/// ones say what the work takes, as long as there are some; the very shortest of many would say what it
/// takes at its luckiest.
#[must_use]
pub fn round_value(batches: &[f64]) -> Option<f64> {
    let last = batches.len().checked_sub(1)?;
    Some(sorted(batches)[last / 4])
}

pub(super) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The median of sorted values, of which there is at least one.
pub(super) fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[half]
    } else {
        f64::midpoint(sorted[half - 1], sorted[half])
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn ladder(rounds: usize) -> Vec<f64> {
        (1..=rounds).rev().map(|round| round as f64).collect()
    }

    #[test]
    fn intervals_are_those_of_the_binomial_table() {
        for (rounds, low, high, confidence) in [
            (5, 1.0, 5.0, 0.9375),
            (6, 1.0, 6.0, 0.96875),
            (8, 1.0, 8.0, 0.9922),
            (9, 2.0, 8.0, 0.9609),
            (10, 2.0, 9.0, 0.9785),
            (12, 3.0, 10.0, 0.9614),
            (20, 6.0, 15.0, 0.9586),
            (30, 10.0, 21.0, 0.9572),
        ] {
            let median = median_interval(&ladder(rounds)).unwrap();
            assert_eq!(median.interval, [low, high], "{rounds} rounds");
            assert!(
                (median.confidence - confidence).abs() < 1e-4,
                "{rounds} rounds"
            );
        }
    }

    #[test]
    fn one_round_is_worth_nothing_and_says_so() {
        let median = median_interval(&[7.0]).unwrap();
        assert_eq!(
            (median.median, median.interval, median.confidence),
            (7.0, [7.0, 7.0], 0.0)
        );
        assert!(median_interval(&[]).is_err());
    }

    #[test]
    fn ten_thousand_rounds_do_not_vanish() {
        let median = median_interval(&ladder(1_000)).unwrap();
        // Near ½R ± 0.98 √R.
        assert_eq!(median.interval, [469.0, 532.0]);
        assert!(median.confidence >= 0.95 && median.confidence < 0.96);
    }

    #[test]
    fn a_rounds_value_is_the_lower_quartile_of_its_batches() {
        assert_eq!(round_value(&[11.0, 9_000.0, 10.0]), Some(10.0));
        assert_eq!(round_value(&[14.0, 13.0, 12.0, 11.0, 10.0]), Some(11.0));
        let nine: Vec<f64> = (1..=9).map(f64::from).collect();
        assert_eq!(round_value(&nine), Some(3.0));
        assert_eq!(round_value(&[]), None);
    }

    #[test]
    fn the_median_of_two_lies_between_them() {
        assert_eq!(median(&[12.0, 10.0]), Some(11.0));
        assert_eq!(median(&[]), None);
    }
}
