//! Finds folders with a manifest: the drivers, and the servers of jeton-lab-load.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Driver;
use crate::workspace::workspace;

/// What is searched for: every folder `<language>/<name>` with a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    /// The name of the folder in the checkout, also in messages.
    pub name: &'static str,
    /// The file that is the manifest.
    pub manifest: &'static str,
    /// The option that sets the folder.
    pub option: &'static str,
    /// The environment variable that sets the folder.
    pub variable: &'static str,
}

const DRIVERS: Search = Search {
    name: "drivers",
    manifest: "driver.toml",
    option: "--drivers",
    variable: "JETON_DRIVERS",
};

/// The reason why nothing was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchError {
    /// The folder does not exist or is not readable.
    NoFolder(Search, PathBuf, String),
    /// The folder contains no manifest.
    Empty(Search, PathBuf),
    /// A manifest is invalid.
    Manifest(String),
}

impl fmt::Display for SearchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let search = match self {
            Self::NoFolder(search, folder, why) => {
                let (name, folder) = (search.name, folder.display());
                write!(f, "cannot read the {name}' folder {folder} ({why})")?;
                search
            }
            Self::Empty(search, folder) => {
                let (manifest, folder) = (search.manifest, folder.display());
                write!(f, "{folder} contains no <language>/<name>/{manifest}")?;
                search
            }
            Self::Manifest(what) => return f.write_str(what),
        };
        let (option, variable) = (search.option, search.variable);
        write!(f, "; pass {option} DIR or set {variable}")
    }
}

impl std::error::Error for SearchError {}

impl Search {
    /// Returns the folder: the given one, else that of the environment variable, else the one in the checkout that
    /// this binary was built from.
    #[must_use]
    pub fn folder(&self, asked: Option<&Path>) -> PathBuf {
        if let Some(asked) = asked {
            return asked.to_owned();
        }
        match std::env::var_os(self.variable) {
            Some(folder) if !folder.is_empty() => folder.into(),
            _ => workspace().join(self.name),
        }
    }

    /// Reads every manifest in `folder`, in the order of the paths.
    ///
    /// # Errors
    /// [`SearchError`]: no folder, no manifest, or an invalid manifest.
    pub fn find<T>(
        &self,
        folder: &Path,
        read: impl Fn(&Path) -> Result<T, String>,
    ) -> Result<Vec<T>, SearchError> {
        let unreadable = |error: std::io::Error| {
            SearchError::NoFolder(*self, folder.to_owned(), error.to_string())
        };
        let folder = folder.canonicalize().map_err(unreadable)?;
        let found = manifests(&folder, self.manifest).map_err(unreadable)?;
        let all: Result<Vec<T>, String> = found.iter().map(|one| read(one)).collect();
        let all = all.map_err(SearchError::Manifest)?;
        if all.is_empty() {
            return Err(SearchError::Empty(*self, folder));
        }
        Ok(all)
    }
}

/// Returns the drivers' folder: the given one, or `JETON_DRIVERS`, or the one in the checkout that this
/// binary was built from.
#[must_use]
pub fn folder(asked: Option<&Path>) -> PathBuf {
    DRIVERS.folder(asked)
}

/// Finds all drivers in `folder`, ordered by id.
///
/// # Errors
/// [`SearchError`]: no folder, no driver, or an invalid manifest.
pub fn find(folder: &Path) -> Result<Vec<Driver>, SearchError> {
    DRIVERS.find(folder, Driver::read)
}

/// Returns every folder `<language>/<name>` with a manifest of the given name.
fn manifests(folder: &Path, manifest: &str) -> std::io::Result<Vec<PathBuf>> {
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
