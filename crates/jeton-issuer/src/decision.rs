//! How long ago something was decided. A machine may be suspended, or a disk may stall, between a decision and
//! the end of its commit.

use jeton_store::Moment;

use crate::limits::PROPAGATION_SECONDS;

/// The time of a decision, by the clock that it was decided by, and by one that nobody sets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecisionTime {
    clock: i64,
    moment: Moment,
}

impl DecisionTime {
    /// It is decided now, and the clock says that.
    pub(crate) fn new(clock: i64) -> DecisionTime {
        DecisionTime {
            clock,
            moment: Moment::now(),
        }
    }

    /// By how many seconds it is too late to commit, where the clock says that now. None: it is in time.
    pub(crate) fn late_by(self, clock: i64) -> Option<i64> {
        self.late_by_at(clock, Moment::now())
    }

    fn late_by_at(self, clock: i64, now: Moment) -> Option<i64> {
        let passed = now.duration_since(self.moment).as_secs();
        let passed = i64::try_from(passed).unwrap_or(i64::MAX);
        let by = passed.max(clock.saturating_sub(self.clock));
        (by > PROPAGATION_SECONDS).then_some(by)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn decision_is_late_if_either_clock_says_so() {
        let decided = DecisionTime::new(1000);
        let late_by = |clock: i64, passed: u64| {
            let now = decided.moment + Duration::from_secs(passed);
            decided.late_by_at(clock, now)
        };
        assert_eq!(late_by(1000 + PROPAGATION_SECONDS, 60), None);
        assert_eq!(late_by(1000 + PROPAGATION_SECONDS + 1, 0), Some(61));
        // Meanwhile the clock was set back.
        assert_eq!(late_by(500, 3600), Some(3600));
    }
}
