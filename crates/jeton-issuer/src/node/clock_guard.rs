//! Guards decisions against clock jumps. A clock that jumps ahead must not delete revocations or publish
//! keys. It decides only after it has run for a while without a jump.

use std::time::Duration;

use jeton_store::Moment;

use crate::limits::STEADY_SECONDS;

/// After this time a clock that keeps jumping decides anyway, so that rotation does not stop.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// How long the clock must run without a jump.
const WHILE: Duration = Duration::from_secs(STEADY_SECONDS.unsigned_abs());

/// Tracks jumps and the lowest recent time of the clock.
#[derive(Debug)]
pub(super) struct ClockGuard {
    since: Moment,
    lowest: i64,
    bound: Option<i64>,
    /// Moment and clock of the last observation.
    looked: (Moment, i64),
    /// Clock at the start, or after the last jump.
    evenly_from: i64,
    /// Since when it has been unreliable.
    waiting: Option<Moment>,
    jumped: Option<i64>,
}

/// The result of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Observed {
    /// Times before this are certainly over. None: not known yet.
    pub(super) over: Option<i64>,
    /// It has run for a while without a jump.
    pub(super) is_steady: bool,
    /// It has jumped since the last observation.
    pub(super) has_jumped: bool,
}

impl ClockGuard {
    /// Starts with this clock time.
    pub(super) fn new(clock: i64, now: Moment) -> ClockGuard {
        ClockGuard {
            since: now,
            lowest: clock,
            bound: None,
            looked: (now, clock),
            evenly_from: clock,
            waiting: Some(now),
            jumped: None,
        }
    }

    /// Observes this clock time.
    pub(super) fn observe(&mut self, clock: i64, now: Moment) -> Observed {
        self.lowest = self.lowest.min(clock);
        if now.duration_since(self.since) >= WHILE {
            self.bound = Some(self.lowest);
            self.lowest = clock;
            self.since = now;
        }
        self.bound = self.bound.map(|bound| bound.min(clock));
        let has_jumped = self.look(clock, now);
        self.waiting = if clock.saturating_sub(self.evenly_from) >= STEADY_SECONDS {
            None
        } else {
            self.waiting.or(Some(now))
        };
        let waited = |since: Moment| now.duration_since(since) >= LONGEST_WAIT;
        Observed {
            over: self.bound,
            is_steady: self.waiting.is_none_or(waited),
            has_jumped,
        }
    }

    fn look(&mut self, clock: i64, now: Moment) -> bool {
        let (looked, before) = std::mem::replace(&mut self.looked, (now, clock));
        let passed = now.duration_since(looked).as_secs();
        let passed = i64::try_from(passed).unwrap_or(i64::MAX);
        let jump = clock.saturating_sub(before).saturating_sub(passed);
        // A smaller step is harmless: the key also signs earlier or later by as much.
        let has_jumped = jump.abs() > STEADY_SECONDS;
        if has_jumped {
            self.evenly_from = clock;
            self.jumped = Some(jump);
        }
        has_jumped
    }

    /// Returns why it does not decide yet.
    pub(super) fn reason(&self) -> String {
        let begun = match self.jumped {
            Some(jump) => format!("its clock jumped by {jump} s"),
            None => "it started".to_owned(),
        };
        format!(
            "this node waits until its clock has run without a jump for {STEADY_SECONDS} s since {begun}"
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn clock_jump_counts_after_a_while() {
        let start = Moment::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut clock_guard = ClockGuard::new(1000, start);
        let mut over = |clock, now| clock_guard.observe(clock, now).over;
        assert_eq!(over(1000, at(0)), None);
        assert_eq!(over(1600, at(600)), Some(1000));
        // A year ahead for five minutes.
        assert_eq!(over(31_000_000, at(900)), Some(1000));
        assert_eq!(over(2100, at(1100)), Some(1000));
        assert_eq!(over(2200, at(1200)), Some(1600));
        assert_eq!(over(2800, at(1800)), Some(2200));
        // Back again: the current time is not over.
        assert_eq!(over(500, at(1801)), Some(500));
    }

    #[test]
    fn clock_that_keeps_jumping_decides_after_a_day() {
        let start = Moment::now();
        let mut clock_guard = ClockGuard::new(1000, start);
        let mut is_steady = |second: u64| {
            let there = i64::from(second % 200 == 100) * 1_000_000;
            let clock = 1000 + i64::try_from(second).unwrap() + there;
            let now = start + Duration::from_secs(second);
            clock_guard.observe(clock, now).is_steady
        };
        let day = 24 * 3600;
        assert!((0..day).step_by(100).all(|second| !is_steady(second)));
        assert!(is_steady(day));
    }

    #[test]
    fn clock_is_reliable_after_a_while_without_jump() {
        let start = Moment::now();
        let mut clock_guard = ClockGuard::new(1000, start);
        let mut look = |clock: i64, second: u64| {
            let observed = clock_guard.observe(clock, start + Duration::from_secs(second));
            (observed.is_steady, observed.has_jumped)
        };
        assert_eq!(look(1000, 0), (false, false));
        assert_eq!(look(1599, 599), (false, false));
        assert_eq!(look(1600, 600), (true, false));
        // Suspended for an hour: the clock continued.
        assert_eq!(look(5200, 4200), (true, false));
        // Steps smaller than a jump, ahead and back.
        assert_eq!(look(5801, 4201), (true, false));
        assert_eq!(look(5202, 4202), (true, false));
        // A jump ahead, and back.
        assert_eq!(look(100_000, 4203), (false, true));
        assert_eq!(look(5204, 4204), (false, true));
        assert_eq!(look(5803, 4803), (false, false));
        assert_eq!(look(5804, 4804), (true, false));
        // A corrected clock is reliable again, although its time differs.
        assert_eq!(look(1_000_000, 4805), (false, true));
        assert_eq!(look(1_000_600, 5405), (true, false));
    }
}
