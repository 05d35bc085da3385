//! The outcome of one library's tokens in another library.

use serde::{Deserialize, Serialize};

use super::Status;
use crate::name_table::named;

/// Tokens of one kind, issued by one driver and verified by another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteropRow {
    /// `unavailable` if a driver cannot run; `crashed` or `timed-out` according to the outcome;
    /// otherwise `ok`.
    pub status: Status,
    /// The issuer of the token.
    #[serde(rename = "minter")]
    pub issuer: Party,
    /// The verifier.
    pub verifier: Party,
    /// The format: `jwt`, `jwe`, `v1.local` … `v4.public`.
    pub format: String,
    /// The JOSE algorithm, or `None` for PASETO.
    pub alg: Option<String>,
    /// The content encryption of a JWE.
    pub enc: Option<String>,
    /// The worst outcome of all key encodings; `None` if a driver cannot run.
    pub outcome: Option<Interop>,
    /// The message of the verifier or of the issuer, one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The explanation of a failure, if known; otherwise it begins with `unexplained`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// The outcome for each encoding of the key; empty if the pair could not be tested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<KeyExchange>,
}

impl InteropRow {
    /// Reports whether the row is a failure without an explanation.
    #[must_use]
    pub fn is_unexplained(&self) -> bool {
        self.explanation
            .as_deref()
            .is_some_and(|e| e.starts_with("unexplained"))
    }
}

/// A driver, as issuer or verifier.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Party {
    /// The driver's id, for example `go/golang-jwt`, or the address of a live endpoint.
    pub driver: String,
    /// The library's name.
    pub library: String,
    /// The library's version, as linked.
    pub version: String,
    /// The driver's language.
    pub language: String,
}

impl Party {
    /// Reports whether it is a live endpoint, whose id is its address.
    #[must_use]
    pub fn is_endpoint(&self) -> bool {
        self.driver.contains("://")
    }
}

/// One encoding of the key, and the outcome with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyExchange {
    /// The encoding that the verifier got: `jwk`, `pem` or `paserk`.
    pub encoding: String,
    /// The encoding that the issuer got.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "minted_with")]
    pub issued_with: Option<String>,
    /// Who read the encoding for the verifier: the library, or the driver, which converted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_by: Option<Reader>,
    /// The outcome.
    pub outcome: Interop,
}

named! {
    /// Who read a key's text.
    Reader {
        /// The library.
        Library = "library",
        /// The driver.
        Driver = "driver",
    }
}

named! {
    /// The outcome of a verification, from harmless to worst.
    Interop {
        /// One of the two libraries does not offer it.
        NotOffered = "not-offered",
        /// Verified, and the returned claims equal the signed claims.
        Verified = "verified",
        /// The verifier rejected the token.
        Refused = "refused",
        /// The issuer made no token.
        IssueFailed = "mint-failed",
        /// The verifier returned other claims.
        WrongClaims = "wrong-claims",
        /// The driver's process exited.
        Crashed = "crashed",
        /// The driver did not answer in time.
        Hung = "hung",
        /// The verifier accepts tampered tokens, so its results mean nothing.
        Void = "void",
    }
}

impl Interop {
    /// Returns the outcome for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Refused => "rejected",
            Self::IssueFailed => "issue-failed",
            other => other.name(),
        }
    }

    /// Reports whether the outcome is a failure.
    #[must_use]
    pub fn needs_explaining(self) -> bool {
        !matches!(self, Self::Verified | Self::NotOffered)
    }
}
