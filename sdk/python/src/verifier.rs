//! Verifiers.

use std::cell::Cell;

use jeton::{RawClaims, Scratch, Timestamp, Verified};
use jeton_bindings::{self as bindings, ReadVerified, VerifierKeys};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyString};
use pyo3::{PyTraverseError, PyVisit};

use crate::clock::{FixedClock, clock_or_system};
use crate::fault::{Failure, guard};
use crate::handle::Handle;
use crate::input::{bytes, text, token_text};
use crate::key::Key;
use crate::key_set::KeySet;
use crate::read_json;
use crate::remote_keys::{Fetched, RemoteKeys};

thread_local! {
    /// A buffer for the payload of the token. A nested call finds none and allocates its own.
    static SCRATCH: Cell<Option<Scratch>> = const { Cell::new(None) };
}

/// The largest token whose buffer a thread keeps, in bytes.
const KEPT_BYTES: usize = 64 * 1024;

/// Verifies tokens.
#[pyclass(frozen, subclass, module = "jeton._jeton")]
pub(crate) struct Verifier {
    verifier: Handle<bindings::Verifier>,
    remote: Option<Fetched>,
    /// Whether calls are slow enough to release the interpreter.
    is_slow: bool,
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
            let fetched = remote.map(Fetched::new);
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
                remote: fetched,
                is_slow: is_slow(decryption.as_deref()),
            })
        })
    }

    /// The remote key set.
    #[getter]
    fn _remote(&self, py: Python<'_>) -> Option<Py<RemoteKeys>> {
        self.remote.as_ref().map(|remote| remote.keys.clone_ref(py))
    }

    /// Whether verifications are slow enough to run in a thread.
    #[getter]
    fn _is_slow(&self) -> bool {
        self.is_slow
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.remote {
            Some(remote) => remote.visit(&visit),
            None => Ok(()),
        }
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
            None => self.read(token, read_json::read).map(Bound::into_any),
            Some(kind) => {
                let both =
                    |py, json: &str| Ok((read_json::read(py, json)?, PyString::new(py, json)));
                let (claims, json) = self.read(token, both)?;
                static FROM_DICT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
                let convert = FROM_DICT.import(py, "jeton._types", "from_dict")?;
                Ok(convert.call1((claims, json, kind))?)
            }
        })
    }

    /// Verifies a token and returns its claims as JSON text.
    #[pyo3(signature = (token, /))]
    fn verify_json<'py>(
        &self,
        py: Python<'py>,
        token: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyString>> {
        guard(py, || {
            self.read(token, |py, json| Ok(PyString::new(py, json)))
        })
    }

    /// Verifies a token and returns two dicts: the claims, and the other facts about the token.
    #[pyo3(signature = (token, /))]
    fn _verify_complete<'py>(
        &self,
        py: Python<'py>,
        token: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        guard(py, || self.facts(token)?.into_dicts(py))
    }

    /// Returns the protected header of a token that this verifier has verified, as JSON text, or `None` for a PASETO.
    #[pyo3(signature = (token, /))]
    fn _header<'py>(
        &self,
        py: Python<'py>,
        token: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyString>>> {
        guard(py, || {
            let token = token_text(token)?;
            let verifier = self.verifier.get()?;
            let header = if self.is_slow {
                py.detach(|| verifier.header(&token))?
            } else {
                verifier.header(&token)?
            };
            Ok(header.map(|header| PyString::new(py, &header)))
        })
    }

    /// Verifies or decrypts a token and returns its payload as bytes.
    #[pyo3(signature = (token, /, *, content = None))]
    fn verify_bytes<'py>(
        &self,
        py: Python<'py>,
        token: &Bound<'py, PyAny>,
        content: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        guard(py, || {
            let token = token_text(token)?;
            let content = content.map(bytes).transpose()?;
            let (verifier, content) = (self.verifier.get()?, content.as_deref());
            let payload = if self.is_slow {
                py.detach(|| verifier.verify_bytes(&token, content))?
            } else {
                verifier.verify_bytes(&token, content)?
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
    /// Verifies a token and converts the JSON text of its claims.
    fn read<'py, T>(
        &self,
        token: &Bound<'py, PyAny>,
        make: impl Fn(Python<'py>, &str) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let py = token.py();
        let token = token_text(token)?;
        let verifier = self.verifier.get()?;
        let mut scratch = SCRATCH.take().unwrap_or_default();
        let read = if self.is_slow {
            py.detach(|| verifier.verify(&token, &mut scratch, OwnedJson))
                .map(|json| make(py, &json))
        } else {
            verifier.verify(&token, &mut scratch, Json { py, make })
        };
        keep(scratch, &token);
        let made = read??;
        self.refresh_if_due(py)?;
        Ok(made)
    }

    /// Verifies a token and returns the facts about it.
    fn facts(&self, token: &Bound<'_, PyAny>) -> Result<Facts, Failure> {
        let py = token.py();
        let token = token_text(token)?;
        let verifier = self.verifier.get()?;
        let mut scratch = SCRATCH.take().unwrap_or_default();
        let facts = if self.is_slow {
            py.detach(|| verifier.verify(&token, &mut scratch, ReadFacts))
        } else {
            verifier.verify(&token, &mut scratch, ReadFacts)
        };
        keep(scratch, &token);
        let facts = facts?;
        self.refresh_if_due(py)?;
        Ok(facts)
    }

    fn refresh_if_due(&self, py: Python<'_>) -> Result<(), Failure> {
        match &self.remote {
            None => Ok(()),
            Some(remote) => remote.refresh_if_due(py),
        }
    }
}

fn keep(scratch: Scratch, token: &str) {
    if token.len() <= KEPT_BYTES {
        SCRATCH.set(Some(scratch));
    }
}

/// Converts the JSON text of the claims.
struct Json<'py, M> {
    py: Python<'py>,
    make: M,
}

impl<'py, T, M: Fn(Python<'py>, &str) -> Result<T, Failure>> ReadVerified for Json<'py, M> {
    type Output = Result<T, Failure>;

    fn read<Text: AsRef<str>>(self, verified: &Verified<RawClaims, Text>) -> Self::Output {
        (self.make)(self.py, verified.json())
    }
}

