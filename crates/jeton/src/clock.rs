//! Time, as the library sees it: whole seconds, told by a [`Clock`].

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment in whole seconds since 1970-01-01T00:00:00Z, leap seconds ignored
/// (RFC 7519, section 2, "NumericDate").
///
/// Valid moments lie between the years 1970 and 9999: `0 ..= 253_402_300_799`. Nothing outside can
/// be made, so arithmetic on a moment cannot overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const MIN: Timestamp = Timestamp(0);
    /// 9999-12-31T23:59:59Z.
    pub const MAX: Timestamp = Timestamp(253_402_300_799);

    /// The moment that many seconds after 1970, or `None` outside the years 1970 to 9999.
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

    /// Seconds since 1970.
    pub const fn unix_seconds(self) -> i64 {
        self.0
    }

    /// This moment and a while, cut off at [`Timestamp::MAX`]. Fractions of a second are dropped.
    pub fn saturating_add(self, duration: Duration) -> Timestamp {
        let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        Timestamp(self.0.saturating_add(seconds).min(Self::MAX.0))
    }

    /// A while before this moment, cut off at [`Timestamp::MIN`]. Fractions of a second are dropped.
    pub fn saturating_sub(self, duration: Duration) -> Timestamp {
        let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
        Timestamp(self.0.saturating_sub(seconds).max(Self::MIN.0))
    }

    /// This moment plus a duration, or `None` if the sum lies after the year 9999. Fractions of a second
    /// are dropped.
    pub(crate) fn checked_add(self, duration: Duration) -> Option<Timestamp> {
        let seconds = i64::try_from(duration.as_secs()).ok()?;
        Self::from_unix_seconds(self.0.checked_add(seconds)?)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Tells the time.
///
/// The library never looks at the clock by itself: an issuer or verifier holds one, and it is
/// [`SystemClock`] unless another is given. Tests give a [`FixedClock`].
pub trait Clock: Send + Sync {
    /// The present moment.
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

/// A clock that stands still.
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
