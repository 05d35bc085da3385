//! The type of a profile's tokens.

use serde::{Deserialize, Serialize};

/// The `typ` in the header of JWTs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenType {
    /// `JWT` (RFC 7519, section 5.1).
    #[default]
    #[serde(rename = "JWT")]
    Jwt,
    /// `at+jwt`: access tokens of OAuth 2.0 (RFC 9068).
    #[serde(rename = "at+jwt")]
    AccessToken,
}

impl TokenType {
    /// Returns the `typ`.
    pub fn name(self) -> &'static str {
        match self {
            TokenType::Jwt => "JWT",
            TokenType::AccessToken => "at+jwt",
        }
    }

    /// Returns whether it is the default, which settings omit.
    pub(crate) fn is_default(&self) -> bool {
        *self == TokenType::default()
    }
}
