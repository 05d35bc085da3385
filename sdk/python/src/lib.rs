//! The native module of jeton's library for Python. The package `jeton` adds keyword arguments, exceptions, typed
//! claims and an HTTP client.
//!
//! This crate converts claims between dicts and JSON text, because `json.dumps` alone takes longer than a MAC. Every
//! function catches panics and raises an exception with the code `INTERNAL`.

mod clock;
mod fault;
mod handle;
#[cfg(feature = "test-hooks")]
mod hooks;
mod input;
mod issuer;
mod key;
mod key_set;
mod names;
mod prepared;
mod read_json;
mod remote_keys;
mod verifier;
mod write_json;

use pyo3::prelude::*;

/// The native module of the package `jeton`.
#[pymodule]
fn _jeton(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<clock::FixedClock>()?;
    module.add_class::<key::Key>()?;
    module.add_class::<key_set::KeySet>()?;
    module.add_class::<issuer::Issuer>()?;
    module.add_class::<prepared::Prepared>()?;
    module.add_class::<remote_keys::RemoteKeys>()?;
    module.add_class::<verifier::Verifier>()?;
    #[cfg(feature = "test-hooks")]
    module.add_function(wrap_pyfunction!(hooks::panic_next, module)?)?;
    Ok(())
}
