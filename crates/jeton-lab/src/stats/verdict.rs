//! From an interval and a band to one of four verdicts.
//!
//! Let the band be ± max(2 %, noise floor), on the log scale. Then
//!
//! | verdict | when |
//! |---|---|
//! | equivalent | the whole interval is inside the band |
//! | faster | the whole interval is below one, *and* the ratio itself is below the band |
//! | slower | the whole interval is above one, *and* the ratio itself is above the band |
//! | cannot tell | anything else |
//!
//! The order matters: an interval that excludes one and yet lies inside the band is a
//! difference that is real and of no interest, hence equivalent.
//!
//! "Faster" therefore says two things: the direction is proven, with simultaneous 95 %
//! confidence, and the best estimate of the size is one that matters and that identical subjects
//! do not show. It does *not* say that the true size is beyond the band for certain: the interval,
//! printed beside it, says how small it may be. The stricter rule, the whole interval beyond the
//! band, would say that too; but at 12 rounds and 2 % noise it finds a 5 % difference in 11 % of
//! runs (in 64 % if the band were never wider than 2 %), and this rule in 90 %.
//!
//! "Equivalent" says: the true ratio is inside the band, with the same confidence. A run so
//! noisy that its floor is above [`MAX_EQUIVALENCE`] calls nothing equivalent: "the same within
//! 30 %" is an answer to nobody's question.

use super::interval::{Ratio, t_quantile};
use crate::result::VerdictKind;

/// Differences below it are of no practical interest: 2 %.
pub const PRACTICAL_DIFFERENCE: f64 = 0.02;

/// The widest band inside which subjects are called equivalent: 10 %.
pub const MAX_EQUIVALENCE: f64 = 0.10;

/// Beyond it, [`more_rounds`] gives no number: another 1,000 rounds is not advice.
pub const MAX_MORE_ROUNDS: u32 = 1_000;

/// The normal quantile of four in five: the chance at which more rounds "probably" decide.
const PROBABLY_Z: f64 = 0.841_621;

/// What lies around a ratio of one and is not believed, or of no interest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    floor_log: f64,
}

impl Band {
    /// The band of a run with this noise floor, a ratio above one (0.012 is 1.2 %); of 2 % if
    /// there is none.
    #[must_use]
    pub fn new(floor: Option<f64>) -> Self {
        // A floor that is not a number believes nothing.
        let floor = floor.unwrap_or(0.0);
        Self {
            floor_log: if floor.is_nan() {
                f64::INFINITY
            } else {
                floor.max(0.0).ln_1p()
            },
        }
    }

    /// How far a ratio must be from one to be believed, as a ratio above one.
    #[must_use]
    pub fn believed_beyond(&self) -> f64 {
        self.believed_log().exp_m1()
    }

    /// How far from one an interval may reach and be equivalent, as a ratio above one.
    #[must_use]
    pub fn equivalent_within(&self) -> f64 {
        self.equivalent_log().exp_m1()
    }

    fn believed_log(&self) -> f64 {
        self.floor_log.max(PRACTICAL_DIFFERENCE.ln_1p())
    }

    fn equivalent_log(&self) -> f64 {
        self.believed_log().min(MAX_EQUIVALENCE.ln_1p())
    }

    /// The band that the same noise makes after `factor` times as many rounds.
    fn after(&self, factor: f64) -> Self {
        Self {
            floor_log: self.floor_log / factor.sqrt(),
        }
    }
}

/// The verdict on one ratio.
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

/// How many more rounds would decide it in four of five runs, if ratio, spread and noise stay as
/// they are. `None` if it is decided, or if [`MAX_MORE_ROUNDS`] would not do: the ratio lies at
/// the edge of the band, where no number of rounds helps much.
#[must_use]
pub fn more_rounds(ratio: &Ratio, band: Band) -> Option<u32> {
    if judge(ratio, band) != VerdictKind::Undecided {
        return None;
    }
    // In steps of 2 %: an estimate that rests on a handful of rounds is not better than that.
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

    /// Four rounds of mean log `mean` whose interval reaches `half_width` to both sides.
    fn ratio(mean: f64, half_width: f64) -> Ratio {
        // Log ratios mean ± d have the deviation 2d/√3 and the half-width 3.182446 × d / √3.
        let d = half_width * 3f64.sqrt() / 3.182_446_305;
        let subject: Vec<f64> = [d, -d, d, -d].iter().map(|d| (mean + d).exp()).collect();
        let ratio = estimate(&subject, &[1.0; 4], 1).unwrap();
        assert!((ratio.log_interval()[1] - mean - half_width).abs() < 1e-9);
        ratio
    }

    #[test]
    fn every_place_of_an_interval_has_its_verdict() {
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
                judge(&ratio(mean, half_width), Band::new(None)),
                verdict,
                "{place}"
            );
        }
    }

    #[test]
    fn the_noise_floor_widens_the_band() {
        let seen = ratio(0.03, 0.005);
        assert_eq!(judge(&seen, Band::new(Some(0.001))), VerdictKind::Slower);
        assert_eq!(judge(&seen, Band::new(Some(0.033))), VerdictKind::Undecided);
        assert_eq!(judge(&seen, Band::new(Some(0.05))), VerdictKind::Equivalent);
    }

    #[test]
    fn a_very_noisy_run_calls_nothing_equivalent() {
        let noisy = Band::new(Some(0.30));
        assert!((noisy.equivalent_within() - MAX_EQUIVALENCE).abs() < 1e-12);
        assert!((noisy.believed_beyond() - 0.30).abs() < 1e-12);
        assert_eq!(judge(&ratio(0.0, 0.25), noisy), VerdictKind::Undecided);
        assert_eq!(judge(&ratio(0.20, 0.05), noisy), VerdictKind::Undecided);
        assert_eq!(judge(&ratio(0.35, 0.05), noisy), VerdictKind::Slower);
        let unknown = Band::new(Some(f64::NAN));
        assert_eq!(judge(&ratio(9.0, 0.05), unknown), VerdictKind::Undecided);
    }

    #[test]
    fn more_rounds_are_asked_for_where_they_help() {
        let band = Band::new(None);
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
    fn the_rounds_asked_for_do_decide() {
        for (mean, half_width) in [(0.05, 0.06), (0.0, 0.03), (0.04, 0.10)] {
            let seen = ratio(mean, half_width);
            let more = more_rounds(&seen, Band::new(None)).unwrap();
            // The same spread, at that many rounds.
            let rounds = 4 + more as usize;
            let d = seen.log_deviation() * ((rounds - 1) as f64 / rounds as f64).sqrt();
            let subject: Vec<f64> = (0..rounds)
                .map(|round| (mean + if round % 2 == 0 { d } else { -d }).exp())
                .collect();
            let later = estimate(&subject, &vec![1.0; rounds], 1).unwrap();
            assert_ne!(
                judge(&later, Band::new(None)),
                VerdictKind::Undecided,
                "{mean} {more}"
            );
        }
    }
}
