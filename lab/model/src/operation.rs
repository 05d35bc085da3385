//! Operations.

use crate::name_table::named;

named! {
    /// One exactly described operation (`drivers/PROTOCOL.md`, "Operations"), in the order of tables.
    Operation {
        /// Typed claims to the complete token; PASETO encryption is the same operation.
        Sign = "sign",
        /// The complete token to typed, validated claims.
        Verify = "verify",
        /// The complete token to a signature check, without decoding claims.
        VerifySignature = "verify-signature",
        /// A parsed token to a signature check: less work than the others, measured as a reference because
        /// a report did.
        VerifyParsed = "verify-parsed",
        /// Like `sign`, for an encrypted token.
        Encrypt = "encrypt",
        /// Like `verify`, for an encrypted token.
        Decrypt = "decrypt",
        /// `sign` and then `verify` of the new token; or `encrypt` and `decrypt`.
        RoundTrip = "round-trip",
        /// A new usable key.
        GenerateKey = "generate-key",
        /// A key's text to a usable key.
        LoadKey = "load-key",
    }
}

impl Operation {
    /// Reports whether the operation makes tokens, which the request `token` returns.
    #[must_use]
    pub fn makes_tokens(self) -> bool {
        matches!(self, Self::Sign | Self::Encrypt | Self::RoundTrip)
    }

    /// Reports whether the operation works on given tokens.
    #[must_use]
    pub fn opens_tokens(self) -> bool {
        matches!(
            self,
            Self::Verify | Self::VerifySignature | Self::VerifyParsed | Self::Decrypt
        )
    }

    /// Reports whether the operation decodes claims and checks them against the policy.
    #[must_use]
    pub fn checks_claims(self) -> bool {
        matches!(self, Self::Verify | Self::Decrypt)
    }
}
