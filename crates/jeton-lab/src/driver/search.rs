//! Finding the drivers.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Driver;

/// Why there are no drivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchError {
    /// The folder is not there, or cannot be read.
    NoFolder(PathBuf, String),
    /// It holds no driver.
    Empty(PathBuf),
    /// A manifest is wrong.
    Manifest(String),
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFolder(folder, why) => write!(
                f,
                "the drivers' folder {} cannot be read ({why}); name it with --drivers DIR or JETON_DRIVERS",
                folder.display()
            ),
            Self::Empty(folder) => write!(
                f,
                "{} holds no <language>/<library>/driver.toml; name the drivers' folder with --drivers DIR or JETON_DRIVERS",
                folder.display()
            ),
            Self::Manifest(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for SearchError {}

/// The folder the drivers are in: the one asked for, else `JETON_DRIVERS`, else the one of the
/// checkout that this binary was built from.
#[must_use]
pub fn folder(asked: Option<&Path>) -> PathBuf {
    if let Some(asked) = asked {
        return asked.to_owned();
    }
    match std::env::var_os("JETON_DRIVERS") {
        Some(folder) if !folder.is_empty() => folder.into(),
        _ => workspace().join("drivers"),
    }
}

/// All drivers below `folder`, in the order of their ids.
///
/// # Errors
/// [`SearchError`]: no folder, no driver, or a manifest that cannot be read.
pub fn find(folder: &Path) -> Result<Vec<Driver>, SearchError> {
    let unreadable = |e: std::io::Error| SearchError::NoFolder(folder.to_owned(), e.to_string());
    let folder = folder.canonicalize().map_err(unreadable)?;
    let found = manifests(&folder, "driver.toml").map_err(unreadable)?;
    let drivers: Result<Vec<Driver>, String> = found.iter().map(|f| Driver::read(f)).collect();
    let drivers = drivers.map_err(SearchError::Manifest)?;
    if drivers.is_empty() {
        return Err(SearchError::Empty(folder));
    }
    Ok(drivers)
}

/// Every folder `<language>/<name>` below this one that has a manifest of that name.
pub(crate) fn manifests(folder: &Path, manifest: &str) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for language in subfolders(folder)? {
        let named = subfolders(&language)?.into_iter();
        found.extend(named.filter(|named| named.join(manifest).is_file()));
    }
    Ok(found)
}

/// The checkout that this crate was built from.
pub(crate) fn workspace() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

fn subfolders(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
