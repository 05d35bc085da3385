//! Waiting for what a busy machine does late.

use std::thread;
use std::time::{Duration, Instant};

/// After this time something hangs, also on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Waits until this holds.
///
/// # Panics
///
/// After 60 seconds, with `what`.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    until_some(what, || holds().then_some(()));
}

/// Waits until there is a value, and returns it.
///
/// # Panics
///
/// As [`until`].
pub fn until_some<T>(what: &str, mut seen: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(seen) = seen() {
            return seen;
        }
        assert!(begun.elapsed() < TIMEOUT, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
