//! The formats of tokens.

use serde::Deserialize;

/// What an issuer issues and a verifier verifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    /// A JWT: signed, encrypted, or both, as the keys say.
    #[default]
    Jwt,
    /// Signed bytes.
    Jws,
    /// Encrypted bytes.
    Jwe,
    /// Claims as a PASETO of the version and purpose of the key.
    Paseto,
    /// Bytes as a PASETO.
    PasetoBytes,
}

impl Format {
    pub(crate) fn is_paseto(self) -> bool {
        matches!(self, Format::Paseto | Format::PasetoBytes)
    }
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
