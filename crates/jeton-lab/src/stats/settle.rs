//! Has a managed runtime warmed up?

use super::median::{middle, sorted};
use super::verdict::PRACTICAL_DIFFERENCE;

/// Batches that are looked at: the last ten.
pub const WINDOW: usize = 10;

/// Whether the last [`WINDOW`] batches have stopped getting faster or slower.
///
/// The slope is Theil and Sen's, the median of the slopes between every two of them, on the log
/// scale: a few batches that met a collection do not tilt it, and a step in the middle does. They
/// are settled if the drift along the window is at most 2 % either way, the difference that the
/// lab takes no interest in. Fewer batches than the window are not settled, nor is a window with
/// a value that is not a time above zero.
///
/// A noisy subject is let through sooner or later (10 % noise: after some tens of batches); the
/// caller ends the waiting after its time limit and marks the subject.
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
    fn a_flat_tail_has_settled_whatever_came_before() {
        let mut batches = vec![900.0, 400.0, 200.0, 120.0];
        batches.extend([
            100.0, 101.0, 100.0, 99.0, 100.0, 101.0, 100.0, 100.0, 99.0, 100.0,
        ]);
        assert!(settled(&batches));
    }

    #[test]
    fn still_getting_faster_is_not_settled() {
        let batches: Vec<f64> = (0..20).map(|batch| 100.0 * 0.995f64.powi(batch)).collect();
        assert!(!settled(&batches));
        let slower: Vec<f64> = batches.iter().rev().copied().collect();
        assert!(!settled(&slower));
    }

    #[test]
    fn a_step_inside_the_window_is_not_settled() {
        // A tier of the compiler came in.
        let mut batches = vec![200.0; 6];
        batches.extend([100.0; 4]);
        assert!(!settled(&batches));
        batches.extend([100.0; 6]);
        assert!(settled(&batches));
    }

    #[test]
    fn a_collection_does_not_tilt_it() {
        let mut batches = vec![100.0; 10];
        batches[9] = 180.0;
        batches[4] = 150.0;
        assert!(settled(&batches));
    }

    #[test]
    fn too_few_batches_and_broken_ones_are_not_settled() {
        assert!(!settled(&[100.0; WINDOW - 1]));
        assert!(!settled(&[]));
        assert!(!settled(&[0.0; WINDOW]));
        assert!(!settled(&[f64::NAN; WINDOW]));
    }
}
