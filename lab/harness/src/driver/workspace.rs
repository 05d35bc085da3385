//! The checkout.

use std::path::{Path, PathBuf};

/// The checkout that a packaged binary is told at build time: the current folder. No path of the builder is in it.
const TOLD: Option<&str> = option_env!("JETON_CHECKOUT");

/// The folder of this crate, unless the build names a checkout.
const HERE: &str = match TOLD {
    Some(_) => "",
    None => env!("CARGO_MANIFEST_DIR"),
};

/// Returns the checkout that this crate was built from.
#[must_use]
pub fn workspace() -> PathBuf {
    if let Some(folder) = TOLD {
        return PathBuf::from(folder);
    }
    let here = Path::new(HERE);
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}
