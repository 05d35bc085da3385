//! The four verdicts, from an interval and a band.
//!
//! Let the band be ± max(2 %, noise floor), on the log scale.
//!
//! | verdict | when |
//! |---|---|
//! | equivalent | the whole interval is inside the band |
//! | faster | the whole interval is below one, *and* the ratio itself is below the band |
//! | slower | the whole interval is above one, *and* the ratio itself is above the band |
//! | undecided | anything else |
//!
//! The order matters: an interval that excludes one but is inside the band is a real difference that is
//! too small to matter, so it is equivalent.
//!
//! "Faster" means two things: the direction is certain, with simultaneous 95 % confidence, and the best
//! estimate of the size is larger than differences between identical subjects. It does *not* mean that
//! the true size is certainly beyond the band: the interval shows how small it may be. A stricter rule,
//! the whole interval beyond the band, would mean that too. But at 12 rounds and 2 % noise it finds a 5
//! % difference in 11 % of runs (in 64 % if the band were never wider than 2 %), and this rule in 90 %.
//!
//! "Equivalent" means: the true ratio is inside the band, with the same confidence. A run with a floor
//! above [`MAX_EQUIVALENCE`] has no equivalent subjects, because "the same within 30 %" is not useful.

use super::interval::{Ratio, t_quantile};
use jeton_lab_model::result::VerdictKind;

/// Smaller differences are of no practical interest: 2 %.
pub const PRACTICAL_DIFFERENCE: f64 = 0.02;

/// The widest band for an equivalent verdict: 10 %.
pub const MAX_EQUIVALENCE: f64 = 0.10;

/// The floor of a run without a noise floor: a subject counts as faster or slower from a third or three times the
/// time on. Every run plans A/A pairs, so a run without a floor lost all of them and knows nothing about its
/// noise. Runs on shared machines have had floors above 100 %.
pub const UNMEASURED_FLOOR: f64 = 2.0;

/// The largest estimate of [`more_rounds`]: advice for more rounds than this is not useful.
pub const MAX_MORE_ROUNDS: u32 = 1_000;

/// The normal quantile of 80 %: the probability at which more rounds "probably" decide.
const PROBABLY_Z: f64 = 0.841_621;

/// The band around a ratio of one in which differences do not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    floor_log: f64,
}

impl Band {
    /// Creates the band of a run with this noise floor, a ratio minus one (0.012 is 1.2 %);
    /// [`UNMEASURED_FLOOR`] without a floor.
    #[must_use]
    pub fn new(floor: Option<f64>) -> Self {
        // With a NaN floor no difference counts.
        let floor = floor.unwrap_or(UNMEASURED_FLOOR);
        Self {
            floor_log: if floor.is_nan() {
                f64::INFINITY
            } else {
                floor.max(0.0).ln_1p()
            },
        }
    }

    /// Creates the band of measurements whose noise is not known: every verdict is undecided.
    #[must_use]
    pub fn unknown() -> Self {
        Self {
            floor_log: f64::INFINITY,
        }
    }

    /// Reports whether the noise is known.
    #[must_use]
    pub fn is_known(&self) -> bool {
        self.floor_log.is_finite()
    }

    /// Returns how far a ratio must be from one to count, as a ratio minus one.
    #[must_use]
    pub fn believed_beyond(&self) -> f64 {
        self.believed_log().exp_m1()
    }

    /// Returns how far an equivalent interval may reach from one, as a ratio minus one.
    #[must_use]
    pub fn equivalent_within(&self) -> f64 {
        self.equivalent_log().exp_m1()
    }

    fn believed_log(&self) -> f64 {
        self.floor_log.max(PRACTICAL_DIFFERENCE.ln_1p())
    }

    fn equivalent_log(&self) -> f64 {
        if self.is_known() {
            self.believed_log().min(MAX_EQUIVALENCE.ln_1p())
        } else {
            f64::NEG_INFINITY
        }
    }

