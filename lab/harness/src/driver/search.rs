//! Finds the drivers.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Driver;
use super::workspace::workspace;

/// The reason why there are no drivers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchError {
    /// The folder does not exist or is not readable.
    NoFolder(PathBuf, String),
    /// The folder contains no driver.
    Empty(PathBuf),
    /// A manifest is invalid.
    Manifest(String),
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFolder(folder, why) => write!(
                f,
                "cannot read the drivers' folder {} ({why}); set it with --drivers DIR or JETON_DRIVERS",
                folder.display()
            ),
            Self::Empty(folder) => write!(
                f,
                "{} contains no <language>/<library>/driver.toml; set the drivers' folder with --drivers DIR or JETON_DRIVERS",
                folder.display()
            ),
            Self::Manifest(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for SearchError {}

/// Returns the drivers' folder: the given one, or `JETON_DRIVERS`, or the one in the checkout that this
/// binary was built from.
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

/// Finds all drivers in `folder`, ordered by id.
///
/// # Errors
/// [`SearchError`]: no folder, no driver, or an invalid manifest.
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

/// Returns every folder `<language>/<name>` with a manifest of the given name.
pub fn manifests(folder: &Path, manifest: &str) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for language in subfolders(folder)? {
        let named = subfolders(&language)?.into_iter();
        found.extend(named.filter(|named| named.join(manifest).is_file()));
    }
    Ok(found)
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
