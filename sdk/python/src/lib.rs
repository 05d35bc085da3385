//! The native module of jeton's library for Python. The package `jeton` adds keyword arguments, exceptions, typed
//! claims and an HTTP client.
//!
//! This crate converts claims between dicts and JSON text, because `json.dumps` alone takes longer than a MAC. Every
//! function catches panics and raises an exception with the code `INTERNAL`.

mod clock;
mod fault;
mod handle;
#[cfg(feature = "test-hooks")]
mod hooks;
mod input;
mod issuer;
mod key;
mod key_set;
mod names;
mod prepared;
mod read_json;
mod remote_keys;
mod unverified;
mod verifier;
mod write_json;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The module `sys` of the interpreter that first imported the package. Each interpreter has a different one.
static FIRST_INTERPRETER: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

/// Raises `ImportError` in a second interpreter of the process: its exceptions would be those of the first one.
fn check_interpreter(py: Python<'_>) -> PyResult<()> {
    let here = py.import("sys")?;
    let first = FIRST_INTERPRETER.get_or_init(py, || here.clone().unbind());
    if first.bind(py).is(&here) {
        return Ok(());
    }
    Err(PyImportError::new_err(
        "jeton cannot be imported in two interpreters of one process",
    ))
}

/// The native module of the package `jeton`.
#[pymodule]
fn _jeton(module: &Bound<'_, PyModule>) -> PyResult<()> {
    check_interpreter(module.py())?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<clock::FixedClock>()?;
    module.add_class::<key::Key>()?;
    module.add_class::<key_set::KeySet>()?;
    module.add_class::<issuer::Issuer>()?;
    module.add_class::<prepared::Prepared>()?;
    module.add_class::<remote_keys::RemoteKeys>()?;
    module.add_class::<verifier::Verifier>()?;
    module.add_function(wrap_pyfunction!(unverified::unverified, module)?)?;
    #[cfg(feature = "test-hooks")]
    module.add_function(wrap_pyfunction!(hooks::panic_next, module)?)?;
    Ok(())
}
