//! `driver.toml`: what a driver is, how it is built and run, and what it offers.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::suite::{Contract, Format, KeyHandling};
use crate::wire::PROTOCOL;

/// One driver's folder and what its manifest says.
#[derive(Debug, Clone)]
pub struct Driver {
    /// `language/folder`, unique among the drivers.
    pub id: String,
    /// Where it is.
    pub folder: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
}

/// The content of a `driver.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The protocol version it was written for.
    pub protocol: u32,
    /// The library's name in every table.
    pub library: String,
    /// The language.
    pub language: String,
    /// The library's version; `hello` must say the same.
    pub version: String,
    /// Commands that must be on `PATH`.
    #[serde(default)]
    pub needs: Vec<String>,
    /// What else, beside the folder, makes the driver stale.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// The commands that build it.
    #[serde(default)]
    pub build: Vec<Vec<String>>,
    /// The command that runs it.
    pub run: Vec<String>,
    /// What it offers.
    pub offers: Vec<Offer>,
}

/// A format with algorithms, under contracts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// The format.
    pub format: Format,
    /// The algorithms; empty where the format decides.
    #[serde(default)]
    pub algs: Vec<String>,
    /// The contracts.
    pub contracts: Vec<Contract>,
    /// How keys can be handled.
    pub key_handling: Vec<KeyHandling>,
}

impl Driver {
    /// Reads the manifest in `folder`.
    ///
    /// # Errors
    /// A sentence that names the file and what is wrong with it.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let file = folder.join("driver.toml");
        let text =
            std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let manifest: Manifest = toml::from_str(&text)
            .map_err(|e| format!("{}: {}", file.display(), e.to_string().trim()))?;
        if manifest.protocol != PROTOCOL {
            return Err(format!(
                "{}: written for protocol {}, the lab speaks {PROTOCOL}",
                file.display(),
                manifest.protocol
            ));
        }
        let name = |path: Option<&Path>| {
            path.and_then(Path::file_name)
                .map_or_else(String::new, |n| n.to_string_lossy().into_owned())
        };
        Ok(Self {
            id: format!("{}/{}", name(folder.parent()), name(Some(folder))),
            folder: folder.to_owned(),
            manifest,
        })
    }

    /// The first command that it needs and `PATH` does not have.
    #[must_use]
    pub fn missing_command(&self) -> Option<&str> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        self.manifest
            .needs
            .iter()
            .map(String::as_str)
            .find(|need| !std::env::split_paths(&path).any(|folder| folder.join(need).is_file()))
    }
}
