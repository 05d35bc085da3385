//! What a token says: the registered names, and the caller's own type beside them
//! (RFC 7519, section 4).

mod buffer;
mod custom;
mod registered;
mod rfc3339;
mod deserialize;
mod write;

pub(crate) use buffer::Buffer;
pub use custom::{CustomClaims, CustomClaimsError};
pub(crate) use registered::{Dates, Registered, Scanned};
pub(crate) use deserialize::Layout;
pub(crate) use write::ClaimsPrefix;

use std::borrow::Cow;
use std::time::Duration;

use crate::clock::Timestamp;

/// The claims of a token to be issued.
///
/// `T` is the caller's own part: a struct or map that serialises to a JSON object. It stands beside
/// the registered claims and must not use their names (`iss`, `sub`, `aud`, `exp`, `nbf`, `iat`,
/// `jti`): that is an error when the token is issued.
///
/// An expiry must be chosen: [`expires_in`](Claims::expires_in),
/// [`expires_at`](Claims::expires_at) or, by name, [`without_expiry`](Claims::without_expiry).
/// `iat` is the time of issuing unless told otherwise.
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
    /// Claims with the caller's own part and, so far, no registered claim but `iat`.
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

    /// `iss`: who issues the token.
    pub fn issuer(mut self, issuer: impl Into<Cow<'a, str>>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// `sub`: whom the token is about.
    pub fn subject(mut self, subject: impl Into<Cow<'a, str>>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// `aud`: the one service the token is meant for, written as a string.
    pub fn audience(mut self, audience: impl Into<Cow<'a, str>>) -> Self {
        self.audience = Audience::One(audience.into());
        self
    }

    /// `aud`: the services the token is meant for, written as a list, also if it is only one.
    ///
    /// PASETO knows only the string; issuing a PASETO with a list is
    /// [`Misuse::AudienceList`](crate::error::Misuse::AudienceList).
    pub fn audiences<A: Into<Cow<'a, str>>>(
        mut self,
        audiences: impl IntoIterator<Item = A>,
    ) -> Self {
        self.audience = Audience::List(audiences.into_iter().map(Into::into).collect());
        self
    }

    /// `exp`: so long after the token is issued. Fractions of a second are dropped.
    pub fn expires_in(mut self, lifetime: Duration) -> Self {
        self.expiry = Expiry::In(lifetime);
        self
    }

    /// `exp`: at that moment.
    pub fn expires_at(mut self, moment: Timestamp) -> Self {
        self.expiry = Expiry::At(moment);
        self
    }

    /// No `exp`: the token is good until its key is no longer trusted.
    pub fn without_expiry(mut self) -> Self {
        self.expiry = Expiry::Never;
        self
    }

    /// `nbf`: not valid before that moment.
    pub fn not_before(mut self, moment: Timestamp) -> Self {
        self.not_before = Some(moment);
        self
    }

    /// `iat`: issued at that moment, and not now.
    pub fn issued_at(mut self, moment: Timestamp) -> Self {
        self.issued_at = IssuedAt::At(moment);
        self
    }

    /// No `iat`.
    pub fn without_issued_at(mut self) -> Self {
        self.issued_at = IssuedAt::Absent;
        self
    }

    /// `jti`: the token's own id.
    pub fn token_id(mut self, token_id: impl Into<Cow<'a, str>>) -> Self {
        self.token_id = Some(token_id.into());
        self
    }
}
