//! The formats of tokens.

use serde::Deserialize;

/// What an issuer issues and a verifier verifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// A JWT: signed, encrypted, or both, as the keys say.
    #[default]
    Jwt,
    /// Signed bytes.
    Jws,
    /// Encrypted bytes.
    Jwe,
    /// A PASETO of the version and purpose of the key.
    Paseto,
}

/// How a JWS or a JWE is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Serialization {
    #[default]
    Compact,
    /// JSON with one signature or recipient.
    Flattened,
    /// JSON with any number.
    General,
}
