//! The calls of the servers suite. This is the only list of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The number of tokens in a batch.
pub const BATCH: u32 = 256;

/// How the messages of a call use a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// One message in each direction, on a separate HTTP/2 stream.
    Unary,
    /// One HTTP/2 stream per connection, with one response message for each request message, in
    /// order.
    Streamed,
}

/// The call that a server handles.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// `jwt.services.JwtService/GenerateJwt` of jwt-with-grpc-performance-tests: signs a token and
    /// verifies it.
    #[default]
    GenerateJwt,
    /// `jeton.v1.TokenService/Issue`: signs a token.
    Issue,
    /// `jeton.v1.TokenService/IssueBatch`: signs 256 tokens.
    IssueBatch,
    /// `jeton.v1.TokenService/IssueStream`: signs a token for each message of a stream.
    IssueStream,
    /// `jeton.v1.TokenService/Verify`, with one token that the server issued before.
    Verify,
    /// `jeton.v1.TokenService/VerifyBatch`, with 256 tokens that the server issued before.
    VerifyBatch,
    /// `jeton.v1.TokenService/VerifyStream`, with a token that the server issued before in each
    /// message.
    VerifyStream,
    /// `jeton.v1.TokenService/Verify`, with one token that the server issued and revoked: every
    /// answer must reject it.
    VerifyRevoked,
    /// Token introspection over HTTP/2 (RFC 7662), with one token that the server issued before.
    Introspect,
    /// A GET through a gateway, with one token of the run.
    Pass,
    /// The same with another token each time, so that a cache of tokens does not help.
    PassDifferent,
    /// The same with one revoked token: every answer must reject it, unless the gateway checks no tokens.
    PassRevoked,
}

impl Call {
    /// All calls.
    pub const ALL: [Self; 12] = [
        Self::GenerateJwt,
        Self::Issue,
        Self::IssueBatch,
        Self::IssueStream,
        Self::Verify,
        Self::VerifyBatch,
        Self::VerifyStream,
        Self::VerifyRevoked,
        Self::Introspect,
        Self::Pass,
        Self::PassDifferent,
        Self::PassRevoked,
    ];

    /// Returns its name in files and options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::GenerateJwt => "generate-jwt",
            Self::Issue => "issue",
            Self::IssueBatch => "issue-batch",
            Self::IssueStream => "issue-stream",
            Self::Verify => "verify",
            Self::VerifyBatch => "verify-batch",
            Self::VerifyStream => "verify-stream",
            Self::VerifyRevoked => "verify-revoked",
            Self::Introspect => "introspect",
            Self::Pass => "pass",
            Self::PassDifferent => "pass-different",
            Self::PassRevoked => "pass-revoked",
        }
    }

    /// Returns the number of tokens in an answer. Each message of a stream is an answer.
    #[must_use]
    pub fn tokens(self) -> u32 {
        match self {
            Self::IssueBatch | Self::VerifyBatch => BATCH,
            Self::GenerateJwt
            | Self::Issue
            | Self::IssueStream
            | Self::Verify
            | Self::VerifyStream
            | Self::VerifyRevoked
            | Self::Introspect
            | Self::Pass
            | Self::PassDifferent
            | Self::PassRevoked => 1,
        }
    }

    /// Returns whether its answers contain tokens that can be verified.
    #[must_use]
    pub fn gives_tokens(self) -> bool {
        match self {
            Self::GenerateJwt | Self::Issue | Self::IssueBatch | Self::IssueStream => true,
            Self::Verify
            | Self::VerifyBatch
            | Self::VerifyStream
            | Self::VerifyRevoked
            | Self::Introspect
            | Self::Pass
            | Self::PassDifferent
            | Self::PassRevoked => false,
        }
    }

    /// Returns whether it goes through a gateway, which has no issuer: the tokens are those of the run.
    #[must_use]
    pub fn is_of_a_gateway(self) -> bool {
        matches!(self, Self::Pass | Self::PassDifferent | Self::PassRevoked)
    }

    /// Returns how its messages use a connection.
    #[must_use]
    pub fn way(self) -> Way {
        match self {
            Self::IssueStream | Self::VerifyStream => Way::Streamed,
            Self::GenerateJwt
            | Self::Issue
            | Self::IssueBatch
            | Self::Verify
            | Self::VerifyBatch
            | Self::VerifyRevoked
            | Self::Introspect
            | Self::Pass
            | Self::PassDifferent
            | Self::PassRevoked => Way::Unary,
        }
    }

    /// Returns the title; none for the call of the report.
    pub(crate) fn title(self) -> Option<String> {
        match self {
            Self::GenerateJwt => None,
            Self::Issue => Some("Issue".to_owned()),
            Self::IssueBatch => Some(format!("IssueBatch of {BATCH}")),
            Self::IssueStream => Some("IssueStream".to_owned()),
            Self::Verify => Some("Verify".to_owned()),
            Self::VerifyBatch => Some(format!("VerifyBatch of {BATCH}")),
            Self::VerifyStream => Some("VerifyStream".to_owned()),
            Self::VerifyRevoked => Some("Verify of a revoked token".to_owned()),
            Self::Introspect => Some("introspection".to_owned()),
            Self::Pass => Some("one token often".to_owned()),
            Self::PassDifferent => Some("different tokens".to_owned()),
            Self::PassRevoked => Some("a revoked token".to_owned()),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Call {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        all.find(|call| call.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            format!("must be one of: {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::servers::*;

    #[test]
    fn call_name_is_the_same_everywhere() {
        for call in Call::ALL {
            let written = serde_json::to_value(call).unwrap();
            assert_eq!(written, call.name());
            assert_eq!(call.name().parse(), Ok(call));
        }
        assert!(
            "revoke"
                .parse::<Call>()
                .unwrap_err()
                .contains("issue-batch")
        );
    }
}
