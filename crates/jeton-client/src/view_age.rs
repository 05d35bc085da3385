//! The age of a follower's view of revocations.
//!
//! An update states the age of the server's view when the update was sent. After that, the update may have
//! waited in the server, on the network, and in this process. To measure that wait, an update also carries the
//! time since the server began to answer the call. Time that passed here in excess of it is the network delay
//! of the call plus the wait.

use std::time::Duration;

use crate::moment::Moment;

/// Maximum relative difference of the two clock rates, as 1/`CLOCK_RATE`. It is not counted as a wait.
const CLOCK_RATE: u32 = 1000;

/// The times that the server states in an update.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerTiming {
    /// Age of the server's view when the update was sent.
    pub(crate) age: Duration,
    /// Time from the start of the call, by the server's clock, until the update was sent.
    pub(crate) clock: Duration,
}

/// Computes the age of the view.
#[derive(Debug)]
pub(crate) struct ViewAge {
    requested_at: Moment,
    /// All revocations before this moment are known. `None` until the snapshot is complete, or if the moment
    /// is before the start of this clock.
    as_of: Option<Moment>,
    is_complete: bool,
    /// Lowest difference of the two clocks so far, in milliseconds: that of an update that did not wait.
    /// Each clock counts from the start of the call on its side.
    ahead: i64,
    /// When `ahead` was measured.
    since: Moment,
}

impl ViewAge {
    /// Starts with the moment of the call.
    pub(crate) fn new(requested_at: Moment) -> ViewAge {
        ViewAge {
            requested_at,
            as_of: None,
            is_complete: false,
            ahead: 0,
            since: requested_at,
        }
    }

    /// Continues with another call, whose server has other clocks. The view stays.
    pub(crate) fn resume(&mut self, requested_at: Moment) {
        *self = ViewAge {
            as_of: self.as_of,
            ..ViewAge::new(requested_at)
        };
    }

    /// Records an update.
    pub(crate) fn record(&mut self, sent: Option<ServerTiming>, is_snapshot: bool, now: Moment) {
        let as_of = match sent {
            Some(sent) => {
                let waited = self.waited(sent.clock, now);
                now.before(sent.age.saturating_add(waited))
            }
            // An older server states no times. Its snapshot is from the moment of the call.
            None => Some(if self.is_complete {
                now
            } else {
                self.requested_at
            }),
        };
        if !is_snapshot {
            self.is_complete = true;
            self.as_of = self.as_of.max(as_of);
        }
    }

    /// The age of the view at this moment.
    pub(crate) fn at(&self, now: Moment) -> Duration {
        self.as_of
            .map_or(Duration::MAX, |as_of| now.duration_since(as_of))
    }

    /// How long an update has waited since it was sent.
    fn waited(&mut self, clock: Duration, now: Moment) -> Duration {
        let here = milliseconds(now.duration_since(self.requested_at));
        let ahead = here.saturating_sub(milliseconds(clock));
        let passed = now.duration_since(self.since);
        let drifted = self.ahead.saturating_add(milliseconds(passed / CLOCK_RATE));
        if milliseconds(passed / CLOCK_RATE) > 0 || ahead < drifted {
            (self.ahead, self.since) = (drifted.min(ahead), now);
        }
        Duration::from_millis(ahead.saturating_sub(self.ahead).unsigned_abs())
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    /// A moment long after the start of the clock.
    fn began() -> Moment {
        Moment::now() + 1_000_000 * S
    }

    fn sent(age: Duration, clock: Duration) -> Option<ServerTiming> {
        Some(ServerTiming { age, clock })
    }

    #[test]
    fn age_of_a_delayed_update_includes_the_delay() {
        let requested_at = began();
        let mut age = ViewAge::new(requested_at);
        age.record(sent(2 * S, S), false, requested_at + S);
        assert_eq!(age.at(requested_at + S), 2 * S);
        age.record(sent(2 * S, 10 * S), false, requested_at + 10 * S);
        assert_eq!(age.at(requested_at + 10 * S), 2 * S);
        // Sent after two seconds, and read twenty seconds later.
        age.record(sent(Duration::ZERO, 12 * S), false, requested_at + 32 * S);
        let waited = age.at(requested_at + 32 * S);
        assert!((20 * S - S / 10..=20 * S).contains(&waited), "{waited:?}");
        // An update without delay has the stated age, also after delayed ones.
        age.record(sent(S, 40 * S), false, requested_at + 40 * S);
        assert_eq!(age.at(requested_at + 40 * S), S);
        // An update with a higher age does not increase the age of the view.
        age.record(sent(30 * S, 41 * S), false, requested_at + 41 * S);
        assert_eq!(age.at(requested_at + 41 * S), 2 * S);
    }

    #[test]
    fn age_includes_the_age_of_the_server_view() {
        let requested_at = began();
        let mut age = ViewAge::new(requested_at);
        assert_eq!(age.at(requested_at), Duration::MAX, "nothing is known yet");
        age.record(sent(3600 * S, S), false, requested_at + S);
        assert_eq!(age.at(requested_at + S), 3600 * S);
    }

    #[test]
    fn age_of_a_long_snapshot_counts_from_its_start() {
        let requested_at = began();
        let mut age = ViewAge::new(requested_at);
        for second in 0..60 {
            age.record(
                sent(second * S, second * S),
                true,
                requested_at + second * S,
            );
            assert_eq!(age.at(requested_at + second * S), Duration::MAX);
        }
        age.record(sent(60 * S, 60 * S), false, requested_at + 60 * S);
        assert_eq!(age.at(requested_at + 60 * S), 60 * S);
        age.record(sent(3 * S, 61 * S), false, requested_at + 61 * S);
        assert_eq!(age.at(requested_at + 61 * S), 3 * S);
    }

    #[test]
    fn age_does_not_grow_with_a_slower_server_clock() {
        let requested_at = began();
        let mut age = ViewAge::new(requested_at);
        for hour in 1..1000 {
            let here = 3600 * S * hour;
            age.record(
                sent(S, here - here / CLOCK_RATE),
                false,
                requested_at + here,
            );
            assert!(age.at(requested_at + here) <= 2 * S, "{hour}");
        }
    }

    #[test]
    fn age_without_server_times_counts_from_receipt() {
        let requested_at = began();
        let mut age = ViewAge::new(requested_at);
        age.record(None, true, requested_at + S);
        age.record(None, false, requested_at + 2 * S);
        assert_eq!(age.at(requested_at + 2 * S), 2 * S, "the snapshot");
        age.record(None, false, requested_at + 3 * S);
        assert_eq!(age.at(requested_at + 3 * S), Duration::ZERO);
    }

    #[test]
    fn age_with_impossible_times_is_not_reduced() {
        for (old, clock) in [(0, u64::MAX), (u64::MAX, 0), (u64::MAX, u64::MAX)] {
            let requested_at = began();
            let mut age = ViewAge::new(requested_at);
            let old = Duration::from_millis(old);
            age.record(
                sent(old, Duration::from_millis(clock)),
                false,
                requested_at + S,
            );
            assert!(age.at(requested_at + S) >= old.min(S), "{old:?}");
        }
    }
}
