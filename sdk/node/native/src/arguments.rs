//! Arguments from JavaScript.

use std::cell::RefCell;
use std::{mem, ptr};

use jeton::error::codes;
use jeton_bindings::Fault;
use napi_sys::{ValueType, napi_env, napi_value};
use zeroize::{Zeroize, Zeroizing};

/// The longest string whose buffers a thread keeps, in UTF-16 units.
const KEPT_UNITS: usize = 8 * 1024;

/// Buffers for reading strings.
#[derive(Default)]
struct Memory {
    units: Vec<u16>,
    /// The length of the last string, in units.
    length: usize,
    text: Vec<u8>,
}

impl Memory {
    /// Overwrites the last string.
    fn wipe(&mut self) {
        self.units[..self.length].fill(0);
        self.text.fill(0);
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.units.zeroize();
        self.text.zeroize();
    }
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// Why a string was not read.
pub(crate) enum NoText {
    /// The value is not a string.
    Type,
    /// The string contains a lone surrogate.
    Surrogate,
}

/// Runs `run` with a string. It is read as UTF-16, JavaScript's own encoding, so lone surrogates are detected and not
/// replaced.
pub(crate) fn with_text<R>(
    env: napi_env,
    value: napi_value,
    run: impl FnOnce(Result<&str, NoText>) -> R,
) -> R {
    with_text_then(env, value, run, |_| ())
}

/// The same, and calls `after` with the memory.
fn with_text_then<R>(
    env: napi_env,
    value: napi_value,
    run: impl FnOnce(Result<&str, NoText>) -> R,
    after: impl FnOnce(&mut Memory),
) -> R {
    MEMORY.with(|memory| match memory.try_borrow_mut() {
        Ok(mut memory) => {
            let result = run(read(env, value, &mut memory));
            if memory.units.len() > KEPT_UNITS {
                *memory = Memory::default();
            } else {
                after(&mut memory);
            }
            result
        }
        // A nested call.
        Err(_) => run(read(env, value, &mut Memory::default())),
    })
}

fn read(env: napi_env, value: napi_value, memory: &mut Memory) -> Result<&str, NoText> {
    let Memory {
        units,
        length: last,
        text,
    } = memory;
    if units.is_empty() {
        units.resize(1024, 0);
    }
    let mut length = 0;
    // SAFETY: the buffer has `units.len()` units. Node writes a zero after the text.
    let status = unsafe {
        napi_sys::napi_get_value_string_utf16(
            env,
            value,
            units.as_mut_ptr(),
            units.len(),
            &mut length,
        )
    };
    if status != 0 {
        return Err(NoText::Type);
    }
    if length + 1 >= units.len() {
        length = read_long(env, value, units)?;
    }
    *last = length;
    let units = &units[..length];
    text.clear();
    text.extend(units.iter().map(|unit| *unit as u8));
    let all = units.iter().fold(0, |all, unit| all | unit);
    if all >= 0x80 {
        let decoded = String::from_utf16(units).map_err(|_| NoText::Surrogate)?;
        *text = decoded.into_bytes();
        return std::str::from_utf8(text).map_err(|_| NoText::Surrogate);
    }
    // SAFETY: every unit is below 128, so the bytes are ASCII.
    Ok(unsafe { std::str::from_utf8_unchecked(text) })
}

/// Reads a string that may not fit into the buffer.
#[cold]
fn read_long(env: napi_env, value: napi_value, units: &mut Vec<u16>) -> Result<usize, NoText> {
    let mut length = 0;
    // SAFETY: without a buffer, Node writes the length only.
    let status = unsafe {
        napi_sys::napi_get_value_string_utf16(env, value, ptr::null_mut(), 0, &mut length)
    };
    if status != 0 {
        return Err(NoText::Type);
    }
    if length + 1 > units.len() {
        units.resize(length + 1, 0);
    }
    // SAFETY: the buffer has `units.len()` units.
    let status = unsafe {
        napi_sys::napi_get_value_string_utf16(
            env,
            value,
            units.as_mut_ptr(),
            units.len(),
            &mut length,
        )
    };
    match status {
        0 => Ok(length),
        _ => Err(NoText::Type),
    }
}

impl NoText {
    #[cold]
    pub(crate) fn fault(self) -> Fault {
        match self {
            NoText::Type => Fault::argument(&codes::INVALID_OPTION, "an argument is not a string"),
            NoText::Surrogate => Fault::not_utf8(),
        }
    }
}

/// Returns a string argument. It may be secret.
pub(crate) fn text(env: napi_env, value: napi_value) -> Result<Zeroizing<String>, Fault> {
    let copy = |text: Result<&str, NoText>| match text {
        Ok(text) => Ok(Zeroizing::new(text.to_owned())),
        Err(why) => Err(why.fault()),
    };
    with_text_then(env, value, copy, Memory::wipe)
}

/// Returns the UTF-8 of a string argument, or the bytes of a `Uint8Array`. They may be secret.
pub(crate) fn text_or_bytes(env: napi_env, value: napi_value) -> Result<Zeroizing<Vec<u8>>, Fault> {
    if type_of(env, value) != ValueType::napi_string {
        return bytes(env, value);
    }
    let mut text = text(env, value)?;
    Ok(Zeroizing::new(mem::take(&mut *text).into_bytes()))
}

/// Returns whether an argument is `undefined` or `null`.
pub(crate) fn is_absent(env: napi_env, value: napi_value) -> bool {
    matches!(
        type_of(env, value),
        ValueType::napi_undefined | ValueType::napi_null
    )
}

fn type_of(env: napi_env, value: napi_value) -> i32 {
    let mut kind = ValueType::napi_undefined;
    if value.is_null() {
        return kind;
    }
    // SAFETY: the value is an argument of this call.
    unsafe { napi_sys::napi_typeof(env, value, &mut kind) };
    kind
}

/// Returns an integer that JavaScript represents exactly.
pub(crate) fn integer(env: napi_env, value: napi_value) -> Result<i64, Fault> {
    let mut number = 0.0;
    // SAFETY: the out pointer is valid.
    let status = unsafe { napi_sys::napi_get_value_double(env, value, &mut number) };
    if status == 0 && number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER {
        return Ok(number as i64);
    }
    Err(Fault::argument(
        &codes::INVALID_OPTION,
        "an argument is not a whole number",
    ))
}

const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Copies the bytes of a `Uint8Array`: another thread may change them, and JavaScript may detach them.
pub(crate) fn bytes(env: napi_env, value: napi_value) -> Result<Zeroizing<Vec<u8>>, Fault> {
    let (mut kind, mut length, mut offset) = (0, 0, 0);
    let (mut data, mut buffer) = (ptr::null_mut(), ptr::null_mut());
    let no_bytes = || Fault::argument(&codes::INVALID_OPTION, "an argument is not a Uint8Array");
    let mut is_array = false;
    // SAFETY: the out pointers are valid.
    let status = unsafe { napi_sys::napi_is_typedarray(env, value, &mut is_array) };
    if status != 0 || !is_array {
        return Err(no_bytes());
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
    if status != 0 || kind != napi_sys::TypedarrayType::uint8_array {
        return Err(no_bytes());
    }
    let mut is_detached = false;
    // SAFETY: the out pointer is valid. A shared buffer cannot be detached, and the result is then false.
    unsafe { napi_sys::napi_is_detached_arraybuffer(env, buffer, &mut is_detached) };
    if is_detached {
        return Err(Fault::argument(
            &codes::ARGUMENT_NULL,
            "the buffer of an argument is detached",
        ));
    }
    if length == 0 || data.is_null() {
        return Ok(Zeroizing::default());
    }
    let mut copy = Zeroizing::new(vec![0; length]);
    // SAFETY: Node returned the pointer and the length, no JavaScript runs here, and the copy does not overlap.
    unsafe { ptr::copy_nonoverlapping(data.cast::<u8>(), copy.as_mut_ptr(), length) };
    Ok(copy)
}

/// Returns the elements of an array.
pub(crate) fn list(env: napi_env, value: napi_value) -> Result<Vec<napi_value>, Fault> {
    let no_list = || Fault::argument(&codes::INVALID_OPTION, "an argument is not an array");
    let mut length = 0;
    // SAFETY: the out pointer is valid.
    let status = unsafe { napi_sys::napi_get_array_length(env, value, &mut length) };
    if status != 0 || length > LIST_ELEMENTS {
        return Err(no_list());
    }
    let mut elements = Vec::new();
    for index in 0..length {
        let mut element = ptr::null_mut();
        // SAFETY: the out pointer is valid, and the value is an array.
        let status = unsafe { napi_sys::napi_get_element(env, value, index, &mut element) };
        if status != 0 {
            return Err(no_list());
        }
        elements.push(element);
    }
    Ok(elements)
}

/// The maximum length of an array: more than a key set can have.
const LIST_ELEMENTS: u32 = 100_000;
