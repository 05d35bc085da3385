//! Values for JavaScript.

use std::ffi::c_void;
use std::ptr;

use jeton_bindings::Fault;
use napi_sys::{napi_env, napi_value};

/// Returns a value that Node created, or an error.
pub(crate) fn made(status: i32, value: napi_value) -> Result<napi_value, Fault> {
    if status == 0 && !value.is_null() {
        return Ok(value);
    }
    // The text is longer than a JavaScript string can be, or the environment is ending.
    Err(Fault::Internal)
}

/// Creates a string.
pub(crate) fn text(env: napi_env, text: &str) -> Result<napi_value, Fault> {
    let mut value = ptr::null_mut();
    let (bytes, length) = (text.as_ptr().cast(), text.len() as isize);
    // Node copies ASCII unchanged, and decodes UTF-8 character by character.
    let status = if text.is_ascii() {
        // SAFETY: the pointer and the length describe the text, and ASCII is a subset of Latin-1.
        unsafe { napi_sys::napi_create_string_latin1(env, bytes, length, &mut value) }
    } else {
        // SAFETY: as above; the text is UTF-8.
        unsafe { napi_sys::napi_create_string_utf8(env, bytes, length, &mut value) }
    };
    made(status, value)
}

/// Returns `null`.
pub(crate) fn null(env: napi_env) -> Result<napi_value, Fault> {
    let mut value = ptr::null_mut();
    // SAFETY: the out pointer is valid.
    let status = unsafe { napi_sys::napi_get_null(env, &mut value) };
    made(status, value)
}

/// Copies bytes into a `Buffer`.
pub(crate) fn bytes(env: napi_env, bytes: &[u8]) -> Result<napi_value, Fault> {
    let (mut value, mut copy) = (ptr::null_mut(), ptr::null_mut::<c_void>());
    // SAFETY: the pointer and the length describe the slice, which Node copies.
    let status = unsafe {
        napi_sys::napi_create_buffer_copy(
            env,
            bytes.len(),
            bytes.as_ptr().cast(),
            &mut copy,
            &mut value,
        )
    };
    made(status, value)
}

/// Creates a number.
pub(crate) fn number(env: napi_env, number: f64) -> Result<napi_value, Fault> {
    let mut value = ptr::null_mut();
    // SAFETY: the out pointer is valid.
    let status = unsafe { napi_sys::napi_create_double(env, number, &mut value) };
    made(status, value)
}

/// Creates an array of two strings.
pub(crate) fn pair(env: napi_env, first: &str, second: &str) -> Result<napi_value, Fault> {
    list(env, &[text(env, first)?, text(env, second)?])
}

/// Creates an array.
pub(crate) fn list(env: napi_env, values: &[napi_value]) -> Result<napi_value, Fault> {
    let mut list = ptr::null_mut();
    // SAFETY: the out pointer is valid.
    let status = unsafe { napi_sys::napi_create_array_with_length(env, values.len(), &mut list) };
    let list = made(status, list)?;
    for (index, value) in values.iter().enumerate() {
        // SAFETY: both are values of this call.
        let status = unsafe { napi_sys::napi_set_element(env, list, index as u32, *value) };
        made(status, *value)?;
    }
    Ok(list)
}
