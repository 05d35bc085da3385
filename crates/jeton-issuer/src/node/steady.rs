//! A clock that jumps ahead must not throw away revocations: what is over is over only after the
//! clock has said so for a while.

use std::time::{Duration, Instant};

/// How long the clock must agree with itself.
const WHILE: Duration = Duration::from_secs(600);

/// The earliest that the clock has said within the last whole while.
#[derive(Debug)]
pub(super) struct Steady {
    since: Instant,
    lowest: i64,
    bound: Option<i64>,
}

impl Steady {
    pub(super) fn new(now: Instant) -> Steady {
        Steady {
            since: now,
            lowest: i64::MAX,
            bound: None,
        }
    }

    /// The clock says that, and what is before the answer is over. None: not known yet.
    pub(super) fn observe(&mut self, clock: i64, now: Instant) -> Option<i64> {
        self.lowest = self.lowest.min(clock);
        if now.saturating_duration_since(self.since) >= WHILE {
            self.bound = Some(self.lowest);
            self.lowest = clock;
            self.since = now;
        }
        self.bound = self.bound.map(|bound| bound.min(clock));
        self.bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_counts_only_after_it_has_lasted() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut steady = Steady::new(start);
        assert_eq!(steady.observe(1000, at(0)), None);
        assert_eq!(steady.observe(1600, at(600)), Some(1000));
        // A year ahead for five minutes.
        assert_eq!(steady.observe(31_000_000, at(900)), Some(1000));
        assert_eq!(steady.observe(2100, at(1100)), Some(1000));
        assert_eq!(steady.observe(2200, at(1200)), Some(1600));
        assert_eq!(steady.observe(2800, at(1800)), Some(2200));
        // And back: what the clock says now is not over.
        assert_eq!(steady.observe(500, at(1801)), Some(500));
    }
}
