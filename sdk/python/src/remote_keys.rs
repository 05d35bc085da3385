//! Remote key sets: the library decides when to fetch, and the package sends the requests.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jeton_bindings as bindings;
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::{PyTraverseError, PyVisit};

use crate::fault::{Failure, guard};
use crate::handle::Handle;
use crate::input::{bytes, text};

/// A key set at an address.
///
/// Its functions do not release the interpreter. Otherwise another thread could fork during a call, and the child would
/// wait for the lock forever.
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
        guard(py, || Ok(self.0.get()?.next()))
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
            let (headers, body) = (text(headers)?, bytes(body)?);
            Ok(self.0.get()?.respond(id, status, &headers, &body)?)
        })
    }

    /// Checks that there are keys.
    fn _ready(&self, py: Python<'_>) -> PyResult<()> {
        guard(py, || Ok(self.0.get()?.ready()?))
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

/// The interval between checks whether keys are fresh.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// The key set of a verifier: the Python object that fetches it.
pub(crate) struct Fetched {
    pub(crate) keys: Py<RemoteKeys>,
    refresh_at: Mutex<Instant>,
}

impl Fetched {
    pub(crate) fn new(keys: &Bound<'_, RemoteKeys>) -> Fetched {
        Fetched {
            keys: keys.clone().unbind(),
            refresh_at: Mutex::new(Instant::now()),
        }
    }

    pub(crate) fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.keys)
    }

    /// Starts a refresh after a verification, if it is due. The Python code never waits: at exit, the interpreter ends
    /// waiting threads, which must not happen inside a function of this module.
    pub(crate) fn refresh_if_due(&self, py: Python<'_>) -> Result<(), Failure> {
        let now = Instant::now();
        {
            let mut at = self
                .refresh_at
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if now < *at {
                return Ok(());
            }
            *at = now + REFRESH_INTERVAL;
        }
        self.keys.bind(py).call_method0("_refresh_if_stale")?;
        Ok(())
    }
}
