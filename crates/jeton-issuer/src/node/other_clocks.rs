//! Clock differences between nodes, from the times in the audit chain. Nobody knows which of two clocks is
//! right, so the one that would act too early decides nothing.

use std::time::Duration;

use jeton_store::Moment;

use crate::limits::{CLOCK_SKEW_SECONDS, CLOCKS_APART_SECONDS};

/// How long a difference is remembered after it was last seen.
const REMEMBERED: Duration = Duration::from_secs(CLOCKS_APART_SECONDS);

/// Differences between this node's clock and others.
#[derive(Debug, Default)]
pub(super) struct OtherClocks {
    /// Seconds by which it is ahead of another, at least.
    ahead: Option<Difference>,
    /// Seconds by which it is behind another.
    behind: Option<Difference>,
    /// Time of the newest entry.
    newest: Option<i64>,
}

#[derive(Debug, Clone, Copy)]
struct Difference {
    seconds: i64,
    heard: Moment,
}

impl OtherClocks {
    /// Records an entry with its writer's time. It is at most `age` old, and the local clock says `clock`.
    pub(super) fn hear(&mut self, written: i64, age: Duration, clock: i64, now: Moment) {
        self.newest = Some(written);
        // Rounded up, so that own entries never count.
        let age = i64::try_from(age.as_secs()).unwrap_or(i64::MAX);
        let age = age.saturating_add(1);
        note(&mut self.ahead, clock - age - written, now);
        note(&mut self.behind, written - clock, now);
    }

    /// Records the newest entry at start, whose age is unknown.
    pub(super) fn found(&mut self, written: i64, clock: i64, now: Moment) {
        self.newest = Some(written);
        note(&mut self.behind, written - clock, now);
    }

    /// Forgets all differences, because this node's clock has jumped.
    pub(super) fn forget(&mut self) {
        self.ahead = None;
        self.behind = None;
    }

    /// Returns the seconds by which this clock is ahead of another, 0 within the allowed difference.
    pub(super) fn ahead_by(&self, now: Moment) -> i64 {
        seconds(self.ahead, now)
    }

    /// Returns the seconds by which this clock is behind another.
    pub(super) fn behind_by(&self, now: Moment) -> i64 {
        seconds(self.behind, now)
    }

    pub(super) fn newest(&self) -> Option<i64> {
        self.newest
    }

    /// Returns warnings for the operator.
    pub(super) fn warnings(&self, now: Moment) -> impl Iterator<Item = String> {
        let sides = [
            (
                self.ahead_by(now),
                "ahead of",
                "maintenance waits for the slower clock",
            ),
            (
                self.behind_by(now),
                "behind",
                "keys published in the future are not rescheduled",
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

/// Keeps the largest difference, and when one was last seen.
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
    fn clock_difference_within_skew_is_ignored() {
        let now = Moment::now();
        let mut others = OtherClocks::default();
        for offset in -CLOCK_SKEW_SECONDS..=CLOCK_SKEW_SECONDS {
            others.hear(CLOCK + offset, AT_ONCE, CLOCK, now);
        }
        // An entry that is hours old, received after hours without the store.
        others.hear(CLOCK - 7200, Duration::from_secs(7200), CLOCK, now);
        // An entry found at start.
        others.found(CLOCK - 40 * 24 * 3600, CLOCK, now);
        assert_eq!((others.ahead_by(now), others.behind_by(now)), (0, 0));
        assert_eq!(others.warnings(now).count(), 0);
    }

    #[test]
    fn clock_difference_counts_for_a_day() {
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
        // Afterwards a new difference counts.
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
