//! The median, which the result file states and the statistics compute.

/// Returns the median; `None` without values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median_of_sorted(&sorted)
}

/// Returns the median of values in ascending order; `None` without values.
#[must_use]
pub fn median_of_sorted(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted.get(half).copied()
    } else {
        let lower = *sorted.get(half.checked_sub(1)?)?;
        Some(f64::midpoint(lower, sorted[half]))
    }
}
