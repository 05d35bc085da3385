//! The Mann-Whitney U test, so that benchstat agrees with the exported text. It ignores that rounds are
//! paired, and no verdict uses it.

use statrs::distribution::{ContinuousCDF, Normal};

use super::median::sorted;

/// Up to this many values per side, and without ties, p is exact, as in benchstat.
pub const EXACT_LIMIT: usize = 50;

/// Returns the two-sided p of the hypothesis that neither sample tends to be larger.
///
/// Exact for at most [`EXACT_LIMIT`] values per side without ties; otherwise the normal approximation
/// with corrections for ties and continuity. An empty sample or NaN gives 1.
#[must_use]
pub fn p_value(first: &[f64], second: &[f64]) -> f64 {
    if first.is_empty() || second.is_empty() || first.iter().chain(second).any(|v| v.is_nan()) {
        return 1.0;
    }
    let ranks = Ranks::of(first, second);
    let (n, m) = (first.len(), second.len());
    let u = ranks.first_sum - (n * (n + 1)) as f64 / 2.0;
    let smaller = u.min((n * m) as f64 - u);
    if ranks.ties == 0.0 && n.max(m) <= EXACT_LIMIT {
        exact(n, m, smaller)
    } else {
        approximate(n, m, smaller, ranks.ties)
    }
}

struct Ranks {
    /// The sum of the first sample's ranks; ties have their mean rank.
    first_sum: f64,
    /// The sum of t³ − t over all groups of t equal values.
    ties: f64,
}

impl Ranks {
    fn of(first: &[f64], second: &[f64]) -> Self {
        let all = sorted(&[first, second].concat());
        let mut ties = 0.0;
        let mut first_sum = 0.0;
        let mut start = 0;
        while start < all.len() {
            let value = all[start];
            let count = all[start..]
                .iter()
                .take_while(|&&other| other == value)
                .count();
            let mean_rank = start as f64 + (count + 1) as f64 / 2.0;
            first_sum += mean_rank * first.iter().filter(|&&own| own == value).count() as f64;
            ties += (count as f64).powi(3) - count as f64;
            start += count;
        }
        Self { first_sum, ties }
    }
}

/// Returns twice the probability of a U this small, from the distribution of U: the largest of all
/// values belongs to the first sample with probability n/(n+m), and then adds m to U.
fn exact(n: usize, m: usize, smaller: f64) -> f64 {
    let reach = smaller as usize;
    // rows[j][u]: the probability that i and j values give U = u, for the i of the outer loop.
    let mut rows = vec![vec![0.0; reach + 1]; m + 1];
    for row in &mut rows {
        row[0] = 1.0;
    }
    for i in 1..=n {
        for j in 1..=m {
            let with_first = i as f64 / (i + j) as f64;
            let next: Vec<f64> = (0..=reach)
                .map(|u| {
                    let before = if u >= j { rows[j][u - j] } else { 0.0 };
                    with_first * before + (1.0 - with_first) * rows[j - 1][u]
                })
                .collect();
            rows[j] = next;
        }
    }
    (2.0 * rows[m].iter().sum::<f64>()).min(1.0)
}

fn approximate(n: usize, m: usize, smaller: f64, ties: f64) -> f64 {
    let (n, m) = (n as f64, m as f64);
    let all = n + m;
    let variance = n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = (smaller + 0.5 - n * m / 2.0).min(0.0) / variance.sqrt();
    (2.0 * Normal::standard().cdf(z)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(p: f64, expected: f64, tolerance: f64) {
        assert!((p - expected).abs() <= tolerance, "{p} is not {expected}");
    }

    #[test]
    fn p_without_overlap_is_two_over_binomial() {
        // benchstat's p=0.008 (n=5), p=0.000 (n=8, n=10).
        let run =
            |n: usize, from: usize| -> Vec<f64> { (from..from + n).map(|v| v as f64).collect() };
        close(p_value(&run(3, 0), &run(3, 9)), 2.0 / 20.0, 1e-12);
        close(p_value(&run(5, 0), &run(5, 9)), 2.0 / 252.0, 1e-12);
        close(p_value(&run(8, 90), &run(8, 9)), 2.0 / 12_870.0, 1e-12);
        close(p_value(&run(10, 0), &run(10, 50)), 2.0 / 184_756.0, 1e-15);
    }

    #[test]
    fn p_exact_matches_r_and_scipy() {
        // R, ?wilcox.test (Hollander & Wolfe 1973, 69f.): W = 35, one-sided p = 0.1272.
        let first = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let second = [1.15, 0.88, 0.90, 0.74, 1.21];
        close(p_value(&first, &second), 2.0 * 0.1272, 1e-4);
        // scipy, mannwhitneyu: U = 17 of 20, p = 0.1111.
        let (males, females) = ([19.0, 22.0, 16.0, 29.0, 24.0], [20.0, 11.0, 17.0, 12.0]);
        close(p_value(&males, &females), 0.111_111_111, 1e-9);
        close(p_value(&females, &males), 0.111_111_111, 1e-9);
    }

    #[test]
    fn p_approximate_matches_scipy_and_r() {
        // scipy's asymptotic p of the same example.
        close(approximate(5, 4, 3.0, 0.0), 0.111_346_886_533_140_41, 1e-9);
        // R, wilcox.test(Ozone ~ Month, airquality, Month %in% c(5, 8)): W = 127.5,
        // p = 0.0001208, with ties.
        let may = [
            41.0, 36.0, 12.0, 18.0, 28.0, 23.0, 19.0, 8.0, 7.0, 16.0, 11.0, 14.0, 18.0, 14.0, 34.0,
            6.0, 30.0, 11.0, 1.0, 11.0, 4.0, 32.0, 23.0, 45.0, 115.0, 37.0,
        ];
        let august = [
            39.0, 9.0, 16.0, 78.0, 35.0, 66.0, 122.0, 89.0, 110.0, 44.0, 28.0, 65.0, 22.0, 59.0,
            23.0, 31.0, 44.0, 21.0, 9.0, 45.0, 168.0, 73.0, 76.0, 118.0, 84.0, 85.0,
        ];
        close(p_value(&may, &august), 0.000_120_8, 5e-8);
    }

    #[test]
    fn p_of_equal_samples_is_one() {
        close(p_value(&[1.0; 8], &[1.0; 8]), 1.0, 0.0);
        close(
            p_value(&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 4.0]),
            1.0,
            0.0,
        );
        close(p_value(&[1.0, 4.0], &[2.0, 3.0]), 1.0, 0.0);
        close(p_value(&[], &[1.0]), 1.0, 0.0);
        close(p_value(&[f64::NAN], &[1.0]), 1.0, 0.0);
    }

    #[test]
    fn p_exact_and_approximate_agree_at_limit() {
        let first: Vec<f64> = (0..50).map(|v| f64::from(v) * 2.0).collect();
        let second: Vec<f64> = (0..50).map(|v| f64::from(v) * 2.0 + 17.0).collect();
        let exact = p_value(&first, &second);
        let ranks = Ranks::of(&first, &second);
        close(
            approximate(50, 50, ranks.first_sum - 1_275.0, 0.0),
            exact,
            1e-3,
        );
    }
}
