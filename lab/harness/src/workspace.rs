//! The checkout, or the folder of a packaged program.

use std::path::{Path, PathBuf};

/// Set in the build of a package: its program knows no checkout, and no path of the builder is in it.
const IS_PACKAGED: bool = option_env!("JETON_PACKAGED").is_some();

/// The folder of this crate.
const HERE: &str = match option_env!("JETON_PACKAGED") {
    Some(_) => "",
    None => env!("CARGO_MANIFEST_DIR"),
};

/// Returns the checkout that this crate was built from. A packaged program has the folder with `drivers/` that it is in,
/// also if a link starts it; without such a folder, it has the current one.
#[must_use]
pub fn workspace() -> PathBuf {
    if IS_PACKAGED {
        let program = std::env::current_exe().unwrap_or_default();
        let own = program.parent().filter(|own| own.join("drivers").is_dir());
        return own.unwrap_or(Path::new(".")).to_owned();
    }
    let here = Path::new(HERE);
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}
