//! How old is what a server has told.
//!
//! An update says how old it was when it was sent. It may then have waited: in the server, on the network,
//! and here for somebody to read it. The server's clock says for how long: it began to run after the call was
//! made, so that whatever passed here beyond it is the way of the call there, and the wait.

use std::time::Duration;

use crate::moment::Moment;

/// One clock may run faster than the other by one part in so many: what this adds up to is no wait.
const CLOCK_RATE: u32 = 1000;

/// What the server says of an update.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerTiming {
    /// How old it was.
    pub(crate) age: Duration,
    /// When it was sent, since the server began to answer.
    pub(crate) clock: Duration,
}

/// As of when what was told is known.
#[derive(Debug)]
pub(crate) struct ViewAge {
    requested_at: Moment,
    /// None: not everything is known yet, or as of a moment that no clock has.
    as_of: Option<Moment>,
    is_whole: bool,
    /// By how many milliseconds this clock is ahead of the server's, both counted from their beginnings, if
    /// nothing waits.
    ahead: i64,
    /// When that was so.
    since: Moment,
}

impl ViewAge {
    /// The call was made then.
    pub(crate) fn new(requested_at: Moment) -> ViewAge {
        ViewAge {
            requested_at,
            as_of: None,
            is_whole: false,
            ahead: 0,
            since: requested_at,
        }
    }

    /// An update came.
    pub(crate) fn record(&mut self, sent: Option<ServerTiming>, is_snapshot: bool, now: Moment) {
        let as_of = match sent {
            Some(sent) => {
                let waited = self.waited(sent.clock, now);
                now.before(sent.age.saturating_add(waited))
            }
            // A server that does not say tells first what it knew when it was asked.
            None => Some(if self.is_whole { now } else { self.requested_at }),
        };
        if !is_snapshot {
            self.is_whole = true;
            self.as_of = self.as_of.max(as_of);
        }
    }

    /// How old what is known is.
    pub(crate) fn at(&self, now: Moment) -> Duration {
        self.as_of
            .map_or(Duration::MAX, |as_of| now.duration_since(as_of))
    }

    /// How long an update has been under way.
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

    /// A moment that has a long time before it.
    fn began() -> Moment {
        Moment::now() + 1_000_000 * S
    }

    fn sent(age: Duration, clock: Duration) -> Option<ServerTiming> {
        Some(ServerTiming { age, clock })
    }

    #[test]
    fn age_of_what_waited_counts_from_when_it_was_true() {
        let requested_at = began();
        let mut age = ViewAge::new(requested_at);
        age.record(sent(2 * S, S), false, requested_at + S);
        assert_eq!(age.at(requested_at + S), 2 * S);
        age.record(sent(2 * S, 10 * S), false, requested_at + 10 * S);
        assert_eq!(age.at(requested_at + 10 * S), 2 * S);
        // Sent two seconds later, and read twenty seconds after that.
        age.record(sent(Duration::ZERO, 12 * S), false, requested_at + 32 * S);
        let waited = age.at(requested_at + 32 * S);
        assert!((20 * S - S / 10..=20 * S).contains(&waited), "{waited:?}");
        // What is heard in time is as new as it says, however long others have waited.
        age.record(sent(S, 40 * S), false, requested_at + 40 * S);
        assert_eq!(age.at(requested_at + 40 * S), S);
        // And an old one makes nothing older.
        age.record(sent(30 * S, 41 * S), false, requested_at + 41 * S);
        assert_eq!(age.at(requested_at + 41 * S), 2 * S);
    }

    #[test]
    fn age_of_a_view_that_was_old_before_the_call_is_not_the_call_s() {
        let requested_at = began();
        let mut age = ViewAge::new(requested_at);
        assert_eq!(age.at(requested_at), Duration::MAX, "nothing is known yet");
        age.record(sent(3600 * S, S), false, requested_at + S);
        assert_eq!(age.at(requested_at + S), 3600 * S);
    }

    #[test]
    fn age_of_a_long_snapshot_counts_from_its_beginning() {
        let requested_at = began();
        let mut age = ViewAge::new(requested_at);
        for second in 0..60 {
            age.record(sent(second * S, second * S), true, requested_at + second * S);
            assert_eq!(age.at(requested_at + second * S), Duration::MAX);
        }
        age.record(sent(60 * S, 60 * S), false, requested_at + 60 * S);
        assert_eq!(age.at(requested_at + 60 * S), 60 * S);
        age.record(sent(3 * S, 61 * S), false, requested_at + 61 * S);
        assert_eq!(age.at(requested_at + 61 * S), 3 * S);
    }

    #[test]
    fn age_does_not_grow_because_a_clock_runs_slower() {
        let requested_at = began();
        let mut age = ViewAge::new(requested_at);
        for hour in 1..1000 {
            let here = 3600 * S * hour;
            age.record(sent(S, here - here / CLOCK_RATE), false, requested_at + here);
            assert!(age.at(requested_at + here) <= 2 * S, "{hour}");
        }
    }

    #[test]
    fn age_of_what_an_older_server_says_counts_from_receipt() {
        let requested_at = began();
        let mut age = ViewAge::new(requested_at);
        age.record(None, true, requested_at + S);
        age.record(None, false, requested_at + 2 * S);
        assert_eq!(age.at(requested_at + 2 * S), 2 * S, "the snapshot");
        age.record(None, false, requested_at + 3 * S);
        assert_eq!(age.at(requested_at + 3 * S), Duration::ZERO);
    }

    #[test]
    fn age_that_cannot_be_makes_nothing_newer() {
        for (old, clock) in [(0, u64::MAX), (u64::MAX, 0), (u64::MAX, u64::MAX)] {
            let requested_at = began();
            let mut age = ViewAge::new(requested_at);
            let old = Duration::from_millis(old);
            age.record(sent(old, Duration::from_millis(clock)), false, requested_at + S);
            assert!(age.at(requested_at + S) >= old.min(S), "{old:?}");
        }
    }
}
