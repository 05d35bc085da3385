//! The calls that servers are asked for: this is the one list of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::loader::End;

/// Tokens of one batch.
pub(crate) const BATCH: u32 = 256;

/// How the messages of a call go over a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// One message there and one back, on an HTTP/2 stream of their own.
    Unary,
    /// One HTTP/2 stream on each connection, and on it a message back for each one there, in order.
    Streamed,
}

/// What a server does each time that it is called.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// `jwt.services.JwtService/GenerateJwt`, the gRPC report's: a token is signed and verified.
    #[default]
    GenerateJwt,
    /// `jeton.v1.TokenService/Issue`: a token is signed.
    Issue,
    /// `jeton.v1.TokenService/IssueBatch`: 256 tokens are signed.
    IssueBatch,
    /// `jeton.v1.TokenService/IssueStream`: a token is signed for each message of a stream.
    IssueStream,
    /// `jeton.v1.TokenService/Verify`, of one token that it issued before.
    Verify,
    /// `jeton.v1.TokenService/VerifyBatch`, of 256 tokens that it issued before.
    VerifyBatch,
    /// `jeton.v1.TokenService/VerifyStream`: one token that it issued before, in each message of a
    /// stream.
    VerifyStream,
    /// `jeton.v1.TokenService/Verify`, of one token that it issued and revoked before: every answer is
    /// its refusal.
    VerifyRevoked,
    /// Token introspection over HTTP/2 (RFC 7662), of one token that it issued before.
    Introspect,
}

impl Call {
    /// Every one.
    pub const ALL: [Self; 9] = [
        Self::GenerateJwt,
        Self::Issue,
        Self::IssueBatch,
        Self::IssueStream,
        Self::Verify,
        Self::VerifyBatch,
        Self::VerifyStream,
        Self::VerifyRevoked,
        Self::Introspect,
    ];

    /// The word for it in files and options.
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
        }
    }

    /// How many tokens an answer is about: of a stream, each message that comes back is an answer.
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
            | Self::Introspect => 1,
        }
    }

    /// Whether its answers have tokens in them, which can be verified.
    pub(crate) fn gives_tokens(self) -> bool {
        match self {
            Self::GenerateJwt | Self::Issue | Self::IssueBatch | Self::IssueStream => true,
            Self::Verify
            | Self::VerifyBatch
            | Self::VerifyStream
            | Self::VerifyRevoked
            | Self::Introspect => false,
        }
    }

    /// How its messages go over a connection.
    pub(crate) fn way(self) -> Way {
        match self {
            Self::IssueStream | Self::VerifyStream => Way::Streamed,
            Self::GenerateJwt
            | Self::Issue
            | Self::IssueBatch
            | Self::Verify
            | Self::VerifyBatch
            | Self::VerifyRevoked
            | Self::Introspect => Way::Unary,
        }
    }

    /// What a right answer to it says.
    pub(crate) fn right_end(self) -> End {
        match self {
            // FAILED_PRECONDITION: a token that is refused.
            Self::VerifyRevoked => End::Status(9),
            Self::GenerateJwt
            | Self::Issue
            | Self::IssueBatch
            | Self::IssueStream
            | Self::Verify
            | Self::VerifyBatch
            | Self::VerifyStream
            | Self::Introspect => End::OK,
        }
    }

    /// In a title; nothing for the report's.
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
            format!("the calls are {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_call_has_one_name_everywhere() {
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
