//! Two-step signing.

use jeton_bindings as bindings;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::fault::guard;
use crate::handle::Handle;
use crate::input::bytes;

/// A token without its signature.
#[pyclass(frozen, module = "jeton._jeton")]
pub(crate) struct Prepared(Handle<bindings::Prepared>);

impl Prepared {
    pub(crate) fn of(prepared: bindings::Prepared) -> Prepared {
        Prepared(Handle::new(prepared))
    }
}

#[pymethods]
impl Prepared {
    /// The bytes to sign.
    #[getter]
    fn message<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        guard(py, || {
            Ok(PyBytes::new(py, &self.0.get()?.input("message")?))
        })
    }

    /// The hash of the message, for signers that take a digest.
    #[getter]
    fn digest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        guard(py, || Ok(PyBytes::new(py, &self.0.get()?.input("digest")?)))
    }

    /// The algorithm.
    #[getter]
    fn alg(&self, py: Python<'_>) -> PyResult<String> {
        guard(py, || {
            let alg = self.0.get()?.input("alg")?;
            Ok(String::from_utf8(alg).map_err(|_| bindings::Fault::Internal)?)
        })
    }

    /// Adds the signature and returns the token.
    #[pyo3(signature = (signature, /, *, der = false))]
    fn attach(&self, py: Python<'_>, signature: &Bound<'_, PyAny>, der: bool) -> PyResult<String> {
        guard(py, || {
            let form = if der { "der" } else { "fixed" };
            let signature = bytes(signature)?.into_owned();
            Ok(self.0.get()?.attach(signature, form)?)
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        guard(py, || {
            self.0.close();
            Ok(())
        })
    }

    #[getter]
    fn closed(&self, py: Python<'_>) -> PyResult<bool> {
        guard(py, || Ok(self.0.is_closed()))
    }
}
