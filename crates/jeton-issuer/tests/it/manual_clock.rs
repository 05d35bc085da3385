//! A clock that the test moves, shared or per node.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};

use jeton::{Clock, Timestamp};

/// Initial time, seconds since 1970.
pub(crate) const START: i64 = 1_800_000_000;

/// Clones share the time.
#[derive(Clone)]
pub(crate) struct ManualClock {
    seconds: Arc<AtomicI64>,
    /// The thread that is expected to read it.
    awaited: Arc<Mutex<Option<ThreadId>>>,
}

impl ManualClock {
    pub(crate) fn new() -> ManualClock {
        ManualClock::ahead(0)
    }

    /// Creates a clock that is ahead by this many seconds, or behind.
    pub(crate) fn ahead(seconds: i64) -> ManualClock {
        ManualClock {
            seconds: Arc::new(AtomicI64::new(START + seconds)),
            awaited: Arc::default(),
        }
    }

    pub(crate) fn forward(&self, seconds: i64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }

    pub(crate) fn seconds(&self) -> i64 {
        self.seconds.load(Ordering::SeqCst)
    }

    /// Expects the current thread to read it.
    #[allow(dead_code, reason = "used by the unit tests of the node")]
    pub(crate) fn expect_reader(&self) {
        *self.awaited.lock().unwrap() = Some(thread::current().id());
    }

    /// Waits until the expected thread has read it.
    #[allow(dead_code, reason = "used by the unit tests of the node")]
    pub(crate) fn wait_for_reader(&self) {
        while self.awaited.lock().unwrap().is_some() {
            thread::yield_now();
        }
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let mut awaited = self.awaited.lock().unwrap();
        awaited.take_if(|thread| *thread == thread::current().id());
        drop(awaited);
        Timestamp::from_unix_seconds(self.seconds()).unwrap()
    }
}
