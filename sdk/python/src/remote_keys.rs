//! Key sets that are elsewhere: the library decides when to fetch, and the package fetches.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jeton::error::codes;
use jeton_bindings::{self as bindings, Fault};
use pyo3::prelude::*;
use pyo3::types::PyString;
use pyo3::{PyTraverseError, PyVisit};

use crate::fault::{Failure, exception, guard};
use crate::handle::Handle;
use crate::input::{bytes, text};

/// A key set that is at an address.
///
/// Its functions keep the interpreter, so that no thread is inside of one while another thread forks: a child would wait for
/// its lock for ever.
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

/// How often a verification waits for keys: for the set, for the set again if the key is unknown, and twice for what
/// others need.
const WAITS: usize = 4;

/// How often keys are looked at that may not be fresh.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// The key set of a verifier: the object of Python, which fetches.
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

    /// Verifies, and fetches first what that needs.
    pub(crate) fn with_keys<T>(
        &self,
        py: Python<'_>,
        mut verify: impl FnMut() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let keys = self.keys.bind(py);
        let mut waits = 0;
        loop {
            match verify() {
                Ok(verified) => {
                    self.refresh_if_due(keys)?;
                    return Ok(verified);
                }
                Err(Failure::Fault(fault))
                    if fault.code().name() == codes::KEY_SET_TO_FETCH.name() =>
                {
                    waits += 1;
                    let answered = waits <= WAITS && self.fetch(keys)?;
                    if !answered {
                        break;
                    }
                }
                Err(Failure::Fault(fault @ Fault::NoKeys(_))) => return explained(keys, &fault),
                Err(other) => return Err(other),
            }
        }
        // Without an answer, the last fetch has failed: then the verification says why, or that the key is unknown.
        match verify() {
            Err(Failure::Fault(fault)) if fault.code().name() == codes::KEY_SET_TO_FETCH.name() => {
                let why = "the key set could not be fetched";
                explained(keys, &Fault::argument(&codes::KEY_SET_UNREACHABLE, why))
            }
            Err(Failure::Fault(fault @ Fault::NoKeys(_))) => explained(keys, &fault),
            other => other,
        }
    }

    /// Waits for the keys. Returns whether the server answered.
    fn fetch(&self, keys: &Bound<'_, RemoteKeys>) -> Result<bool, Failure> {
        Ok(keys.call_method0("_fetch_keys")?.extract()?)
    }

    fn refresh_if_due(&self, keys: &Bound<'_, RemoteKeys>) -> Result<(), Failure> {
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
        keys.call_method0("_refresh_if_stale")?;
        Ok(())
    }
}

/// The error with that of the client as its cause.
#[cold]
fn explained<T>(keys: &Bound<'_, RemoteKeys>, fault: &Fault) -> Result<T, Failure> {
    let py = keys.py();
    let error = exception(py, fault);
    let error = keys.call_method1("_explained", (error.value(py),))?;
    Err(PyErr::from_value(error).into())
}
