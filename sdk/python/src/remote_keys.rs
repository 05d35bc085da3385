//! Key sets that are elsewhere: the library decides when to fetch, and the package fetches.

use std::sync::Arc;

use jeton_bindings as bindings;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::fault::guard;
use crate::handle::Handle;
use crate::input::{bytes, text};

/// A key set that is at an address.
#[pyclass(frozen, subclass, module = "jeton._jeton")]
pub(crate) struct RemoteKeys(pub(crate) Handle<Arc<bindings::RemoteKeys>>);

#[pymethods]
impl RemoteKeys {
    #[new]
    fn new(py: Python<'_>, settings: &Bound<'_, PyString>) -> PyResult<RemoteKeys> {
        guard(py, || {
            let keys = bindings::RemoteKeys::new(&text(settings)?)?;
            Ok(RemoteKeys(Handle::new(Arc::new(keys))))
        })
    }

    /// The next request as JSON, or None.
    fn _next(&self, py: Python<'_>) -> PyResult<Option<String>> {
        guard(py, || {
            let keys = self.0.get()?;
            Ok(py.detach(|| keys.next()))
        })
    }

    /// Passes the response to a request.
    fn _respond(
        &self,
        py: Python<'_>,
        id: u64,
        status: u32,
        headers: &Bound<'_, PyString>,
        body: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        guard(py, || {
            let keys = self.0.get()?;
            let (headers, body) = (text(headers)?.into_owned(), bytes(body)?.into_owned());
            Ok(py.detach(|| keys.respond(id, status, &headers, &body))?)
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
