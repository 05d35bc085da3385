//! Protects revocations against clocks that jump ahead.
//!
//! A revocation is dropped only after both the server's clock and the local clock have been past its end for
//! ten minutes.

use std::time::Duration;

use crate::moment::Moment;

/// How long both clocks must have been past a time.
const STABLE_TIME: Duration = Duration::from_secs(600);

/// The lowest time of both clocks in the last complete period.
#[derive(Debug)]
pub(crate) struct ClockGuard {
    since: Moment,
    lowest: i64,
    bound: i64,
}

impl ClockGuard {
    pub(crate) fn new(now: Moment) -> ClockGuard {
        ClockGuard {
            since: now,
            lowest: i64::MAX,
            bound: i64::MIN,
        }
    }

    /// Records the time of both clocks, and returns the time before which everything has ended.
    pub(crate) fn observe(&mut self, clocks: [i64; 2], now: Moment) -> i64 {
        let clock = clocks[0].min(clocks[1]);
        self.lowest = self.lowest.min(clock);
        if now.duration_since(self.since) >= STABLE_TIME {
            self.bound = self.lowest;
            self.lowest = clock;
            self.since = now;
        }
        self.bound = self.bound.min(clock);
        self.bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_advances_when_both_clocks_agree() {
        let start = Moment::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut guard = ClockGuard::new(start);
        assert_eq!(guard.observe([1000, 1000], at(0)), i64::MIN);
        assert_eq!(guard.observe([1600, 1601], at(600)), 1000);
        // The server's clock is a year ahead for five minutes, and then the local clock.
        assert_eq!(guard.observe([31_000_000, 1900], at(900)), 1000);
        assert_eq!(guard.observe([31_000_000, 31_000_000], at(950)), 1000);
        assert_eq!(guard.observe([2100, 31_000_000], at(1100)), 1000);
        assert_eq!(guard.observe([2200, 2200], at(1200)), 1600);
        // One clock stays ahead.
        assert_eq!(guard.observe([31_000_000, 2800], at(1800)), 2200);
        assert_eq!(guard.observe([31_000_000, 3400], at(2400)), 2800);
        // A clock that goes back lowers the bound at once.
        assert_eq!(guard.observe([500, 3401], at(2401)), 500);
    }
}
