//! The checkout.

use std::path::{Path, PathBuf};

/// Returns the checkout that this crate was built from.
#[must_use]
pub fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}