    /// Returns the band of the same noise after `factor` times as many rounds.
    fn after(&self, factor: f64) -> Self {
        Self {
            floor_log: self.floor_log / factor.sqrt(),
        }
    }
}

/// Returns the verdict on one ratio.
#[must_use]
pub fn judge(ratio: &Ratio, band: Band) -> VerdictKind {
    let [low, high] = ratio.log_interval();
    let within = band.equivalent_log();
    if -within <= low && high <= within {
        VerdictKind::Equivalent
    } else if high < 0.0 && ratio.log_mean() < -band.believed_log() {
        VerdictKind::Faster
    } else if low > 0.0 && ratio.log_mean() > band.believed_log() {
        VerdictKind::Slower
    } else {
        VerdictKind::Undecided
    }
}

/// Estimates how many more rounds would decide in four of five runs, if ratio, spread and noise stay
/// the same. `None` if decided, or if [`MAX_MORE_ROUNDS`] are not enough: the ratio is then at the edge
/// of the band.
#[must_use]
pub fn more_rounds(ratio: &Ratio, band: Band) -> Option<u32> {
    if judge(ratio, band) != VerdictKind::Undecided {
        return None;
    }
    // In steps of 2 %: an estimate from a few rounds is not more precise.
    std::iter::successors(Some(1), |more: &u32| Some(more + 1 + more / 50))
        .take_while(|&more| more <= MAX_MORE_ROUNDS)
        .find(|&more| would_decide(ratio, band, more))
}

