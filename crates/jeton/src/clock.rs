//! Time in whole seconds, provided by a [`Clock`].

#![allow(
    clippy::disallowed_types,
    reason = "the one clock that reads the time of the system"
)]

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::InvalidUse;

/// A time in whole seconds since 1970-01-01T00:00:00Z, without leap seconds (RFC 7519, section 2,
/// "NumericDate").
///
/// The range is the years 1970 to 9999: `0 ..= 253_402_300_799`. No other value can be created, so
/// arithmetic on timestamps cannot overflow.
///
/// ```
/// use std::time::Duration;
/// use jeton::Timestamp;
///
/// let issued = Timestamp::from_unix_seconds(1_700_000_000).unwrap();
/// let expires = issued.saturating_add(Duration::from_mins(5));
/// assert_eq!(expires.unix_seconds(), 1_700_000_300);
/// assert_eq!(Timestamp::MAX.saturating_add(Duration::from_secs(1)), Timestamp::MAX);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const MIN: Timestamp = Timestamp(0);
    /// 9999-12-31T23:59:59Z.
    pub const MAX: Timestamp = Timestamp(253_402_300_799);

    /// Creates a timestamp from Unix seconds. Returns `None` outside the years 1970 to 9999.
    ///
    /// ```
    /// use jeton::Timestamp;
    /// assert_eq!(Timestamp::from_unix_seconds(0), Some(Timestamp::MIN));
    /// assert_eq!(Timestamp::from_unix_seconds(-1), None);
    /// ```
    pub const fn from_unix_seconds(seconds: i64) -> Option<Timestamp> {
        if seconds < Self::MIN.0 || seconds > Self::MAX.0 {
            return None;
        }
        Some(Timestamp(seconds))
    }

    /// Returns the seconds since 1970.
    pub const fn unix_seconds(self) -> i64 {
        self.0
    }

    /// Adds a duration, with [`Timestamp::MAX`] as the limit. Fractions of a second are dropped.
    pub fn saturating_add(self, duration: Duration) -> Timestamp {
        let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        Timestamp(self.0.saturating_add(seconds).min(Self::MAX.0))
    }

    /// Subtracts a duration, with [`Timestamp::MIN`] as the limit. Fractions of a second are dropped.
    pub fn saturating_sub(self, duration: Duration) -> Timestamp {
        let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        Timestamp(self.0.saturating_sub(seconds).max(Self::MIN.0))
    }

    /// Returns the current time of [`SystemClock`].
    ///
    /// ```
    /// use jeton::Timestamp;
    /// assert!(Timestamp::now() > Timestamp::from_unix_seconds(1_700_000_000).unwrap());
    /// ```
    pub fn now() -> Timestamp {
        SystemClock.now()
    }

    /// Adds a duration. Returns `None` if the sum is after the year 9999. Fractions of a second are dropped.
    pub(crate) fn checked_add(self, duration: Duration) -> Option<Timestamp> {
        let seconds = i64::try_from(duration.as_secs()).ok()?;
        Self::from_unix_seconds(self.0.checked_add(seconds)?)
    }
}

/// The same time, at the start of its second.
impl From<Timestamp> for SystemTime {
    fn from(timestamp: Timestamp) -> Self {
        UNIX_EPOCH + Duration::from_secs(timestamp.0.unsigned_abs())
    }
}

/// The second in which the time is. Fails outside the years 1970 to 9999.
///
/// ```
/// use std::time::SystemTime;
/// use jeton::Timestamp;
///
/// let now = Timestamp::try_from(SystemTime::now())?;
/// assert_eq!(Timestamp::try_from(SystemTime::from(now))?, now);
/// # Ok::<(), jeton::error::InvalidUse>(())
/// ```
impl TryFrom<SystemTime> for Timestamp {
    type Error = InvalidUse;

    fn try_from(time: SystemTime) -> Result<Self, InvalidUse> {
        let since_1970 = time.duration_since(UNIX_EPOCH);
        let since_1970 = since_1970.map_err(|_| InvalidUse::TimeOutOfRange)?;
        Self::MIN
            .checked_add(since_1970)
            .ok_or(InvalidUse::TimeOutOfRange)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A source of the current time.
///
/// The library does not read the time in any other way. Issuers and verifiers use [`SystemClock`] by
/// default. Tests can use a [`FixedClock`]. A pointer to a clock is a clock: an `Arc` shares one.
///
/// ```
/// use std::time::Duration;
/// use jeton::{Clock, SystemClock, Timestamp};
///
/// /// The time of another machine, which is ten seconds late.
/// struct Late;
///
/// impl Clock for Late {
///     fn now(&self) -> Timestamp {
///         SystemClock.now().saturating_sub(Duration::from_secs(10))
///     }
/// }
/// assert!(Late.now() < SystemClock.now());
/// ```
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// The clock of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since_1970 = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::MIN.saturating_add(since_1970)
    }
}

/// A clock that always returns the same time.
///
/// ```
/// use jeton::{Clock, FixedClock, Timestamp};
/// let noon = Timestamp::from_unix_seconds(1_700_000_000).unwrap();
/// assert_eq!(FixedClock(noon).now(), noon);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct FixedClock(pub Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<C: Clock + ?Sized> Clock for $pointer {
            fn now(&self) -> Timestamp {
                (**self).now()
            }
        }
    )*};
}

forward!(&C, Box<C>, Arc<C>);
