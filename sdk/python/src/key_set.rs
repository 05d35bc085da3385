//! Key sets.

use jeton_bindings as bindings;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::fault::guard;
use crate::handle::Handle;
use crate::input::text;
use crate::key::Key;

/// Several keys with the same use.
#[pyclass(frozen, subclass, module = "jeton._jeton")]
pub(crate) struct KeySet(pub(crate) Handle<bindings::KeySet>);

#[pymethods]
impl KeySet {
    /// Creates a set from a list of keys, or shares another set.
    #[new]
    fn new(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<KeySet> {
        guard(py, || {
            if let Ok(set) = source.cast::<KeySet>() {
                return Ok(KeySet(Handle::shared(set.get().0.get()?)));
            }
            let keys: Vec<Bound<'_, Key>> = source.extract()?;
            let mut all = Vec::with_capacity(keys.len());
            for key in &keys {
                all.push((*key.get().0.get()?).clone());
            }
            Ok(KeySet(Handle::new(bindings::KeySet::new(&all)?)))
        })
    }

    /// Imports a JWK Set or a list of PASERKs.
    #[staticmethod]
    fn _import(
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        settings: &Bound<'_, PyString>,
    ) -> PyResult<KeySet> {
        guard(py, || {
            let set = bindings::KeySet::import(&text(data)?, &text(settings)?)?;
            Ok(KeySet(Handle::new(set)))
        })
    }

    fn _export(&self, py: Python<'_>, what: &str) -> PyResult<String> {
        guard(py, || Ok(self.0.get()?.export(what)?))
    }

    /// Whether the keys are PASETO keys.
    #[getter]
    fn is_paseto(&self, py: Python<'_>) -> PyResult<bool> {
        guard(py, || {
            Ok(matches!(*self.0.get()?, bindings::KeySet::Paseto(_)))
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
