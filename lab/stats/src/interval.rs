//! The ratio of two subjects, paired by round, with a simultaneous interval.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::error::{StatsError, check_times};

/// The share of runs in which *all* intervals of a table cover their true ratios.
pub const CONFIDENCE: f64 = 0.95;

/// With fewer rounds there is no spread for an interval.
pub const MIN_ROUNDS: usize = 2;

/// A geometric-mean ratio of subject to baseline, with a simultaneous interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    log_mean: f64,
    log_deviation: f64,
    half_width: f64,
    rounds: usize,
    comparisons: usize,
}

impl Ratio {
    /// Creates a ratio of two unpaired samples: the difference of their mean logarithms with its
    /// standard error. `rounds` is the size of the smaller sample.
    pub(super) fn unpaired(
        log_mean: f64,
        standard_error: f64,
        quantile: f64,
        rounds: usize,
        comparisons: usize,
    ) -> Self {
        Self {
            log_mean,
            log_deviation: standard_error * (rounds as f64).sqrt(),
            half_width: quantile * standard_error,
            rounds,
            comparisons,
        }
    }

    /// Removes a shift that is common to all subjects of two runs.
    #[must_use]
    pub fn without_shift(self, log_shift: f64) -> Self {
        Self {
            log_mean: self.log_mean - log_shift,
            ..self
        }
    }

    /// Returns the ratio of subject to baseline: below one is faster.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.log_mean.exp()
    }

    /// Returns the ends of the interval as ratios. Two noisy rounds may have a huge upper end; it stays
    /// finite, because JSON has no infinity.
    #[must_use]
    pub fn interval(&self) -> [f64; 2] {
        self.log_interval().map(|log| log.exp().min(f64::MAX))
    }

    /// Returns the ends of the interval as natural logarithms.
    #[must_use]
    pub fn log_interval(&self) -> [f64; 2] {
        [
            self.log_mean - self.half_width,
            self.log_mean + self.half_width,
        ]
    }

    /// Returns how far the farther end of the interval is from one, as a ratio minus one: 0.012 is 1.2 %.
    #[must_use]
    pub fn farthest(&self) -> f64 {
        let [low, high] = self.log_interval();
        // Finite, because JSON has no infinity.
        low.abs().max(high.abs()).exp_m1().min(f64::MAX)
    }

    /// Returns the mean of the log ratios per round.
    #[must_use]
    pub fn log_mean(&self) -> f64 {
        self.log_mean
    }

    /// Returns the sample standard deviation of the log ratios per round.
    #[must_use]
    pub fn log_deviation(&self) -> f64 {
        self.log_deviation
    }

    /// Returns the number of rounds.
    #[must_use]
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Returns the number of comparisons that the interval corrects for.
    #[must_use]
    pub fn comparisons(&self) -> usize {
        self.comparisons
    }
}

/// Returns ln(subject / baseline) of every round.
///
/// # Errors
/// If the numbers of rounds differ, or a value is not a positive time.
pub fn log_ratios(subject: &[f64], baseline: &[f64]) -> Result<Vec<f64>, StatsError> {
    check_times(subject, 0)?;
    check_times(baseline, 0)?;
    if subject.len() != baseline.len() {
        return Err(StatsError::NotPaired {
            subject: subject.len(),
            baseline: baseline.len(),
        });
    }
    Ok(subject
        .iter()
        .zip(baseline)
        .map(|(subject, baseline)| (subject / baseline).ln())
        .collect())
}

/// Estimates the ratio of one subject to its baseline, as one of `comparisons` of the same table.
///
/// A table with 7 subjects has 6 comparisons with its baseline: [`table`] counts them. Zero counts as
/// one.
///
/// # Errors
/// As [`log_ratios`], and if there are fewer than [`MIN_ROUNDS`] rounds.
pub fn estimate(
    subject: &[f64],
    baseline: &[f64],
    comparisons: usize,
) -> Result<Ratio, StatsError> {
    Family::new(baseline.len(), comparisons).estimate(subject, baseline)
}

/// Estimates the ratios of all subjects of a table to its baseline, which is not among them.
///
/// # Errors
/// As [`estimate`], for the first subject that cannot be compared.
pub fn table(baseline: &[f64], subjects: &[&[f64]]) -> Result<Vec<Ratio>, StatsError> {
    let family = Family::new(baseline.len(), subjects.len());
    subjects
        .iter()
        .map(|subject| family.estimate(subject, baseline))
        .collect()
}

