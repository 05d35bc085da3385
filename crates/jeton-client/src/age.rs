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
pub(crate) struct Sent {
    /// How old it was.
    pub(crate) age: Duration,
    /// When it was sent, since the server began to answer.
    pub(crate) clock: Duration,
}

/// As of when what was told is known.
#[derive(Debug)]
pub(crate) struct Age {
    asked: Moment,
    /// None: not everything is known yet, or as of a moment that no clock has.
    as_of: Option<Moment>,
    is_whole: bool,
    /// By how many milliseconds this clock is ahead of the server's, both counted from their beginnings, if
    /// nothing waits.
    ahead: i64,
    /// When that was so.
    since: Moment,
}

impl Age {
    /// The call was made then.
    pub(crate) fn new(asked: Moment) -> Age {
        Age {
            asked,
            as_of: None,
            is_whole: false,
            ahead: 0,
            since: asked,
        }
    }

    /// An update came.
    pub(crate) fn hear(&mut self, sent: Option<Sent>, is_snapshot: bool, now: Moment) {
        let as_of = match sent {
            Some(sent) => {
                let waited = self.waited(sent.clock, now);
                now.before(sent.age.saturating_add(waited))
            }
            // A server that does not say tells first what it knew when it was asked.
            None => Some(if self.is_whole { now } else { self.asked }),
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
        let here = milliseconds(now.duration_since(self.asked));
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

    fn sent(age: Duration, clock: Duration) -> Option<Sent> {
        Some(Sent { age, clock })
    }

    #[test]
    fn age_of_what_waited_counts_from_when_it_was_true() {
        let asked = began();
        let mut age = Age::new(asked);
        age.hear(sent(2 * S, S), false, asked + S);
        assert_eq!(age.at(asked + S), 2 * S);
        age.hear(sent(2 * S, 10 * S), false, asked + 10 * S);
        assert_eq!(age.at(asked + 10 * S), 2 * S);
        // Sent two seconds later, and read twenty seconds after that.
        age.hear(sent(Duration::ZERO, 12 * S), false, asked + 32 * S);
        let waited = age.at(asked + 32 * S);
        assert!((20 * S - S / 10..=20 * S).contains(&waited), "{waited:?}");
        // What is heard in time is as new as it says, however long others have waited.
        age.hear(sent(S, 40 * S), false, asked + 40 * S);
        assert_eq!(age.at(asked + 40 * S), S);
        // And an old one makes nothing older.
        age.hear(sent(30 * S, 41 * S), false, asked + 41 * S);
        assert_eq!(age.at(asked + 41 * S), 2 * S);
    }

    #[test]
    fn age_of_a_view_that_was_old_before_the_call_is_not_the_call_s() {
        let asked = began();
        let mut age = Age::new(asked);
        assert_eq!(age.at(asked), Duration::MAX, "nothing is known yet");
        age.hear(sent(3600 * S, S), false, asked + S);
        assert_eq!(age.at(asked + S), 3600 * S);
    }

    #[test]
    fn age_of_a_long_snapshot_counts_from_its_beginning() {
        let asked = began();
        let mut age = Age::new(asked);
        for second in 0..60 {
            age.hear(sent(second * S, second * S), true, asked + second * S);
            assert_eq!(age.at(asked + second * S), Duration::MAX);
        }
        age.hear(sent(60 * S, 60 * S), false, asked + 60 * S);
        assert_eq!(age.at(asked + 60 * S), 60 * S);
        age.hear(sent(3 * S, 61 * S), false, asked + 61 * S);
        assert_eq!(age.at(asked + 61 * S), 3 * S);
    }

    #[test]
    fn age_does_not_grow_because_a_clock_runs_slower() {
        let asked = began();
        let mut age = Age::new(asked);
        for hour in 1..1000 {
            let here = 3600 * S * hour;
            age.hear(sent(S, here - here / CLOCK_RATE), false, asked + here);
            assert!(age.at(asked + here) <= 2 * S, "{hour}");
        }
    }

    #[test]
    fn age_of_what_an_older_server_says_counts_from_receipt() {
        let asked = began();
        let mut age = Age::new(asked);
        age.hear(None, true, asked + S);
        age.hear(None, false, asked + 2 * S);
        assert_eq!(age.at(asked + 2 * S), 2 * S, "the snapshot");
        age.hear(None, false, asked + 3 * S);
        assert_eq!(age.at(asked + 3 * S), Duration::ZERO);
    }

    #[test]
    fn age_that_cannot_be_makes_nothing_newer() {
        for (old, clock) in [(0, u64::MAX), (u64::MAX, 0), (u64::MAX, u64::MAX)] {
            let asked = began();
            let mut age = Age::new(asked);
            let old = Duration::from_millis(old);
            age.hear(sent(old, Duration::from_millis(clock)), false, asked + S);
            assert!(age.at(asked + S) >= old.min(S), "{old:?}");
        }
    }
}
