//! The noise floor: how far identical subjects differ in a run.
//!
//! An A/A pair is one subject measured twice, by two processes. Any difference between the two is
//! noise. The floor answers: *how far from one are the ratios of identical subjects in 95 % of cases?*
//! It is the largest of three estimates.
//!
//! * **By the spread of rounds.** A 95 % interval covers one in 95 % of A/A pairs, and an interval that
//!   covers one ends within its full width of it. So the estimate is the full width of an A/A pair's
//!   interval. Its spread is pooled over all pairs (one pair's spread at 8 rounds is uncertain by a
//!   quarter), and widened by t/z for the remaining uncertainty.
//! * **By the ratios of the pairs.** Processes may differ permanently, for example by their memory
//!   layout; the rounds of a pair then agree on a wrong ratio. So the estimate is the root mean square
//!   of the pairs' log ratios, times Student's t for that number of pairs: one more pair's ratio is
//!   within it in 95 % of cases. With plain noise this is the smaller estimate. If the ratios are
//!   farther from one than the spread of rounds explains (an F test at 5 %), an interval's half width
//!   is added, because the whole interval of an A/A pair must be equivalent.
//! * **By the extents of the pairs.** Pooling assumes equal spreads. With unequal noise the pool is too
//!   narrow for noisy work and too wide for quiet work. If the spreads differ by more than chance
//!   (Bartlett's test at 0.5 %; 5 % would widen too many floors of equal noise), each pair counts
//!   separately. Its *extent* is the far end of its interval from one, and the estimate covers one more
//!   pair's extent in 95 % of cases. Extents differ by factors, so this is Student's prediction from
//!   their logarithms. Their scatter is estimated from pairs of the other kind too.
//!
//! The first estimate shrinks with the square root of the rounds, down to 2 % where the
//! [band](super::verdict::Band) stops following. The second shrinks only with new processes, and the
//! third also with more pairs.
//!
//! A pair never judges itself: [`judge_each`] takes each pair's floor from the others. **Use at least
//! four pairs of a kind, better six, and some of the other kind**: with two, the t of the second
//! estimate is 4 to 13, and the floor hides real differences. The pairs must be of the compared kinds:
//! a floor from compiled subjects does not apply to managed runtimes.

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

use super::StatsError;
use super::interval::{CONFIDENCE, MIN_ROUNDS, Ratio, estimate, t_above, t_quantile};
use super::verdict::{Band, judge};
use jeton_lab_model::result::VerdictKind;

/// The normal quantile of a two-sided 95 %: Student's t without uncertainty.
const Z_95: f64 = 1.959_964;

/// A smaller spread of rounds is by chance: half of a tenth of a percent.
const FINEST: f64 = 0.000_5;

/// With fewer degrees of freedom the scatter of extents is unknown: four pairs of one kind have three.
const FEWEST_DEGREES: usize = 3;

/// The rounds of an A/A pair.
#[derive(Debug, Clone, Copy)]
pub struct IdenticalPair<'a> {
    /// The rounds of the first measurement.
    pub first: &'a [f64],
    /// The rounds of the second measurement.
    pub second: &'a [f64],
}

