//! The time that a caller passes to one call.

use std::cell::Cell;

use jeton::error::InvalidUse;
use jeton::{Clock, Timestamp};
use jeton_bindings::Fault;

/// The value of `now` for the clock of the issuer or the verifier.
pub const JETON_USE_CLOCK: i64 = i64::MIN;

thread_local! {
    /// The time of the call that runs in this thread. Without one, the clock is read.
    static CALL_TIME: Cell<Option<Timestamp>> = const { Cell::new(None) };
}

/// Sets the time of a call. The end of its scope removes the time, also after a panic.
pub(crate) struct CallTime(());

impl CallTime {
    /// Sets the time of this call, in microseconds since 1970. With [`JETON_USE_CLOCK`], the clock is read.
    ///
    /// # Errors
    ///
    /// The time is out of the range of [`Timestamp`].
    pub(crate) fn set(now: i64) -> Result<CallTime, Fault> {
        if now != JETON_USE_CLOCK {
            let time = Timestamp::from_unix_micros(now).ok_or(InvalidUse::TimeOutOfRange)?;
            CALL_TIME.set(Some(time));
        }
        Ok(CallTime(()))
    }
}

impl Drop for CallTime {
    fn drop(&mut self) {
        CALL_TIME.set(None);
    }
}

/// The time of the call, or of a clock if the call has none.
pub(crate) struct CallClock<C>(pub(crate) C);

impl<C: Clock> Clock for CallClock<C> {
    fn now(&self) -> Timestamp {
        CALL_TIME.get().unwrap_or_else(|| self.0.now())
    }
}
