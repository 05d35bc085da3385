//! Kinds of keys.

use std::fmt;
use std::str::FromStr;

use jeton::key::{MacAlg, SigAlg};
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A token format with its algorithm: a profile requires a kind, and a key has one.
///
/// ```
/// use jeton_issuer::KeyKind;
/// let kind: KeyKind = "ES256".parse()?;
/// assert!(kind.is_published());
/// assert!(!"v4.local".parse::<KeyKind>()?.is_published());
/// # Ok::<(), jeton_issuer::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum KeyKind {
    /// A signed JWT.
    Jws(SigAlg),
    /// A JWT with a MAC, which only the service can verify.
    Mac(MacAlg),
    /// `v3.local`, which only the service can decrypt.
    V3Local,
    /// `v3.public`.
    V3Public,
    /// `v4.local`, which only the service can decrypt.
    V4Local,
    /// `v4.public`.
    V4Public,
}

impl KeyKind {
    /// Returns the name in settings: a JOSE `alg`, or a PASETO version and purpose.
    pub fn name(self) -> &'static str {
        match self {
            KeyKind::Jws(alg) => alg.name(),
            KeyKind::Mac(alg) => alg.name(),
            KeyKind::V3Local => "v3.local",
            KeyKind::V3Public => "v3.public",
            KeyKind::V4Local => "v4.local",
            KeyKind::V4Public => "v4.public",
        }
    }

    /// Returns whether the kind has a public key, which verifiers fetch.
    pub fn is_published(self) -> bool {
        matches!(
            self,
            KeyKind::Jws(_) | KeyKind::V3Public | KeyKind::V4Public
        )
    }
}

impl FromStr for KeyKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Ok(match name {
            "v3.local" => KeyKind::V3Local,
            "v3.public" => KeyKind::V3Public,
            "v4.local" => KeyKind::V4Local,
            "v4.public" => KeyKind::V4Public,
            other => {
                if let Ok(alg) = other.parse() {
                    KeyKind::Jws(alg)
                } else if let Ok(alg) = other.parse() {
                    KeyKind::Mac(alg)
                } else {
                    return Err(Error::rule(
                        "alg",
                        "must be a JWS algorithm, for example ES256, or v3.public, v3.local, v4.public or v4.local",
                    ));
                }
            }
        })
    }
}

impl TryFrom<String> for KeyKind {
    type Error = Error;

    fn try_from(name: String) -> Result<Self, Error> {
        name.parse()
    }
}

impl From<KeyKind> for String {
    fn from(kind: KeyKind) -> String {
        kind.name().to_owned()
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
