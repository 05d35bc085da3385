//! Converts Python objects to JSON text.
//!
//! Reading `dict`, `list`, `tuple`, `str`, `int`, `float`, `bool`, `None` and subclasses runs no Python code, so values
//! do not change while they are read. Only a `datetime` as `exp`, `nbf` or `iat` is converted by Python.

use std::borrow::Cow;

use jeton::error::codes;
use jeton_bindings::Fault;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::fault::Failure;
use crate::input::utf8;

/// The maximum nesting depth. The library's limit is lower; this one stops circular values.
const DEEPEST: usize = 256;

/// Writes claims. `is_paseto` decides how a `datetime` is written.
pub(crate) fn write(
    claims: &Bound<'_, PyDict>,
    is_paseto: bool,
    text: &mut Vec<u8>,
) -> Result<(), Failure> {
    text.push(b'{');
    for (index, (name, value)) in claims.iter().enumerate() {
        let name = member_name(&name, index, text)?;
        let at = text.len();
        match any(&value, 1, text) {
            Err(failure) if !is_time(name) => return Err(failure),
            Err(_) => {
                text.truncate(at);
                any(&claim_time(&value, is_paseto)?, 1, text)?;
            }
            Ok(()) => {}
        }
    }
    text.push(b'}');
    Ok(())
}

fn is_time(name: &str) -> bool {
    matches!(name, "exp" | "nbf" | "iat")
}

/// Converts a `datetime` to the form that the format requires.
#[cold]
fn claim_time<'py>(
    value: &Bound<'py, PyAny>,
    is_paseto: bool,
) -> Result<Bound<'py, PyAny>, Failure> {
    static CLAIM_TIME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let convert = CLAIM_TIME.import(value.py(), "jeton._times", "claim_time")?;
    Ok(convert.call1((value, is_paseto))?)
}

/// Writes the comma, the name and the colon.
fn member_name<'a>(
    name: &'a Bound<'_, PyAny>,
    index: usize,
    text: &mut Vec<u8>,
) -> Result<&'a str, Failure> {
    if index > 0 {
        text.push(b',');
    }
    let name = name
        .cast::<PyString>()
        .map_err(|_| unserializable("the name of a claim is not a str"))?;
    let name = utf8(name)?;
    string(name, text);
    text.push(b':');
    Ok(name)
}

fn any(value: &Bound<'_, PyAny>, depth: usize, text: &mut Vec<u8>) -> Result<(), Failure> {
    if let Ok(value) = value.cast::<PyString>() {
        string(utf8(value)?, text);
    } else if let Ok(value) = value.cast::<PyBool>() {
        text.extend_from_slice(if value.is_true() { b"true" } else { b"false" });
    } else if let Ok(value) = value.cast::<PyInt>() {
        integer(value, text)?;
    } else if value.is_none() {
        text.extend_from_slice(b"null");
    } else if depth == DEEPEST {
        return Err(
            Fault::argument(&codes::CLAIMS_TOO_DEEP, "the claims are nested too deep").into(),
        );
    } else if let Ok(value) = value.cast::<PyDict>() {
        text.push(b'{');
        for (index, (name, value)) in value.iter().enumerate() {
            member_name(&name, index, text)?;
            any(&value, depth + 1, text)?;
        }
        text.push(b'}');
    } else if let Ok(value) = value.cast::<PyList>() {
        sequence(value.iter(), depth, text)?;
    } else if let Ok(value) = value.cast::<PyTuple>() {
        sequence(value.iter(), depth, text)?;
    } else if let Ok(value) = value.cast::<PyFloat>() {
        let value = value.value();
        if !value.is_finite() {
            return Err(unserializable(
                "a number is not finite: JSON has no NaN or infinity",
            ));
        }
        // Writing to memory does not fail.
        serde_json::to_writer(text, &value).map_err(|_| Fault::Internal)?;
    } else {
        let found = value.get_type().name()?;
        return Err(unserializable(format!(
            "a value is a {found}: convert it to a dict, list, str, int, float, bool or None"
        )));
    }
    Ok(())
}

fn sequence<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    depth: usize,
    text: &mut Vec<u8>,
) -> Result<(), Failure> {
    text.push(b'[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            text.push(b',');
        }
        any(&item, depth + 1, text)?;
    }
    text.push(b']');
    Ok(())
}

fn string(value: &str, text: &mut Vec<u8>) {
    // The loop does not stop early, so that the compiler can vectorise it.
    let is_plain = value.bytes().fold(true, |plain, byte| {
        plain & (byte >= b' ') & (byte != b'"') & (byte != b'\\')
    });
    if is_plain {
        text.push(b'"');
        text.extend_from_slice(value.as_bytes());
        text.push(b'"');
        return;
    }
    // Writing a string to memory does not fail.
    let _ = serde_json::to_writer(text, value);
}

fn integer(value: &Bound<'_, PyInt>, text: &mut Vec<u8>) -> Result<(), Failure> {
    match value.extract::<i64>() {
        Ok(value) => serde_json::to_writer(text, &value).map_err(|_| Fault::Internal)?,
        Err(_) => {
            // `int` itself writes the digits, even if a subclass overrides `__repr__`.
            let digits = value
                .py()
                .get_type::<PyInt>()
                .call_method1("__repr__", (value,));
            let digits = digits.map_err(|_| unserializable("an integer has too many digits"))?;
            let digits = digits.cast::<PyString>().map_err(PyErr::from)?;
            text.extend_from_slice(utf8(digits)?.as_bytes());
        }
    }
    Ok(())
}

#[cold]
fn unserializable(why: impl Into<Cow<'static, str>>) -> Failure {
    Fault::argument(&codes::CLAIMS_NOT_SERIALIZABLE, why).into()
}

/// Returns the error for claims that are not a dict. The library reports other errors in claims.
#[cold]
pub(crate) fn not_an_object() -> Failure {
    Fault::argument(&codes::CLAIMS_NOT_AN_OBJECT, "the claims are not a dict").into()
}
