//! Numbers that a function passes to JavaScript without creating values.

use std::ptr;

use jeton::error::codes;
use jeton_bindings::Fault;
use napi_sys::{napi_env, napi_ref, napi_value};

/// The length of the array: the header number, `exp`, `nbf`, `iat`, and whether numbers in the claims may be rounded.
pub(crate) const NUMBERS: usize = 5;

/// A JavaScript `Float64Array`.
pub(crate) struct State {
    env: napi_env,
    numbers: *mut f64,
    /// Keeps the array alive.
    array: napi_ref,
}

impl State {
    pub(crate) fn new(env: napi_env, value: napi_value) -> Result<State, Fault> {
        let (mut kind, mut length, mut offset) = (0, 0, 0);
        let (mut data, mut buffer, mut array) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        let no_array = || Fault::argument(&codes::INVALID_OPTION, "not an array of five numbers");
        let mut is_array = false;
        // SAFETY: the out pointer is valid.
        unsafe { napi_sys::napi_is_typedarray(env, value, &mut is_array) };
        if !is_array {
            return Err(no_array());
        }
        // SAFETY: the value is a typed array, and the out pointers are valid.
        let status = unsafe {
            napi_sys::napi_get_typedarray_info(
                env,
                value,
                &mut kind,
                &mut length,
                &mut data,
                &mut buffer,
                &mut offset,
            )
        };
        let is_right = kind == napi_sys::TypedarrayType::float64_array && length == NUMBERS;
        if status != 0 || !is_right || data.is_null() {
            return Err(no_array());
        }
        // SAFETY: the value is an object.
        let status = unsafe { napi_sys::napi_create_reference(env, value, 1, &mut array) };
        match status {
            0 => Ok(State {
                env,
                numbers: data.cast(),
                array,
            }),
            _ => Err(Fault::Internal),
        }
    }

    pub(crate) fn write(&self, numbers: [f64; NUMBERS]) {
        // SAFETY: the reference keeps the array alive, nothing detaches it, and only this thread uses it.
        unsafe { self.numbers.cast::<[f64; NUMBERS]>().write(numbers) };
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: `new` created the reference on this thread, and it is deleted once.
        unsafe { napi_sys::napi_delete_reference(self.env, self.array) };
    }
}
