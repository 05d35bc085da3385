//! A clock for tests.

use std::sync::Arc;

use jeton::{Clock, SystemClock};
use jeton_bindings::{Fault, SetClock};
use jni_sys::{JNIEnv, jbyteArray, jclass, jlong};

use crate::guard::guard;
use crate::handle;

/// Creates a clock set to this time, in microseconds since 1970.
#[unsafe(no_mangle)]
pub(crate) extern "system" fn Java_io_github_jeton_internal_Native_newClock(
    env: *mut JNIEnv,
    _: jclass,
    micros: jlong,
) -> jbyteArray {
    guard(env, |_| Ok(handle::create(SetClock::new(micros)?)))
}

/// Sets a clock to this time, in microseconds since 1970.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_setClock(
    env: *mut JNIEnv,
    _: jclass,
    clock: jlong,
    micros: jlong,
) -> jbyteArray {
    guard(env, |_| {
        // SAFETY: Java passes the handle of a clock.
        unsafe { handle::get::<SetClock>(clock) }?.set(micros)
    })
}

/// Returns the clock of a handle, or the system clock for 0.
///
/// # Safety
///
/// `clock` is 0 or the handle of a clock.
pub(crate) unsafe fn clock_or_system(clock: jlong) -> Result<Arc<dyn Clock>, Fault> {
    // SAFETY: the caller ensures it.
    Ok(match unsafe { handle::optional::<SetClock>(clock) }? {
        Some(clock) => Arc::new(clock.clone()),
        None => Arc::new(SystemClock),
    })
}
