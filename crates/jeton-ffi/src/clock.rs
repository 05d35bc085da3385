//! A clock for tests.

use std::sync::Arc;

use jeton::{Clock, SystemClock};
use jeton_bindings::{Fault, SetClock};

use crate::argument::Out;
use crate::call_time::CallClock;
use crate::code::JetonCode;
use crate::guard::guard;
use crate::handle::{self, Handle, Kind};
use crate::reason::JetonReason;

/// A clock for tests. Its time changes only when it is set. Pass it to `jeton_issuer_new` and `jeton_verifier_new`.
pub struct JetonClock {
    _opaque: [u8; 0],
}

impl Handle for JetonClock {
    type Value = SetClock;
    const KIND: Kind = Kind::Clock;
}

/// Returns the clock of a handle, or the system clock if the pointer is null. The time of a call replaces its time.
///
/// # Safety
///
/// The pointer is null or a handle.
pub(crate) unsafe fn clock_or_system(clock: *const JetonClock) -> Result<Arc<dyn Clock>, Fault> {
    if clock.is_null() {
        return Ok(Arc::new(CallClock(SystemClock)));
    }
    // SAFETY: not null, and the caller ensures it.
    let clock = unsafe { handle::get(clock) }?;
    Ok(Arc::new(CallClock(clock.clone())))
}

/// Creates a clock with this time, in microseconds since 1970.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_clock_new(
    microseconds: i64,
    out: *mut *const JetonClock,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a place for a handle, or null.
        let out = unsafe { Out::new(out) }?;
        out.put(handle::create(SetClock::new(microseconds)?));
        Ok(())
    })
}

/// Sets the time of a clock, in microseconds since 1970, for all issuers and verifiers that use it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_clock_set(
    clock: *const JetonClock,
    microseconds: i64,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, or null.
        let clock = unsafe { handle::get(clock) }?;
        clock.set(microseconds)
    })
}
