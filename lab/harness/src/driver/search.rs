//! Finds folders with a manifest: the drivers, and the servers of jeton-lab-load.

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
    /// No folder, no manifest, or an invalid manifest.
    pub fn find<T>(
        &self,
        folder: &Path,
        read: impl Fn(&Path) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        let Self {
            name,
            manifest,
            option,
            variable,
        } = self;
        let elsewhere = format!("; pass {option} DIR or set {variable}");
        let unreadable = |error: std::io::Error| {
            let folder = folder.display();
            format!("cannot read the {name}' folder {folder} ({error}){elsewhere}")
        };
        let folder = folder.canonicalize().map_err(unreadable)?;
        let found = manifests(&folder, manifest).map_err(unreadable)?;
        let all = found.iter().map(|one| read(one));
        let all = all.collect::<Result<Vec<T>, String>>()?;
        if all.is_empty() {
            let folder = folder.display();
            return Err(format!(
                "{folder} contains no <language>/<name>/{manifest}{elsewhere}"
            ));
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
/// No folder, no driver, or an invalid manifest.
pub fn find(folder: &Path) -> Result<Vec<Driver>, String> {
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
