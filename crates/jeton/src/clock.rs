//! Time, provided by a [`Clock`].

#![allow(
    clippy::disallowed_types,
    reason = "the one clock that reads the time of the system"
)]

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::InvalidUse;

/// A time since 1970-01-01T00:00:00Z in whole microseconds, without leap seconds (RFC 7519, section 2,
/// "NumericDate").
///
/// The range is the years 1970 to 9999: `0 ..= 253_402_300_799` seconds. No other value can be created, so
/// arithmetic on timestamps cannot overflow. Tokens are issued with whole seconds.
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
pub struct Timestamp {
    unix_micros: i64,
}

/// Microseconds per second.
const MICROS: i64 = 1_000_000;

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const MIN: Timestamp = Timestamp::of_micros(0);
    /// 9999-12-31T23:59:59Z.
    pub const MAX: Timestamp = Timestamp::of_micros(253_402_300_799 * MICROS);

    /// Creates a timestamp from Unix seconds. Returns `None` outside the years 1970 to 9999.
    ///
    /// ```
    /// use jeton::Timestamp;
    /// assert_eq!(Timestamp::from_unix_seconds(0), Some(Timestamp::MIN));
    /// assert_eq!(Timestamp::from_unix_seconds(-1), None);
    /// ```
    pub const fn from_unix_seconds(seconds: i64) -> Option<Timestamp> {
        match seconds.checked_mul(MICROS) {
            Some(micros) => Self::from_unix_micros(micros),
            None => None,
        }
    }

    /// Creates a timestamp from Unix microseconds. Returns `None` outside the years 1970 to 9999.
    ///
    /// ```
    /// use jeton::Timestamp;
    ///
    /// let half = Timestamp::from_unix_micros(1_700_000_000_500_000).unwrap();
    /// assert_eq!(half.unix_seconds(), 1_700_000_000);
    /// assert!(half > Timestamp::from_unix_seconds(1_700_000_000).unwrap());
    /// ```
    pub const fn from_unix_micros(micros: i64) -> Option<Timestamp> {
        if micros < Self::MIN.unix_micros || micros > Self::MAX.unix_micros {
            return None;
        }
        Some(Timestamp::of_micros(micros))
    }

    /// Returns the whole seconds since 1970. A fraction of a second is dropped.
    pub const fn unix_seconds(self) -> i64 {
        self.unix_micros / MICROS
    }

    /// Returns the microseconds since 1970.
    pub const fn unix_micros(self) -> i64 {
        self.unix_micros
    }

    /// Adds a duration, with [`Timestamp::MAX`] as the limit. Parts of a microsecond are dropped.
    pub const fn saturating_add(self, duration: Duration) -> Timestamp {
        match self.checked_add(duration) {
            Some(sum) => sum,
            None => Timestamp::MAX,
        }
    }

    /// Subtracts a duration, with [`Timestamp::MIN`] as the limit. Parts of a microsecond are dropped.
    pub const fn saturating_sub(self, duration: Duration) -> Timestamp {
        match Self::from_unix_micros(self.unix_micros - bounded_micros(duration)) {
            Some(difference) => difference,
            None => Timestamp::MIN,
        }
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

    /// Creates a timestamp from Unix seconds and the digits of a fraction. Digits after the sixth are dropped. Returns
    /// `None` outside the years 1970 to 9999.
    pub(crate) fn from_decimal(seconds: i64, fraction: &[u8]) -> Option<Timestamp> {
        let start = Self::from_unix_seconds(seconds)?;
        let micros = (0..6).fold(0, |micros, place| {
            let digit = fraction.get(place).map_or(0, |digit| digit - b'0');
            micros * 10 + i64::from(digit)
        });
        Self::from_unix_micros(start.unix_micros + micros)
    }

    const fn of_micros(unix_micros: i64) -> Timestamp {
        Timestamp { unix_micros }
    }

    /// Adds a duration. Returns `None` if the sum is after the year 9999. Parts of a microsecond are dropped.
    pub(crate) const fn checked_add(self, duration: Duration) -> Option<Timestamp> {
        Self::from_unix_micros(self.unix_micros + bounded_micros(duration))
    }

    /// Returns the start of the second.
    pub(crate) const fn whole_second(self) -> Timestamp {
        Timestamp::of_micros(self.unix_seconds() * MICROS)
    }

    /// Returns the first whole second that is not before this time.
    pub(crate) const fn next_whole_second(self) -> Timestamp {
        // The last time is a whole second.
        Timestamp::of_micros((self.unix_micros + MICROS - 1) / MICROS * MICROS)
    }
}

/// Returns the microseconds of a duration. Beyond the range of [`Timestamp`] it returns any number that leads out of
/// the range, so that a sum cannot overflow.
const fn bounded_micros(duration: Duration) -> i64 {
    const SECONDS: u64 = Timestamp::MAX.unix_seconds().unsigned_abs() + 1;
    let seconds = if duration.as_secs() < SECONDS {
        duration.as_secs()
    } else {
        SECONDS
    };
    seconds.cast_signed() * MICROS + duration.subsec_micros() as i64
}

/// The same time.
impl From<Timestamp> for SystemTime {
    fn from(timestamp: Timestamp) -> Self {
        UNIX_EPOCH + Duration::from_micros(timestamp.unix_micros.unsigned_abs())
    }
}

/// The same time, without parts of a microsecond. Fails outside the years 1970 to 9999.
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

/// The whole seconds since 1970.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.unix_seconds().fmt(f)
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
