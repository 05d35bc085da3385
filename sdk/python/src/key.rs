//! Keys.

use jeton::danger::RawHeaderSigner;
use jeton::error::codes;
use jeton_bindings as bindings;
use jeton_bindings::KeySettings;
use jeton_bindings::settings::{self, IMPORTED_KEY, KeyText};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyString};
use zeroize::Zeroizing;

use crate::fault::{Failure, guard};
use crate::handle::Handle;
use crate::input::{bytes, secret_bytes, utf8};

/// A key of any kind.
#[pyclass(frozen, subclass, module = "jeton._jeton")]
pub(crate) struct Key(pub(crate) Handle<bindings::Key>);

/// Reads a setting of an imported key that is a `str`.
fn text_setting<'a>(
    name: &'static str,
    value: Option<&'a Bound<'_, PyAny>>,
) -> Result<Option<&'a str>, bindings::Fault> {
    let Some(value) = value else { return Ok(None) };
    match value.cast::<PyString>() {
        Ok(text) => utf8(text).map(Some),
        Err(_) => Err(settings::wrong_type(IMPORTED_KEY, name)),
    }
}

/// Reads a setting of an imported key that is a count.
fn count_setting(
    name: &'static str,
    value: Option<&Bound<'_, PyAny>>,
) -> Result<Option<u32>, bindings::Fault> {
    let count = |value: &Bound<'_, PyAny>| match value.cast::<PyBool>() {
        Ok(_) => None,
        Err(_) => value.extract().ok(),
    };
    let wrong = || settings::wrong_type(IMPORTED_KEY, name);
    value
        .map(|value| count(value).ok_or_else(wrong))
        .transpose()
}

impl Key {
    fn of(key: bindings::Key) -> Key {
        Key(Handle::new(key))
    }

    fn text(&self, what: &str) -> Result<String, Failure> {
        let text = self.0.get()?.export(what)?;
        Ok(String::from_utf8(text).map_err(|_| bindings::Fault::Internal)?)
    }
}

#[pymethods]
impl Key {
    /// Shares a key, or imports a key in a format. Python code calls it, because only this function creates a key of a
    /// subclass. The settings are arguments: their JSON text would take longer than the call.
    #[new]
    #[pyo3(signature = (source, format=None, alg=None, kid=None, enc=None, password=None, rounds=None))]
    #[expect(clippy::too_many_arguments, reason = "they are the settings")]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        format: Option<&Bound<'_, PyString>>,
        alg: Option<&Bound<'_, PyAny>>,
        kid: Option<&Bound<'_, PyAny>>,
        enc: Option<&Bound<'_, PyAny>>,
        password: Option<&Bound<'_, PyAny>>,
        rounds: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Key> {
        guard(py, || {
            let Some(format) = format else {
                let other = source.cast::<Key>().map_err(PyErr::from)?;
                return Ok(Key(Handle::shared(other.get().0.get()?)));
            };
            let settings = KeySettings {
                format: KeyText::parse(utf8(format)?)?,
                alg: text_setting("alg", alg)?,
                kid: text_setting("kid", kid)?,
                enc: text_setting("enc", enc)?,
                password: text_setting("password", password)?,
                rounds: count_setting("rounds", rounds)?,
            };
            let data = secret_bytes(source)?;
            // Decryption with a password takes up to a second, and the first signature of a process takes tens of
            // milliseconds.
            let key = py.detach(|| bindings::Key::import_with(&data, &settings))?;
            Ok(Key::of(key))
        })
    }

    /// Generates a key.
    #[staticmethod]
    fn _generate(py: Python<'_>, alg: &Bound<'_, PyString>, settings: &str) -> PyResult<Key> {
        guard(py, || {
            let alg = utf8(alg)?;
            // Generating an RSA key takes a second.
            Ok(Key::of(
                py.detach(|| bindings::Key::generate(alg, settings))?,
            ))
        })
    }

    fn _public(&self, py: Python<'_>) -> PyResult<Key> {
        guard(py, || Ok(Key::of(self.0.get()?.public()?)))
    }

    /// Returns the part of the key that `what` names, as bytes.
    fn _export<'py>(&self, py: Python<'py>, what: &str) -> PyResult<Bound<'py, PyBytes>> {
        guard(py, || {
            let data = Zeroizing::new(self.0.get()?.export(what)?);
            Ok(PyBytes::new(py, &data))
        })
    }

    /// Signs with this header, for programs written for another library. It must name this algorithm, and not `crit`.
    fn _sign_with_header<'py>(
        &self,
        py: Python<'py>,
        header: &Bound<'py, PyString>,
        payload: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyString>> {
        guard(py, || {
            let key = self.0.get()?;
            let (header, payload) = (utf8(header)?, bytes(payload)?);
            let signer = match &*key {
                bindings::Key::Mac(key) => RawHeaderSigner::new(&**key, header),
                bindings::Key::Signing(key) => RawHeaderSigner::new(&**key, header),
                _ => {
                    return Err(bindings::Fault::argument(
                        &codes::KEY_USE_MISMATCH,
                        "key rejected: a private or symmetric key that signs is expected",
                    )
                    .into());
                }
            };
            let signer = signer.map_err(bindings::Fault::from)?;
            let token = py.detach(|| signer.sign(&payload));
            Ok(PyString::new(py, &token.map_err(bindings::Fault::from)?))
        })
    }

    /// The algorithm.
    #[getter]
    fn alg(&self, py: Python<'_>) -> PyResult<String> {
        guard(py, || self.text("alg"))
    }

    /// The key id, or None.
    #[getter]
    fn kid(&self, py: Python<'_>) -> PyResult<Option<String>> {
        guard(py, || {
            let kid = self.text("kid")?;
            Ok(Some(kid).filter(|kid| !kid.is_empty()))
        })
    }

    /// `symmetric`, `private` or `public`.
    #[getter]
    fn kind(&self, py: Python<'_>) -> PyResult<String> {
        guard(py, || self.text("kind"))
    }

    /// Whether it is a PASETO key.
    #[getter]
    fn is_paseto(&self, py: Python<'_>) -> PyResult<bool> {
        guard(py, || Ok(self.0.get()?.is_paseto()))
    }

    fn warm_up(&self, py: Python<'_>) -> PyResult<()> {
        guard(py, || {
            let key = self.0.get()?;
            Ok(py.detach(|| key.warm_up())?)
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
