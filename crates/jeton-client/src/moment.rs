//! A clock for ages: it also counts while the machine is suspended.
//!
//! The same as `jeton_store::Moment`: a client that is published must not depend on the service's store for
//! twenty lines.

use std::ops::Add;
use std::time::Duration;

/// A moment on a clock of this machine that nobody sets. `Instant` stands still on Linux while the machine is
/// suspended: what was heard before a night of sleep would seem to be seconds old.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(Duration);

impl Moment {
    pub(crate) fn now() -> Moment {
        Moment(now())
    }

    /// How long after another it was; nothing if it was before.
    pub(crate) fn duration_since(self, earlier: Moment) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The moment so long before, if the clock ran then.
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

    // Apple's CLOCK_MONOTONIC counts while the machine is suspended; Linux has another clock for that.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: ClockId = ClockId::Monotonic;
    // No such clock is negative.
    Duration::try_from(clock_gettime(CLOCK)).unwrap_or_default()
}

/// Windows counts suspension in what `Instant` is there.
#[cfg(not(unix))]
fn now() -> Duration {
    use std::sync::OnceLock;
    use std::time::Instant;

    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}
