//! Detects decisions that are committed late. A machine may be suspended, or a disk may stall, between a
//! decision and the end of its commit.

use jeton_store::Moment;

use crate::limits::PROPAGATION_SECONDS;

/// The time of a decision, by the wall clock and by a monotonic clock that counts suspension.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecisionTime {
    clock: i64,
    moment: Moment,
}

impl DecisionTime {
    /// Records a decision that is made now, at this wall-clock time.
    pub(crate) fn new(clock: i64) -> DecisionTime {
        DecisionTime {
            clock,
            moment: Moment::now(),
        }
    }

    /// Returns the seconds since the decision if they exceed the propagation period. None: in time.
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
    fn decision_is_late_by_either_clock() {
        let decided = DecisionTime::new(1000);
        let late_by = |clock: i64, passed: u64| {
            let now = decided.moment + Duration::from_secs(passed);
            decided.late_by_at(clock, now)
        };
        assert_eq!(late_by(1000 + PROPAGATION_SECONDS, 60), None);
        assert_eq!(late_by(1000 + PROPAGATION_SECONDS + 1, 0), Some(61));
        // The clock was set back in between.
        assert_eq!(late_by(500, 3600), Some(3600));
    }
}
