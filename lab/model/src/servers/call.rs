//! The calls of the servers suite. This is the only list of them.

use crate::name_table::named;

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

named! {
    /// The call that a server handles.
    #[derive(Default)]
    Call {
        /// `jwt.services.JwtService/GenerateJwt` of jwt-with-grpc-performance-tests: signs a token and
        /// verifies it.
        #[default]
        GenerateJwt = "generate-jwt",
        /// `jeton.v1.TokenService/Issue`: signs a token.
        Issue = "issue",
        /// `jeton.v1.TokenService/IssueBatch`: signs 256 tokens.
        IssueBatch = "issue-batch",
        /// `jeton.v1.TokenService/IssueStream`: signs a token for each message of a stream.
        IssueStream = "issue-stream",
        /// `jeton.v1.TokenService/Verify`, with one token that the server issued before.
        Verify = "verify",
        /// `jeton.v1.TokenService/VerifyBatch`, with 256 tokens that the server issued before.
        VerifyBatch = "verify-batch",
        /// `jeton.v1.TokenService/VerifyStream`, with a token that the server issued before in each
        /// message.
        VerifyStream = "verify-stream",
        /// `jeton.v1.TokenService/Verify`, with one token that the server issued and revoked: every
        /// answer must reject it.
        VerifyRevoked = "verify-revoked",
        /// Token introspection over HTTP/2 (RFC 7662), with one token that the server issued before.
        Introspect = "introspect",
        /// A GET through a gateway, with one token of the run.
        Pass = "pass",
        /// The same with another token each time, so that a cache of tokens does not help.
        PassDifferent = "pass-different",
        /// The same with one revoked token: every answer must reject it, unless the gateway checks no tokens.
        PassRevoked = "pass-revoked",
    }
}

impl Call {
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
