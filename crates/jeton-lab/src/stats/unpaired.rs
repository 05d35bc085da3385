//! The ratio of one subject in two runs, which share no rounds.
//!
//! Two runs are not interleaved: nothing that a round does to everybody cancels, and whatever lies
//! between the runs is in the ratio. So the logarithms of the two runs' rounds are two samples, and
//! Welch's t gives the interval: each sample keeps its own spread, and the degrees of freedom are
//! those of Welch and Satterthwaite. Under Gaussian noise it covers the true ratio *of the two runs*
//! in 95 % of cases (`tests/unpaired_simulation.rs`).
//!
//! That is not yet the ratio of two *subjects*: a process keeps its memory layout, a machine its
//! mood, and no spread of rounds shows either. What can show it are subjects that did not change
//! from run to run: whatever they differ by is what runs differ by. [`between_runs`] makes a floor
//! of them, as [`noise`](super::noise) makes one of identical pairs; themselves they are not judged.

use super::StatsError;
use super::error::check_times;
use super::interval::{MIN_ROUNDS, Ratio, t_quantile_at};

/// The ratio of a subject's rounds in a later run to those in an earlier one, as one of
/// `comparisons` made together. Below one, the later run is faster. Zero counts as one.
///
/// # Errors
/// If either has fewer than two rounds, or a value is not a time above zero.
pub fn estimate(later: &[f64], earlier: &[f64], comparisons: usize) -> Result<Ratio, StatsError> {
    let later = Sample::of(later)?;
    let earlier = Sample::of(earlier)?;
    let (a, b) = (later.error_square(), earlier.error_square());
    let freedom_lost = a.powi(2) / (later.count - 1.0) + b.powi(2) / (earlier.count - 1.0);
    // Rounds without any spread leave no error to have degrees of freedom.
    let degrees = if freedom_lost > 0.0 {
        (a + b).powi(2) / freedom_lost
    } else {
        later.count + earlier.count - 2.0
    };
    let quantile = t_quantile_at(degrees, comparisons);
    Ok(Ratio::unpaired(
        later.mean - earlier.mean,
        (a + b).sqrt(),
        quantile,
        later.count.min(earlier.count) as usize,
        comparisons.max(1),
    ))
}

/// How far from one `comparisons` subjects that did not change come to lie from run to run, all of
/// them in 95 % of cases, as a ratio above one: from the ratios of subjects that did not change.
/// `None` if there are none.
///
/// It is the root mean square of their log ratios times Student's t for that many, and never less
/// than the largest of them: few processes differ for good by much, and those that do are not
/// Gaussian. One alone gives 12.7 times what it differs by itself.
#[must_use]
pub fn between_runs(unchanged: &[Ratio], comparisons: usize) -> Option<f64> {
    if unchanged.is_empty() {
        return None;
    }
    let sizes = || unchanged.iter().map(|r| r.log_mean().abs());
    let squares: f64 = sizes().map(|size| size.powi(2)).sum();
    let root_mean_square = (squares / unchanged.len() as f64).sqrt();
    let by_spread = t_quantile_at(unchanged.len() as f64, comparisons) * root_mean_square;
    Some(sizes().fold(by_spread, f64::max).exp_m1())
}

/// The logarithms of one run's rounds.
struct Sample {
    mean: f64,
    variance: f64,
    count: f64,
}

impl Sample {
    fn of(rounds: &[f64]) -> Result<Self, StatsError> {
        check_times(rounds, MIN_ROUNDS)?;
        let count = rounds.len() as f64;
        let mean = rounds.iter().map(|t| t.ln()).sum::<f64>() / count;
        let squares: f64 = rounds.iter().map(|t| (t.ln() - mean).powi(2)).sum();
        Ok(Self {
            mean,
            variance: squares / (count - 1.0),
            count,
        })
    }

    /// The square of the standard error of the mean.
    fn error_square(&self) -> f64 {
        self.variance / self.count
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_worked_example() {
        // Logs 0.1, 0.2, 0.3 (mean 0.2, variance 0.01) and 0, 0, 0, 0.4 (mean 0.1, variance 0.04):
        // error² = 0.01/3 + 0.04/4 = 0.013333; degrees = 0.013333² / (0.0033333²/2 + 0.01²/3)
        // = 0.000177778 / 0.0000388889 = 4.5714.
        let later = [0.1f64, 0.2, 0.3].map(f64::exp);
        let earlier = [0.0f64, 0.0, 0.0, 0.4].map(f64::exp);
        let ratio = estimate(&later, &earlier, 1).unwrap();
        assert!((ratio.log_mean() - 0.1).abs() < 1e-12);
        let half = (ratio.log_interval()[1] - ratio.log_interval()[0]) / 2.0;
        // t(0.975) at 4.5714 degrees lies between that of 4 (2.776) and of 5 (2.571).
        let error = 0.013_333_333f64.sqrt();
        assert!(2.571 * error < half && half < 2.776 * error, "{half}");
    }

    #[test]
    fn what_rounds_share_does_not_cancel_between_runs() {
        let drifting = [100.0, 110.0, 120.0, 130.0];
        let paired = super::super::interval::estimate(&drifting, &drifting, 1).unwrap();
        let unpaired = estimate(&drifting, &drifting, 1).unwrap();
        assert!(paired.log_interval()[1].abs() < 1e-12);
        assert!(unpaired.log_interval()[1] > 0.1);
    }

    #[test]
    fn rounds_without_spread_and_too_few_rounds() {
        let ratio = estimate(&[110.0; 4], &[100.0; 3], 5).unwrap();
        assert!((ratio.ratio() - 1.1).abs() < 1e-12);
        assert!((ratio.interval()[0] - 1.1).abs() < 1e-12);
        assert!(estimate(&[1.0], &[1.0, 2.0], 1).is_err());
        assert!(estimate(&[1.0, 0.0], &[1.0, 2.0], 1).is_err());
    }

    #[test]
    fn the_floor_between_runs_comes_from_what_did_not_change() {
        let by = |percent: f64| {
            let later = [100.0 + percent, 100.0 + percent];
            estimate(&later, &[100.0; 2], 1).unwrap()
        };
        assert_eq!(between_runs(&[], 1), None);
        let one = between_runs(&[by(1.0)], 1).unwrap();
        assert!((0.12..0.14).contains(&one), "{one}");
        let even = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0].map(by);
        let six = between_runs(&even, 1).unwrap();
        assert!((0.023..0.026).contains(&six), "{six}");
        assert!(between_runs(&even, 20).unwrap() > 1.5 * six);
        let mut many = vec![by(0.1); 50];
        many.push(by(9.0));
        let largest = between_runs(&many, 1).unwrap();
        assert!((0.0899..0.0901).contains(&largest), "{largest}");
    }
}
