//! Values for JavaScript.

use std::ffi::c_void;
use std::ptr;

use jeton_bindings::Fault;
use napi_sys::{napi_env, napi_value};

/// What a function creates.
pub(crate) fn made(status: i32, value: napi_value) -> Result<napi_value, Fault> {
    match status == 0 && !value.is_null() {
        true => Ok(value),
        // A text longer than a string can be, or the environment ends.
        false => Err(Fault::Internal),
    }
}

/// A text.
pub(crate) fn text(env: napi_env, text: &str) -> Result<napi_value, Fault> {
    let mut value = ptr::null_mut();
    let (bytes, length) = (text.as_ptr().cast(), text.len() as isize);
    // ASCII is copied as it is. UTF-8 is decoded character by character.
    let status = match text.is_ascii() {
        // SAFETY: the bytes and their number are those of the text, and ASCII is part of Latin-1.
        true => unsafe { napi_sys::napi_create_string_latin1(env, bytes, length, &mut value) },
        // SAFETY: as above; the text is UTF-8.
        false => unsafe { napi_sys::napi_create_string_utf8(env, bytes, length, &mut value) },
    };
    made(status, value)
}

/// `null`.
pub(crate) fn null(env: napi_env) -> Result<napi_value, Fault> {
    let mut value = ptr::null_mut();
    // SAFETY: the place is valid.
    let status = unsafe { napi_sys::napi_get_null(env, &mut value) };
    made(status, value)
}

/// Bytes, as a `Buffer`.
pub(crate) fn bytes(env: napi_env, bytes: &[u8]) -> Result<napi_value, Fault> {
    let (mut value, mut copy) = (ptr::null_mut(), ptr::null_mut::<c_void>());
    // SAFETY: the bytes and their number are those of the slice, which Node copies.
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

/// A number.
pub(crate) fn number(env: napi_env, number: f64) -> Result<napi_value, Fault> {
    let mut value = ptr::null_mut();
    // SAFETY: the place is valid.
    let status = unsafe { napi_sys::napi_create_double(env, number, &mut value) };
    made(status, value)
}

/// A list of two texts.
pub(crate) fn pair(env: napi_env, first: &str, second: &str) -> Result<napi_value, Fault> {
    list(env, &[text(env, first)?, text(env, second)?])
}

/// A list.
pub(crate) fn list(env: napi_env, values: &[napi_value]) -> Result<napi_value, Fault> {
    let mut list = ptr::null_mut();
    // SAFETY: the place is valid.
    let status = unsafe { napi_sys::napi_create_array_with_length(env, values.len(), &mut list) };
    let list = made(status, list)?;
    for (index, value) in values.iter().enumerate() {
        // SAFETY: both are values of this call.
        let status = unsafe { napi_sys::napi_set_element(env, list, index as u32, *value) };
        made(status, *value)?;
    }
    Ok(list)
}
