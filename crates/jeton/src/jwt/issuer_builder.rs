use std::borrow::Cow;
use std::time::Duration;

use serde::Serialize;

use super::{IssuerKey, JwtIssuer};
use crate::claims::{Claims, IssuerClaims};
use crate::error::{InvalidUse, Result};
use crate::jws::{HeaderMembers, header_with_type, with_members};
use crate::policy::same_type;

/// The type of access tokens (RFC 9068, section 2.1).
pub(crate) const ACCESS_TOKEN_TYPE: &str = "at+jwt";

/// The settings of a [`JwtIssuer`]. [`JwtIssuer::builder`] creates it.
///
/// What is set here holds for all tokens of the issuer, and no token can set it again.
#[derive(Debug, Clone)]
#[must_use = "settings do nothing until build is called"]
pub struct IssuerBuilder {
    pub(super) key: IssuerKey,
    claims: Claims<'static, ()>,
    typ: Option<Cow<'static, str>>,
    header: HeaderMembers,
    is_for_access_tokens: bool,
}

impl JwtIssuer {
    /// Starts to set up an issuer with this key: a [`MacKey`](crate::key::MacKey), a [`SigningKey`](crate::key::SigningKey) or a
    /// [`RemoteSigner`](crate::remote::RemoteSigner), or an `Arc` of one.
    pub fn builder(key: impl Into<IssuerKey>) -> IssuerBuilder {
        IssuerBuilder::new(key.into())
    }
}

impl IssuerBuilder {
    fn new(key: IssuerKey) -> IssuerBuilder {
        IssuerBuilder {
            key,
            claims: Claims::registered(),
            typ: None,
            header: HeaderMembers::default(),
            is_for_access_tokens: false,
        }
    }

    /// Sets `iss` of all tokens.
    pub fn issuer(mut self, issuer: impl Into<Cow<'static, str>>) -> Self {
        self.claims = self.claims.issuer(issuer);
        self
    }

    /// Sets `aud` of all tokens to a single audience, written as a string.
    pub fn audience(mut self, audience: impl Into<Cow<'static, str>>) -> Self {
        self.claims = self.claims.audience(audience);
        self
    }

    /// Sets `aud` of all tokens to a list of audiences.
    pub fn audiences<A: Into<Cow<'static, str>>>(
        mut self,
        audiences: impl IntoIterator<Item = A>,
    ) -> Self {
        self.claims = self.claims.audiences(audiences);
        self
    }

    /// Sets the lifetime of all tokens: `exp` is this duration after `iat`. Fractions of a second are dropped.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.claims = self.claims.expires_in(lifetime);
        self
    }

    /// Omits `exp` in all tokens: they are valid until the key is no longer trusted.
    pub fn without_expiry(mut self) -> Self {
        self.claims = self.claims.without_expiry();
        self
    }

    /// Sets `iat` of all tokens to this duration before the time of issuing, as
    /// [`Claims::issued_ago`](crate::Claims::issued_ago) does for one.
    pub fn issued_ago(mut self, duration: Duration) -> Self {
        self.claims = self.claims.issued_ago(duration);
        self
    }

    /// Sets `typ` of all tokens, for example `at+jwt` (RFC 9068) or `logout+jwt`. Default: `JWT`. A verifier that
    /// requires one type rejects all others (RFC 8725, section 3.11).
    pub fn typ(mut self, typ: impl Into<Cow<'static, str>>) -> Self {
        self.typ = Some(typ.into());
        self
    }

    /// Adds a member to the header of all tokens, as [`JwsSigner::header`](crate::jws::JwsSigner::header) does. Microsoft
    /// Entra requires `x5t` of a client. [`JwtIssuer::with_header`] adds one for some of the tokens.
    ///
    /// ```
    /// use jeton::{jwt::JwtIssuer, key::{SigAlg, SigningKey}};
    ///
    /// let builder = || Ok::<_, jeton::Error>(JwtIssuer::builder(SigningKey::generate(SigAlg::ES256)?));
    /// assert!(builder()?.header("x5t", "dGhlIHRodW1icHJpbnQh").build().is_ok());
    /// assert!(builder()?.header("alg", "none").build().is_err());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn header(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        self.header.add(name.into(), &value);
        self
    }

    /// Issues access tokens (RFC 9068): `typ` is `at+jwt`, and each token must have all claims of section 2.2.
    ///
    /// These are `iss`, `exp`, `aud`, `sub`, `iat`, `jti` and `client_id`, a string. If one is missing, issuing
    /// returns [`InvalidUse::AccessTokenClaim`](crate::error::InvalidUse::AccessTokenClaim). To check this, the
    /// written claims are read once.
    ///
    /// ```
    /// use std::time::Duration;
    /// use jeton::{Claims, jwt::JwtIssuer, key::{SigAlg, SigningKey}};
    ///
    /// #[derive(serde::Serialize)]
    /// struct Access { client_id: &'static str, scope: &'static str }
    ///
    /// let key = SigningKey::generate(SigAlg::ES256)?;
    /// let issuer = JwtIssuer::builder(key)
    ///     .access_tokens()
    ///     .issuer("https://id.example")
    ///     .audience("api")
    ///     .lifetime(Duration::from_secs(300))
    ///     .build()?;
    /// let claims = Claims::new(Access { client_id: "web", scope: "read" }).subject("user-7");
    /// assert!(issuer.issue(&claims).is_err()); // no `jti`
    /// assert!(issuer.issue(&claims.token_id("1")).is_ok());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn access_tokens(mut self) -> Self {
        self.is_for_access_tokens = true;
        self.typ(ACCESS_TOKEN_TYPE)
    }

    /// Creates the issuer.
    ///
    /// # Errors
    ///
    /// [`InvalidUse::Type`](crate::error::InvalidUse::Type) if the type is not a media type: 1 to 128 visible ASCII
    /// characters. [`InvalidUse::AccessTokenType`](crate::error::InvalidUse::AccessTokenType) if
    /// [`typ`](Self::typ) changed the type of [`access_tokens`](Self::access_tokens). Those of [`header`](Self::header).
    pub fn build(self) -> Result<JwtIssuer> {
        let is_of_access_token = |typ: &str| same_type(typ, ACCESS_TOKEN_TYPE);
        if self.is_for_access_tokens && !self.typ.as_deref().is_some_and(is_of_access_token) {
            return Err(InvalidUse::AccessTokenType.into());
        }
        let key = self.key.by_ref();
        let header = match &self.typ {
            Some(typ) => header_with_type(key.alg_name(), key.key_id(), typ)?,
            None => key.headers().jwt().to_owned(),
        };
        Ok(JwtIssuer {
            key: self.key,
            header: with_members(&header, &self.header)?.into(),
            claims: IssuerClaims::new(self.claims).into(),
            is_for_access_tokens: self.is_for_access_tokens,
        })
    }
}
