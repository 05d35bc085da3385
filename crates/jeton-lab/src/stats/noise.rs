//! The noise floor: what this run makes out of nothing.
//!
//! An A/A pair is one subject measured twice, by two processes under two names. Whatever the two
//! differ by is noise. The floor answers: *how far from one do two identical subjects come to lie
//! in this run, in 95 % of cases?* It is the largest of three answers.
//!
//! * **By the spread of rounds.** A 95 % interval covers one in 95 % of identical pairs, and an
//!   interval that covers one ends within its own full width of it. So: the full width of an
//!   identical pair's interval, its spread pooled over all given pairs (one pair's spread at 8
//!   rounds is uncertain by a quarter), widened by t/z for what uncertainty the pool still has.
//! * **By the ratios of the pairs.** Processes may differ for good, by their memory layout say,
//!   and then the rounds of one pair agree on a wrong ratio. So: the root mean square of the
//!   pairs' log ratios, times Student's t for that many pairs, which is where one more identical
//!   pair's ratio lies in 95 % of cases. Under plain noise this is the smaller answer. Where the
//!   ratios lie further from one than the spread of rounds explains (an F test at 5 %), the pairs
//!   do differ for good, and an interval's half width is added: it is around *that* ratio, and an
//!   identical pair is to be equivalent as a whole.
//! * **By the extents of the pairs.** The pool takes the pairs' spreads for one and the same, and
//!   where some work is noisier than other it is too narrow for the noisy and too wide for the
//!   quiet. Where the spreads differ by more than chance (Bartlett's test at 0.5 %: at 5 % it would
//!   widen too many floors of equal noise, and hide effects), the pairs are
//!   taken as they are: each has an *extent*, the far end of its interval from one, and the answer
//!   is where one more pair's lies in 95 % of cases. Extents differ by factors, so that is Student's
//!   prediction from their logarithms. By how much they scatter is learnt from pairs of the other
//!   kind too, which may be noisier as a whole and then are so by one factor.
//!
//! The first shrinks with the square root of the rounds, down to 2 % where the
//! [band](super::verdict::Band) stops following; the second only with new processes, and the third
//! also with more pairs.
//!
//! A pair never judges itself: [`judge_each`] takes each pair's floor from the others. **Take at
//! least four pairs of a kind, better six, and some of the other kind beside them**: with two, the t
//! of the second answer is 4 to 13, and the floor hides what the run could have told. The pairs
//! should be of the kinds that are compared: a floor from native subjects says little of a managed
//! runtime's noise.

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

use super::StatsError;
use super::interval::{CONFIDENCE, Ratio, estimate, t_above, t_quantile};
use super::verdict::{Band, judge};
use crate::result::VerdictKind;

/// The normal quantile of a two-sided 95 %: Student's t with no uncertainty left.
const Z_95: f64 = 1.959_964;

/// Rounds that agree more closely than this do so by chance: half of a tenth of a percent.
const FINEST: f64 = 0.000_5;

/// Fewer degrees of freedom do not tell how extents scatter: four pairs of one kind have three.
const FEWEST_DEGREES: usize = 3;

/// The rounds of one subject under two names, paired by round.
#[derive(Debug, Clone, Copy)]
pub struct IdenticalPair<'a> {
    /// The rounds of the first name.
    pub first: &'a [f64],
    /// The rounds of the second name.
    pub second: &'a [f64],
}

