//! Calls from JavaScript: their arguments, results and errors. A panic becomes an error here.

use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use jeton_bindings::Fault;
use napi_sys::{napi_callback_info, napi_env, napi_value};

use crate::outputs;

/// The largest number of arguments of a function.
const ARGUMENTS: usize = 6;

/// The arguments of a call.
pub(crate) struct Call {
    pub(crate) env: napi_env,
    arguments: [napi_value; ARGUMENTS],
}

impl Call {
    /// Returns an argument, or `undefined` if the caller did not pass it.
    pub(crate) fn argument(&self, index: usize) -> napi_value {
        self.arguments[index]
    }
}

/// A function of the module that has no data.
pub(crate) type Function = fn(&Call) -> Result<napi_value, Fault>;

thread_local! {
    /// The code and the message of the last error. JavaScript reads them immediately.
    static LAST: RefCell<(&'static str, String)> = const { RefCell::new(("INTERNAL", String::new())) };
}

/// Returns the code and the message of the last error.
pub(crate) fn failure(call: &Call) -> Result<napi_value, Fault> {
    LAST.with(|last| {
        let (code, message) = &*last.borrow();
        outputs::pair(call.env, code, message)
    })
}

/// Stores the error and returns `false`. No function returns `false` otherwise.
fn failed(env: napi_env, fault: &Fault) -> napi_value {
    LAST.with(|last| *last.borrow_mut() = (fault.code().name(), fault.to_string()));
    let mut value = ptr::null_mut();
    // SAFETY: the out pointer is valid. If the call fails, JavaScript gets `undefined`.
    unsafe { napi_sys::napi_get_boolean(env, false, &mut value) };
    value
}

/// Runs a function and turns a panic into an error.
pub(crate) fn guarded<R>(run: impl FnOnce() -> Result<R, Fault>) -> Result<R, Fault> {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "test-hooks")]
        crate::hooks::panic_if_asked();
        run()
    }));
    match caught {
        Ok(result) => result,
        Err(payload) => {
            // Dropping the payload may panic again. The second payload is never dropped.
            if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                std::mem::forget(again);
            }
            Err(Fault::Internal)
        }
    }
}

/// Runs the body of a callback with its data.
///
/// # Safety
///
/// `env` and `info` come from Node. The data of the callback is a `D` or null.
pub(crate) unsafe fn enter<D>(
    env: napi_env,
    info: napi_callback_info,
    body: impl FnOnce(&Call, &D) -> Result<napi_value, Fault>,
) -> napi_value {
    let mut arguments = [ptr::null_mut(); ARGUMENTS];
    let mut count = ARGUMENTS;
    let mut data: *mut c_void = ptr::null_mut();
    // SAFETY: the out pointers are valid, and `arguments` has `count` elements. Node sets all of them.
    let status = unsafe {
        napi_sys::napi_get_cb_info(
            env,
            info,
            &mut count,
            arguments.as_mut_ptr(),
            ptr::null_mut(),
            &mut data,
        )
    };
    if status != 0 || data.is_null() {
        return failed(env, &Fault::Internal);
    }
    // SAFETY: the data belongs to the function and lives as long as the function.
    let data = unsafe { &*data.cast::<D>() };
    let call = Call { env, arguments };
    match guarded(|| body(&call, data)) {
        Ok(value) => value,
        Err(fault) => failed(env, &fault),
    }
}

/// The callback of the functions in the static table. Its data is the `Function`.
pub(crate) unsafe extern "C" fn run(env: napi_env, info: napi_callback_info) -> napi_value {
    // SAFETY: Node calls it, and the data was registered as a `Function`.
    unsafe { enter::<Function>(env, info, |call, function| function(call)) }
}
