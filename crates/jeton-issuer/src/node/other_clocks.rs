//! What the audit chain says about the clocks of other nodes: each entry has the time that its writer's
//! clock showed. Of two clocks that are apart nobody knows which one is right, so nothing is decided by
//! the one that would decide too early.

use std::time::Duration;

use jeton_store::Moment;

use crate::limits::{CLOCK_SKEW_SECONDS, CLOCKS_APART_SECONDS};

/// How long a difference counts after it was last heard.
const REMEMBERED: Duration = Duration::from_secs(CLOCKS_APART_SECONDS);

/// How far this node's clock is from others.
#[derive(Debug, Default)]
pub(super) struct OtherClocks {
    /// It is ahead of one by so much, at least.
    ahead: Option<Difference>,
    /// It is behind one by so much.
    behind: Option<Difference>,
    /// What the newest entry says.
    newest: Option<i64>,
}

#[derive(Debug, Clone, Copy)]
struct Difference {
    seconds: i64,
    heard: Moment,
}

impl OtherClocks {
    /// An entry was written at that second by its writer's clock, no more than so long ago, and here it is
    /// `clock` now.
    pub(super) fn hear(&mut self, written: i64, age: Duration, clock: i64, now: Moment) {
        self.newest = Some(written);
        // In full seconds, so that an entry of this node's own never counts.
        let age = i64::try_from(age.as_secs()).unwrap_or(i64::MAX);
        let age = age.saturating_add(1);
        note(&mut self.ahead, clock - age - written, now);
        note(&mut self.behind, written - clock, now);
    }

    /// The newest entry that was there when this node began. How old it is nobody knows.
    pub(super) fn found(&mut self, written: i64, clock: i64, now: Moment) {
        self.newest = Some(written);
        note(&mut self.behind, written - clock, now);
    }

    /// This node's clock has jumped: how far it was from others says nothing.
    pub(super) fn forget(&mut self) {
        self.ahead = None;
        self.behind = None;
    }

    /// By how much this node's clock is ahead of another, beyond what is allowed; otherwise 0.
    pub(super) fn ahead_by(&self, now: Moment) -> i64 {
        seconds(self.ahead, now)
    }

    /// By how much it is behind another.
    pub(super) fn behind_by(&self, now: Moment) -> i64 {
        seconds(self.behind, now)
    }

    pub(super) fn newest(&self) -> Option<i64> {
        self.newest
    }

    /// What an operator should look at.
    pub(super) fn warnings(&self, now: Moment) -> impl Iterator<Item = String> {
        let sides = [
            (self.ahead_by(now), "ahead of", "what is due waits for it"),
            (
                self.behind_by(now),
                "behind",
                "no key is brought forward by it",
            ),
        ];
        sides.into_iter().filter(|(by, ..)| *by > 0).map(|(by, side, so)| {
            format!(
                "the clock of this node was {by} s {side} that of another within the last day, and \
                 {CLOCK_SKEW_SECONDS} s are allowed: {so}"
            )
        })
    }
}

/// The largest difference counts, from when one was heard last.
fn note(known: &mut Option<Difference>, seconds: i64, now: Moment) {
    if seconds <= CLOCK_SKEW_SECONDS {
        return;
    }
    let before = known.filter(|known| counts(known, now));
    *known = Some(Difference {
        seconds: before.map_or(seconds, |before| before.seconds.max(seconds)),
        heard: now,
    });
}

fn counts(difference: &Difference, now: Moment) -> bool {
    now.duration_since(difference.heard) < REMEMBERED
}

fn seconds(difference: Option<Difference>, now: Moment) -> i64 {
    let difference = difference.filter(|difference| counts(difference, now));
    difference.map_or(0, |difference| difference.seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: i64 = 1_800_000_000;
    const AT_ONCE: Duration = Duration::ZERO;

    #[test]
    fn difference_within_the_skew_or_explained_by_age_does_not_count() {
        let now = Moment::now();
        let mut others = OtherClocks::default();
        for offset in -CLOCK_SKEW_SECONDS..=CLOCK_SKEW_SECONDS {
            others.hear(CLOCK + offset, AT_ONCE, CLOCK, now);
        }
        // Hours old, as what is told after hours without a store may be.
        others.hear(CLOCK - 7200, Duration::from_secs(7200), CLOCK, now);
        // And whatever was there when the node began.
        others.found(CLOCK - 40 * 24 * 3600, CLOCK, now);
        assert_eq!((others.ahead_by(now), others.behind_by(now)), (0, 0));
        assert_eq!(others.warnings(now).count(), 0);
    }

    #[test]
    fn difference_counts_for_a_day_after_it_was_heard_last() {
        let begun = Moment::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let mut others = OtherClocks::default();
        others.hear(CLOCK - 7200, Duration::from_secs(15), CLOCK, begun);
        others.hear(CLOCK - 3600, AT_ONCE, CLOCK, after(1000));
        others.hear(CLOCK, AT_ONCE, CLOCK, after(2000));
        assert_eq!(
            others.ahead_by(after(1000 + CLOCKS_APART_SECONDS - 1)),
            7184
        );
        assert_eq!(others.ahead_by(after(1000 + CLOCKS_APART_SECONDS)), 0);
        // From then on it is a new one.
        let later = after(1000 + CLOCKS_APART_SECONDS);
        others.hear(CLOCK - 100, AT_ONCE, CLOCK, later);
        assert_eq!(others.ahead_by(later), 99);
        assert_eq!(others.newest(), Some(CLOCK - 100));
        others.found(CLOCK + 3600, CLOCK, later);
        assert_eq!(others.behind_by(later), 3600);
        assert_eq!(others.warnings(later).count(), 2);
        others.forget();
        assert_eq!((others.ahead_by(later), others.behind_by(later)), (0, 0));
    }
}
