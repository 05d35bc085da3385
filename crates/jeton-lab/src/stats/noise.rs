//! The noise floor: what this run makes out of nothing.
//!
//! An A/A pair is one subject measured twice, by two processes under two names. Whatever the two
//! differ by is noise. The floor answers: *how far from one do two identical subjects come to lie
//! in this run, in 95 % of cases?* It is the larger of two answers.
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
//!
//! The first shrinks with the square root of the rounds, down to 2 % where the
//! [band](super::verdict::Band) stops following; the second only with new processes.
//!
//! A pair never judges itself: [`judge_each`] takes each pair's floor from the others. **Take at
//! least four pairs, better six**: with two, the t of the second answer is 4 to 13, and the floor
//! hides what the run could have told. The pairs should be of the kinds that are compared: a floor
//! from native subjects says little of a managed runtime's noise.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::StatsError;
use super::interval::{CONFIDENCE, Ratio, estimate, t_quantile};
use super::verdict::{Band, judge};
use crate::result::Judgement;

/// The normal quantile of a two-sided 95 %: Student's t with no uncertainty left.
const Z_95: f64 = 1.959_964;

/// The rounds of one subject under two names, paired by round.
#[derive(Debug, Clone, Copy)]
pub struct IdenticalPair<'a> {
    /// The rounds of the first name.
    pub first: &'a [f64],
    /// The rounds of the second name.
    pub second: &'a [f64],
}

/// The noise floor that these pairs show, as a ratio above one: 0.012 is 1.2 %.
/// `None` without pairs.
///
/// # Errors
/// If a pair's rounds cannot be compared.
pub fn floor(pairs: &[IdenticalPair<'_>]) -> Result<Option<f64>, StatsError> {
    Ok(floor_of(&ratios(pairs)?))
}

/// Each pair's ratio, second over first, and what the verdict rule says of it with the floor
/// that the *other* pairs show.
///
/// # Errors
/// If a pair's rounds cannot be compared.
pub fn judge_each(pairs: &[IdenticalPair<'_>]) -> Result<Vec<(Ratio, Judgement)>, StatsError> {
    let ratios = ratios(pairs)?;
    let judged = (0..ratios.len()).map(|index| {
        let others = [&ratios[..index], &ratios[index + 1..]].concat();
        (
            ratios[index],
            judge(&ratios[index], Band::new(floor_of(&others))),
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

fn floor_of(ratios: &[Ratio]) -> Option<f64> {
    let rounds = ratios.iter().map(Ratio::rounds).min()?;
    let degrees: usize = ratios.iter().map(|ratio| ratio.rounds() - 1).sum();
    let squares: f64 = ratios
        .iter()
        .map(|ratio| ratio.log_deviation().powi(2) * (ratio.rounds() - 1) as f64)
        .sum();
    let pooled = (squares / degrees as f64).sqrt();
    let uncertainty = t_quantile(degrees, 1) / Z_95;
    let half_width = t_quantile(rounds - 1, 1) * pooled / (rounds as f64).sqrt() * uncertainty;
    let by_spread = 2.0 * half_width;

    let pairs = ratios.len();
    let mean_square: f64 = ratios
        .iter()
        .map(|ratio| ratio.log_mean().powi(2))
        .sum::<f64>()
        / pairs as f64;
    let by_ratios = t_quantile(pairs, 1) * mean_square.sqrt();
    let error_square = pooled.powi(2) / rounds as f64;
    let for_good = mean_square > error_square * f_quantile(pairs, degrees);
    let by_ratios = by_ratios + if for_good { half_width } else { 0.0 };

    Some(by_spread.max(by_ratios).exp_m1())
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
        assert_eq!(floor(&[]).unwrap(), None);
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
        assert!((floor(&[pair]).unwrap().unwrap() - expected).abs() < 1e-6);
        // A quiet pair beside it halves the pooled variance, and t(6) = 2.446912.
        let quiet = IdenticalPair {
            first: &FLAT,
            second: &FLAT,
        };
        let expected = (3.182_446f64 * 0.011_547 / 2f64.sqrt() * (2.446_912 / 1.959_964)).exp_m1();
        assert!((floor(&[pair, quiet]).unwrap().unwrap() - expected).abs() < 1e-6);
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
        assert!((floor(&pairs).unwrap().unwrap() - expected).abs() < 1e-6);
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
        let verdicts = |pairs: &[IdenticalPair<'_>]| -> Vec<Judgement> {
            judge_each(pairs)
                .unwrap()
                .into_iter()
                .map(|(_, verdict)| verdict)
                .collect()
        };
        // Its own 5 % would have made it equivalent.
        assert_eq!(verdicts(&[lone]), [Judgement::Slower]);
        assert_eq!(
            verdicts(&[lone, quiet]),
            [Judgement::Slower, Judgement::Equivalent]
        );
        // Another pair that is as far apart vouches for it.
        assert_eq!(verdicts(&[lone, lone]), [Judgement::Equivalent; 2]);
    }
}
