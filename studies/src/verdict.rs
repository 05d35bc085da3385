//! Two ways to measure the same thing, and what the interval of their ratio says of a bound.

use jeton_lab_stats::interval::{self, Ratio};
use xtask::command::Error;

/// Returns the ratio of paired figures, with its 95 % interval.
pub(crate) fn ratio(figures: &[f64], to: &[f64]) -> Result<Ratio, Error> {
    interval::estimate(figures, to, 1).map_err(|error| Error::Failed(error.to_string()))
}

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
    /// Compares the interval with one ± the bound, on the log scale.
    pub(crate) fn of(ratio: &Ratio, bound: f64) -> Self {
        let bound = bound.ln_1p();
        let [low, high] = ratio.log_interval();
        if -bound <= low && high <= bound {
            Self::Agree
        } else if high < -bound || bound < low {
            Self::Apart
        } else {
            Self::Undecided
        }
    }

    /// As a cell of a log's table.
    pub(crate) fn cell(self) -> &'static str {
        match self {
            Self::Agree => "agree",
            Self::Apart => "**apart**",
            Self::Undecided => "undecided",
        }
    }

    /// All must agree: else an error that counts those that do not.
    pub(crate) fn all_agree(verdicts: &[Self]) -> Result<(), Error> {
        let count = |of: Self| verdicts.iter().filter(|one| **one == of).count();
        match (count(Self::Apart), count(Self::Undecided)) {
            (0, 0) => Ok(()),
            (apart, unclear) => Err(Error::Failed(format!(
                "of {} figures {apart} are apart, and {unclear} have intervals too wide to tell: \
                 measure again on an idle machine",
                verdicts.len()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn of_logs(logs: &[f64]) -> Ratio {
        let figures: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
        ratio(&figures, &vec![1.0; logs.len()]).unwrap()
    }

    #[test]
    fn interval_is_students_t() {
        // Deviation 0.011547 of four, over two; t(3) = 3.182.
        let ratio = of_logs(&[0.01, -0.01, 0.01, -0.01]);
        let [low, high] = ratio.interval();
        assert!((high.ln() - 3.182 * 0.011_547 / 2.0).abs() < 1e-5);
        assert!((low.ln() + high.ln()).abs() < 1e-12);
        assert_eq!(Verdict::of(&ratio, 0.02), Verdict::Agree);
        assert_eq!(Verdict::of(&ratio, 0.018), Verdict::Undecided);
        let farthest = ratio.farthest();
        assert_eq!(Verdict::of(&ratio, farthest + 1e-9), Verdict::Agree);
        assert_eq!(Verdict::of(&ratio, farthest - 1e-9), Verdict::Undecided);
    }

    /// The stored logs were computed with a printed table of Student's t, which has three decimals.
    #[test]
    fn interval_is_that_of_a_printed_table() {
        let logs = [
            0.031, 0.012, -0.004, 0.027, 0.018, 0.040, -0.011, 0.022, 0.009, 0.016,
        ];
        let n = 10.0;
        let mean = logs.iter().sum::<f64>() / n;
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        // t(9), two-sided 95 %.
        let half_width = 2.262 * (squares / (n - 1.0) / n).sqrt();
        let ratio = of_logs(&logs);
        let [low, high] = ratio.interval();
        assert!((ratio.ratio() - mean.exp()).abs() < 1e-12);
        for (end, printed) in [(low, mean - half_width), (high, mean + half_width)] {
            // A log shows three decimals.
            assert!((end - printed.exp()).abs() < 1e-5, "{end}");
        }
    }

    #[test]
    fn constant_difference_is_not_agreement() {
        assert_eq!(Verdict::of(&of_logs(&[0.06; 10]), 0.05), Verdict::Apart);
        assert_eq!(Verdict::of(&of_logs(&[-0.06; 10]), 0.05), Verdict::Apart);
        assert_eq!(Verdict::of(&of_logs(&[0.04; 10]), 0.05), Verdict::Agree);
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
    fn figure_of_zero_has_no_ratio() {
        assert!(matches!(
            ratio(&[1.0, 0.0], &[1.0; 2]),
            Err(Error::Failed(_))
        ));
    }
}
