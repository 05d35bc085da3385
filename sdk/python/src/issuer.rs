//! Issuers.

use std::cell::Cell;

use jeton_bindings as bindings;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};

use crate::clock::{FixedClock, clock_or_system};
use crate::fault::{Failure, guard};
use crate::handle::Handle;
use crate::input::{bytes, text};
use crate::key::Key;
use crate::prepared::Prepared;
use crate::write_json;

thread_local! {
    /// A buffer for the JSON text of the claims. A nested call finds none and allocates its own.
    static CLAIMS: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
    /// The same for the token, until Python copies it.
    static TOKEN: Cell<String> = const { Cell::new(String::new()) };
}

/// The largest buffer that a thread keeps, in bytes.
const KEPT_BYTES: usize = 64 * 1024;

/// Issues tokens.
#[pyclass(frozen, subclass, module = "jeton._jeton")]
pub(crate) struct Issuer {
    issuer: Handle<bindings::Issuer>,
    is_paseto: bool,
    /// Whether calls are slow enough to release the interpreter.
    is_slow: bool,
}

/// Returns whether a key is slow enough to release the interpreter: a key that signs with RSA, or a password.
fn is_slow(key: Option<&bindings::Key>) -> Result<bool, Failure> {
    let Some(key) = key else {
        return Ok(false);
    };
    let alg = key.export("alg")?;
    let signs_slowly = alg.starts_with(b"RS") && !alg.starts_with(b"RSA") || alg.starts_with(b"PS");
    Ok(signs_slowly || alg.starts_with(b"PBES2"))
}

#[pymethods]
impl Issuer {
    #[new]
    fn new(
        py: Python<'_>,
        key: Option<&Bound<'_, Key>>,
        encryption: Option<&Bound<'_, Key>>,
        clock: Option<&Bound<'_, FixedClock>>,
        settings: &Bound<'_, PyString>,
    ) -> PyResult<Issuer> {
        guard(py, || {
            let key = key.map(|key| key.get().0.get()).transpose()?;
            let encryption = encryption.map(|key| key.get().0.get()).transpose()?;
            let (key, encryption) = (key.as_deref(), encryption.as_deref());
            let clock = clock_or_system(clock);
            let issuer = bindings::Issuer::new(key, encryption, clock, &text(settings)?)?;
            Ok(Issuer {
                issuer: Handle::new(issuer),
                is_paseto: key.is_some_and(bindings::Key::is_paseto),
                is_slow: is_slow(key)? || is_slow(encryption)?,
            })
        })
    }

    /// Issues a token with these claims. `headers` belongs to the issuer: pass it when you create the issuer.
    #[pyo3(signature = (claims, /))]
    fn issue<'py>(
        &self,
        py: Python<'py>,
        claims: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyString>> {
        guard(py, || {
            with_text(claims, self.is_paseto, |json| self.issue_text(py, json))
        })
    }

    /// Issues a token with claims as JSON text, one object.
    #[pyo3(signature = (claims, /))]
    fn issue_json<'py>(
        &self,
        py: Python<'py>,
        claims: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyString>> {
        guard(py, || {
            let json = text(claims)?;
            self.issue_text(py, &json)
        })
    }

    /// Signs or encrypts bytes.
    #[pyo3(signature = (data, /))]
    fn issue_bytes<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyString>> {
        guard(py, || {
            let (issuer, data) = (self.issuer.get()?, bytes(data)?);
            let token = if self.is_slow {
                py.detach(|| issuer.issue_bytes(&data))?
            } else {
                issuer.issue_bytes(&data)?
            };
            Ok(PyString::new(py, &token))
        })
    }

    /// Prepares a token for an external signer.
    #[pyo3(signature = (claims, /))]
    fn prepare(&self, py: Python<'_>, claims: &Bound<'_, PyAny>) -> PyResult<Prepared> {
        guard(py, || {
            let issuer = self.issuer.get()?;
            with_text(claims, self.is_paseto, |json| {
                Ok(Prepared::of(issuer.prepare(json.as_bytes())?))
            })
        })
    }

    /// Prepares a JWS over bytes for an external signer.
    #[pyo3(signature = (data, /))]
    fn prepare_bytes(&self, py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Prepared> {
        guard(py, || {
            let data = bytes(data)?;
            Ok(Prepared::of(self.issuer.get()?.prepare(&data)?))
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        guard(py, || {
            self.issuer.close();
            Ok(())
        })
    }

    #[getter]
    fn closed(&self, py: Python<'_>) -> PyResult<bool> {
        guard(py, || Ok(self.issuer.is_closed()))
    }
}

impl Issuer {
    /// Issues a token with claims as JSON text.
    fn issue_text<'py>(
        &self,
        py: Python<'py>,
        json: &str,
    ) -> Result<Bound<'py, PyString>, Failure> {
        let issuer = self.issuer.get()?;
        let mut token = TOKEN.take();
        token.clear();
        token.reserve(issuer.length_bound(json.len()));
        if self.is_slow {
            py.detach(|| issuer.issue_onto(json, &mut token))?;
        } else {
            issuer.issue_onto(json, &mut token)?;
        }
        let copy = PyString::new(py, &token);
        if token.capacity() <= KEPT_BYTES {
            TOKEN.set(token);
        }
        Ok(copy)
    }
}

/// Runs `run` with the JSON text of the claims.
fn with_text<T>(
    claims: &Bound<'_, PyAny>,
    is_paseto: bool,
    run: impl FnOnce(&str) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut json = CLAIMS.take();
    json.clear();
    let written = match claims.cast::<PyDict>() {
        Ok(claims) => write_json::write(claims, is_paseto, &mut json),
        Err(_) => write_other(claims, is_paseto, &mut json),
    };
    written?;
    let result = match std::str::from_utf8(&json) {
        Ok(text) => run(text),
        Err(_) => Err(bindings::Fault::Internal.into()),
    };
    if json.capacity() <= KEPT_BYTES {
        CLAIMS.set(json);
    }
    result
}

/// Writes a dataclass, a model or another object that Python converts to a dict.
fn write_other(
    claims: &Bound<'_, PyAny>,
    is_paseto: bool,
    json: &mut Vec<u8>,
) -> Result<(), Failure> {
    static TO_DICT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let to_dict = TO_DICT.import(claims.py(), "jeton._types", "to_dict")?;
    let made = to_dict.call1((claims,))?;
    match made.cast::<PyDict>() {
        Ok(claims) => write_json::write(claims, is_paseto, json),
        Err(_) => Err(write_json::not_an_object()),
    }
}
