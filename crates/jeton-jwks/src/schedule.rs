//! Decides when to fetch a key set. It has no clock and does no I/O.

use std::time::Duration;

use tokio::time::Instant;

/// The maximum for `max-age` of a response.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The maximum for `Retry-After` of a response.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(5 * 60);

/// The pause after the first failure. It doubles with each further failure.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// When a key set is fetched, and how long it is used.
///
/// ```
/// use std::time::Duration;
/// use jeton_jwks::{RemoteKeySet, Schedule};
///
/// # fn example() -> Result<(), jeton_jwks::Error> {
/// let schedule = Schedule::default().usable_for(Duration::from_secs(3600));
/// let keys = RemoteKeySet::builder("https://id.example/jwks.json").schedule(schedule).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    fresh_for: Duration,
    cooldown: Duration,
    usable_for: Duration,
    address_fresh_for: Duration,
}

impl Default for Schedule {
    /// Fresh for 5 minutes, a cooldown of 30 seconds, usable for 1 day. A discovered address is fresh
    /// for 1 hour.
    fn default() -> Self {
        Self {
            fresh_for: Duration::from_secs(5 * 60),
            cooldown: Duration::from_secs(30),
            usable_for: DAY,
            address_fresh_for: Duration::from_secs(60 * 60),
        }
    }
}

impl Schedule {
    /// Sets the age after which keys are refreshed in the background. `Cache-Control: max-age` of a response
    /// takes precedence, between the cooldown and 1 day.
    #[must_use]
    pub fn fresh_for(self, fresh_for: Duration) -> Self {
        Self { fresh_for, ..self }
    }

    /// Sets the minimum time between two requests. It applies separately to requests with `no-cache`: tokens with
    /// an unknown key cause these requests.
    #[must_use]
    pub fn cooldown(self, cooldown: Duration) -> Self {
        Self { cooldown, ..self }
    }

    /// Sets how long keys are used while requests fail. It limits how long a withdrawn key still verifies.
    #[must_use]
    pub fn usable_for(self, usable_for: Duration) -> Self {
        Self { usable_for, ..self }
    }

    /// Sets how long a [discovered](crate::RemoteKeySet::discover) address is used. The next fetch after this time
    /// reads the discovery document again. So does the fetch after a failed fetch.
    #[must_use]
    pub fn address_fresh_for(self, address_fresh_for: Duration) -> Self {
        Self {
            address_fresh_for,
            ..self
        }
    }

    /// Whether a discovered address of this age is still used.
    pub(crate) fn address_is_fresh(&self, age: Duration) -> bool {
        age < self.address_fresh_for
    }

    /// How long a response with this `max-age` is fresh.
    pub(crate) fn freshness(&self, max_age: Option<Duration>) -> Duration {
        let declared = max_age.map(|age| age.clamp(self.cooldown.min(DAY), DAY));
        declared.unwrap_or(self.fresh_for).min(self.usable_for)
    }

    /// Whether a request may be sent now.
    pub(crate) fn may_fetch(&self, attempts: &Attempts, now: Instant) -> bool {
        let Some(last) = attempts.last else {
            return true;
        };
        now.saturating_duration_since(last) >= self.pause(attempts)
    }

    /// Whether a request may be sent for a key that is not in the cached set. The cached set may be the old
    /// copy of a proxy even if it is recent, so only requests with `no-cache` count.
    pub(crate) fn may_fetch_unknown_key(&self, attempts: &Attempts, now: Instant) -> bool {
        if attempts.failures > 0 {
            return self.may_fetch(attempts, now);
        }
        let last = attempts.last_for_unknown;
        last.is_none_or(|last| now.saturating_duration_since(last) >= self.cooldown)
    }