/// A mean difference of subject and baseline in their unit, paired by round, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The mean over the rounds of subject minus baseline.
    pub mean: f64,
    /// The ends of its interval, as one of `comparisons` of the same table.
    pub interval: [f64; 2],
}

/// Estimates what a subject takes more than its baseline, for parts that add up: the check of a gateway.
///
/// # Errors
/// As [`estimate`].
pub fn difference(
    subject: &[f64],
    baseline: &[f64],
    comparisons: usize,
) -> Result<Difference, StatsError> {
    check_times(subject, MIN_ROUNDS)?;
    check_times(baseline, MIN_ROUNDS)?;
    if subject.len() != baseline.len() {
        return Err(StatsError::NotPaired {
            subject: subject.len(),
            baseline: baseline.len(),
        });
    }
    let rounds = subject.len() as f64;
    let each = || subject.iter().zip(baseline).map(|(more, less)| more - less);
    let mean = each().sum::<f64>() / rounds;
    let squares: f64 = each().map(|one| (one - mean).powi(2)).sum();
    let error = (squares / (rounds - 1.0) / rounds).sqrt();
    let half_width = t_quantile(subject.len() - 1, comparisons) * error;
    Ok(Difference {
        mean,
        interval: [mean - half_width, mean + half_width],
    })
}

/// Simultaneous comparisons, which share a quantile.
pub(super) struct Family {
    rounds: usize,
    comparisons: usize,
    quantile: f64,
}

impl Family {
    pub(super) fn new(rounds: usize, comparisons: usize) -> Self {
        let comparisons = comparisons.max(1);
        Self {
            rounds,
            comparisons,
            quantile: t_quantile(rounds.saturating_sub(1), comparisons),
        }
    }

    pub(super) fn estimate(&self, subject: &[f64], baseline: &[f64]) -> Result<Ratio, StatsError> {
        let logs = log_ratios(subject, baseline)?;
        let rounds = logs.len();
        if rounds < MIN_ROUNDS {
            return Err(StatsError::TooFewRounds {
                rounds,
                needed: MIN_ROUNDS,
            });
        }
        if rounds != self.rounds {
            return Err(StatsError::NotPaired {
                subject: rounds,
                baseline: self.rounds,
            });
        }
        let log_mean = logs.iter().sum::<f64>() / rounds as f64;
        let squares: f64 = logs.iter().map(|log| (log - log_mean).powi(2)).sum();
        let log_deviation = (squares / (rounds - 1) as f64).sqrt();
        let half_width = self.quantile * log_deviation / (rounds as f64).sqrt();
        Ok(Ratio {
            log_mean,
            log_deviation,
            half_width,
            rounds,
            comparisons: self.comparisons,
        })
    }
}

/// Returns the two-sided 95 % quantile of Student's t with these degrees of freedom (at least one), for
/// `comparisons` simultaneous comparisons (Bonferroni).
pub(super) fn t_quantile(degrees: usize, comparisons: usize) -> f64 {
    t_quantile_at(degrees as f64, comparisons)
}

/// Returns the same for fractional degrees of freedom.
pub(super) fn t_quantile_at(degrees: f64, comparisons: usize) -> f64 {
    let tail = (1.0 - CONFIDENCE) / (2.0 * comparisons.max(1) as f64);
    students_t(degrees).inverse_cdf(1.0 - tail)
}

/// Returns the one-sided 95 % quantile of Student's t with these degrees of freedom.
pub(super) fn t_above(degrees: usize) -> f64 {
    students_t(degrees as f64).inverse_cdf(CONFIDENCE)
}

