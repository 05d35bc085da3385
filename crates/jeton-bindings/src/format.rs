//! The formats of tokens.

use serde::Deserialize;

/// What an issuer issues and a verifier verifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    /// A JWT. The keys decide whether it is signed, encrypted, or both.
    #[default]
    Jwt,
    /// Signed bytes.
    Jws,
    /// Encrypted bytes.
    Jwe,
    /// Claims in a PASETO. The key determines its version and purpose.
    Paseto,
    /// Bytes in a PASETO.
    PasetoBytes,
}

impl Format {
    pub(crate) fn is_paseto(self) -> bool {
        matches!(self, Format::Paseto | Format::PasetoBytes)
    }
}

/// The serialization of a JWS or a JWE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Serialization {
    #[default]
    Compact,
    /// JSON with one signature or recipient.
    Flattened,
    /// JSON with any number of signatures or recipients.
    General,
}
