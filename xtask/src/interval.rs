//! The interval of a handful of ratios.

/// Student's t, two-sided 95 %, for 2 to 29 degrees of freedom.
const T_95: [f64; 28] = [
    4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
    2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052,
    2.048, 2.045,
];

/// Fewer have no interval worth its name.
pub(crate) const MIN_PAIRS: usize = 3;
pub(crate) const MAX_PAIRS: usize = 30;

/// The mean of log ratios and how far its interval reaches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ratio {
    mean: f64,
    half_width: f64,
}

impl Ratio {
    /// Of [`MIN_PAIRS`] to [`MAX_PAIRS`] log ratios.
    pub(crate) fn of(logs: Vec<f64>) -> Self {
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let error = (squares / (n - 1.0) / n).sqrt();
        let t = T_95[logs.len().clamp(MIN_PAIRS, MAX_PAIRS) - MIN_PAIRS];
        Self {
            mean,
            half_width: t * error,
        }
    }

    pub(crate) fn middle(&self) -> f64 {
        self.mean.exp()
    }

    pub(crate) fn interval(&self) -> [f64; 2] {
        [self.mean - self.half_width, self.mean + self.half_width].map(f64::exp)
    }

    /// Whether the whole interval is inside one ± the bound, on the log scale.
    pub(crate) fn is_within(&self, bound: f64) -> bool {
        self.mean.abs() + self.half_width <= bound.ln_1p()
    }
}

/// The middle one; `None` of nothing.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let above = *values.get(middle)?;
    Some(if values.len() % 2 == 1 {
        above
    } else {
        f64::midpoint(values[middle - 1], above)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_interval_is_students() {
        // Deviation 0.011547 of four, over two; t(3) = 3.182.
        let ratio = Ratio::of(vec![0.01, -0.01, 0.01, -0.01]);
        let [low, high] = ratio.interval();
        assert!((high.ln() - 3.182 * 0.011_547 / 2.0).abs() < 1e-5);
        assert!((low.ln() + high.ln()).abs() < 1e-12);
        assert!(ratio.is_within(0.02) && !ratio.is_within(0.018));
    }

    #[test]
    fn a_steady_difference_is_not_agreement() {
        assert!(!Ratio::of(vec![0.06; 10]).is_within(0.05));
        assert!(Ratio::of(vec![0.04; 10]).is_within(0.05));
    }

    #[test]
    fn the_middle_of_an_even_number_lies_between() {
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(Vec::new()), None);
    }
}
