//! A cache of recent member names, as `str` objects with a known hash.

use std::sync::Mutex;

use pyo3::prelude::*;
use pyo3::types::PyString;

/// The longest cached name, in bytes.
const LONGEST: usize = 32;

/// The number of cached names. A name has one place.
const PLACES: usize = 256;

type Kept = Option<(Box<str>, Py<PyString>)>;

static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// The cache, locked while claims are read.
pub(crate) struct Names<'l>(Option<std::sync::MutexGuard<'l, Vec<Kept>>>);

impl Names<'static> {
    /// Locks the cache. Garbage collection may start a nested read, which creates its own names.
    pub(crate) fn lock() -> Names<'static> {
        let mut kept = KEPT.try_lock().ok();
        if let Some(kept) = &mut kept
            && kept.is_empty()
        {
            kept.resize_with(PLACES, || None);
        }
        Names(kept)
    }
}

impl Names<'_> {
    pub(crate) fn get<'py>(&mut self, py: Python<'py>, name: &str) -> Bound<'py, PyString> {
        let Some(kept) = &mut self.0 else {
            return PyString::new(py, name);
        };
        if name.len() > LONGEST {
            return PyString::new(py, name);
        }
        let Some(place) = kept.get_mut(place_of(name)) else {
            return PyString::new(py, name);
        };
        if let Some((known, object)) = place
            && **known == *name
        {
            return object.bind(py).clone();
        }
        let object = PyString::new(py, name);
        *place = Some((name.into(), object.clone().unbind()));
        object
    }
}

/// Returns the place of a name (FNV-1a). Names that share a place only cost time.
fn place_of(name: &str) -> usize {
    let mut hash = 0x811c_9dc5_u32;
    for byte in name.bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    (hash ^ (hash >> 16)) as usize % PLACES
}
