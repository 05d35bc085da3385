//! The interval of a handful of ratios, and what it says.

use xtask::command::Error;

/// Student's t, two-sided 95 %, for 2 to 29 degrees of freedom.
const T_95: [f64; 28] = [
    4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
    2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052,
    2.048, 2.045,
];

/// Fewer have no interval worth its name.
pub(crate) const MIN_PAIRS: usize = 3;
pub(crate) const MAX_PAIRS: usize = 30;

/// What can be said of two ways to measure the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The whole interval is inside the bound.
    Agree,
    /// All of it is outside.
    Apart,
    /// It is too wide for either: the machine was too noisy.
    Undecided,
}

impl Verdict {
    /// As a cell of a log's table.
    pub(crate) fn cell(self) -> &'static str {
        match self {
            Verdict::Agree => "agree",
            Verdict::Apart => "**apart**",
            Verdict::Undecided => "undecided",
        }
    }

    /// All must agree: else an error that counts those that do not.
    pub(crate) fn all_agree(verdicts: &[Verdict]) -> Result<(), Error> {
        let count = |of: Verdict| verdicts.iter().filter(|one| **one == of).count();
        match (count(Verdict::Apart), count(Verdict::Undecided)) {
            (0, 0) => Ok(()),
            (apart, unclear) => Err(Error::Failed(format!(
                "of {} figures {apart} are apart, and {unclear} have intervals too wide to tell: \
                 measure again on an idle machine",
                verdicts.len()
            ))),
        }
    }
}

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

    /// The end of the interval that is farther from one, as a part of one.
    pub(crate) fn farthest(&self) -> f64 {
        (self.mean.abs() + self.half_width).exp_m1()
    }

    /// What the interval says of one ± the bound, on the log scale.
    pub(crate) fn against(&self, bound: f64) -> Verdict {
        let bound = bound.ln_1p();
        if self.mean.abs() + self.half_width <= bound {
            Verdict::Agree
        } else if self.mean.abs() - self.half_width > bound {
            Verdict::Apart
        } else {
            Verdict::Undecided
        }
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
    fn interval_is_students_t() {
        // Deviation 0.011547 of four, over two; t(3) = 3.182.
        let ratio = Ratio::of(vec![0.01, -0.01, 0.01, -0.01]);
        let [low, high] = ratio.interval();
        assert!((high.ln() - 3.182 * 0.011_547 / 2.0).abs() < 1e-5);
        assert!((low.ln() + high.ln()).abs() < 1e-12);
        assert_eq!(ratio.against(0.02), Verdict::Agree);
        assert_eq!(ratio.against(0.018), Verdict::Undecided);
        let farthest = ratio.farthest();
        assert_eq!(ratio.against(farthest + 1e-9), Verdict::Agree);
        assert_eq!(ratio.against(farthest - 1e-9), Verdict::Undecided);
    }

    #[test]
    fn constant_difference_is_not_agreement() {
        assert_eq!(Ratio::of(vec![0.06; 10]).against(0.05), Verdict::Apart);
        assert_eq!(Ratio::of(vec![-0.06; 10]).against(0.05), Verdict::Apart);
        assert_eq!(Ratio::of(vec![0.04; 10]).against(0.05), Verdict::Agree);
    }

    #[test]
    fn undecided_is_not_agreement() {
        use Verdict::{Agree, Apart, Undecided};
        assert!(Verdict::all_agree(&[Agree, Agree]).is_ok());
        for one in [Apart, Undecided] {
            assert!(matches!(
                Verdict::all_agree(&[Agree, one]),
                Err(Error::Failed(_))
            ));
        }
    }

    #[test]
    fn median_of_an_even_count_is_between() {
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(Vec::new()), None);
    }
}
