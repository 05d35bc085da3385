//! A clock for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jeton::error::InvalidUse;
use jeton::{Clock, Timestamp};

use crate::fault::Fault;

/// A clock for tests. Its time changes only when it is set. Clones share the time.
#[derive(Debug, Clone)]
pub struct SetClock(Arc<AtomicI64>);

impl SetClock {
    /// Creates a clock with this time, in microseconds since 1970.
    ///
    /// # Errors
    ///
    /// The time is out of the range of [`Timestamp`].
    pub fn new(micros: i64) -> Result<SetClock, Fault> {
        Ok(SetClock(Arc::new(AtomicI64::new(checked(micros)?))))
    }

    /// Sets the time of this clock and its clones.
    ///
    /// # Errors
    ///
    /// As for [`SetClock::new`].
    pub fn set(&self, micros: i64) -> Result<(), Fault> {
        self.0.store(checked(micros)?, Ordering::SeqCst);
        Ok(())
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_micros(self.0.load(Ordering::SeqCst)).unwrap_or(Timestamp::MIN)
    }
}

fn checked(micros: i64) -> Result<i64, Fault> {
    match Timestamp::from_unix_micros(micros) {
        Some(_) => Ok(micros),
        None => Err(InvalidUse::TimeOutOfRange.into()),
    }
}