fn would_decide(ratio: &Ratio, band: Band, more: u32) -> bool {
    let rounds = ratio.rounds() + more as usize;
    let band = band.after(rounds as f64 / ratio.rounds() as f64);
    let error = ratio.log_deviation() / (rounds as f64).sqrt();
    let half_width = t_quantile(rounds - 1, ratio.comparisons()) * error;
    let size = ratio.log_mean().abs();
    let slack = PROBABLY_Z * error;
    let different = size > half_width.max(band.believed_log()) + slack;
    let equivalent = size + half_width + slack <= band.equivalent_log();
    different || equivalent
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::interval::estimate;
    use super::*;

    /// Four rounds with the mean log `mean` and an interval of `half_width` on both sides.
    fn ratio(mean: f64, half_width: f64) -> Ratio {
        // Log ratios mean ± d have the deviation 2d/√3 and the half-width 3.182446 × d / √3.
        let d = half_width * 3f64.sqrt() / 3.182_446_305;
        let subject: Vec<f64> = [d, -d, d, -d].iter().map(|d| (mean + d).exp()).collect();
        let ratio = estimate(&subject, &[1.0; 4], 1).unwrap();
        assert!((ratio.log_interval()[1] - mean - half_width).abs() < 1e-9);
        ratio
    }

    #[test]
    fn judge_every_position_of_interval() {
        use VerdictKind::{Equivalent, Faster, Slower, Undecided};
        for (mean, half_width, verdict, place) in [
            (0.0, 0.01, Equivalent, "inside, around one"),
            (0.010, 0.005, Equivalent, "inside, excludes one"),
            (-0.010, 0.005, Equivalent, "inside, excludes one"),
            (0.05, 0.01, Slower, "beyond the band"),
            (-0.05, 0.01, Faster, "beyond the band"),
            (
                0.03,
                0.025,
                Slower,
                "excludes one, its middle beyond the band",
            ),
            (
                -0.03,
                0.025,
                Faster,
                "excludes one, its middle beyond the band",
            ),
            (
                0.015,
                0.010,
                Undecided,
                "excludes one, its middle inside, its end outside",
            ),
            (
                -0.015,
                0.010,
                Undecided,
                "excludes one, its middle inside, its end outside",
            ),
            (0.03, 0.035, Undecided, "covers one, leaves the band"),
            (0.0, 0.05, Undecided, "covers the band"),
        ] {
            assert_eq!(
                judge(&ratio(mean, half_width), Band::new(Some(0.0))),
                verdict,
                "{place}"
            );
        }
    }

    #[test]
    fn band_noise_floor_widens_it() {
        let seen = ratio(0.03, 0.005);
        assert_eq!(judge(&seen, Band::new(Some(0.001))), VerdictKind::Slower);
        assert_eq!(judge(&seen, Band::new(Some(0.033))), VerdictKind::Undecided);
        assert_eq!(judge(&seen, Band::new(Some(0.05))), VerdictKind::Equivalent);
    }

    #[test]
    fn judge_very_noisy_run_has_no_equivalent() {
        let noisy = Band::new(Some(0.30));
        assert!((noisy.equivalent_within() - MAX_EQUIVALENCE).abs() < 1e-12);
        assert!((noisy.believed_beyond() - 0.30).abs() < 1e-12);
        assert_eq!(judge(&ratio(0.0, 0.25), noisy), VerdictKind::Undecided);
        assert_eq!(judge(&ratio(0.20, 0.05), noisy), VerdictKind::Undecided);
        assert_eq!(judge(&ratio(0.35, 0.05), noisy), VerdictKind::Slower);
    }

    #[test]
    fn judge_without_known_noise_is_undecided() {
        for unknown in [Band::unknown(), Band::new(Some(f64::NAN))] {
            assert!(!unknown.is_known());
            for (mean, half_width) in [(9.0, 0.05), (-9.0, 0.05), (0.0, 0.001), (0.1, 0.1)] {
                let seen = ratio(mean, half_width);
                assert_eq!(judge(&seen, unknown), VerdictKind::Undecided);
                assert_eq!(more_rounds(&seen, unknown), None, "rounds do not help");
            }
        }
    }

    #[test]
    fn judge_without_floor_small_ratios_are_undecided() {
        let unmeasured = Band::new(None);
        for log in [0.05, 0.3, 1.0, -0.05, -1.0] {
            let judged = judge(&ratio(log, 0.01), unmeasured);
            assert!(
                matches!(judged, VerdictKind::Undecided | VerdictKind::Equivalent),
                "{log}"
            );
        }
        assert_eq!(judge(&ratio(0.3, 0.01), unmeasured), VerdictKind::Undecided);
        assert_eq!(judge(&ratio(1.2, 0.01), unmeasured), VerdictKind::Slower);
        assert_eq!(judge(&ratio(-1.2, 0.01), unmeasured), VerdictKind::Faster);
    }

    #[test]
    fn more_rounds_only_where_they_help() {
        let band = Band::new(Some(0.0));
        assert_eq!(more_rounds(&ratio(0.05, 0.01), band), None, "decided");
        let near = more_rounds(&ratio(0.05, 0.06), band).unwrap();
        let far = more_rounds(&ratio(0.05, 0.20), band).unwrap();
        assert!(0 < near && near < far && far < 100, "{near} {far}");
        assert_eq!(
            more_rounds(&ratio(0.02f64.ln_1p(), 0.05), band),
            None,
            "edge of the band"
        );
        assert!(
            more_rounds(&ratio(0.0, 0.03), band).is_some(),
            "towards equivalent"
        );
    }

    #[test]
    fn more_rounds_estimate_decides() {
        for (mean, half_width) in [(0.05, 0.06), (0.0, 0.03), (0.04, 0.10)] {
            let seen = ratio(mean, half_width);
            let more = more_rounds(&seen, Band::new(Some(0.0))).unwrap();
            // The same spread, at that number of rounds.
            let rounds = 4 + more as usize;
            let d = seen.log_deviation() * ((rounds - 1) as f64 / rounds as f64).sqrt();
            let subject: Vec<f64> = (0..rounds)
                .map(|round| (mean + if round % 2 == 0 { d } else { -d }).exp())
                .collect();
            let later = estimate(&subject, &vec![1.0; rounds], 1).unwrap();
            assert_ne!(
                judge(&later, Band::new(Some(0.0))),
                VerdictKind::Undecided,
                "{mean} {more}"
            );
        }
    }
}