fn students_t(degrees: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, degrees.max(1.0))
        .expect("scale one and at least one degree of freedom are valid for a t distribution")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn critical_values_match_printed_tables() {
        // Two-sided 95 %: the 0.975 column of any table of Student's t.
        for (degrees, value) in [
            (1, 12.706_205),
            (2, 4.302_653),
            (7, 2.364_624),
            (11, 2.200_985),
            (29, 2.045_230),
        ] {
            assert!(
                (t_quantile(degrees, 1) - value).abs() < 1e-5,
                "{degrees} degrees"
            );
        }
        // Five comparisons at 95 % together are at 99 % each: the 0.995 column.
        assert!((t_quantile(7, 5) - 3.499_483).abs() < 1e-5);
        assert!((t_quantile(11, 5) - 3.105_807).abs() < 1e-5);
    }

    #[test]
    fn estimate_matches_worked_example() {
        // Log ratios 0.1, 0.2, 0.3, 0.4: mean 0.25, deviation sqrt(0.05 / 3).
        let baseline = [100.0, 200.0, 400.0, 50.0];
        let subject: Vec<f64> = baseline
            .iter()
            .zip([0.1f64, 0.2, 0.3, 0.4])
            .map(|(b, log)| b * log.exp())
            .collect();
        let ratio = estimate(&subject, &baseline, 1).unwrap();
        assert!((ratio.log_mean() - 0.25).abs() < 1e-12);
        assert!((ratio.log_deviation() - 0.129_099_444_9).abs() < 1e-9);
        // t(3, 0.975) = 3.182446, over the square root of 4 rounds.
        let [low, high] = ratio.log_interval();
        assert!((high - low - 2.0 * 3.182_446_3 * 0.129_099_444_9 / 2.0).abs() < 1e-6);
        assert!((ratio.ratio() - 0.25f64.exp()).abs() < 1e-12);
    }

    #[test]
    fn farthest_is_distance_of_farther_end() {
        for (mean, farther_end) in [(0.01f64, 1), (-0.01, 0)] {
            let subject = [0.02, -0.02, 0.02, -0.02].map(|log: f64| (mean + log).exp());
            let ratio = estimate(&subject, &[1.0; 4], 1).unwrap();
            let end = ratio.log_interval()[farther_end].abs();
            assert!((ratio.farthest() - end.exp_m1()).abs() < 1e-12, "{mean}");
        }
        let noisy = estimate(&[1e300, 1e-300], &[1.0; 2], 1).unwrap();
        assert!(noisy.farthest().is_finite());
    }

    #[test]
    fn estimate_common_factor_of_rounds_cancels() {
        let quiet = estimate(&[110.0, 112.0, 109.0], &[100.0, 101.0, 99.0], 1).unwrap();
        let shared = estimate(&[220.0, 112.0, 327.0], &[200.0, 101.0, 297.0], 1).unwrap();
        assert!((quiet.log_mean() - shared.log_mean()).abs() < 1e-12);
        assert!((quiet.log_deviation() - shared.log_deviation()).abs() < 1e-12);
    }

    #[test]
    fn estimate_more_comparisons_widen_interval() {
        let width = |comparisons| {
            let [low, high] = estimate(&[1.0, 1.1, 1.2], &[1.0, 1.0, 1.0], comparisons)
                .unwrap()
                .log_interval();
            high - low
        };
        assert!(width(1) < width(2) && width(2) < width(21));
        assert!((width(0) - width(1)).abs() < 1e-12);
    }

    #[test]
    fn table_counts_its_comparisons() {
        let (baseline, subject) = ([1.0, 1.0, 1.0], [1.0, 1.1, 1.2]);
        let ratios = table(&baseline, &[&subject, &baseline]).unwrap();
        assert_eq!(ratios[0], estimate(&subject, &baseline, 2).unwrap());
        assert_eq!(ratios[1].comparisons(), 2);
        assert!(table(&baseline, &[&subject, &[1.0]]).is_err());
        assert!(table(&baseline, &[]).unwrap().is_empty());
    }

    #[test]
    fn difference_matches_worked_example() {
        // Differences 1, 2, 3, 4: mean 2.5, deviation sqrt(5 / 3). What all rounds share cancels.
        let found = difference(&[11.0, 22.0, 33.0, 14.0], &[10.0, 20.0, 30.0, 10.0], 1).unwrap();
        assert!((found.mean - 2.5).abs() < 1e-12);
        // t(3, 0.975) = 3.182446, over the square root of 4 rounds.
        let half = 3.182_446_3 * (5.0f64 / 3.0).sqrt() / 2.0;
        for (end, expected) in found.interval.iter().zip([2.5 - half, 2.5 + half]) {
            assert!((end - expected).abs() < 1e-6);
        }
        assert!(difference(&[1.0], &[1.0], 1).is_err());
        assert!(difference(&[1.0, 2.0], &[1.0, 2.0, 3.0], 1).is_err());
    }

    #[test]
    fn estimate_incomparable_rounds_are_an_error() {
        assert_eq!(
            estimate(&[1.0, 2.0], &[1.0], 1),
            Err(StatsError::NotPaired {
                subject: 2,
                baseline: 1
            })
        );
        assert_eq!(
            estimate(&[1.0], &[1.0], 1),
            Err(StatsError::TooFewRounds {
                rounds: 1,
                needed: 2
            })
        );
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(
                estimate(&[1.0, bad], &[1.0, 1.0], 1),
                Err(StatsError::NotATime { round: 1 })
            );
        }
    }
}
