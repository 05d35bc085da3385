use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::{BatchIssuer, IssuerKey};
use crate::claims::{
    Buffer, Claims, CustomClaims, Dates, IssuerClaims, JsonClaims, write_own_with,
};
use crate::clock::{Clock, SystemClock};
use crate::error::{InvalidUse, Result};
use crate::issue::{AnyClaims, Issue, WriteClaims};
use crate::json::{self, Kind, ScanError};
use crate::jws::{HeaderMembers, assemble_onto, compact_length, with_members};

/// Issues JWTs with one key. Issuer, audience, lifetime and type are set once, for all tokens.
///
/// It owns the key, so the state of an application can hold it. Clones share the key and the settings. The header
/// is encoded once.
///
/// A token adds its custom claims, and what the issuer does not set:
///
/// ```
/// use std::time::Duration;
/// use jeton::key::{SigAlg, SigningKey};
/// use jeton::{Claims, Policy, jwt::{JwtIssuer, JwtVerifier}};
///
/// #[derive(serde::Serialize)]
/// struct Visit { page: &'static str }
///
/// let key = SigningKey::generate(SigAlg::ES256)?;
/// let public = key.verifying_key();
/// let issuer = JwtIssuer::builder(key)
///     .issuer("https://id.example")
///     .audience("api")
///     .lifetime(Duration::from_secs(15 * 60))
///     .typ("at+jwt")
///     .build()?;
///
/// let visit = issuer.issue(&Visit { page: "/" })?;
/// let of_user = issuer.issue(&Claims::new(Visit { page: "/" }).subject("user-7"))?;
/// assert!(issuer.issue(&Claims::registered().audience("another")).is_err());
///
/// let policy = Policy::new("https://id.example", "api").typ("at+jwt");
/// let verifier = JwtVerifier::new(public, policy);
/// assert!(verifier.verify::<serde_json::Value>(&visit)?.subject().is_none());
/// assert_eq!(verifier.verify::<serde_json::Value>(&of_user)?.subject(), Some("user-7"));
/// # Ok::<(), jeton::Error>(())
/// ```
///
/// A key issues tokens too, with all claims in each call ([`SigningKey::issue`](crate::key::SigningKey::issue)). To issue
/// many tokens at one moment, use [`batch`](JwtIssuer::batch).
#[derive(Clone)]
pub struct JwtIssuer {
    pub(super) key: IssuerKey,
    /// base64url.
    pub(super) header: Arc<str>,
    pub(super) claims: Arc<IssuerClaims>,
    pub(super) is_for_access_tokens: bool,
}

impl JwtIssuer {
    /// Returns an issuer with the same key and settings, whose tokens have one more header member. The header is encoded
    /// again, and nothing else is copied, so this may be called for each token.
    ///
    /// # Errors
    ///
    /// Those of [`JwsSigner::header`](crate::jws::JwsSigner::header).
    ///
    /// ```
    /// use std::time::Duration;
    /// use jeton::{Claims, jwt::JwtIssuer, key::{SigAlg, SigningKey}};
    ///
    /// let issuer = JwtIssuer::builder(SigningKey::generate(SigAlg::ES256)?)
    ///     .lifetime(Duration::from_secs(300))
    ///     .build()?;
    /// let token = issuer.with_header("nonce", "8IBTHwOdqNKAWeKl7plt8g")?.issue(&Claims::registered())?;
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn with_header(&self, name: impl Into<String>, value: impl Serialize) -> Result<JwtIssuer> {
        let mut member = HeaderMembers::default();
        member.add(name.into(), &value);
        let header = with_members(&self.header, &member)?;
        Ok(JwtIssuer {
            header: header.into(),
            ..self.clone()
        })
    }

    /// Issues a JWT, using the system clock. Pass custom claims, or [`Claims`] to add registered claims.
    ///
    /// # Errors
    ///
    /// - [`InvalidUse::SetForAll`] if the token sets a claim that the issuer sets, in [`Claims`] or in the custom claims.
    /// - [`InvalidUse::ExpiryNotChosen`] if neither sets an expiry.
    /// - Those of [`SigningKey::issue`](crate::key::SigningKey::issue).
    pub fn issue<C: IssuerContent>(&self, claims: &C) -> Result<String> {
        self.issue_with_clock(claims, &SystemClock)
    }

    /// Issues a JWT, using this clock.
    ///
    /// # Errors
    ///
    /// Those of [`issue`](JwtIssuer::issue).
    pub fn issue_with_clock<C: IssuerContent>(
        &self,
        claims: &C,
        clock: &dyn Clock,
    ) -> Result<String> {
        let mut token = String::new();
        self.sign_onto(&mut token, |buffer| {
            claims.write_content(&self.claims, buffer, clock)
        })?;
        Ok(token)
    }

    /// Appends a JWT to a string, as [`MacKey::issue_onto`](crate::key::MacKey::issue_onto) does.
    ///
    /// # Errors
    ///
    /// Those of [`issue`](JwtIssuer::issue).
    pub fn issue_onto<C: IssuerContent>(&self, claims: &C, token: &mut String) -> Result<()> {
        self.sign_onto(token, |buffer| {
            claims.write_content(&self.claims, buffer, &SystemClock)
        })
    }

    /// Returns an upper bound for the length of a token with these claims, bytes. The claims are not written.
    pub fn issued_length_bound(&self, claims: &Claims<'_, JsonClaims<'_>>) -> usize {
        let payload_bytes = self.claims.length_bound(claims, Dates::Numeric);
        let signature_bytes = self.key.by_ref().signature_bytes();
        compact_length(&self.header, payload_bytes, signature_bytes)
    }

