//! Token formats.

use crate::name_table::named;

named! {
    /// A token format (`drivers/PROTOCOL.md`, "prepare").
    Format {
        /// JWS compact with claims.
        Jwt = "jwt",
        /// JWE compact; the plaintext is the claims.
        Jwe = "jwe",
        /// PASETO version 1, encrypted.
        V1Local = "v1.local",
        /// PASETO version 1, signed.
        V1Public = "v1.public",
        /// PASETO version 2, encrypted.
        V2Local = "v2.local",
        /// PASETO version 2, signed.
        V2Public = "v2.public",
        /// PASETO version 3, encrypted.
        V3Local = "v3.local",
        /// PASETO version 3, signed.
        V3Public = "v3.public",
        /// PASETO version 4, encrypted.
        V4Local = "v4.local",
        /// PASETO version 4, signed.
        V4Public = "v4.public",
        /// No token: the primitive alone on the same bytes, as a reference.
        Bare = "bare",
        /// JSON and base64 alone, without any security, as a reference.
        Unsecured = "none",
        /// A random string that identifies claims in a table, as a reference: the cost without a token.
        Opaque = "opaque",
    }
}

impl Format {
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
