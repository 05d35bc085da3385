//! The registered claims and the caller's custom claims (RFC 7519, section 4): a type, a type that also has the
//! registered claims, or JSON text.

mod buffer;
mod builder;
mod custom;
mod deserialize;
mod embedded;
mod json;
mod members;
mod object;
mod registered;
mod registered_name;
#[cfg(feature = "paseto")]
mod rfc3339;
mod with_registered;
mod write;

pub(crate) use buffer::Buffer;
pub use custom::CustomClaims;
pub(crate) use deserialize::{Layout, find_member};
pub use json::{JsonClaims, read_json_claims};
pub(crate) use registered::{Dates, Registered, Scanned};
pub use with_registered::WithRegistered;
pub(crate) use write::{ClaimsPrefix, IssuerClaims, OwnRegistered, write_own_with};

use std::borrow::Cow;
use std::time::Duration;

use crate::clock::Timestamp;
use builder::{Audience, BuilderClaims, Expiry, IssuedAt};

/// The claims of a token to be issued.
///
/// `T` holds the custom claims: a struct or map that serializes to a JSON object. Its members stand beside
/// the registered claims and must not use their names (`iss`, `sub`, `aud`, `exp`, `nbf`, `iat`, `jti`).
/// Otherwise issuing returns an error. A type that has registered claims as fields is wrapped in
/// [`WithRegistered`], and [`Claims::from_json`] reads claims from JSON text.
///
/// The caller must choose an expiry: [`expires_in`](Claims::expires_in),
/// [`expires_at`](Claims::expires_at) or [`without_expiry`](Claims::without_expiry). `iat` is the time of
/// issuing by default.
///
/// ```
/// use std::time::Duration;
/// use jeton::Claims;
///
/// #[derive(serde::Serialize)]
/// struct Visit { page: String }
///
/// let claims = Claims::new(Visit { page: "/".into() })
///     .issuer("https://id.example")
///     .subject("user-7")
///     .audience("api")
///     .expires_in(Duration::from_secs(900));
/// ```
#[derive(Debug, Clone)]
#[must_use = "claims do nothing until a key issues a token with them"]
pub struct Claims<'a, T> {
    registered: BuilderClaims<'a>,
    custom: T,
}

impl Claims<'_, ()> {
    /// Creates claims without custom claims. The only registered claim is `iat`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use jeton::Claims;
    ///
    /// let claims = Claims::registered()
    ///     .issuer("https://id.example")
    ///     .subject("user-7")
    ///     .expires_in(Duration::from_secs(300));
    /// ```
    pub fn registered() -> Self {
        Claims::new(())
    }
}

impl<'a, T> Claims<'a, T> {
    /// Creates claims with these custom claims. The only registered claim is `iat`.
    pub fn new(custom: T) -> Self {
        Claims {
            registered: BuilderClaims::new(),
            custom,
        }
    }

    /// Returns the custom claims.
    pub fn custom(&self) -> &T {
        &self.custom
    }

    /// Sets `iss`: the issuer of the token.
    pub fn issuer(mut self, issuer: impl Into<Cow<'a, str>>) -> Self {
        self.registered.issuer = Some(issuer.into());
        self
    }

    /// Sets `sub`: the subject of the token.
    pub fn subject(mut self, subject: impl Into<Cow<'a, str>>) -> Self {
        self.registered.subject = Some(subject.into());
        self
    }

    /// Sets `aud` to a single audience, written as a string.
    pub fn audience(mut self, audience: impl Into<Cow<'a, str>>) -> Self {
        self.registered.audience = Audience::One(audience.into());
        self
    }

    /// Sets `aud` to a list of audiences. A list of one is written as a list too.
    ///
    /// In a PASETO, `aud` is a single string. Issuing a PASETO with a list returns
    /// [`InvalidUse::AudienceList`](crate::error::InvalidUse::AudienceList).
    pub fn audiences<A: Into<Cow<'a, str>>>(
        mut self,
        audiences: impl IntoIterator<Item = A>,
    ) -> Self {
        self.registered.audience = Audience::List(audiences.into_iter().map(Into::into).collect());
        self
    }

    /// Sets `exp` to this duration after `iat`. Fractions of a second are dropped.
    ///
    /// If [`issued_at`](Claims::issued_at) or [`issued_ago`](Claims::issued_ago) sets `iat`, it counts from that time.
    /// Otherwise it counts from the time of issuing.
    pub fn expires_in(mut self, lifetime: Duration) -> Self {
        self.registered.expiry = Expiry::In(lifetime);
        self
    }

    /// Sets `exp` to this time. A fraction of a second is dropped.
    pub fn expires_at(mut self, moment: Timestamp) -> Self {
        self.registered.expiry = Expiry::At(moment);
        self
    }

    /// Omits `exp`: the token is valid until its key is no longer trusted.
    pub fn without_expiry(mut self) -> Self {
        self.registered.expiry = Expiry::Never;
        self
    }

    /// Sets `nbf`: the token is not valid before this time. A fraction of a second is dropped.
    pub fn not_before(mut self, moment: Timestamp) -> Self {
        self.registered.not_before = Some(moment);
        self
    }

    /// Sets `iat` to this time instead of the current time. A fraction of a second is dropped.
    pub fn issued_at(mut self, moment: Timestamp) -> Self {
        self.registered.issued_at = IssuedAt::At(moment);
        self
    }

    /// Sets `iat` to this duration before the time of issuing, for a verifier whose clock may be behind.
    /// Fractions of a second are dropped.
    ///
    /// [`expires_in`](Claims::expires_in) counts from this `iat`. So the time between the two claims is the lifetime,
    /// which some verifiers limit. GitHub accepts 10 minutes for the tokens of an app:
    ///
    /// ```
    /// use std::time::Duration;
    /// use jeton::Claims;
    ///
    /// let claims = Claims::registered()
    ///     .issuer("12345")
    ///     .issued_ago(Duration::from_secs(60))
    ///     .expires_in(Duration::from_secs(600));
    /// ```
    pub fn issued_ago(mut self, duration: Duration) -> Self {
        self.registered.issued_at = IssuedAt::Ago(duration);
        self
    }

    /// Omits `iat`.
    pub fn without_issued_at(mut self) -> Self {
        self.registered.issued_at = IssuedAt::Absent;
        self
    }

    /// Sets `jti`: the id of the token.
    pub fn token_id(mut self, token_id: impl Into<Cow<'a, str>>) -> Self {
        self.registered.token_id = Some(token_id.into());
        self
    }
}
