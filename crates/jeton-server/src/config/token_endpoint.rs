//! What a client may get from the token endpoint.

use jeton_issuer::IssuerSettings;
use serde::Deserialize;

use crate::limits;

/// A kind of token that a client may get. The scope of a request chooses among several.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllowedToken {
    /// The profile of the issuer.
    pub profile: String,
    /// The scopes (RFC 6749, section 3.3) that a token may have.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The audiences that a token may have. The first is the default. Without any: those of the profile.
    #[serde(default)]
    pub audiences: Vec<String>,
}

/// A grant of the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grant {
    /// A client gets a token for itself (RFC 6749, section 4.4).
    ClientCredentials,
    /// A client exchanges a token (RFC 8693).
    TokenExchange,
    /// A client presents an assertion of an outside issuer (RFC 7523).
    JwtBearer,
}

impl Grant {
    pub(crate) const ALL: [Grant; 3] = [
        Grant::ClientCredentials,
        Grant::TokenExchange,
        Grant::JwtBearer,
    ];

    /// The value of `grant_type`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Grant::ClientCredentials => "client_credentials",
            Grant::TokenExchange => "urn:ietf:params:oauth:grant-type:token-exchange",
            Grant::JwtBearer => "urn:ietf:params:oauth:grant-type:jwt-bearer",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Grant> {
        Grant::ALL.into_iter().find(|grant| grant.name() == name)
    }
}

/// Whether a text is a scope token (RFC 6749, section 3.3).
pub(crate) fn is_scope(text: &str) -> bool {
    let is_allowed = |b: u8| b == b'!' || (b'#'..=b'[').contains(&b) || (b']'..=b'~').contains(&b);
    (1..=limits::SCOPE_BYTES).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// Checks one kind of token, against the settings of the issuers that the configuration has.
pub(super) fn allowed_token_problem<'i>(
    allowed: &AllowedToken,
    issuers: impl Iterator<Item = &'i IssuerSettings>,
) -> Option<String> {
    let (count, max) = (allowed.scopes.len(), limits::SCOPES);
    if count > max {
        return Some(format!("{count} scopes, maximum {max}"));
    }
    if let Some(index) = allowed.scopes.iter().position(|scope| !is_scope(scope)) {
        return Some(format!(
            "scopes[{index}]: must have 1 to {} visible ASCII characters, without `\"` and `\\`",
            limits::SCOPE_BYTES
        ));
    }
    for settings in issuers {
        let Some(profile) = settings.profile(&allowed.profile) else {
            return Some("the issuer has no such profile".to_owned());
        };
        let is_known = |audience: &String| profile.audiences.contains(audience);
        if !allowed.audiences.iter().all(is_known) {
            return Some("the profile does not have one of the audiences".to_owned());
        }
    }
    None
}

/// Checks the requests per minute.
pub(super) fn rate_problem(per_minute: Option<u32>) -> Option<String> {
    let (value, max) = (per_minute?, limits::REQUESTS_PER_MINUTE_MAX);
    let what = format!("must be between 1 and {max}, got {value}");
    (!(1..=max).contains(&value)).then_some(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scope_is_visible_ascii_without_quote_and_backslash() {
        for scope in ["read", "invoices:write", "https://id.example/a", "!", "~"] {
            assert!(is_scope(scope), "{scope}");
        }
        for scope in ["", "a b", "a\"", "a\\", "é", "\t", &"a".repeat(257)] {
            assert!(!is_scope(scope), "{scope}");
        }
    }
}
