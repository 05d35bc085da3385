//! The code around the body of each function.

use std::panic::{AssertUnwindSafe, catch_unwind};

use jeton_bindings::Fault;
use jni_sys::{JNIEnv, jbyteArray};

use crate::env::Env;
use crate::reply::{self, Reply};

/// Runs the body of a function and returns its reply. A panic becomes the code `INTERNAL`.
pub(crate) fn guard<R: Into<Reply>>(
    env: *mut JNIEnv,
    body: impl FnOnce(Env) -> Result<R, Fault>,
) -> jbyteArray {
    // SAFETY: the JVM called the function with it.
    let env = unsafe { Env::new(env) };
    let caught = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "test-hooks")]
        crate::hooks::panic_if_asked();
        match body(env) {
            Ok(reply) => reply.into().into_array(env),
            Err(fault) => reply::failure(env, &fault),
        }
    }));
    match caught {
        Ok(array) => array,
        Err(payload) => {
            // Dropping the payload may panic again. The payload of that panic is never dropped.
            if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                std::mem::forget(again);
            }
            reply::failure(env, &Fault::Internal)
        }
    }
}
