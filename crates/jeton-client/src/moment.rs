//! A monotonic clock that also counts while the machine is suspended.
//!
//! A copy of `jeton_store::Moment`: the published client must not depend on the store of the service.

use std::ops::Add;
use std::time::Duration;

/// A moment of a local monotonic clock.
///
/// On Linux, `Instant` stops while the machine is suspended, so an update from the day before could look
/// seconds old.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(Duration);

impl Moment {
    pub(crate) fn now() -> Moment {
        Moment(now())
    }

    /// The time since an earlier moment. Zero if that moment is later.
    pub(crate) fn duration_since(self, earlier: Moment) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The moment this long before. `None` if it is before the start of the clock.
    pub(crate) fn before(self, duration: Duration) -> Option<Moment> {
        self.0.checked_sub(duration).map(Moment)
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

    // CLOCK_MONOTONIC includes suspension on Apple systems. Linux has CLOCK_BOOTTIME for that.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: ClockId = ClockId::Monotonic;
    // These clocks are never negative.
    Duration::try_from(clock_gettime(CLOCK)).unwrap_or_default()
}

/// On Windows, `Instant` includes suspension.
#[cfg(not(unix))]
fn now() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;

    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}
