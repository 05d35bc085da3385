//! `driver.toml`: the manifest of a driver: how to build and run it, and what it offers.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Recipe;
use super::runtime::{Runtime, command_of};
use jeton_lab_model::protocol::PROTOCOL;
use jeton_lab_model::result::RUNTIME_MARK;
use jeton_lab_model::{Format, KeyForm, KeyHandling, Operation};

/// A driver's folder and manifest.
#[derive(Debug, Clone)]
pub struct Driver {
    /// The id: `language/folder`. If the driver has several runtimes, all except the one on `PATH` have
    /// `@` and the runtime's version appended.
    pub id: String,
    /// The folder.
    pub folder: PathBuf,
    /// The manifest.
    pub manifest: Manifest,
    /// The runtime for building and running; `None` if unknown.
    pub runtime: Option<Runtime>,
}

/// The content of a `driver.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The protocol version.
    pub protocol: u32,
    /// The library's name in tables.
    pub library: String,
    /// The language.
    pub language: String,
    /// The library's version; `hello` must report the same.
    pub version: String,
    /// The release day of the version: `2026-01-28`.
    #[serde(default)]
    pub released: Option<String>,
    /// The driver of a newer version of the library, if this one is kept only for a published report:
    /// `go/golang-jwt`.
    #[serde(default)]
    pub superseded_by: Option<String>,
    /// Required commands on `PATH`.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The oldest version of the runtime that the library supports, if it is newer than the lab's: `3.12`.
    #[serde(default)]
    pub oldest_runtime: Option<String>,
    /// Further files, outside the folder, that make the driver stale.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// The build commands.
    #[serde(default)]
    pub build: Vec<Vec<String>>,
    /// The run command.
    pub run: Vec<String>,
    /// True if the library answers from a cache of verified tokens; such a subject is never compared
    /// with verifying ones.
    #[serde(default)]
    pub caches_tokens: bool,
    /// The offers.
    pub offers: Vec<Offer>,
}

/// A format with algorithms and operations.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "OfferAsWritten")]
pub struct Offer {
    /// The format; `None` if this lab does not know it.
    pub format: Option<Format>,
    /// The format's name in the manifest.
    pub format_name: String,
    /// The algorithms; empty if the format decides.
    pub algs: Vec<String>,
    /// The content encryptions of a JWE; each is combined with each algorithm.
    pub encs: Vec<String>,
    /// The operations.
    #[serde(rename = "contracts")]
    pub operations: Vec<Operation>,
    /// The key handlings.
    pub key_handling: Vec<KeyHandling>,
    /// The readable key text forms.
    pub key_text: Vec<KeyForm>,
    /// Names that this lab does not know; it ignores them.
    pub unknown: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfferAsWritten {
    format: String,
    #[serde(default)]
    algs: Vec<String>,
    #[serde(default)]
    encs: Vec<String>,
    #[serde(rename = "contracts")]
    operations: Vec<String>,
    key_handling: Vec<String>,
    #[serde(default)]
    key_text: Vec<String>,
}

impl From<OfferAsWritten> for Offer {
    /// Unknown names, for example of a later protocol, are kept separately, so that the known ones stay
    /// usable.
    fn from(written: OfferAsWritten) -> Self {
        let mut unknown = Vec::new();
        let format = Format::named(&written.format);
        if format.is_none() {
            unknown.push(format!("format `{}`", written.format));
        }
        if format == Some(Format::Jwe) && written.encs.is_empty() {
            unknown.push("a `jwe` offer without `encs`".into());
        }
        Self {
            format,
            format_name: written.format,
            algs: written.algs,
            encs: written.encs,
            operations: known(
                "operation",
                &written.operations,
                Operation::named,
                &mut unknown,
            ),
            key_handling: known(
                "key handling",
                &written.key_handling,
                KeyHandling::named,
                &mut unknown,
            ),
            key_text: known("key text", &written.key_text, KeyForm::named, &mut unknown),
            unknown,
        }
    }
}

fn known<T>(
    what: &str,
    names: &[String],
    named: impl Fn(&str) -> Option<T>,
    unknown: &mut Vec<String>,
) -> Vec<T> {
    let mut found = Vec::new();
    for name in names {
        match named(name) {
            Some(one) => found.push(one),
            None => unknown.push(format!("{what} `{name}`")),
        }
    }
    found
}

impl Driver {
    /// Reads the manifest in `folder`.
    ///
    /// # Errors
    /// A message with the file and the reason.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let file = folder.join("driver.toml");
        let text =
            std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let manifest: Manifest = toml::from_str(&text)
            .map_err(|e| format!("{}: {}", file.display(), e.to_string().trim()))?;
        if manifest.protocol != PROTOCOL {
            return Err(format!(
                "{}: requires protocol {}, the lab supports {PROTOCOL}",
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
            runtime: None,
        })
    }

