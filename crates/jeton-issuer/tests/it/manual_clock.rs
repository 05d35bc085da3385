//! A clock that the test moves, shared or per node.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jeton::{Clock, Timestamp};

/// Initial time, seconds since 1970.
pub(crate) const START: i64 = 1_800_000_000;

/// Clones share the time.
#[derive(Clone)]
pub(crate) struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    pub(crate) fn new() -> ManualClock {
        ManualClock(Arc::new(AtomicI64::new(START)))
    }

    /// Creates a clock that is ahead by this many seconds, or behind.
    pub(crate) fn ahead(seconds: i64) -> ManualClock {
        ManualClock(Arc::new(AtomicI64::new(START + seconds)))
    }

    pub(crate) fn forward(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }

    pub(crate) fn seconds(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_seconds(self.seconds()).unwrap()
    }
}
