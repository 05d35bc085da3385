//! A clock that tests set.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jeton::error::InvalidUse;
use jeton::{Clock, SystemClock, Timestamp};

use crate::argument::Out;
use crate::code::JetonCode;
use crate::guard::guard;
use crate::handle::{self, Handle, Kind};
use crate::reason::{Fault, JetonReason};

/// A clock that stands still until it is set. For tests: pass it to `jeton_issuer_new` and `jeton_verifier_new`.
pub struct JetonClock {
    _opaque: [u8; 0],
}

impl Handle for JetonClock {
    type Value = SetClock;
    const KIND: Kind = Kind::Clock;
}

/// The time in seconds, shared by all that have the clock.
#[derive(Clone)]
pub(crate) struct SetClock(Arc<AtomicI64>);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_seconds(self.0.load(Ordering::SeqCst)).unwrap_or(Timestamp::MIN)
    }
}

/// Returns the clock of a handle, or the system's if the pointer is null.
///
/// # Safety
///
/// The pointer is null or a handle.
pub(crate) unsafe fn clock_or_system(clock: *const JetonClock) -> Result<Arc<dyn Clock>, Fault> {
    if clock.is_null() {
        return Ok(Arc::new(SystemClock));
    }
    // SAFETY: not null, and the caller ensures it.
    let clock = unsafe { handle::get(clock) }?;
    Ok(Arc::new(clock.clone()))
}

fn checked(seconds: i64) -> Result<i64, Fault> {
    match Timestamp::from_unix_seconds(seconds) {
        Some(_) => Ok(seconds),
        None => Err(InvalidUse::TimeOutOfRange.into()),
    }
}

/// Creates a clock that stands at this time, in seconds since 1970.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_clock_new(
    seconds: i64,
    out: *mut *const JetonClock,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a place for a handle, or null.
        let out = unsafe { Out::new(out) }?;
        let clock = SetClock(Arc::new(AtomicI64::new(checked(seconds)?)));
        out.put(handle::create(clock));
        Ok(())
    })
}

/// Sets a clock, for all issuers and verifiers that have it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_clock_set(
    clock: *const JetonClock,
    seconds: i64,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, or null.
        let clock = unsafe { handle::get(clock) }?;
        clock.0.store(checked(seconds)?, Ordering::SeqCst);
        Ok(())
    })
}