/// The noise floor that these pairs show, as a ratio above one: 0.012 is 1.2 %. `others` are pairs
/// of another kind, of the same run, if there is one. `None` without pairs.
///
/// # Errors
/// If a pair's rounds cannot be compared.
pub fn floor(
    pairs: &[IdenticalPair<'_>],
    others: &[IdenticalPair<'_>],
) -> Result<Option<f64>, StatsError> {
    Ok(floor_of(&ratios(pairs)?, &ratios(others)?))
}

/// Each pair's ratio, second over first, and what the verdict rule says of it with the floor
/// that the rest of them show, beside `others` of another kind.
///
/// # Errors
/// If a pair's rounds cannot be compared.
pub fn judge_each(
    pairs: &[IdenticalPair<'_>],
    others: &[IdenticalPair<'_>],
) -> Result<Vec<(Ratio, VerdictKind)>, StatsError> {
    let ratios = ratios(pairs)?;
    let others = self::ratios(others)?;
    let judged = (0..ratios.len()).map(|index| {
        let rest = [&ratios[..index], &ratios[index + 1..]].concat();
        (
            ratios[index],
            judge(&ratios[index], Band::new(floor_of(&rest, &others))),
        )
    });
    Ok(judged.collect())
}

fn ratios(pairs: &[IdenticalPair<'_>]) -> Result<Vec<Ratio>, StatsError> {
    pairs
        .iter()
        .map(|pair| estimate(pair.second, pair.first, 1))
        .collect()
}

fn floor_of(ratios: &[Ratio], others: &[Ratio]) -> Option<f64> {
    let rounds = ratios.iter().map(Ratio::rounds).min()?;
    let Pool { degrees, deviation } = Pool::of(ratios);
    let uncertainty = t_quantile(degrees, 1) / Z_95;
    let half_width = t_quantile(rounds - 1, 1) * deviation / (rounds as f64).sqrt() * uncertainty;
    let by_spread = 2.0 * half_width;

    let pairs = ratios.len();
    let mean_square: f64 = ratios
        .iter()
        .map(|ratio| ratio.log_mean().powi(2))
        .sum::<f64>()
        / pairs as f64;
    let by_ratios = t_quantile(pairs, 1) * mean_square.sqrt();
    let error_square = deviation.powi(2) / rounds as f64;
    let for_good = mean_square > error_square * f_quantile(pairs, degrees);
    let by_ratios = by_ratios + if for_good { half_width } else { 0.0 };

    let answers = [by_spread, by_ratios];
    let answers = answers.into_iter().chain(by_extents(ratios, others));
    let widest = answers.reduce(f64::max)?;
    // A number, even of rounds that say nothing: JSON has no infinity.
    Some(widest.exp_m1().min(f64::MAX))
}

/// Where the extent of one more pair lies in 95 % of cases, if the pairs do not all have the same
/// spread and are enough to tell.
fn by_extents(ratios: &[Ratio], others: &[Ratio]) -> Option<f64> {
    let kinds = [Extents::of(ratios), Extents::of(others)];
    let degrees: usize = kinds.iter().map(|kind| kind.degrees).sum();
    if degrees < FEWEST_DEGREES || !spreads_differ([ratios, others]) {
        return None;
    }
    let squares: f64 = kinds.iter().map(|kind| kind.squares).sum();
    let deviation = (squares / degrees as f64).sqrt();
    let one_more = (1.0 + 1.0 / ratios.len() as f64).sqrt();
    Some((kinds[0].mean + t_above(degrees) * deviation * one_more).exp())
}

/// The logarithms of the extents of one kind of pairs.
#[derive(Debug)]
struct Extents {
    mean: f64,
    /// Around the mean, and their degrees of freedom.
    squares: f64,
    degrees: usize,
}

impl Extents {
    fn of(ratios: &[Ratio]) -> Self {
        let extents = ratios.iter().map(|ratio| {
            let [low, high] = ratio.log_interval();
            (-low).max(high).max(FINEST).ln()
        });
        let mean = extents.clone().sum::<f64>() / ratios.len() as f64;
        Self {
            mean,
            squares: extents.map(|extent| (extent - mean).powi(2)).sum(),
            degrees: ratios.len().saturating_sub(1),
        }
    }
}

/// One spread for several pairs, each weighed by its degrees of freedom.
#[derive(Debug)]
struct Pool {
    degrees: usize,
    deviation: f64,
}

impl Pool {
    fn of(ratios: &[Ratio]) -> Self {
        let degrees: usize = ratios.iter().map(|ratio| ratio.rounds() - 1).sum();
        let squares: f64 = ratios
            .iter()
            .map(|ratio| ratio.log_deviation().powi(2) * (ratio.rounds() - 1) as f64)
            .sum();
        Self {
            degrees,
            deviation: (squares / degrees as f64).sqrt(),
        }
    }
}

/// Whether the spreads inside of these kinds differ by more than chance: Bartlett's test, summed
/// over the kinds, which are independent.
fn spreads_differ(kinds: [&[Ratio]; 2]) -> bool {
    let (mut statistic, mut freedom) = (0.0, 0);
    for kind in kinds.into_iter().filter(|kind| kind.len() >= 2) {
        let pool = Pool::of(kind);
        let all = pool.degrees as f64;
        let log = |deviation: f64| deviation.max(FINEST).ln();
        let weighed = kind
            .iter()
            .map(|ratio| (ratio.rounds() - 1) as f64 * log(ratio.log_deviation()));
        let apart = all * log(pool.deviation) - weighed.sum::<f64>();
        let inverse: f64 = kind.iter().map(|r| 1.0 / (r.rounds() - 1) as f64).sum();
        let between = kind.len() - 1;
        let correction = 1.0 + (inverse - 1.0 / all) / (3 * between) as f64;
        statistic += 2.0 * apart / correction;
        freedom += between;
    }
    freedom > 0 && statistic > chi_squared_quantile(freedom)
}

/// What the sum of so many squares of standard normal values stays below in 99.5 % of cases.
fn chi_squared_quantile(degrees: usize) -> f64 {
    ChiSquared::new(degrees as f64)
        .expect("at least one degree of freedom makes a chi-squared distribution")
        .inverse_cdf(0.995)
}

/// What the ratio of two variances that are the same stays below in 95 % of cases.
fn f_quantile(numerator: usize, denominator: usize) -> f64 {
    let freedom = |degrees: usize| degrees.max(1) as f64;
    FisherSnedecor::new(freedom(numerator), freedom(denominator))
        .expect("one degree of freedom or more on both sides make an F distribution")
        .inverse_cdf(CONFIDENCE)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const FLAT: [f64; 4] = [100.0; 4];

    #[test]
    fn without_pairs_there_is_no_floor() {
        assert_eq!(floor(&[], &[]).unwrap(), None);
    }

    #[test]
    fn the_spread_of_rounds_makes_it() {
        // Log ratios ±0.01: deviation 0.011547, over the square root of 4; t(3) = 3.182446.
        let second: Vec<f64> = [0.01f64, -0.01, 0.01, -0.01]
            .iter()
            .map(|log| 100.0 * log.exp())
            .collect();
        let pair = IdenticalPair {
            first: &FLAT,
            second: &second,
        };
        let expected = (3.182_446f64 * 0.011_547 * (3.182_446 / 1.959_964)).exp_m1();
        assert!((floor(&[pair], &[]).unwrap().unwrap() - expected).abs() < 1e-6);
        // A quiet pair beside it halves the pooled variance, and t(6) = 2.446912.
        let quiet = IdenticalPair {
            first: &FLAT,
            second: &FLAT,
        };
        let expected = (3.182_446f64 * 0.011_547 / 2f64.sqrt() * (2.446_912 / 1.959_964)).exp_m1();
        assert!((floor(&[pair, quiet], &[]).unwrap().unwrap() - expected).abs() < 1e-6);
    }

    #[test]
    fn processes_that_differ_for_good_make_it() {
        // Log ratios of ±0.01 without any spread; t(4) = 2.776445.
        let (slow, fast) = ([101.005_017; 4], [99.004_983; 4]);
        let pairs = [&slow, &fast, &slow, &fast].map(|second| IdenticalPair {
            first: &FLAT,
            second: second.as_slice(),
        });
        let expected = 0.027_764_45f64.exp_m1();
        assert!((floor(&pairs, &[]).unwrap().unwrap() - expected).abs() < 1e-6);
    }

    /// Log ratios of ± `size`, as many of each.
    fn rounds_apart_by(size: f64) -> [f64; 4] {
        [size, -size, size, -size].map(|log: f64| 100.0 * log.exp())
    }

    #[test]
    fn pairs_of_unequal_noise_make_it() {
        // Extents are 2/√3 × 3.182446 / √4 of a size each; t(3), one-sided, is 2.353363.
        let sizes = [0.002, 0.004, 0.016, 0.032];
        let seconds = sizes.map(rounds_apart_by);
        let pairs = seconds.each_ref().map(|second| IdenticalPair {
            first: &FLAT,
            second,
        });
        let extents = sizes.map(|size| (1.837_386 * size).ln());
        let mean = extents.iter().sum::<f64>() / 4.0;
        let squares: f64 = extents.iter().map(|extent| (extent - mean).powi(2)).sum();
        let log_extent = mean + 2.353_363 * (squares / 3.0).sqrt() * 1.25f64.sqrt();
        let expected = log_extent.exp().exp_m1();
        assert!((floor(&pairs, &[]).unwrap().unwrap() - expected).abs() < 1e-6);

        // Twice as noisy, as a kind: it tells nothing of where the extents lie.
        let doubled = sizes.map(|size| rounds_apart_by(2.0 * size));
        let others = doubled.each_ref().map(|second| IdenticalPair {
            first: &FLAT,
            second,
        });
        let log_extent = mean + 1.943_180 * (squares / 3.0).sqrt() * 1.25f64.sqrt();
        let expected = log_extent.exp().exp_m1();
        assert!((floor(&pairs, &others).unwrap().unwrap() - expected).abs() < 1e-6);

        // Three pairs do not tell how extents scatter, and equal noise has none of it.
        let three = floor(&pairs[..3], &[]).unwrap().unwrap();
        assert!(three < expected, "{three}");
        let equal = [pairs[2]; 4];
        let by_spread = (2.178_813f64 / 1.959_964 * 2.0 * 1.837_386 * 0.016).exp_m1();
        assert!((floor(&equal, &[]).unwrap().unwrap() - by_spread).abs() < 1e-6);
    }

    #[test]
    fn two_wild_rounds_make_a_number_all_the_same() {
        let seconds = [1.0f64, 5.0, 25.0, 125.0].map(|log| [100.0 * log.exp(), 100.0]);
        let pairs = seconds.each_ref().map(|second| IdenticalPair {
            first: &FLAT[..2],
            second,
        });
        assert_eq!(floor(&pairs, &[]).unwrap(), Some(f64::MAX));
    }

    #[test]
    fn a_pair_never_judges_itself() {
        let apart = [105.0; 4];
        let lone = IdenticalPair {
            first: &FLAT,
            second: &apart,
        };
        let quiet = IdenticalPair {
            first: &FLAT,
            second: &FLAT,
        };
        let verdicts = |pairs: &[IdenticalPair<'_>]| -> Vec<VerdictKind> {
            judge_each(pairs, &[])
                .unwrap()
                .into_iter()
                .map(|(_, verdict)| verdict)
                .collect()
        };
        // Its own 5 % would have made it equivalent.
        assert_eq!(verdicts(&[lone]), [VerdictKind::Slower]);
        assert_eq!(
            verdicts(&[lone, quiet]),
            [VerdictKind::Slower, VerdictKind::Equivalent]
        );
        // Another pair that is as far apart vouches for it.
        assert_eq!(verdicts(&[lone, lone]), [VerdictKind::Equivalent; 2]);
    }
}