    /// Starts a batch of tokens that are all issued now: what they share is written, encoded and, with a
    /// [`MacKey`](crate::key::MacKey), hashed once.
    ///
    /// # Errors
    ///
    /// Those of [`BatchIssuer::new`]. A batch is not available for
    /// [`access_tokens`](super::IssuerBuilder::access_tokens).
    ///
    /// ```
    /// # use std::time::Duration;
    /// use jeton::jwt::{JwtIssuer, TokenClaims};
    /// use jeton::key::{MacAlg, MacKey};
    ///
    /// let issuer = JwtIssuer::builder(MacKey::generate(MacAlg::HS256)?)
    ///     .issuer("https://id.example")
    ///     .lifetime(Duration::from_secs(300))
    ///     .build()?;
    /// let batch = issuer.batch()?;
    /// for name in ["alice", "bob"] {
    ///     let token = batch.issue(&TokenClaims::new(()).subject(name))?;
    /// }
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn batch(&self) -> Result<BatchIssuer<'_>> {
        self.batch_with_clock(&SystemClock)
    }

    /// Starts a batch of tokens that are all issued at the time of this clock.
    ///
    /// # Errors
    ///
    /// Those of [`batch`](JwtIssuer::batch).
    pub fn batch_with_clock(&self, clock: &dyn Clock) -> Result<BatchIssuer<'_>> {
        if self.is_for_access_tokens {
            // Each token would have to be read again to check its claims.
            return Err(InvalidUse::AccessTokenClaim("client_id").into());
        }
        let shared = self.claims.to_claims();
        BatchIssuer::with_header(self.key.by_ref(), &self.header, &shared, clock)
    }

    fn sign_onto(
        &self,
        token: &mut String,
        write: impl FnOnce(&mut Buffer) -> Result<()>,
    ) -> Result<()> {
        let mut payload = Buffer::new();
        write(&mut payload)?;
        if self.is_for_access_tokens {
            check_access_token(&payload)?;
        }
        assemble_onto(self.key.by_ref(), &self.header, &payload, token)
    }
}

/// Checks that the claims of an access token are complete. The types of the registered claims were checked when
/// they were written.
pub(crate) fn check_access_token(payload: &[u8]) -> Result<()> {
    // RFC 9068, section 2.2.
    const REQUIRED: [&str; 7] = ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"];
    let mut is_present = [false; REQUIRED.len()];
    let text = json::text(payload).map_err(|_| InvalidUse::ClaimsNotSerializable)?;
    json::read_object(text, json::DEPTH_MAX, |name, value| {
        let required = REQUIRED.iter().position(|required| name == **required);
        if let Some(index) = required {
            // `client_id` is a string (RFC 8693, section 4.3).
            is_present[index] = REQUIRED[index] != "client_id" || value.kind() == Kind::String;
        }
        Ok::<_, ScanError>(())
    })
    .map_err(|_| InvalidUse::ClaimsNotSerializable)?;
    match is_present.iter().position(|is_present| !is_present) {
        Some(missing) => Err(InvalidUse::AccessTokenClaim(REQUIRED[missing]).into()),
        None => Ok(()),
    }
}

impl Issue for JwtIssuer {
    fn issue_with_clock(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        let mut token = String::new();
        Issue::issue_onto_with_clock(self, claims, clock, &mut token)?;
        Ok(token)
    }

    fn issue_onto_with_clock(
        &self,
        claims: &dyn AnyClaims,
        clock: &dyn Clock,
        token: &mut String,
    ) -> Result<()> {
        self.sign_onto(token, |buffer| {
            claims.write_into_with(&self.claims, buffer, Dates::Numeric, clock)
        })
    }
}

/// What a [`JwtIssuer`] issues a token with: custom claims, or [`Claims`].
///
/// ```
/// use jeton::jwt::{JwtIssuer, IssuerContent};
///
/// fn issue_all<C: IssuerContent>(issuer: &JwtIssuer, all: &[C]) -> jeton::Result<Vec<String>> {
///     all.iter().map(|claims| issuer.issue(claims)).collect()
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the claims of a token",
    note = "pass `Claims`, or a type that implements `serde::Serialize`"
)]
pub trait IssuerContent: sealed::Content {}

impl<T: CustomClaims> IssuerContent for T {}

impl<T: CustomClaims> IssuerContent for Claims<'_, T> {}

mod sealed {
    use super::{Buffer, Clock, IssuerClaims, Result};

    pub trait Content {
        #[doc(hidden)]
        fn write_content(
            &self,
            issuer: &IssuerClaims,
            buffer: &mut Buffer,
            clock: &dyn Clock,
        ) -> Result<()>;
    }
}

impl<T: CustomClaims> sealed::Content for T {
    #[inline]
    fn write_content(
        &self,
        issuer: &IssuerClaims,
        buffer: &mut Buffer,
        clock: &dyn Clock,
    ) -> Result<()> {
        write_own_with(self, issuer, buffer, Dates::Numeric, clock)
    }
}

impl<T: CustomClaims> sealed::Content for Claims<'_, T> {
    #[inline]
    fn write_content(
        &self,
        issuer: &IssuerClaims,
        buffer: &mut Buffer,
        clock: &dyn Clock,
    ) -> Result<()> {
        self.write_into_with(issuer, buffer, Dates::Numeric, clock)
    }
}

impl fmt::Debug for JwtIssuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwtIssuer")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
