//! A clock that jumps ahead must not throw away revocations, nor publish keys: what is over is over, and
//! what is due is due, only after the clock has said so for a while.

use std::time::Duration;

use jeton_store::Moment;

use crate::limits::STEADY_SECONDS;

/// A clock that jumps again and again decides after this all the same: otherwise nothing would ever rotate.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// How long the clock must agree with itself.
const WHILE: Duration = Duration::from_secs(STEADY_SECONDS.unsigned_abs());

/// The earliest that the clock has said within the last whole while, and since when it has not jumped.
#[derive(Debug)]
pub(super) struct Steady {
    since: Moment,
    lowest: i64,
    bound: Option<i64>,
    /// When it was looked at last, and what it said.
    looked: (Moment, i64),
    /// What it said when it began, or after its last jump.
    evenly_from: i64,
    /// Since when it has not been steady.
    waiting: Option<Moment>,
    jumped: Option<i64>,
}

/// What the clock may decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Observed {
    /// What is before this is over. None: not known yet.
    pub(super) over: Option<i64>,
    /// It has gone on evenly for a while.
    pub(super) is_steady: bool,
    /// It has jumped since it was looked at last.
    pub(super) has_jumped: bool,
}

impl Steady {
    /// The clock says that now, at the beginning.
    pub(super) fn new(clock: i64, now: Moment) -> Steady {
        Steady {
            since: now,
            lowest: clock,
            bound: None,
            looked: (now, clock),
            evenly_from: clock,
            waiting: Some(now),
            jumped: None,
        }
    }

    /// The clock says that now.
    pub(super) fn observe(&mut self, clock: i64, now: Moment) -> Observed {
        self.lowest = self.lowest.min(clock);
        if now.duration_since(self.since) >= WHILE {
            self.bound = Some(self.lowest);
            self.lowest = clock;
            self.since = now;
        }
        self.bound = self.bound.map(|bound| bound.min(clock));
        let has_jumped = self.look(clock, now);
        self.waiting = match clock.saturating_sub(self.evenly_from) >= STEADY_SECONDS {
            true => None,
            false => self.waiting.or(Some(now)),
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
        // A key that is made early by less is of no harm: it signs later by as much.
        let has_jumped = jump.abs() > STEADY_SECONDS;
        if has_jumped {
            self.evenly_from = clock;
            self.jumped = Some(jump);
        }
        has_jumped
    }

    /// Why it does not decide yet.
    pub(super) fn reason(&self) -> String {
        let begun = match self.jumped {
            Some(jump) => format!("its clock jumped by {jump} s"),
            None => "it began".to_owned(),
        };
        format!(
            "this node waits until its clock has gone on evenly for {STEADY_SECONDS} s since {begun}"
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_jump_counts_only_after_it_has_lasted() {
        let start = Moment::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut steady = Steady::new(1000, start);
        let mut over = |clock, now| steady.observe(clock, now).over;
        assert_eq!(over(1000, at(0)), None);
        assert_eq!(over(1600, at(600)), Some(1000));
        // A year ahead for five minutes.
        assert_eq!(over(31_000_000, at(900)), Some(1000));
        assert_eq!(over(2100, at(1100)), Some(1000));
        assert_eq!(over(2200, at(1200)), Some(1600));
        assert_eq!(over(2800, at(1800)), Some(2200));
        // And back: what the clock says now is not over.
        assert_eq!(over(500, at(1801)), Some(500));
    }

    #[test]
    fn clock_that_jumps_for_ever_decides_after_a_day() {
        let start = Moment::now();
        let mut steady = Steady::new(1000, start);
        let mut is_steady = |second: u64| {
            let there = i64::from(second % 200 == 100) * 1_000_000;
            let clock = 1000 + i64::try_from(second).unwrap() + there;
            let now = start + Duration::from_secs(second);
            steady.observe(clock, now).is_steady
        };
        let day = 24 * 3600;
        assert!((0..day).step_by(100).all(|second| !is_steady(second)));
        assert!(is_steady(day));
    }

    #[test]
    fn clock_is_steady_after_a_while_without_a_jump() {
        let start = Moment::now();
        let mut steady = Steady::new(1000, start);
        let mut look = |clock: i64, second: u64| {
            let observed = steady.observe(clock, start + Duration::from_secs(second));
            (observed.is_steady, observed.has_jumped)
        };
        assert_eq!(look(1000, 0), (false, false));
        assert_eq!(look(1599, 599), (false, false));
        assert_eq!(look(1600, 600), (true, false));
        // The machine stood still for an hour, and its clock went on.
        assert_eq!(look(5200, 4200), (true, false));
        // Less than a jump, ahead and back.
        assert_eq!(look(5801, 4201), (true, false));
        assert_eq!(look(5202, 4202), (true, false));
        // A jump ahead, and back.
        assert_eq!(look(100_000, 4203), (false, true));
        assert_eq!(look(5204, 4204), (false, true));
        assert_eq!(look(5803, 4803), (false, false));
        assert_eq!(look(5804, 4804), (true, false));
        // One that was set right stays right, although it is another time.
        assert_eq!(look(1_000_000, 4805), (false, true));
        assert_eq!(look(1_000_600, 5405), (true, false));
    }
}
