//! Handles: addresses of values that Java holds as numbers.

use std::sync::Arc;

use jeton::error::codes;
use jeton_bindings::{Fault, Issuer, Key, KeySet, Prepared, RemoteKeys, SetClock, Verifier};
use jni_sys::{JNIEnv, jbyteArray, jclass, jint, jlong};

use crate::guard::guard;
use crate::reply::Reply;

/// Moves a value to the heap. Java releases it.
pub(crate) fn create<T>(value: T) -> Reply {
    Reply::Handle(Box::into_raw(Box::new(value)) as i64)
}

/// Returns the value of a handle.
///
/// # Safety
///
/// The handle was created for a value of this type, and Java does not release it while it is used.
pub(crate) unsafe fn get<'h, T>(handle: jlong) -> Result<&'h T, Fault> {
    // SAFETY: the caller ensures it.
    unsafe { optional(handle) }?
        .ok_or_else(|| Fault::argument(&codes::ARGUMENT_NULL, "a value is required, not null"))
}

/// As [`get`], with `None` for 0.
///
/// # Safety
///
/// As for [`get`].
pub(crate) unsafe fn optional<'h, T>(handle: jlong) -> Result<Option<&'h T>, Fault> {
    // SAFETY: the caller ensures that it is 0 or the address of a value.
    Ok(unsafe { (handle as usize as *const T).as_ref() })
}

/// Releases a value. `kind` is its type, with the numbers in `Handle.java`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "system" fn Java_io_github_jeton_internal_Native_release(
    env: *mut JNIEnv,
    _: jclass,
    kind: jint,
    handle: jlong,
) -> jbyteArray {
    guard(env, |_| {
        let address = handle as usize;
        // SAFETY: Java passes each handle once, with its kind, after the last call that uses it.
        unsafe {
            match kind {
                1 => drop(Box::from_raw(address as *mut Key)),
                2 => drop(Box::from_raw(address as *mut KeySet)),
                3 => drop(Box::from_raw(address as *mut Issuer)),
                4 => drop(Box::from_raw(address as *mut Verifier)),
                5 => drop(Box::from_raw(address as *mut Prepared)),
                6 => drop(Box::from_raw(address as *mut Arc<RemoteKeys>)),
                7 => drop(Box::from_raw(address as *mut SetClock)),
                _ => return Err(Fault::Internal),
            }
        }
        Ok(())
    })
}