/// Copies the JSON text of the claims while the interpreter is released.
struct OwnedJson;

impl ReadVerified for OwnedJson {
    type Output = String;

    fn read<Text: AsRef<str>>(self, verified: &Verified<RawClaims, Text>) -> String {
        verified.json().to_owned()
    }
}

/// The facts about a verified token: its claims, its header and its registered claims.
struct Facts {
    json: String,
    alg: &'static str,
    kid: Option<String>,
    typ: Option<String>,
    footer: Option<Vec<u8>>,
    issuer: Option<String>,
    subject: Option<String>,
    audiences: Vec<String>,
    expires_at: Option<i64>,
    not_before: Option<i64>,
    issued_at: Option<i64>,
    token_id: Option<String>,
}

struct ReadFacts;

impl ReadVerified for ReadFacts {
    type Output = Facts;

    fn read<Text: AsRef<str>>(self, verified: &Verified<RawClaims, Text>) -> Facts {
        let header = verified.header();
        let seconds = |moment: Option<Timestamp>| moment.map(Timestamp::unix_seconds);
        Facts {
            json: verified.json().to_owned(),
            alg: header.alg(),
            kid: header.kid().map(Into::into),
            typ: header.typ().map(Into::into),
            footer: verified.footer().map(Into::into),
            issuer: verified.issuer().map(Into::into),
            subject: verified.subject().map(Into::into),
            audiences: verified.audiences().map(|one| one.into_owned()).collect(),
            expires_at: seconds(verified.expires_at()),
            not_before: seconds(verified.not_before()),
            issued_at: seconds(verified.issued_at()),
            token_id: verified.token_id().map(Into::into),
        }
    }
}

impl Facts {
    /// Returns two dicts: the claims, and the other facts.
    fn into_dicts<'py>(
        self,
        py: Python<'py>,
    ) -> Result<(Bound<'py, PyDict>, Bound<'py, PyDict>), Failure> {
        let claims = read_json::read(py, &self.json)?;
        let known = PyDict::new(py);
        known.set_item("json", self.json)?;
        known.set_item("alg", self.alg)?;
        known.set_item("kid", self.kid)?;
        known.set_item("typ", self.typ)?;
        known.set_item(
            "footer",
            self.footer.map(|footer| PyBytes::new(py, &footer)),
        )?;
        known.set_item("issuer", self.issuer)?;
        known.set_item("subject", self.subject)?;
        known.set_item("audiences", self.audiences)?;
        known.set_item("expires_at", self.expires_at)?;
        known.set_item("not_before", self.not_before)?;
        known.set_item("issued_at", self.issued_at)?;
        known.set_item("token_id", self.token_id)?;
        Ok((claims, known))
    }
}

/// Returns whether decryption is slow enough to release the interpreter: with a private RSA key, or with a password,
/// whose rounds the sender chooses.
fn is_slow(decryption: Option<&bindings::KeySet>) -> bool {
    let slow = |key: &bindings::Key| match key {
        bindings::Key::Password(_) => true,
        bindings::Key::Decryption(_) => key.export("alg").is_ok_and(|alg| alg.starts_with(b"RSA")),
        _ => false,
    };
    match decryption {
        Some(bindings::KeySet::Decryption(keys)) => keys.iter().any(slow),
        _ => false,
    }
}
