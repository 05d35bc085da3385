//! The ratio of one subject in two runs, which share no rounds.
//!
//! Two runs are not interleaved: effects on a round do not cancel, and any change between the runs is
//! in the ratio. So the logarithms of the two runs' rounds are two samples, and Welch's t gives the
//! interval: each sample keeps its own spread, with the degrees of freedom of Welch and Satterthwaite.
//! With Gaussian noise it covers the true ratio *of the two runs* in 95 % of cases
//! (`tests/it/unpaired_simulation.rs`).
//!
//! This is not yet the ratio of two *subjects*: a process keeps its memory layout and a machine its
//! current speed, and no spread of rounds shows either. *Controls* show it: subjects that did not
//! change from run to run. [`between_runs`] separates their common shift, which is attributed to the
//! machine and removed from every ratio, from their remaining spread, which is a floor like that of
//! [`noise`](super::noise). Controls themselves are not judged by it.

use super::StatsError;
use super::error::check_times;
use super::interval::{MIN_ROUNDS, Ratio, t_quantile_at};
use super::median::median;

/// Estimates the ratio of a later run's rounds to an earlier run's, as one of `comparisons`
/// simultaneous ones. Below one, the later run is faster. Zero counts as one.
///
/// # Errors
/// If either has fewer than two rounds, or a value is not a positive time.
pub fn estimate(later: &[f64], earlier: &[f64], comparisons: usize) -> Result<Ratio, StatsError> {
    let later = Sample::of(later)?;
    let earlier = Sample::of(earlier)?;
    let (a, b) = (later.error_square(), earlier.error_square());
    let freedom_lost = a.powi(2) / (later.count - 1.0) + b.powi(2) / (earlier.count - 1.0);
    // Rounds without spread have no error.
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

/// The smallest number of controls whose common shift is removed. Two may agree by chance.
pub const SHIFT_CONTROLS_MIN: usize = 3;

/// The largest common shift that is removed: 50 %. A larger one means a different machine, which does
/// not slow all work by the same factor.
pub const SHIFT_MAX: f64 = 0.5;

/// Whether controls may show a common shift of all subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommonShift {
    /// The shift is removed if it explains the controls better than no shift, with at least
    /// [`SHIFT_CONTROLS_MIN`] controls and up to [`SHIFT_MAX`].
    Remove,
    /// The controls are of another kind: their shift may not apply to the others.
    Keep,
}

/// The difference between two runs, as their controls show it. Sizes are natural logarithms of ratios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BetweenRuns {
    shift: f64,
    is_removed: bool,
    spread: f64,
    farthest: usize,
}

impl BetweenRuns {
    /// Returns the common shift, later to earlier, to remove from every ratio; zero if none.
    #[must_use]
    pub fn log_shift(&self) -> f64 {
        if self.is_removed { self.shift } else { 0.0 }
    }

    /// Returns the shift on which the controls agree, even if it is not removed because there are too
    /// few controls, they are of another kind, or it is too large. Zero if they do not agree.
    #[must_use]
    pub fn log_shift_seen(&self) -> f64 {
        self.shift
    }

    /// Returns how far an unchanged subject may be from that shift, as a ratio minus one: 0.012 is 1.2
    /// %.
    #[must_use]
    pub fn spread(&self) -> f64 {
        // Finite even for useless controls: JSON has no infinity.
        self.spread.exp_m1().min(f64::MAX)
    }

    /// Returns the index of the control farthest from the shift.
    #[must_use]
    pub fn farthest(&self) -> usize {
        self.farthest
    }
}

