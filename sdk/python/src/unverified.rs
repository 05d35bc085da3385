//! Tokens that are read and not verified.

use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::fault::guard;
use crate::input::token_text;

/// Returns what a token says without verifying it, as JSON text.
#[pyfunction]
#[pyo3(name = "_unverified", signature = (token, /))]
pub(crate) fn unverified<'py>(
    py: Python<'py>,
    token: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyString>> {
    guard(py, || {
        let read = jeton_bindings::unverified(&token_text(token)?)?;
        Ok(PyString::new(py, &read))
    })
}
