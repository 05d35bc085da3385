//! Runs the body of every function and converts panics to a code.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::code::{JETON_OK, JetonCode};
use crate::reason::{JetonReason, report};
use jeton_bindings::Fault;

/// Runs the body of a function. Returns 0, or the number of the error code. An error is also written to `reason`.
pub(crate) fn guard(
    reason: *mut JetonReason,
    body: impl FnOnce() -> Result<(), Fault>,
) -> JetonCode {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "test-hooks")]
        crate::hooks::panic_if_asked();
        match body() {
            Ok(()) => JETON_OK,
            Err(fault) => report(reason, &fault),
        }
    }));
    match caught {
        Ok(code) => code,
        Err(payload) => {
            // Its destructor may panic again. The payload of that panic is never dropped.
            if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                std::mem::forget(again);
            }
            report(reason, &Fault::Internal)
        }
    }
}
