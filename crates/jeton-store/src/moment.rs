//! A clock for ages: it also counts while the machine is suspended.

use std::ops::Add;
use std::time::Duration;

/// A moment on a clock of this machine that nobody sets, and that counts while the machine is suspended.
///
/// [`Instant`](std::time::Instant) stands still then on Linux and macOS: what was heard before a night of
/// sleep would seem to be seconds old. Moments of different machines, and of different boots of one, have
/// nothing to do with each other.
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
    /// Now.
    pub fn now() -> Moment {
        Moment(now())
    }

    /// How long ago it was; nothing if it is still to come.
    pub fn elapsed(self) -> Duration {
        Moment::now().duration_since(self)
    }

    /// How long after another it was; nothing if it was before.
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
