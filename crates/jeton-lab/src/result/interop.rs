//! What became of one library's tokens in another library's hands.

use serde::{Deserialize, Serialize};

use super::Status;

/// Tokens of one kind, made by one driver and given to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InteropRow {
    /// `unavailable` if a driver cannot be had; `crashed` and `timed-out` as the outcome says;
    /// else `ok`, whatever the outcome is.
    pub status: Status,
    /// Who made the token.
    #[serde(rename = "minter")]
    pub issuer: Party,
    /// Who was given it.
    pub verifier: Party,
    /// `jwt`, `jwe`, `v1.local` … `v4.public`.
    pub format: String,
    /// The JOSE algorithm, or none for PASETO.
    pub alg: Option<String>,
    /// The content encryption of a JWE.
    pub enc: Option<String>,
    /// What became of it: the worst that any encoding of the key came to. None if a driver cannot
    /// be had.
    pub outcome: Option<Interop>,
    /// What was said, one line for people: the verifier's own reason, or the minter's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it came to this, where the lab knows; it begins with `unexplained` where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// Every encoding that such a key has, and what became of the exchange in it. Empty if nothing
    /// could be exchanged at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<KeyExchange>,
}

impl InteropRow {
    /// Whether it asks for an explanation, and the lab has none.
    #[must_use]
    pub fn is_unexplained(&self) -> bool {
        self.explanation
            .as_deref()
            .is_some_and(|e| e.starts_with("unexplained"))
    }
}

/// A driver in an exchange.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Party {
    /// The driver, as in `go/golang-jwt`; or the address of a live endpoint.
    pub driver: String,
    /// The library's name.
    pub library: String,
    /// The library's version, as linked.
    pub version: String,
    /// The driver's language.
    pub language: String,
}

impl Party {
    /// Whether it is a live endpoint, which has its address for an id, and no driver of the lab's.
    #[must_use]
    pub fn is_endpoint(&self) -> bool {
        self.driver.contains("://")
    }
}

/// One encoding of the key, and what became of the token under it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyExchange {
    /// The encoding that the verifier was given: `jwk`, `pem` or `paserk`.
    pub encoding: String,
    /// The encoding that the minter was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "minted_with")]
    pub issued_with: Option<String>,
    /// Who read it for the verifier: the library itself, or its driver, which then handed the
    /// library what it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_by: Option<Reader>,
    /// What became of it.
    pub outcome: Interop,
}

/// Who read a key's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reader {
    /// The library.
    Library,
    /// The driver.
    Driver,
}

impl Reader {
    /// The file's word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Driver => "driver",
        }
    }
}

/// What became of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interop {
    /// One of the two does not offer this.
    NotOffered,
    /// It was verified, and the claims that came back are those that went in.
    Verified,
    /// The verifier refused it.
    Refused,
    /// The minter made no token.
    #[serde(rename = "mint-failed")]
    IssueFailed,
    /// The verifier read other claims in it.
    WrongClaims,
    /// The driver's process died.
    Crashed,
    /// The driver did not answer in time.
    Hung,
    /// The verifier takes tokens that were tampered with: what it verifies means nothing.
    Void,
}

impl Interop {
    /// Every outcome, from harmless to worst.
    pub const ALL: [Self; 8] = [
        Self::NotOffered,
        Self::Verified,
        Self::Refused,
        Self::IssueFailed,
        Self::WrongClaims,
        Self::Crashed,
        Self::Hung,
        Self::Void,
    ];

    /// The file's word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotOffered => "not-offered",
            Self::Verified => "verified",
            Self::Refused => "refused",
            Self::IssueFailed => "mint-failed",
            Self::WrongClaims => "wrong-claims",
            Self::Crashed => "crashed",
            Self::Hung => "hung",
            Self::Void => "void",
        }
    }

    /// Whether a reader is owed an explanation.
    #[must_use]
    pub fn needs_explaining(self) -> bool {
        !matches!(self, Self::Verified | Self::NotOffered)
    }
}
