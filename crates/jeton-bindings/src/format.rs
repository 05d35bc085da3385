//! The formats of tokens.

use serde::Deserialize;

/// What an issuer issues and a verifier verifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
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
    /// All formats.
    pub const ALL: &'static [Format] = &[
        Format::Jwt,
        Format::Jws,
        Format::Jwe,
        Format::Paseto,
        Format::PasetoBytes,
    ];

    /// Returns a token of this format, for messages.
    pub fn phrase(self) -> &'static str {
        match self {
            Format::Jwt => "a JWT",
            Format::Jws => "a JWS",
            Format::Jwe => "a JWE",
            Format::Paseto => "a PASETO",
            Format::PasetoBytes => "a PASETO with bytes",
        }
    }

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
