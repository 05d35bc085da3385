//! Checksums that prove that the work was done.

use serde_json::Value;

/// The last character of base64url text lies between these.
const LAST_BYTES: (u64, u64) = (b'-' as u64, b'z' as u64);

/// The expected sum of the operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expected {
    /// An exact value for each value of the pool.
    Exact(Vec<u64>),
    /// Randomised tokens: their length is known, and their last byte is base64url.
    Lengths(Vec<u64>),
}

impl Expected {
    /// Creates the expectation of `sign` and `encrypt` from two responses; equal tokens are
    /// deterministic.
    pub(super) fn of_tokens(first: &[String], second: &[String]) -> Self {
        if first == second {
            let value = |t: &String| {
                t.len() as u64 + u64::from(t.as_bytes().last().copied().unwrap_or_default())
            };
            Self::Exact(first.iter().map(value).collect())
        } else {
            Self::Lengths(first.iter().map(|t| t.len() as u64).collect())
        }
    }

    /// Creates the expectation of `verify` and `decrypt`: the last byte of each `jti`.
    pub(super) fn of_claims(pool: &[Value]) -> Self {
        let value = |claims: &Value| {
            let jti = claims.get("jti").and_then(Value::as_str);
            jti.and_then(|j| j.as_bytes().last().copied())
                .map_or(1, u64::from)
        };
        Self::Exact(pool.iter().map(value).collect())
    }

    /// Creates the expectation of `verify-signature`, `generate-key` and `load-key`: one per operation.
    pub(super) fn of_successes(pool: usize) -> Self {
        Self::Exact(vec![1; pool])
    }

    /// Creates the expectation of `round-trip`: the sum of both operations.
    pub(super) fn of_trip(made: &Self, opened: &Self) -> Self {
        let both = |a: &[u64], b: &[u64]| a.iter().zip(b).map(|(a, b)| a + b).collect();
        match (made, opened) {
            (Self::Exact(a), Self::Exact(b)) => Self::Exact(both(a, b)),
            (Self::Lengths(a), Self::Exact(b) | Self::Lengths(b))
            | (Self::Exact(a), Self::Lengths(b)) => Self::Lengths(both(a, b)),
        }
    }

    /// Reports whether `sum` is possible for `iterations` operations on each of `threads` threads.
    pub(super) fn fits(&self, sum: u64, iterations: u64, threads: u32) -> bool {
        let threads = u64::from(threads);
        match self {
            Self::Exact(values) => sum == total(values, iterations).wrapping_mul(threads),
            Self::Lengths(lengths) => {
                let lengths = total(lengths, iterations);
                let bound = |byte: u64| (lengths + iterations * byte) * threads;
                (bound(LAST_BYTES.0)..=bound(LAST_BYTES.1)).contains(&sum)
            }
        }
    }
}

/// Returns the sum of `values[i mod n]` for the operations `0..iterations`.
fn total(values: &[u64], iterations: u64) -> u64 {
    let n = values.len().max(1) as u64;
    let cycle: u64 = values.iter().sum();
    let rest = values.iter().zip(0..iterations % n).map(|(v, _)| v);
    cycle
        .wrapping_mul(iterations / n)
        .wrapping_add(rest.sum::<u64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(of: &[&str]) -> Vec<String> {
        of.iter().map(|&t| t.to_owned()).collect()
    }

    #[test]
    fn checksum_pool_repeats() {
        let expected = Expected::Exact(vec![1, 10, 100]);
        assert!(expected.fits(111 * 2 + 11, 8, 1));
        assert!(expected.fits((111 * 2 + 11) * 3, 8, 3));
        assert!(!expected.fits(111 * 2 + 12, 8, 1));
    }

    #[test]
    fn checksum_deterministic_token_is_exact() {
        let same = tokens(&["ab", "ac"]);
        let expected = Expected::of_tokens(&same, &same);
        assert!(expected.fits(2 + 98 + 2 + 99, 2, 1));
        assert!(!expected.fits(2 + 98 + 2 + 98, 2, 1));
    }

    #[test]
    fn checksum_random_token_is_bounded() {
        let expected = Expected::of_tokens(&tokens(&["abA"]), &tokens(&["abQ"]));
        assert!(expected.fits(10 * 3 + 10 * u64::from(b'g'), 10, 1));
        assert!(!expected.fits(10 * 2 + 10 * 40, 10, 1), "too small");
        assert!(!expected.fits(10 * 4 + 10 * 122, 10, 1), "too large");
        assert!(!expected.fits(0, 10, 1), "no work at all");
    }

    #[test]
    fn checksum_round_trip_adds_both() {
        let claims = Expected::of_claims(&[serde_json::json!({"jti": "x1"})]);
        let same = tokens(&["ab"]);
        let fixed = Expected::of_trip(&Expected::of_tokens(&same, &same), &claims);
        assert!(fixed.fits(2 + u64::from(b'b') + u64::from(b'1'), 1, 1));
        assert!(
            !fixed.fits(2 + u64::from(b'b'), 1, 1),
            "nothing was verified"
        );
        let random = Expected::of_tokens(&tokens(&["ab"]), &tokens(&["ac"]));
        let random = Expected::of_trip(&random, &claims);
        assert!(random.fits(10 * (2 + u64::from(b'1') + u64::from(b'g')), 10, 1));
        assert!(
            !random.fits(10 * (2 + u64::from(b'-')), 10, 1),
            "nothing was verified"
        );
    }
}
