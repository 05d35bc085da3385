//! Outlying rounds: counted and shown, never dropped.

use super::median::sorted;

/// Counts the rounds beyond Tukey's outer fences: more than three interquartile ranges below the first
/// or above the third quartile. Quartiles are interpolated between order statistics (type 7, the
/// default of R). Fewer than four rounds have no fences.
#[must_use]
pub fn beyond_outer_fences(rounds: &[f64]) -> u32 {
    if rounds.len() < 4 {
        return 0;
    }
    let sorted = sorted(rounds);
    let (first, third) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
    let reach = 3.0 * (third - first);
    let beyond = sorted
        .iter()
        .filter(|&&time| time < first - reach || time > third + reach);
    u32::try_from(beyond.count()).unwrap_or(u32::MAX)
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor();
    let (low, high) = (sorted[below as usize], sorted[place.ceil() as usize]);
    low + (place - below) * (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_match_r() {
        // quantile(c(1, 2, 3, 4, 5, 6, 7, 8), c(.25, .75)) is 2.75 and 6.25.
        let sorted = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        assert_eq!(
            (quantile(&sorted, 0.25), quantile(&sorted, 0.75)),
            (2.75, 6.25)
        );
    }

    #[test]
    fn outliers_beyond_outer_fence_count() {
        // The quartiles of 1..7 and x are 2.75 and 6.25: the fence is at 16.75.
        assert_eq!(
            beyond_outer_fences(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 16.7]),
            0
        );
        assert_eq!(
            beyond_outer_fences(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 16.8]),
            1
        );
        assert_eq!(
            beyond_outer_fences(&[100.0, 99.0, 101.0, 100.5, 99.5, 10.0, 100.0]),
            1
        );
    }

    #[test]
    fn outliers_of_few_rounds_are_none() {
        assert_eq!(beyond_outer_fences(&[1.0, 1.0, 1_000.0]), 0);
    }
}
