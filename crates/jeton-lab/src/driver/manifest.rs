//! `driver.toml`: what a driver is, how it is built and run, and what it offers.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Recipe;
use super::runtime::Runtime;
use crate::protocol::PROTOCOL;
use crate::suite::{Format, KeyForm, KeyHandling, Operation};

/// What stands in a driver's id before the version of its runtime.
pub(crate) const RUNTIME_MARK: char = '@';

/// One driver's folder and what its manifest says.
#[derive(Debug, Clone)]
pub struct Driver {
    /// `language/folder`, unique among the drivers; behind it `@` and the version of the runtime, if the
    /// driver is there on several and this is not the one on `PATH`.
    pub id: String,
    /// Where it is.
    pub folder: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
    /// What it is built and run with; `None` if that is not known.
    pub runtime: Option<Runtime>,
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
    /// The day on which that version was released: `2026-01-28`.
    #[serde(default)]
    pub released: Option<String>,
    /// The driver of a newer version of the same library, if this one is kept because a published
    /// report measured it: `go/golang-jwt`.
    #[serde(default)]
    pub superseded_by: Option<String>,
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
    /// Whether it answers from a cache of tokens that it verified before: then it is a subject
    /// of its own kind, and stands in no comparison with those that verify.
    #[serde(default)]
    pub caches_tokens: bool,
    /// What it offers.
    pub offers: Vec<Offer>,
}

/// A format with algorithms, under contracts.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "OfferAsWritten")]
pub struct Offer {
    /// The format; `None` if it is one that this lab does not know.
    pub format: Option<Format>,
    /// The format, as the manifest writes it.
    pub format_name: String,
    /// The algorithms; empty where the format decides.
    pub algs: Vec<String>,
    /// The content encryptions of a JWE, each of which goes with each algorithm.
    pub encs: Vec<String>,
    /// The contracts.
    #[serde(rename = "contracts")]
    pub operations: Vec<Operation>,
    /// How keys can be handled.
    pub key_handling: Vec<KeyHandling>,
    /// The forms of key text that it reads.
    pub key_text: Vec<KeyForm>,
    /// What this lab does not know, word by word: nothing is planned with it.
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
    /// Words of a later protocol are kept apart: a driver that says them is used for the others,
    /// and no other driver is any the worse.
    fn from(written: OfferAsWritten) -> Self {
        let mut unknown = Vec::new();
        let format = Format::named(&written.format);
        if format.is_none() {
            unknown.push(format!("format `{}`", written.format));
        }
        if format == Some(Format::Jwe) && written.encs.is_empty() {
            unknown.push("a `jwe` line without `encs`".into());
        }
        Self {
            format,
            format_name: written.format,
            algs: written.algs,
            encs: written.encs,
            operations: known(
                "contract",
                &written.operations,
                |name| Operation::named(name).ok(),
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
            runtime: None,
        })
    }

    /// The same driver on a runtime; as `one_of_several` it has the runtime in its id.
    pub(super) fn on(&self, runtime: &Runtime, one_of_several: bool) -> Self {
        let mut driver = self.clone();
        if one_of_several {
            driver.id = format!("{}{RUNTIME_MARK}{}", self.id, runtime.version);
        }
        driver.runtime = Some(runtime.clone());
        driver
    }

    /// What its manifest says that this lab does not know: of a later protocol, or misspelt.
    #[must_use]
    pub fn unknown(&self) -> Vec<&str> {
        let offers = self.manifest.offers.iter();
        offers
            .flat_map(|o| o.unknown.iter().map(String::as_str))
            .collect()
    }

    /// How it is built and run.
    #[must_use]
    pub fn recipe(&self) -> Recipe<'_> {
        Recipe {
            id: self.id.split(RUNTIME_MARK).next().unwrap_or(&self.id),
            folder: &self.folder,
            runtime: self.runtime.as_ref(),
            needs: &self.manifest.needs,
            inputs: &self.manifest.inputs,
            build: &self.manifest.build,
            run: &self.manifest.run,
        }
    }

    /// The first command that it needs and `PATH` does not have.
    #[must_use]
    pub fn missing_command(&self) -> Option<&str> {
        self.recipe().missing_command()
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
    fn words_of_a_later_protocol_leave_the_others_usable() {
        let manifest: Manifest = toml::from_str(MANIFEST).unwrap();
        let [jwt, later, jwe] = manifest.offers.as_slice() else {
            unreachable!("three lines were written")
        };
        assert_eq!(jwt.operations, [Operation::Sign]);
        assert_eq!(jwt.key_handling, [KeyHandling::Prepared]);
        assert_eq!(jwt.key_text, [KeyForm::Jwk]);
        let said = [
            "contract `notarise`",
            "key handling `in-a-vault`",
            "key text `cbor`",
        ];
        assert_eq!(jwt.unknown, said);
        assert_eq!(
            (later.format, later.format_name.as_str()),
            (None, "v9.public")
        );
        assert_eq!(jwe.unknown, ["a `jwe` line without `encs`"]);
    }
}
