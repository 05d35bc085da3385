//! The module that Node loads.

use std::ptr;

#[cfg(feature = "test-hooks")]
use jeton_bindings::Fault;
use napi_sys::{napi_env, napi_value};

#[cfg(feature = "test-hooks")]
use crate::call::Call;
use crate::call::{self, Function};
#[cfg(feature = "test-hooks")]
use crate::{hooks, outputs};
use crate::{issuing, keys, remote, verifying};

/// The functions by name. The data of each callback is a pointer to its entry in this static table.
static FUNCTIONS: &[(&str, Function)] = &[
    ("attach", issuing::attach),
    ("clock", keys::clock),
    ("clockSet", keys::clock_set),
    ("close", keys::close),
    ("failure", call::failure),
    ("issueBytes", issuing::issue_bytes),
    ("issueBytesLater", issuing::issue_bytes_later),
    ("issueFunction", issuing::function),
    ("issueLater", issuing::issue_later),
    ("issuer", issuing::create),
    ("keyExport", keys::export),
    ("keyGenerate", keys::generate),
    ("keyGenerateLater", keys::generate_later),
    ("keyImport", keys::import),
    ("keyImportLater", keys::import_later),
    ("keyOfPassword", keys::of_password),
    ("keyPublic", keys::public),
    ("keySet", keys::set_create),
    ("keySetExport", keys::set_export),
    ("keySetImport", keys::set_import),
    ("keyWarmUp", keys::warm_up),
    #[cfg(feature = "test-hooks")]
    ("panicNext", panic_next),
    ("prepare", issuing::prepare),
    ("preparedInput", issuing::prepared_input),
    ("remoteKeys", remote::create),
    ("remoteNext", remote::next),
    ("remoteReady", remote::ready),
    ("remoteRespond", remote::respond),
    ("unverified", verifying::unverified),
    ("verifiedHeader", verifying::verified_header),
    ("verifier", verifying::create),
    ("verifyBytes", verifying::verify_bytes),
    ("verifyBytesLater", verifying::verify_bytes_later),
    ("verifyFunctions", verifying::functions),
    ("verifyLater", verifying::verify_later),
    ("verifySignature", verifying::verify_signature),
];

/// Returns the Node-API version of this module. Node 20 and later support it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn node_api_module_get_api_version_v1() -> i32 {
    8
}

/// Adds the functions to the exports. Node calls it once for each thread that loads the module.
///
/// # Safety
///
/// Only Node may call it.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn napi_register_module_v1(
    env: napi_env,
    exports: napi_value,
) -> napi_value {
    for (name, function) in FUNCTIONS {
        let mut value = ptr::null_mut();
        let data = ptr::from_ref(function).cast_mut().cast();
        let (text, length) = (name.as_ptr().cast(), name.len() as isize);
        // SAFETY: the name and the out pointer are valid, and the data is static.
        let status = unsafe {
            napi_sys::napi_create_function(env, text, length, Some(call::run), data, &mut value)
        };
        if status != 0 {
            return ptr::null_mut();
        }
        let mut key = ptr::null_mut();
        // SAFETY: as above; the exports are an object.
        let status = unsafe {
            napi_sys::napi_create_string_latin1(env, text, length, &mut key);
            napi_sys::napi_set_property(env, exports, key, value)
        };
        if status != 0 {
            return ptr::null_mut();
        }
    }
    exports
}

/// `panicNext()`: makes the next call panic.
#[cfg(feature = "test-hooks")]
fn panic_next(call: &Call) -> Result<napi_value, Fault> {
    hooks::panic_next();
    outputs::null(call.env)
}
