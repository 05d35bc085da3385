//! Errors as exceptions, and panics as errors.

use std::panic::{AssertUnwindSafe, catch_unwind};

use jeton_bindings::Fault;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Why a function failed: an error of the library, or an exception of Python.
pub(crate) enum Failure {
    Fault(Fault),
    Python(PyErr),
}

impl From<Fault> for Failure {
    #[cold]
    fn from(fault: Fault) -> Failure {
        Failure::Fault(fault)
    }
}

impl From<PyErr> for Failure {
    #[cold]
    fn from(error: PyErr) -> Failure {
        Failure::Python(error)
    }
}

/// Runs the body of a function. A panic becomes an exception with the code `INTERNAL`.
pub(crate) fn guard<T>(
    py: Python<'_>,
    body: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, PyErr> {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "test-hooks")]
        crate::hooks::panic_if_asked();
        body()
    }));
    match caught {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(Failure::Fault(fault))) => Err(exception(py, &fault)),
        Ok(Err(Failure::Python(error))) => Err(error),
        Err(payload) => {
            // Dropping the payload may panic again. The second payload is never dropped.
            if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                std::mem::forget(again);
            }
            Err(exception(py, &Fault::Internal))
        }
    }
}

/// Creates the exception of the package for an error.
#[cold]
fn exception(py: Python<'_>, fault: &Fault) -> PyErr {
    static ERROR_OF: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = ERROR_OF
        .import(py, "jeton._errors", "error_of")
        .and_then(|error_of| error_of.call1((fault.code().name(), fault.to_string())));
    match made {
        Ok(error) => PyErr::from_value(error),
        // While the interpreter ends, modules are gone.
        Err(_) => PyRuntimeError::new_err(fault.code().name()),
    }
}
