//! Operations.

use std::fmt;

/// One exactly described operation (`drivers/PROTOCOL.md`, "Operations").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// Typed claims to the complete token; PASETO encryption is the same operation.
    Sign,
    /// The complete token to typed, validated claims.
    Verify,
    /// The complete token to a signature check, without decoding claims.
    VerifySignature,
    /// A parsed token to a signature check: less work than the others, measured as a reference because
    /// a report did.
    VerifyParsed,
    /// Like `sign`, for an encrypted token.
    Encrypt,
    /// Like `verify`, for an encrypted token.
    Decrypt,
    /// `sign` and then `verify` of the new token; or `encrypt` and `decrypt`.
    RoundTrip,
    /// A new usable key.
    GenerateKey,
    /// A key's text to a usable key.
    LoadKey,
}

impl Operation {
    /// All operations, in the order of tables.
    pub const ALL: [Self; 9] = [
        Self::Sign,
        Self::Verify,
        Self::VerifySignature,
        Self::VerifyParsed,
        Self::Encrypt,
        Self::Decrypt,
        Self::RoundTrip,
        Self::GenerateKey,
        Self::LoadKey,
    ];

    /// Returns the protocol's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sign => "sign",
            Self::Verify => "verify",
            Self::VerifySignature => "verify-signature",
            Self::VerifyParsed => "verify-parsed",
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
            Self::RoundTrip => "round-trip",
            Self::GenerateKey => "generate-key",
            Self::LoadKey => "load-key",
        }
    }

    /// Finds an operation by name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.name() == name)
    }

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

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
