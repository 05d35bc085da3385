//! Limits how many requests a client makes per minute.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A limit of requests per minute, without a lock. A client may send the requests of a minute at once.
#[derive(Debug)]
pub(crate) struct RateLimit {
    per_minute: u32,
    started: Instant,
    /// When the requests so far would be spent at a constant rate, nanoseconds after `started`.
    spent_until: AtomicU64,
}

/// The limit was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateExceeded {
    pub(crate) per_minute: u32,
    /// After this time, one more request is allowed.
    pub(crate) retry_after: Duration,
}

const MINUTE: u64 = 60_000_000_000;

impl RateLimit {
    pub(crate) fn new(per_minute: u32) -> RateLimit {
        RateLimit {
            per_minute: per_minute.max(1),
            started: Instant::now(),
            spent_until: AtomicU64::new(0),
        }
    }

    /// Counts a request, unless it exceeds the limit.
    pub(crate) fn take(&self) -> Result<(), RateExceeded> {
        let now = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.take_at(now)
    }

    fn take_at(&self, now: u64) -> Result<(), RateExceeded> {
        let each = MINUTE / u64::from(self.per_minute);
        let spend = |spent_until: u64| {
            let next = spent_until.max(now) + each;
            (next <= now + MINUTE).then_some(next)
        };
        let spent = self
            .spent_until
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend);
        match spent {
            Ok(_) => Ok(()),
            Err(spent_until) => Err(RateExceeded {
                per_minute: self.per_minute,
                retry_after: Duration::from_nanos(
                    (spent_until + each).saturating_sub(now + MINUTE),
                ),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_a_minute_are_allowed_at_once_and_then_one_by_one() {
        let limit = RateLimit::new(60);
        let second = MINUTE / 60;
        assert!((0..60).all(|_| limit.take_at(0).is_ok()));
        let exceeded = limit.take_at(0);
        assert_eq!(
            exceeded,
            Err(RateExceeded {
                per_minute: 60,
                retry_after: Duration::from_secs(1)
            })
        );
        assert!(limit.take_at(second).is_ok());
        assert!(limit.take_at(second).is_err());
        // After an idle minute, as many as at first, and no more.
        assert!((0..60).all(|_| limit.take_at(5 * MINUTE).is_ok()));
        assert!(limit.take_at(5 * MINUTE).is_err());
    }
}