    fn pause(&self, attempts: &Attempts) -> Duration {
        let doublings = attempts.failures.saturating_sub(1).min(16);
        match attempts.failures {
            0 => self.cooldown,
            _ => {
                let pause = (FIRST_PAUSE * (1 << doublings)).min(self.cooldown);
                pause.max(attempts.retry_after.min(RETRY_AFTER_MAX))
            }
        }
    }

    /// What a verification needs, given the times of the cached set.
    pub(crate) fn need(&self, times: Option<Times>, now: Instant) -> Need {
        let Some(times) = times else {
            return Need::Fetch;
        };
        if now.saturating_duration_since(times.fetched) >= self.usable_for {
            return Need::Fetch;
        }
        if now.saturating_duration_since(times.fetched) >= times.fresh_for {
            Need::Refresh
        } else {
            Need::Nothing
        }
    }
}

/// The requests so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attempts {
    pub(crate) last: Option<Instant>,
    /// The last request with `no-cache` for an unknown key.
    pub(crate) last_for_unknown: Option<Instant>,
    /// The number of failures since the last success.
    pub(crate) failures: u32,
    /// `Retry-After` of the last response, or zero.
    pub(crate) retry_after: Duration,
}

/// The times of a fetched set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) fetched: Instant,
    pub(crate) fresh_for: Duration,
}

/// What a verification needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Nothing,
    /// A refresh in the background; the cached keys may be used.
    Refresh,
    /// A fetch before verification: there are no keys, or they are too old to use.
    Fetch,
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn need_stale_set_is_refreshed_and_old_set_is_fetched() {
        let schedule = Schedule::default();
        let fetched = Instant::now();
        let fresh_for = schedule.freshness(None);
        let need = |after| schedule.need(Some(Times { fetched, fresh_for }), fetched + after);
        assert_eq!(schedule.need(None, fetched), Need::Fetch);
        assert_eq!(need(299 * S), Need::Nothing);
        assert_eq!(need(300 * S), Need::Refresh);
        assert_eq!(need(DAY - S), Need::Refresh);
        assert_eq!(need(DAY), Need::Fetch);
    }

    #[test]
    fn freshness_max_age_is_bounded() {
        let schedule = Schedule::default();
        for (declared, fresh_for) in [(0, 30), (31, 31), (3600, 3600), (10_000_000, 86_400)] {
            let declared = Some(Duration::from_secs(declared));
            assert_eq!(schedule.freshness(declared).as_secs(), fresh_for);
        }
        let short = schedule.usable_for(60 * S);
        assert_eq!(short.freshness(Some(3600 * S)), 60 * S);
        // A cooldown of more than one day must not panic.
        let slow = schedule.cooldown(2 * DAY).usable_for(3 * DAY);
        assert_eq!(slow.freshness(Some(S)), DAY);
    }

    #[test]
    fn pause_doubles_after_failures_up_to_the_cooldown() {
        let schedule = Schedule::default();
        let last = Instant::now();
        let pause = |failures| {
            let attempts = Attempts {
                last: Some(last),
                failures,
                ..Attempts::default()
            };
            let ready = |s: &u32| schedule.may_fetch(&attempts, last + S * *s);
            (0..).find(ready)
        };
        assert!(schedule.may_fetch(&Attempts::default(), last));
        let pauses: Vec<_> = (0..8).filter_map(pause).collect();
        assert_eq!(pauses, [30, 1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(pause(u32::MAX), Some(30));
    }

    #[test]
    fn retry_after_extends_the_pause_up_to_a_limit() {
        let schedule = Schedule::default();
        let last = Instant::now();
        for (retry_after, expected) in [(0, 1), (1, 1), (120, 120), (300, 300), (86_400, 300)] {
            let attempts = Attempts {
                last: Some(last),
                failures: 1,
                retry_after: S * retry_after,
                ..Attempts::default()
            };
            let found = (0..).find(|s: &u32| schedule.may_fetch(&attempts, last + S * *s));
            assert_eq!(found, Some(expected), "{retry_after}");
        }
    }
}
