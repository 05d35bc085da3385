//! The subject of a row.

use serde::{Deserialize, Serialize};

use crate::Format;

/// A subject: driver × format × algorithm × key handling.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Subject {
    /// The id: `go/golang-jwt:jwt:HS256:prepared`. A JWE has its `enc` after the algorithm, joined by
    /// `+`. An RSA key of an unusual size has its bits, joined by `@`. If a driver runs on several
    /// runtimes, all except the one on `PATH` have the runtime's version after the driver:
    /// `java/nimbus-jose-jwt@25.0.3:jwt:HS256:prepared`.
    pub id: String,
    /// The library's name.
    pub library: String,
    /// The library's version, as linked.
    pub version: String,
    /// The driver's language.
    pub language: String,
    /// The runtime of the language, if known: `JDK 25.0.3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The release day of the library's version, if known: `2026-01-28`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<String>,
    /// The driver of a newer version of the library, if this version is measured only because a
    /// published report used it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// The format: `jwt`, `jwe`, `v1.local` … `v4.public`, `bare`, `none`.
    pub format: String,
    /// The JOSE algorithm; `None` for PASETO.
    pub alg: Option<String>,
    /// The content encryption of a JWE.
    pub enc: Option<String>,
    /// The size of an RSA key in bits, if it is not [`RSA_BITS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_bits: Option<u32>,
    /// `prepared` or `parsed-per-call`; for `load-key` the key text format.
    pub key_handling: String,
}

/// The separator between a driver's id and the version of its runtime.
pub const RUNTIME_MARK: char = '@';

/// The usual size of an RSA key: 2,048 bits, today's minimum.
pub const RSA_BITS: u32 = 2048;

impl Subject {
    /// Reports whether the key is below today's minimum. Such subjects are measured for a published
    /// report and never recommended.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        self.key_bits.is_some_and(|bits| bits < RSA_BITS)
    }

    /// Reports whether the language compiles at run time, which causes different noise.
    #[must_use]
    pub fn is_managed(&self) -> bool {
        is_managed(&self.language)
    }

    /// Returns the runtime, if the run measured several and this is not the one on `PATH`.
    #[must_use]
    pub fn own_runtime(&self) -> Option<&str> {
        let has_its_own = self.driver().contains(RUNTIME_MARK);
        self.runtime.as_deref().filter(|_| has_its_own)
    }

    /// Returns remarks for a table: the runtime if there are several, and whether the version is an
    /// older one.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let runtime = self.own_runtime().map(str::to_owned);
        runtime.into_iter().chain(self.older_version()).collect()
    }

    /// Returns a remark if the version is an older one.
    #[must_use]
    pub fn older_version(&self) -> Option<String> {
        self.superseded_by.as_ref()?;
        Some(match &self.released {
            Some(day) => format!("older version, released {day}"),
            None => "older version".to_owned(),
        })
    }

    /// Returns the id of the driver.
    #[must_use]
    pub fn driver(&self) -> &str {
        self.id.split(':').next().unwrap_or_default()
    }

    /// Returns the id that follows from the other members, for this driver.
    #[must_use]
    pub fn id_for(&self, driver: &str) -> String {
        let mut id = format!("{driver}:{}:", self.format);
        if let Some(alg) = &self.alg {
            id.push_str(alg);
            if let Some(enc) = &self.enc {
                id.push_str(&format!("+{enc}"));
            }
            if let Some(bits) = self.key_bits {
                id.push_str(&format!("@{bits}"));
            }
            id.push(':');
        }
        id + &self.key_handling
    }

    /// Returns the effective algorithm, from the token or from the format.
    #[must_use]
    pub fn effective_alg(&self) -> String {
        let fixed = Format::named(&self.format).and_then(Format::fixed_alg);
        let alg = fixed.or(self.alg.as_deref()).unwrap_or("none");
        match &self.enc {
            Some(enc) => format!("{alg}+{enc}"),
            None => alg.to_owned(),
        }
    }

    /// Returns the factors that differ between two subjects, with the names of the result file. More
    /// than one factor: the pair is confounded.
    ///
    /// A library's language and version belong to it and are not separate factors.
    #[must_use]
    pub fn factors(&self, other: &Self) -> Vec<&'static str> {
        let alg = self.effective_alg() != other.effective_alg();
        let library = |s: &Self| (s.library.clone(), s.version.clone(), s.language.clone());
        let differs = [
            ("format", self.format != other.format),
            ("algorithm", alg),
            ("library", library(self) != library(other)),
            // Different languages always have different runtimes.
            (
                "runtime",
                self.language == other.language && self.runtime != other.runtime,
            ),
            // Kind and size of the key depend on the algorithm.
            ("key size", self.key_bits != other.key_bits && !alg),
            ("key handling", self.key_handling != other.key_handling),
        ];
        let named = differs.into_iter().filter(|(_, differs)| *differs);
        named.map(|(name, _)| name).collect()
    }
}

/// Reports whether a language compiles at run time.
#[must_use]
pub fn is_managed(language: &str) -> bool {
    matches!(language, "node" | "java" | "python")
}
