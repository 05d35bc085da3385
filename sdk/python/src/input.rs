//! Arguments: texts and bytes.

use std::borrow::Cow;
use std::ops::Deref;

use jeton::error::codes;
use jeton_bindings::Fault;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};
use zeroize::Zeroizing;

use crate::fault::Failure;

/// Reads a `str`, or `bytes` as UTF-8. Data that another thread can change is copied.
pub(crate) fn text<'a>(value: &'a Bound<'_, PyAny>) -> Result<Cow<'a, str>, Failure> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Cow::Borrowed(utf8(text)?));
    }
    match bytes(value)? {
        Cow::Borrowed(bytes) => Ok(Cow::Borrowed(
            std::str::from_utf8(bytes).map_err(|_| Fault::not_utf8())?,
        )),
        Cow::Owned(bytes) => Ok(Cow::Owned(
            String::from_utf8(bytes).map_err(|_| Fault::not_utf8())?,
        )),
    }
}

/// Reads a token. Invalid UTF-8 rejects the token, because it comes from a client and not from the program.
pub(crate) fn token_text<'a>(value: &'a Bound<'_, PyAny>) -> Result<Cow<'a, str>, Failure> {
    match text(value) {
        Err(Failure::Fault(fault)) if fault.code().name() == codes::ARGUMENT_NOT_UTF8.name() => {
            let why = "the token is not valid UTF-8";
            Err(Fault::argument(&codes::TOKEN_MALFORMED, why).into())
        }
        other => other,
    }
}

/// Returns the UTF-8 of a `str`. A lone surrogate is an error.
#[inline]
pub(crate) fn utf8<'a>(text: &'a Bound<'_, PyString>) -> Result<&'a str, Fault> {
    text.to_str().map_err(|_| Fault::not_utf8())
}

/// Reads `bytes`, or copies a `bytearray` or a `memoryview`.
pub(crate) fn bytes<'a>(value: &'a Bound<'_, PyAny>) -> Result<Cow<'a, [u8]>, Failure> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    if let Ok(bytes) = value.cast::<PyByteArray>() {
        return Ok(Cow::Owned(bytes.to_vec()));
    }
    if let Ok(view) = value.cast::<PyMemoryView>() {
        let copy = view.call_method0("tobytes")?;
        return Ok(Cow::Owned(
            copy.cast::<PyBytes>()
                .map_err(PyErr::from)?
                .as_bytes()
                .to_vec(),
        ));
    }
    Err(wrong_type(value))
}

/// The bytes of a key. A copy is wiped.
pub(crate) enum SecretBytes<'a> {
    Borrowed(&'a [u8]),
    Copied(Zeroizing<Vec<u8>>),
}

impl Deref for SecretBytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            SecretBytes::Borrowed(bytes) => bytes,
            SecretBytes::Copied(bytes) => bytes,
        }
    }
}

/// Returns the bytes of a key, or the UTF-8 of a `str`. Data that another thread can change is copied.
pub(crate) fn secret_bytes<'a>(value: &'a Bound<'_, PyAny>) -> Result<SecretBytes<'a>, Failure> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(SecretBytes::Borrowed(utf8(text)?.as_bytes()));
    }
    Ok(match bytes(value)? {
        Cow::Borrowed(bytes) => SecretBytes::Borrowed(bytes),
        Cow::Owned(bytes) => SecretBytes::Copied(Zeroizing::new(bytes)),
    })
}

#[cold]
fn wrong_type(value: &Bound<'_, PyAny>) -> Failure {
    let name = value.get_type().name();
    let name = name.map_or_else(|_| "?".into(), |name| name.to_string());
    PyTypeError::new_err(format!("expected str or bytes, not {name}")).into()
}
