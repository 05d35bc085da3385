//! Detects whether a managed runtime has warmed up.

use super::median::{middle, sorted};
use super::verdict::PRACTICAL_DIFFERENCE;

/// The number of recent batches.
pub const WINDOW: usize = 10;

/// Reports whether the last [`WINDOW`] batches have stopped getting faster or slower.
///
/// The slope is that of Theil and Sen, the median of the slopes between every two batches, on the log
/// scale: a few batches with a garbage collection do not change it, but a step in the middle does. The
/// batches are settled if the drift along the window is at most 2 % in either direction, the smallest
/// difference of interest. Fewer batches than the window are not settled, nor is a window with a value
/// that is not a positive time.
///
/// A noisy subject settles sooner or later (10 % noise: after some tens of batches). The caller stops
/// waiting at its time limit and marks the subject.
#[must_use]
pub fn settled(batches: &[f64]) -> bool {
    let Some(start) = batches.len().checked_sub(WINDOW) else {
        return false;
    };
    let logs: Vec<f64> = batches[start..].iter().map(|time| time.ln()).collect();
    if logs.iter().any(|log| !log.is_finite()) {
        return false;
    }
    let slopes: Vec<f64> = (0..WINDOW)
        .flat_map(|late| (0..late).map(move |early| (early, late)))
        .map(|(early, late)| (logs[late] - logs[early]) / (late - early) as f64)
        .collect();
    let drift = middle(&sorted(&slopes)) * (WINDOW - 1) as f64;
    drift.abs() <= PRACTICAL_DIFFERENCE.ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_flat_tail() {
        let mut batches = vec![900.0, 400.0, 200.0, 120.0];
        batches.extend([
            100.0, 101.0, 100.0, 99.0, 100.0, 101.0, 100.0, 100.0, 99.0, 100.0,
        ]);
        assert!(settled(&batches));
    }

    #[test]
    fn settled_getting_faster_is_not() {
        let batches: Vec<f64> = (0..20).map(|batch| 100.0 * 0.995f64.powi(batch)).collect();
        assert!(!settled(&batches));
        let slower: Vec<f64> = batches.iter().rev().copied().collect();
        assert!(!settled(&slower));
    }

    #[test]
    fn settled_step_inside_window_is_not() {
        // The optimised code of the compiler replaced the previous one.
        let mut batches = vec![200.0; 6];
        batches.extend([100.0; 4]);
        assert!(!settled(&batches));
        batches.extend([100.0; 6]);
        assert!(settled(&batches));
    }

    #[test]
    fn settled_ignores_garbage_collection() {
        let mut batches = vec![100.0; 10];
        batches[9] = 180.0;
        batches[4] = 150.0;
        assert!(settled(&batches));
    }

    #[test]
    fn settled_few_or_invalid_batches_are_not() {
        assert!(!settled(&[100.0; WINDOW - 1]));
        assert!(!settled(&[]));
        assert!(!settled(&[0.0; WINDOW]));
        assert!(!settled(&[f64::NAN; WINDOW]));
    }
}
