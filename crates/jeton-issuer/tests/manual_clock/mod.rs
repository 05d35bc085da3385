//! A clock that the test moves: one for all nodes, or one for each.

#![allow(dead_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jeton::{Clock, Timestamp};

/// Where it begins, seconds since 1970.
pub(crate) const START: i64 = 1_800_000_000;

/// Clones are the same clock.
#[derive(Clone)]
pub(crate) struct Hand(Arc<AtomicI64>);

impl Hand {
    pub(crate) fn new() -> Hand {
        Hand(Arc::new(AtomicI64::new(START)))
    }

    /// A clock of its own that is so far ahead of where the others begin, or behind.
    pub(crate) fn ahead(seconds: i64) -> Hand {
        Hand(Arc::new(AtomicI64::new(START + seconds)))
    }

    pub(crate) fn forward(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }

    pub(crate) fn seconds(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_seconds(self.seconds()).unwrap()
    }
}