/// Estimates the difference between the runs from the ratios of controls, for `comparisons`
/// simultaneous verdicts in 95 % of cases. `None` without controls.
///
/// Without a common shift, the spread is the root mean square of the controls' log ratios times
/// Student's t for their number. With one, the shift is their median, which one outlier does not move.
/// The spread is then Student's prediction of one more control: the deviation from the median times t
/// with one degree of freedom less, widened by the uncertainty of the median. The narrower spread is
/// used, as far as [`CommonShift`] allows. It is never smaller than the farthest control's difference:
/// few processes differ permanently by much, and those differences are not Gaussian. A single control
/// gives 12.7 times its own difference.
#[must_use]
pub fn between_runs(
    controls: &[Ratio],
    comparisons: usize,
    common: CommonShift,
) -> Option<BetweenRuns> {
    let around = |shift: f64, degrees: usize, widened: f64| {
        let sizes = controls.iter().map(|c| (c.log_mean() - shift).abs());
        let (farthest, largest) = sizes.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let squares = controls.iter().map(|c| (c.log_mean() - shift).powi(2));
        let deviation = (squares.sum::<f64>() / degrees as f64).sqrt();
        let quantile = t_quantile_at(degrees as f64, comparisons);
        Some(BetweenRuns {
            shift,
            is_removed: shift != 0.0,
            spread: (quantile * deviation * widened).max(largest),
            farthest,
        })
    };
    let count = controls.len();
    let without = around(0.0, count, 1.0)?;
    if count < 2 {
        return Some(without);
    }
    let logs: Vec<f64> = controls.iter().map(Ratio::log_mean).collect();
    let shift = median(&logs)?;
    // The variance of a median of Gaussian values is π/2 times that of their mean.
    let widened = (1.0 + std::f64::consts::FRAC_PI_2 / count as f64).sqrt();
    let with = around(shift, count - 1, widened)?;
    let may_be_removed = common == CommonShift::Remove
        && count >= SHIFT_CONTROLS_MIN
        && shift.abs() <= SHIFT_MAX.ln_1p();
    if may_be_removed && with.spread < without.spread {
        return Some(with);
    }
    let is_seen = with.spread < shift.abs();
    Some(BetweenRuns {
        shift: if is_seen { shift } else { 0.0 },
        ..without
    })
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

    /// Returns the square of the standard error of the mean.
    fn error_square(&self) -> f64 {
        self.variance / self.count
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn estimate_matches_worked_example() {
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
    fn unpaired_common_factor_does_not_cancel() {
        let drifting = [100.0, 110.0, 120.0, 130.0];
        let paired = super::super::interval::estimate(&drifting, &drifting, 1).unwrap();
        let unpaired = estimate(&drifting, &drifting, 1).unwrap();
        assert!(paired.log_interval()[1].abs() < 1e-12);
        assert!(unpaired.log_interval()[1] > 0.1);
    }

    #[test]
    fn unpaired_rounds_without_spread_or_too_few() {
        let ratio = estimate(&[110.0; 4], &[100.0; 3], 5).unwrap();
        assert!((ratio.ratio() - 1.1).abs() < 1e-12);
        assert!((ratio.interval()[0] - 1.1).abs() < 1e-12);
        assert!(estimate(&[1.0], &[1.0, 2.0], 1).is_err());
        assert!(estimate(&[1.0, 0.0], &[1.0, 2.0], 1).is_err());
    }

    fn by(percent: f64) -> Ratio {
        let later = [100.0 + percent, 100.0 + percent];
        estimate(&later, &[100.0; 2], 1).unwrap()
    }

    #[test]
    fn between_runs_controls_without_shift_give_floor() {
        let floor = |controls: &[Ratio], comparisons| {
            let between = between_runs(controls, comparisons, CommonShift::Remove)?;
            assert_eq!(between.log_shift(), 0.0);
            Some(between.spread())
        };
        assert_eq!(floor(&[], 1), None);
        let one = floor(&[by(1.0)], 1).unwrap();
        assert!((0.12..0.14).contains(&one), "{one}");
        let even = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0].map(by);
        let six = floor(&even, 1).unwrap();
        assert!((0.023..0.026).contains(&six), "{six}");
        assert!(floor(&even, 20).unwrap() > 1.5 * six);
        let mut many: Vec<Ratio> = vec![by(0.1); 50];
        many.push(by(9.0));
        let kept = between_runs(&many, 1, CommonShift::Keep).unwrap();
        let largest = kept.spread();
        assert!((0.0899..0.0901).contains(&largest), "{largest}");
    }

    #[test]
    fn between_runs_common_shift_is_removed() {
        let controls = [12.0, 12.2, 11.8, 12.1, 11.9].map(by);
        let between = between_runs(&controls, 1, CommonShift::Remove).unwrap();
        assert!((between.log_shift() - 0.12f64.ln_1p()).abs() < 1e-9);
        assert!((0.002..0.008).contains(&between.spread()), "{between:?}");
        // Controls of another kind only show how far runs may differ.
        let kept = between_runs(&controls, 1, CommonShift::Keep).unwrap();
        assert_eq!(kept.log_shift(), 0.0);
        assert!((kept.log_shift_seen() - 0.12f64.ln_1p()).abs() < 1e-9);
        assert!(kept.spread() > 0.25, "{kept:?}");
        // Two controls agree by chance, and a machine that is much slower is another one.
        for (controls, why) in [(&controls[..2], "two"), (&[by(70.0); 5][..], "too far")] {
            let between = between_runs(controls, 1, CommonShift::Remove).unwrap();
            assert_eq!(between.log_shift(), 0.0, "{why}");
            let seen = if why == "two" { 0.121 } else { 0.7 };
            assert!(
                (between.log_shift_seen() - f64::ln_1p(seen)).abs() < 1e-3,
                "{why}"
            );
        }
    }

    #[test]
    fn between_runs_outlying_control_does_not_move_shift() {
        let controls = [12.0, 12.2, 150.0, 11.8, 12.1, 11.9, 12.0].map(by);
        let between = between_runs(&controls, 1, CommonShift::Remove).unwrap();
        assert_eq!(between.farthest(), 2);
        assert!((between.log_shift() - 0.12f64.ln_1p()).abs() < 1e-9);
        assert!(between.spread() > 1.0, "{between:?}");
    }
}
