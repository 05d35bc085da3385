//! The registered claims and the caller's custom claims (RFC 7519, section 4).

mod buffer;
mod custom;
mod deserialize;
mod registered;
mod rfc3339;
mod write;

pub(crate) use buffer::Buffer;
pub use custom::{CustomClaims, CustomClaimsError};
pub(crate) use deserialize::Layout;
pub(crate) use registered::{Dates, Registered, Scanned};
pub(crate) use write::ClaimsPrefix;

use std::borrow::Cow;
use std::time::Duration;

use crate::clock::Timestamp;

/// The claims of a token to be issued.
///
/// `T` holds the custom claims: a struct or map that serializes to a JSON object. Its members stand beside
/// the registered claims and must not use their names (`iss`, `sub`, `aud`, `exp`, `nbf`, `iat`, `jti`).
/// Otherwise issuing returns an error.
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
///     .expires_in(Duration::from_mins(15));
/// ```
#[derive(Debug, Clone)]
#[must_use = "claims do nothing until a key issues a token with them"]
pub struct Claims<'a, T> {
    issuer: Option<Cow<'a, str>>,
    subject: Option<Cow<'a, str>>,
    audience: Audience<'a>,
    expiry: Expiry,
    not_before: Option<Timestamp>,
    issued_at: IssuedAt,
    token_id: Option<Cow<'a, str>>,
    custom: T,
}

#[derive(Debug, Clone)]
enum Audience<'a> {
    None,
    One(Cow<'a, str>),
    List(Vec<Cow<'a, str>>),
}

#[derive(Debug, Clone, Copy)]
enum Expiry {
    NotChosen,
    In(Duration),
    At(Timestamp),
    Never,
}

#[derive(Debug, Clone, Copy)]
enum IssuedAt {
    Now,
    At(Timestamp),
    Absent,
}

impl<'a, T> Claims<'a, T> {
    /// Creates claims with these custom claims. The only registered claim is `iat`.
    pub fn new(custom: T) -> Self {
        Claims {
            issuer: None,
            subject: None,
            audience: Audience::None,
            expiry: Expiry::NotChosen,
            not_before: None,
            issued_at: IssuedAt::Now,
            token_id: None,
            custom,
        }
    }

    /// Sets `iss`: the issuer of the token.
    pub fn issuer(mut self, issuer: impl Into<Cow<'a, str>>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Sets `sub`: the subject of the token.
    pub fn subject(mut self, subject: impl Into<Cow<'a, str>>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// Sets `aud` to a single audience, written as a string.
    pub fn audience(mut self, audience: impl Into<Cow<'a, str>>) -> Self {
        self.audience = Audience::One(audience.into());
        self
    }

    /// Sets `aud` to a list of audiences. A list of one is written as a list too.
    ///
    /// In a PASETO, `aud` is a single string. Issuing a PASETO with a list returns
    /// [`Misuse::AudienceList`](crate::error::Misuse::AudienceList).
    pub fn audiences<A: Into<Cow<'a, str>>>(
        mut self,
        audiences: impl IntoIterator<Item = A>,
    ) -> Self {
        self.audience = Audience::List(audiences.into_iter().map(Into::into).collect());
        self
    }

    /// Sets `exp` to this duration after the time of issuing. Fractions of a second are dropped.
    pub fn expires_in(mut self, lifetime: Duration) -> Self {
        self.expiry = Expiry::In(lifetime);
        self
    }

    /// Sets `exp` to this time.
    pub fn expires_at(mut self, moment: Timestamp) -> Self {
        self.expiry = Expiry::At(moment);
        self
    }

    /// Omits `exp`: the token is valid until its key is no longer trusted.
    pub fn without_expiry(mut self) -> Self {
        self.expiry = Expiry::Never;
        self
    }

    /// Sets `nbf`: the token is not valid before this time.
    pub fn not_before(mut self, moment: Timestamp) -> Self {
        self.not_before = Some(moment);
        self
    }

    /// Sets `iat` to this time instead of the current time.
    pub fn issued_at(mut self, moment: Timestamp) -> Self {
        self.issued_at = IssuedAt::At(moment);
        self
    }

    /// Omits `iat`.
    pub fn without_issued_at(mut self) -> Self {
        self.issued_at = IssuedAt::Absent;
        self
    }

    /// Sets `jti`: the id of the token.
    pub fn token_id(mut self, token_id: impl Into<Cow<'a, str>>) -> Self {
        self.token_id = Some(token_id.into());
        self
    }
}
