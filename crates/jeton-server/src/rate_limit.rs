//! Limits how many requests a client makes in a period.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A limit of requests per minute or day, without a lock. A client may send the requests of a period at once.
#[derive(Debug)]
pub(crate) struct RateLimit {
    most: u32,
    period: Period,
    started: Instant,
    /// When the requests so far would be spent at a constant rate, nanoseconds after `started`.
    spent_until: AtomicU64,
}

/// The limit was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateExceeded {
    /// Requests that count now.
    pub(crate) used: u32,
    pub(crate) most: u32,
    pub(crate) period: Period,
    /// After this time, one more request is allowed.
    pub(crate) retry_after: Duration,
}

/// The period of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Period {
    Minute,
    Day,
}

impl Period {
    const fn nanoseconds(self) -> u64 {
        match self {
            Period::Minute => 60_000_000_000,
            Period::Day => 24 * 60 * 60_000_000_000,
        }
    }
}

impl RateLimit {
    pub(crate) fn new(per_minute: u32) -> RateLimit {
        RateLimit::in_period(per_minute, Period::Minute)
    }

    pub(crate) fn in_period(most: u32, period: Period) -> RateLimit {
        RateLimit {
            most: most.max(1),
            period,
            started: Instant::now(),
            spent_until: AtomicU64::new(0),
        }
    }

    /// Counts a request, unless it exceeds the limit.
    pub(crate) fn take(&self) -> Result<(), RateExceeded> {
        self.take_many(1)
    }

    /// Counts several requests, unless they exceed the limit.
    pub(crate) fn take_many(&self, count: u32) -> Result<(), RateExceeded> {
        let now = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.take_at(now, count)
    }

    /// Takes back a request that cost nothing.
    pub(crate) fn give_back(&self) {
        self.spent_until.fetch_sub(self.each(), Ordering::Relaxed);
    }

    /// The time that one request takes of the period.
    fn each(&self) -> u64 {
        self.period.nanoseconds() / u64::from(self.most)
    }

    fn take_at(&self, now: u64, count: u32) -> Result<(), RateExceeded> {
        let (each, period) = (self.each(), self.period.nanoseconds());
        let cost = each.saturating_mul(count.into());
        let spend = |spent_until: u64| {
            let next = spent_until.max(now).saturating_add(cost);
            (next <= now + period).then_some(next)
        };
        let spent = self
            .spent_until
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend);
        match spent {
            Ok(_) => Ok(()),
            Err(spent_until) => Err(RateExceeded {
                used: u32::try_from(spent_until.saturating_sub(now).div_ceil(each))
                    .unwrap_or(u32::MAX),
                most: self.most,
                period: self.period,
                retry_after: Duration::from_nanos(
                    spent_until
                        .saturating_add(each)
                        .saturating_sub(now + period),
                ),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn requests_of_a_minute_are_allowed_at_once_and_then_one_by_one() {
        let limit = RateLimit::new(60);
        let minute = Period::Minute.nanoseconds();
        let second = minute / 60;
        assert!((0..60).all(|_| limit.take_at(0, 1).is_ok()));
        let exceeded = limit.take_at(0, 1);
        assert_eq!(
            exceeded,
            Err(RateExceeded {
                used: 60,
                most: 60,
                period: Period::Minute,
                retry_after: Duration::from_secs(1)
            })
        );
        assert!(limit.take_at(second, 1).is_ok());
        assert!(limit.take_at(second, 1).is_err());
        // After an idle minute, as many as at first, and no more.
        assert!((0..60).all(|_| limit.take_at(5 * minute, 1).is_ok()));
        assert!(limit.take_at(5 * minute, 1).is_err());
    }

    #[test]
    fn several_requests_are_counted_all_or_none() {
        let limit = RateLimit::in_period(10, Period::Day);
        assert!(limit.take_at(0, 8).is_ok());
        let exceeded = limit.take_at(0, 3).unwrap_err();
        assert_eq!((exceeded.used, exceeded.most), (8, 10));
        assert!(limit.take_at(0, 2).is_ok());
        assert!(limit.take_at(0, 1).is_err());
        limit.give_back();
        assert!(limit.take_at(0, 1).is_ok());
        assert!(limit.take_at(Period::Day.nanoseconds() / 10, 1).is_ok());
    }
}
