//! A monotonic clock that counts while the machine is suspended.

use std::ops::Add;
use std::time::Duration;

/// A point in time on a monotonic clock that counts while the machine is suspended.
///
/// [`Instant`](std::time::Instant) stops during suspension on Linux and macOS: data from before a suspended
/// night would seem seconds old. Moments of different machines, or of different boots, cannot be compared.
///
/// ```
/// use jeton_store::Moment;
///
/// let heard = Moment::now();
/// assert!(Moment::now() >= heard);
/// assert!(heard.elapsed() < std::time::Duration::from_secs(3600));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(Duration);

impl Moment {
    /// Returns the current moment.
    pub fn now() -> Moment {
        Moment(now())
    }

    /// Returns the time since this moment, zero if it is in the future.
    pub fn elapsed(self) -> Duration {
        Moment::now().duration_since(self)
    }

    /// Returns the time between an earlier moment and this one, zero if the other is later.
    pub fn duration_since(self, earlier: Moment) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Moment {
    type Output = Moment;

    fn add(self, after: Duration) -> Moment {
        Moment(self.0.saturating_add(after))
    }
}

#[cfg(unix)]
fn now() -> Duration {
    use rustix::time::{ClockId, clock_gettime};

    // `CLOCK_MONOTONIC` of Apple counts suspension. Linux has another clock for that.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: ClockId = ClockId::Monotonic;
    // These clocks are never negative.
    Duration::try_from(clock_gettime(CLOCK)).unwrap_or_default()
}

/// On Windows `Instant` counts suspension.
#[cfg(not(unix))]
fn now() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;

    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}
