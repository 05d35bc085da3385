//! Verifiers.

use std::cell::Cell;

use jeton::{RawClaims, Scratch, Timestamp, Verified};
use jeton_bindings::{self as bindings, ReadVerified, VerifierKeys};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::clock::{FixedClock, clock_or_system};
use crate::fault::{Failure, guard};
use crate::handle::Handle;
use crate::input::{bytes, text};
use crate::key::Key;
use crate::key_set::KeySet;
use crate::read_json;
use crate::remote_keys::RemoteKeys;

thread_local! {
    /// The payload of the token. A call inside of a call finds none, and makes its own.
    static SCRATCH: Cell<Option<Scratch>> = const { Cell::new(None) };
}

/// The longest token for which a thread keeps its memory, bytes.
const KEPT_BYTES: usize = 64 * 1024;

/// Verifies tokens.
#[pyclass(frozen, subclass, module = "jeton._jeton")]
pub(crate) struct Verifier {
    verifier: Handle<bindings::Verifier>,
    /// A private RSA key and a password take so long that other threads run meanwhile.
    decrypts: bool,
}

#[pymethods]
impl Verifier {
    #[new]
    fn new(
        py: Python<'_>,
        key: Option<&Bound<'_, Key>>,
        set: Option<&Bound<'_, KeySet>>,
        decryption: Option<&Bound<'_, KeySet>>,
        remote: Option<&Bound<'_, RemoteKeys>>,
        clock: Option<&Bound<'_, FixedClock>>,
        settings: &Bound<'_, PyString>,
    ) -> PyResult<Verifier> {
        guard(py, || {
            let key = key.map(|key| key.get().0.get()).transpose()?;
            let set = set.map(|set| set.get().0.get()).transpose()?;
            let decryption = decryption.map(|set| set.get().0.get()).transpose()?;
            let remote = remote.map(|keys| keys.get().0.get()).transpose()?;
            let keys = VerifierKeys {
                key: key.as_deref(),
                set: set.as_deref(),
                decryption: decryption.as_deref(),
                remote: remote.as_deref(),
            };
            let verifier = bindings::Verifier::new(keys, clock_or_system(clock), &text(settings)?)?;
            Ok(Verifier {
                verifier: Handle::new(verifier),
                decrypts: decryption.is_some(),
            })
        })
    }

    /// Verifies a token and returns its claims.
    #[pyo3(signature = (token, /, r#type = None))]
    fn verify<'py>(
        &self,
        py: Python<'py>,
        token: &Bound<'py, PyAny>,
        r#type: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        guard(py, || match r#type {
            None => self.read(token, Claims(py)).map(Bound::into_any),
            Some(kind) => {
                let (claims, json) = self.read(token, ClaimsAndJson(py))?;
                static FROM_DICT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
                let convert = FROM_DICT.import(py, "jeton._types", "from_dict")?;
                Ok(convert.call1((claims, json, kind))?)
            }
        })
    }

    /// Verifies a token and returns the text of its claims, one JSON object.
    #[pyo3(signature = (token, /))]
    fn verify_json<'py>(
        &self,
        py: Python<'py>,
        token: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyString>> {
        guard(py, || self.read(token, Json(py)))
    }

    /// Verifies a token. Returns the claims, and what is known of the token as a dict.
    #[pyo3(signature = (token, /))]
    fn _verify_complete<'py>(
        &self,
        py: Python<'py>,
        token: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        guard(py, || self.read(token, Complete(py)))
    }

    /// Verifies or decrypts a token over bytes.
    #[pyo3(signature = (token, /, *, content = None))]
    fn verify_bytes<'py>(
        &self,
        py: Python<'py>,
        token: &Bound<'py, PyAny>,
        content: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        guard(py, || {
            let token = text(token)?;
            let content = content.map(bytes).transpose()?;
            let (verifier, content) = (self.verifier.get()?, content.as_deref());
            let payload = match self.decrypts {
                true => py.detach(|| verifier.verify_bytes(&token, content))?,
                false => verifier.verify_bytes(&token, content)?,
            };
            Ok(PyBytes::new(py, &payload))
        })
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        guard(py, || {
            self.verifier.close();
            Ok(())
        })
    }

    #[getter]
    fn closed(&self, py: Python<'_>) -> PyResult<bool> {
        guard(py, || Ok(self.verifier.is_closed()))
    }
}

impl Verifier {
    fn read<T>(
        &self,
        token: &Bound<'_, PyAny>,
        reader: impl ReadVerified<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let token = text(token)?;
        let verifier = self.verifier.get()?;
        let mut scratch = SCRATCH.take().unwrap_or_default();
        let read = verifier.verify(&token, &mut scratch, reader);
        if token.len() <= KEPT_BYTES {
            SCRATCH.set(Some(scratch));
        }
        read?
    }
}

/// The claims as a dict.
struct Claims<'py>(Python<'py>);

impl<'py> ReadVerified for Claims<'py> {
    type Output = Result<Bound<'py, PyDict>, Failure>;

    fn read<Text: AsRef<str>>(self, verified: &Verified<RawClaims, Text>) -> Self::Output {
        read_json::read(self.0, verified.json())
    }
}

/// The text of the claims.
struct Json<'py>(Python<'py>);

impl<'py> ReadVerified for Json<'py> {
    type Output = Result<Bound<'py, PyString>, Failure>;

    fn read<Text: AsRef<str>>(self, verified: &Verified<RawClaims, Text>) -> Self::Output {
        Ok(PyString::new(self.0, verified.json()))
    }
}

/// Both, for types that are made of one or the other.
struct ClaimsAndJson<'py>(Python<'py>);

impl<'py> ReadVerified for ClaimsAndJson<'py> {
    type Output = Result<(Bound<'py, PyDict>, Bound<'py, PyString>), Failure>;

    fn read<Text: AsRef<str>>(self, verified: &Verified<RawClaims, Text>) -> Self::Output {
        let json = verified.json();
        Ok((read_json::read(self.0, json)?, PyString::new(self.0, json)))
    }
}

/// The claims, and what is known of the token.
struct Complete<'py>(Python<'py>);

impl<'py> ReadVerified for Complete<'py> {
    type Output = Result<(Bound<'py, PyDict>, Bound<'py, PyDict>), Failure>;

    fn read<Text: AsRef<str>>(self, verified: &Verified<RawClaims, Text>) -> Self::Output {
        let py = self.0;
        let claims = read_json::read(py, verified.json())?;
        let seconds = |moment: Option<Timestamp>| moment.map(Timestamp::unix_seconds);
        let audiences: Vec<String> = verified.audiences().map(|one| one.into_owned()).collect();
        let header = verified.header();
        let known = PyDict::new(py);
        known.set_item("json", verified.json())?;
        known.set_item("alg", header.alg())?;
        known.set_item("kid", header.kid())?;
        known.set_item("typ", header.typ())?;
        known.set_item(
            "footer",
            verified.footer().map(|footer| PyBytes::new(py, footer)),
        )?;
        known.set_item("issuer", verified.issuer())?;
        known.set_item("subject", verified.subject())?;
        known.set_item("audiences", audiences)?;
        known.set_item("expires_at", seconds(verified.expires_at()))?;
        known.set_item("not_before", seconds(verified.not_before()))?;
        known.set_item("issued_at", seconds(verified.issued_at()))?;
        known.set_item("token_id", verified.token_id())?;
        Ok((claims, known))
    }
}
