//! A clock that jumps ahead must not throw away revocations: what is over is over only after two clocks have
//! said so for a while, the server's and this machine's.

use std::time::Duration;

use crate::moment::Moment;

/// How long the clocks must agree with themselves.
const STABLE_TIME: Duration = Duration::from_secs(600);

/// The earliest that either clock has said within the last whole while.
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

    /// The clocks say that, and what is before the answer is over.
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
    fn time_is_over_when_both_clocks_have_said_so_for_a_while() {
        let start = Moment::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut clock_guard = ClockGuard::new(start);
        assert_eq!(clock_guard.observe([1000, 1000], at(0)), i64::MIN);
        assert_eq!(clock_guard.observe([1600, 1601], at(600)), 1000);
        // The server's clock is a year ahead for five minutes, and then this one.
        assert_eq!(clock_guard.observe([31_000_000, 1900], at(900)), 1000);
        assert_eq!(clock_guard.observe([31_000_000, 31_000_000], at(950)), 1000);
        assert_eq!(clock_guard.observe([2100, 31_000_000], at(1100)), 1000);
        assert_eq!(clock_guard.observe([2200, 2200], at(1200)), 1600);
        // One is ahead for as long as it likes.
        assert_eq!(clock_guard.observe([31_000_000, 2800], at(1800)), 2200);
        assert_eq!(clock_guard.observe([31_000_000, 3400], at(2400)), 2800);
        // And back: what a clock says now is not over.
        assert_eq!(clock_guard.observe([500, 3401], at(2401)), 500);
    }
}
