//! Token formats.

use std::fmt;

/// A token format (`drivers/PROTOCOL.md`, "prepare").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// JWS compact with claims.
    Jwt,
    /// JWE compact; the plaintext is the claims.
    Jwe,
    /// PASETO version 1, encrypted.
    V1Local,
    /// PASETO version 1, signed.
    V1Public,
    /// PASETO version 2, encrypted.
    V2Local,
    /// PASETO version 2, signed.
    V2Public,
    /// PASETO version 3, encrypted.
    V3Local,
    /// PASETO version 3, signed.
    V3Public,
    /// PASETO version 4, encrypted.
    V4Local,
    /// PASETO version 4, signed.
    V4Public,
    /// No token: the primitive alone on the same bytes, as a reference.
    Bare,
    /// JSON and base64 alone, without any security, as a reference.
    Unsecured,
    /// A random string that identifies claims in a table, as a reference: the cost without a token.
    Opaque,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 13] = [
        Self::Jwt,
        Self::Jwe,
        Self::V1Local,
        Self::V1Public,
        Self::V2Local,
        Self::V2Public,
        Self::V3Local,
        Self::V3Public,
        Self::V4Local,
        Self::V4Public,
        Self::Bare,
        Self::Unsecured,
        Self::Opaque,
    ];

    /// Returns the protocol's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jwt => "jwt",
            Self::Jwe => "jwe",
            Self::V1Local => "v1.local",
            Self::V1Public => "v1.public",
            Self::V2Local => "v2.local",
            Self::V2Public => "v2.public",
            Self::V3Local => "v3.local",
            Self::V3Public => "v3.public",
            Self::V4Local => "v4.local",
            Self::V4Public => "v4.public",
            Self::Bare => "bare",
            Self::Unsecured => "none",
            Self::Opaque => "opaque",
        }
    }

    /// Finds a format by name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }

    /// Reports whether the format is PASETO, in which times are strings and the audience is one string.
    #[must_use]
    pub fn is_paseto(self) -> bool {
        self.name().starts_with('v')
    }

    /// Reports whether the claims are unreadable without the key.
    #[must_use]
    pub fn is_encrypted(self) -> bool {
        self == Self::Jwe || self.name().ends_with(".local")
    }

    /// Returns the algorithm that the format decides, with its JOSE name if there is one.
    #[must_use]
    pub fn fixed_alg(self) -> Option<&'static str> {
        match self {
            Self::V1Local | Self::V3Local => Some("A256CTR+HS384"),
            Self::V1Public => Some("PS384"),
            Self::V2Local => Some("XChaCha20-Poly1305"),
            Self::V2Public | Self::V4Public => Some("EdDSA"),
            Self::V3Public => Some("ES384"),
            Self::V4Local => Some("XChaCha20+BLAKE2b"),
            Self::Unsecured | Self::Opaque => Some("none"),
            Self::Jwt | Self::Jwe | Self::Bare => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