    /// Returns the driver with a runtime; with `one_of_several`, the id contains the runtime.
    pub(super) fn on(&self, runtime: &Runtime, one_of_several: bool) -> Self {
        let mut driver = self.clone();
        if one_of_several {
            driver.id = format!("{}{RUNTIME_MARK}{}", self.id, runtime.version);
        }
        driver.runtime = Some(runtime.clone());
        driver
    }

    /// Reports whether a runtime of its language builds or runs the driver. A program of Go in an archive has none: the
    /// toolchain on `PATH` did not compile it.
    pub(super) fn has_runtime(&self) -> bool {
        let command = command_of(&self.manifest.language);
        let is_needed = |command| self.manifest.needs.iter().any(|need| need == command);
        !self.manifest.build.is_empty() || command.is_some_and(is_needed)
    }

    /// Returns the names that this lab does not know.
    #[must_use]
    pub fn unknown(&self) -> Vec<&str> {
        let offers = self.manifest.offers.iter();
        offers
            .flat_map(|o| o.unknown.iter().map(String::as_str))
            .collect()
    }

    /// Returns how to build and run the driver.
    #[must_use]
    pub fn recipe(&self) -> Recipe<'_> {
        Recipe {
            id: self.id.split(RUNTIME_MARK).next().unwrap_or(&self.id),
            folder: &self.folder,
            runtime: self.runtime.as_ref(),
            needs: &self.manifest.needs,
            oldest_runtime: self.manifest.oldest_runtime.as_deref(),
            inputs: &self.manifest.inputs,
            build: &self.manifest.build,
            run: &self.manifest.run,
        }
    }

    /// Returns what this machine lacks to build and run it, if anything.
    #[must_use]
    pub fn unmet(&self) -> Option<String> {
        self.recipe().unmet()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const MANIFEST: &str = r#"
protocol = 1
library = "later"
language = "go"
version = "1.0.0"
run = ["true"]

[[offers]]
format = "jwt"
algs = ["HS256"]
contracts = ["sign", "notarise"]
key_handling = ["prepared", "in-a-vault"]
key_text = ["jwk", "cbor"]

[[offers]]
format = "v9.public"
contracts = ["sign"]
key_handling = ["prepared"]

[[offers]]
format = "jwe"
algs = ["dir"]
contracts = ["encrypt"]
key_handling = ["prepared"]
"#;

    #[test]
    fn manifest_unknown_names_are_ignored() {
        let manifest: Manifest = toml::from_str(MANIFEST).unwrap();
        let [jwt, later, jwe] = manifest.offers.as_slice() else {
            unreachable!("there are three offers")
        };
        assert_eq!(jwt.operations, [Operation::Sign]);
        assert_eq!(jwt.key_handling, [KeyHandling::Prepared]);
        assert_eq!(jwt.key_text, [KeyForm::Jwk]);
        let said = [
            "operation `notarise`",
            "key handling `in-a-vault`",
            "key text `cbor`",
        ];
        assert_eq!(jwt.unknown, said);
        assert_eq!(
            (later.format, later.format_name.as_str()),
            (None, "v9.public")
        );
        assert_eq!(jwe.unknown, ["a `jwe` offer without `encs`"]);
    }
}
