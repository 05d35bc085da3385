//! The median of a row's rounds, with a distribution-free interval.

pub use jeton_lab_model::median;
use jeton_lab_model::median_of_sorted;

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
    /// The probability that such an interval covers the true median: at least 0.95 from 6 rounds on.
    /// With fewer rounds the interval is the whole range.
    pub confidence: f64,
}

/// Returns the median of a row's rounds with the narrowest symmetric order-statistic interval of at
/// least 95 %: the number of rounds below the true median is binomial(R, ½) for any noise.
///
/// 8 rounds give their whole range (99.2 %), 12 the third to the tenth (96.1 %), 30 the tenth to the
/// twenty-first (95.7 %). benchstat prints the same interval.
///
/// # Errors
/// If there are no rounds, or a round is not a positive time.
pub fn median_interval(rounds: &[f64]) -> Result<Median, StatsError> {
    check_times(rounds, 1)?;
    let sorted = sorted(rounds);
    let count = sorted.len();
    // Omitting `cut` rounds at both ends misses with 2 × P(fewer than cut + 1 below).
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

/// Returns a round's value from its batches or slices: the lower quartile, or the shortest of three.
/// `None` without batches.
///
/// Disturbances only ever lengthen a batch. So the shorter batches show the time of the work. The very
/// shortest of many would show only the luckiest case.
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

/// Returns the median of at least one sorted value.
pub(super) fn middle(sorted: &[f64]) -> f64 {
    median_of_sorted(sorted).expect("at least one value")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn ladder(rounds: usize) -> Vec<f64> {
        (1..=rounds).rev().map(|round| round as f64).collect()
    }

    #[test]
    fn median_interval_matches_binomial_table() {
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
    fn median_of_one_round_has_no_confidence() {
        let median = median_interval(&[7.0]).unwrap();
        assert_eq!(
            (median.median, median.interval, median.confidence),
            (7.0, [7.0, 7.0], 0.0)
        );
        assert!(median_interval(&[]).is_err());
    }

    #[test]
    fn median_of_ten_thousand_rounds_has_interval() {
        let median = median_interval(&ladder(1_000)).unwrap();
        // Near ½R ± 0.98 √R.
        assert_eq!(median.interval, [469.0, 532.0]);
        assert!(median.confidence >= 0.95 && median.confidence < 0.96);
    }

    #[test]
    fn round_value_is_lower_quartile() {
        assert_eq!(round_value(&[11.0, 9_000.0, 10.0]), Some(10.0));
        assert_eq!(round_value(&[14.0, 13.0, 12.0, 11.0, 10.0]), Some(11.0));
        let nine: Vec<f64> = (1..=9).map(f64::from).collect();
        assert_eq!(round_value(&nine), Some(3.0));
        assert_eq!(round_value(&[]), None);
    }

    #[test]
    fn median_of_even_count_is_between_middle_two() {
        assert_eq!(median(&[12.0, 10.0]), Some(11.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[]), None);
    }
}
