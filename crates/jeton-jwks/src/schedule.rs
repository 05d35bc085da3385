//! When an address is asked: decisions alone, without a clock and without I/O.

use std::time::Duration;

use tokio::time::Instant;

/// The least and most that an answer's own `max-age` may say.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The first pause after a failure; it doubles with each.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// When an address is asked, and how long its answer holds.
///
/// ```
/// use std::time::Duration;
/// use jeton_jwks::{Https, RemoteKeySet, Schedule};
///
/// # fn example() -> Result<(), jeton_jwks::Error> {
/// let schedule = Schedule::default().kept_for(Duration::from_secs(3600));
/// let keys = RemoteKeySet::with("https://id.example/jwks.json", Https::new()?, schedule)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    fresh_for: Duration,
    cooldown: Duration,
    kept_for: Duration,
}

impl Default for Schedule {
    /// Fresh for five minutes, a cooldown of thirty seconds, kept for a day.
    fn default() -> Self {
        Self {
            fresh_for: Duration::from_secs(5 * 60),
            cooldown: Duration::from_secs(30),
            kept_for: DAY,
        }
    }
}

impl Schedule {
    /// After how long it is asked again, behind the tokens. An answer that says it itself
    /// (`Cache-Control: max-age`) is believed between the cooldown and a day.
    #[must_use]
    pub fn fresh_for(self, fresh_for: Duration) -> Self {
        Self { fresh_for, ..self }
    }

    /// It is not asked more often than this, whatever tokens come; and not more often than this past
    /// caches, for tokens whose key is not in the set.
    #[must_use]
    pub fn cooldown(self, cooldown: Duration) -> Self {
        Self { cooldown, ..self }
    }

    /// How long keys are trusted while the address cannot be asked. It bounds how long a key that was
    /// withdrawn still verifies.
    #[must_use]
    pub fn kept_for(self, kept_for: Duration) -> Self {
        Self { kept_for, ..self }
    }

    /// How long an answer is fresh that says so much of itself.
    pub(crate) fn freshness(&self, max_age: Option<Duration>) -> Duration {
        let said = max_age.map(|age| age.clamp(self.cooldown.min(DAY), DAY));
        said.unwrap_or(self.fresh_for).min(self.kept_for)
    }

    /// Whether it may be asked.
    pub(crate) fn may_ask(&self, asked: &Asked, now: Instant) -> bool {
        let Some(last) = asked.last else {
            return true;
        };
        now.saturating_duration_since(last) >= self.pause(asked)
    }

    /// Whether it may be asked for a key that is not in the last answer. That may have been the old copy of
    /// a cache, however lately it came, so only questions that caches must not answer count.
    pub(crate) fn may_ask_for_unknown(&self, asked: &Asked, now: Instant) -> bool {
        if asked.failures > 0 {
            return self.may_ask(asked, now);
        }
        let last = asked.last_for_unknown;
        last.is_none_or(|last| now.saturating_duration_since(last) >= self.cooldown)
    }

    fn pause(&self, asked: &Asked) -> Duration {
        let doublings = asked.failures.saturating_sub(1).min(16);
        match asked.failures {
            0 => self.cooldown,
            _ => (FIRST_PAUSE * (1 << doublings)).min(self.cooldown),
        }
    }

    /// What is to be done for a token whose key is known, or nothing is known of.
    pub(crate) fn need(&self, times: Option<Times>, now: Instant) -> Need {
        let Some(times) = times else {
            return Need::Keys;
        };
        if now.saturating_duration_since(times.fetched) >= self.kept_for {
            return Need::Keys;
        }
        match now.saturating_duration_since(times.fetched) >= times.fresh_for {
            true => Need::Newer,
            false => Need::Nothing,
        }
    }
}

/// What was asked so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) last: Option<Instant>,
    /// When it was last asked for a key that was not in its answer, past caches.
    pub(crate) last_for_unknown: Option<Instant>,
    /// How often in a row it was asked in vain.
    pub(crate) failures: u32,
}

/// The times of what was fetched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) fetched: Instant,
    pub(crate) fresh_for: Duration,
}

/// What is wanted of the address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Nothing,
    /// Newer keys, behind whoever uses those that are there.
    Newer,
    /// Keys: there are none, or none that may be trusted.
    Keys,
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn what_is_old_is_asked_for_again_and_what_is_too_old_is_not_used() {
        let schedule = Schedule::default();
        let fetched = Instant::now();
        let fresh_for = schedule.freshness(None);
        let need = |after| schedule.need(Some(Times { fetched, fresh_for }), fetched + after);
        assert_eq!(schedule.need(None, fetched), Need::Keys);
        assert_eq!(need(299 * S), Need::Nothing);
        assert_eq!(need(300 * S), Need::Newer);
        assert_eq!(need(DAY - S), Need::Newer);
        assert_eq!(need(DAY), Need::Keys);
    }

    #[test]
    fn an_answer_s_own_age_is_believed_within_bounds() {
        let schedule = Schedule::default();
        for (said, fresh_for) in [(0, 30), (31, 31), (3600, 3600), (10_000_000, 86_400)] {
            let said = Some(Duration::from_secs(said));
            assert_eq!(schedule.freshness(said).as_secs(), fresh_for);
        }
        let short = schedule.kept_for(60 * S);
        assert_eq!(short.freshness(Some(3600 * S)), 60 * S);
        // A cooldown beyond a day is no reason to panic.
        let slow = schedule.cooldown(2 * DAY).kept_for(3 * DAY);
        assert_eq!(slow.freshness(Some(S)), DAY);
    }

    #[test]
    fn it_is_asked_again_soon_after_a_failure_and_ever_later_up_to_the_cooldown() {
        let schedule = Schedule::default();
        let last = Instant::now();
        let pause = |failures| {
            let asked = Asked {
                last: Some(last),
                failures,
                ..Asked::default()
            };
            let ready = |s: &u32| schedule.may_ask(&asked, last + S * *s);
            (0..).find(ready)
        };
        assert!(schedule.may_ask(&Asked::default(), last));
        let pauses: Vec<_> = (0..8).filter_map(pause).collect();
        assert_eq!(pauses, [30, 1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(pause(u32::MAX), Some(30));
    }
}
