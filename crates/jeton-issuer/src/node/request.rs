//! A request to issue a token, and the result.

use jeton::Timestamp;

use crate::custom_claims::CustomClaims;

/// A request to issue a token.
#[derive(Debug, Clone)]
pub struct Request<'r> {
    pub(super) profile: &'r str,
    pub(super) subject: Option<&'r str>,
    pub(super) audience: Option<&'r str>,
    pub(super) claims: CustomClaims<'r>,
    pub(super) expires_no_later_than: Option<Timestamp>,
}

impl<'r> Request<'r> {
    /// Creates a request for a token of that profile.
    pub fn new(profile: &'r str) -> Request<'r> {
        Request {
            profile,
            subject: None,
            audience: None,
            claims: CustomClaims::default(),
            expires_no_later_than: None,
        }
    }

    /// Sets `sub`.
    #[must_use]
    pub fn subject(mut self, subject: &'r str) -> Request<'r> {
        self.subject = Some(subject);
        self
    }

    /// Sets `aud`, one of the profile's audiences. Default: the first.
    #[must_use]
    pub fn audience(mut self, audience: &'r str) -> Request<'r> {
        self.audience = Some(audience);
        self
    }

    /// Limits `exp`. The profile's lifetime is the other limit.
    #[must_use]
    pub fn expires_no_later_than(mut self, latest: Timestamp) -> Request<'r> {
        self.expires_no_later_than = Some(latest);
        self
    }

    /// Sets custom claims.
    #[must_use]
    pub fn claims(mut self, claims: CustomClaims<'r>) -> Request<'r> {
        self.claims = claims;
        self
    }
}

/// An issued token.
#[derive(Clone, PartialEq, Eq)]
pub struct Issued {
    /// The token.
    pub token: String,
    /// Its `jti`, by which it can be revoked.
    pub token_id: String,
    /// Its `exp`, seconds since 1970.
    pub expires_at: i64,
}

impl std::fmt::Debug for Issued {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Issued")
            .field("token_id", &self.token_id)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}