/// Returns the noise floor of these pairs, as a ratio minus one: 0.012 is 1.2 %. `others` are pairs of
/// another kind of the same run. `None` without pairs.
///
/// # Errors
/// If a pair's rounds cannot be compared.
pub fn floor(
    pairs: &[IdenticalPair<'_>],
    others: &[IdenticalPair<'_>],
) -> Result<Option<f64>, StatsError> {
    Ok(floor_of(&ratios(pairs)?, &ratios(others)?))
}

/// Returns each pair's ratio, second to first, and its verdict with the floor of the other pairs and of
/// `others` of another kind.
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
            // A lone pair has no other to judge it by: the practical difference remains.
            judge(
                &ratios[index],
                Band::new(floor_of(&rest, &others).or(Some(0.0))),
            ),
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

/// Estimates the floor after `planned` rounds from the floor after `rounds`, if the spread stays the same.
/// It is too small if processes differ permanently, because that does not shrink with more rounds.
#[must_use]
pub fn expected_floor(floor: f64, rounds: usize, planned: usize) -> f64 {
    if rounds < MIN_ROUNDS || planned <= rounds {
        return floor;
    }
    let width = |rounds: usize| t_quantile(rounds - 1, 1) / (rounds as f64).sqrt();
    (floor.ln_1p() * width(planned) / width(rounds)).exp_m1()
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
    // Finite even for useless rounds: JSON has no infinity.
    Some(widest.exp_m1().min(f64::MAX))
}

/// Returns the 95 % prediction of one more pair's extent, if the spreads differ and there are enough
/// pairs.
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
    /// The squares around the mean, and their degrees of freedom.
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

/// Returns the pooled spread of several pairs, weighted by degrees of freedom.
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

/// Reports whether the spreads inside these kinds differ by more than chance: Bartlett's test, summed
/// over the independent kinds.
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

/// Returns the 99.5 % quantile of the chi-squared distribution.
fn chi_squared_quantile(degrees: usize) -> f64 {
    ChiSquared::new(degrees as f64)
        .expect("at least one degree of freedom is valid for a chi-squared distribution")
        .inverse_cdf(0.995)
}

/// Returns the 95 % quantile of the F distribution.
fn f_quantile(numerator: usize, denominator: usize) -> f64 {
    let freedom = |degrees: usize| degrees.max(1) as f64;
    FisherSnedecor::new(freedom(numerator), freedom(denominator))
        .expect("at least one degree of freedom on both sides is valid for an F distribution")
        .inverse_cdf(CONFIDENCE)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const FLAT: [f64; 4] = [100.0; 4];

    #[test]
    fn floor_without_pairs_is_none() {
        assert_eq!(floor(&[], &[]).unwrap(), None);
    }

    #[test]
    fn expected_floor_shrinks_with_rounds() {
        let later = expected_floor(0.2, 3, 12);
        assert!((0.03..0.08).contains(&later), "{later}");
        assert!(expected_floor(0.2, 3, 30) < later);
        assert_eq!(expected_floor(0.2, 12, 12), 0.2);
        assert_eq!(expected_floor(0.2, 1, 12), 0.2, "too few rounds");
    }

    #[test]
    fn floor_by_spread_of_rounds() {
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
        // A further quiet pair halves the pooled variance, and t(6) = 2.446912.
        let quiet = IdenticalPair {
            first: &FLAT,
            second: &FLAT,
        };
        let expected = (3.182_446f64 * 0.011_547 / 2f64.sqrt() * (2.446_912 / 1.959_964)).exp_m1();
        assert!((floor(&[pair, quiet], &[]).unwrap().unwrap() - expected).abs() < 1e-6);
    }

    #[test]
    fn floor_by_permanent_differences() {
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
    fn floor_by_extents_of_unequal_pairs() {
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

        // A kind that is twice as noisy: it gives no information about the position of the extents.
        let doubled = sizes.map(|size| rounds_apart_by(2.0 * size));
        let others = doubled.each_ref().map(|second| IdenticalPair {
            first: &FLAT,
            second,
        });
        let log_extent = mean + 1.943_180 * (squares / 3.0).sqrt() * 1.25f64.sqrt();
        let expected = log_extent.exp().exp_m1();
        assert!((floor(&pairs, &others).unwrap().unwrap() - expected).abs() < 1e-6);

        // Three pairs do not show how extents scatter, and pairs of equal noise do not scatter.
        let three = floor(&pairs[..3], &[]).unwrap().unwrap();
        assert!(three < expected, "{three}");
        let equal = [pairs[2]; 4];
        let by_spread = (2.178_813f64 / 1.959_964 * 2.0 * 1.837_386 * 0.016).exp_m1();
        assert!((floor(&equal, &[]).unwrap().unwrap() - by_spread).abs() < 1e-6);
    }

    #[test]
    fn floor_of_two_wild_rounds_is_finite() {
        let seconds = [1.0f64, 5.0, 25.0, 125.0].map(|log| [100.0 * log.exp(), 100.0]);
        let pairs = seconds.each_ref().map(|second| IdenticalPair {
            first: &FLAT[..2],
            second,
        });
        assert_eq!(floor(&pairs, &[]).unwrap(), Some(f64::MAX));
    }

    #[test]
    fn judge_each_excludes_the_pair_itself() {
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
        // Another pair with the same difference makes it equivalent.
        assert_eq!(verdicts(&[lone, lone]), [VerdictKind::Equivalent; 2]);
    }
}
