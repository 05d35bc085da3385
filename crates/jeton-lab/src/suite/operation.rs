//! What is done.

use std::fmt;

use super::plan::{PlanError, nearest};

/// One exactly described operation (`drivers/PROTOCOL.md`, "Operations").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// Typed claims to the complete token. PASETO encryption is the same contract.
    Sign,
    /// The complete token to typed, validated claims.
    Verify,
    /// The complete token to yes or no; no claims are decoded.
    VerifySignature,
    /// A token that was taken apart before to yes or no: less work than any of the others, timed
    /// because a report did, and a reference beside them.
    VerifyParsed,
    /// What `sign` is, for a token that nobody else can read.
    Encrypt,
    /// What `verify` is, for such a token.
    Decrypt,
    /// `sign` and then `verify` of the token just made; or `encrypt` and `decrypt`.
    RoundTrip,
    /// Nothing to a key that can be used.
    GenerateKey,
    /// A key's text to a key that can be used.
    LoadKey,
}

impl Operation {
    /// All of them, in the order of a table.
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

    /// The protocol's name for it.
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

    /// The contract of that name.
    ///
    /// # Errors
    /// [`PlanError::NoOperation`].
    pub fn named(name: &str) -> Result<Self, PlanError> {
        let found = Self::ALL.into_iter().find(|c| c.name() == name);
        found.ok_or_else(|| PlanError::NoOperation {
            name: name.to_owned(),
            nearest: nearest(name, Self::ALL.map(Self::name).into_iter()),
        })
    }

    /// Whether it makes tokens, which the request `token` shows.
    #[must_use]
    pub fn makes_tokens(self) -> bool {
        matches!(self, Self::Sign | Self::Encrypt | Self::RoundTrip)
    }

    /// Whether it works on tokens that it is given.
    #[must_use]
    pub fn opens_tokens(self) -> bool {
        matches!(
            self,
            Self::Verify | Self::VerifySignature | Self::VerifyParsed | Self::Decrypt
        )
    }

    /// Whether it decodes the claims of a token that it is given, and holds them to the policy.
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
