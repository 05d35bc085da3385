use std::fmt;

use super::issue::{issue_under, issue_under_onto, length_bound};
use crate::claims::{Claims, CustomClaims, JsonClaims};
use crate::clock::{Clock, SystemClock};
use crate::error::Result;
use crate::issue::{AnyClaims, Issue};
use crate::jws::header_with_type;
use crate::key::SigningKeyRef;

/// Issues JWTs of one type, for example `at+jwt` for access tokens (RFC 9068, section 2.1) or `logout+jwt`. A
/// verifier that requires one type rejects all others (RFC 8725, section 3.11).
///
/// A key without an `Issuer` issues tokens of the type `JWT`. The header is encoded once, so issuing is as
/// fast as with the key alone.
///
/// ```
/// use std::time::Duration;
/// use jeton::key::SigAlg;
/// use jeton::{Claims, Policy, jwt};
///
/// let key = jwt::SigningKey::generate(SigAlg::ES256)?;
/// let issuer = jwt::Issuer::new(&key, "at+jwt")?;
/// let claims = Claims::new(()).issuer("i").audience("a").expires_in(Duration::from_mins(5));
/// let token = issuer.issue(&claims)?;
///
/// let any = Policy::new("i", "a");
/// let access = any.clone().typ("at+jwt");
/// let verifier = |policy| jwt::Verifier::new(key.verifying_key(), policy);
/// assert!(verifier(access).verify::<serde_json::Value>(&token).is_ok());
/// assert!(verifier(any).verify::<serde_json::Value>(&token).is_err());
/// # Ok::<(), jeton::Error>(())
/// ```
pub struct Issuer<'k> {
    key: SigningKeyRef<'k>,
    typ: String,
    /// base64url.
    header: String,
}

impl<'k> Issuer<'k> {
    /// Creates an issuer for this type with a `&MacKey`, a `&SigningKey` or a `&RemoteSigner`.
    ///
    /// # Errors
    ///
    /// [`InvalidUse::Type`](crate::error::InvalidUse::Type) if the type is not a media type: 1 to 128 visible ASCII
    /// characters.
    pub fn new(key: impl Into<SigningKeyRef<'k>>, typ: impl Into<String>) -> Result<Self> {
        let (key, typ) = (key.into(), typ.into());
        let header = header_with_type(key.alg_name(), key.key_id(), &typ)?;
        Ok(Issuer { key, typ, header })
    }

    /// Issues a JWT with these claims, using the system clock.
    ///
    /// # Errors
    ///
    /// Those of [`SigningKey::issue`](crate::jwt::SigningKey::issue).
    pub fn issue<T: CustomClaims>(&self, claims: &Claims<'_, T>) -> Result<String> {
        issue_under(&self.header, self.key, claims, &SystemClock)
    }

    /// Issues a JWT with these claims, using this clock.
    ///
    /// # Errors
    ///
    /// Those of [`issue`](Issuer::issue).
    pub fn issue_with_clock<T: CustomClaims>(
        &self,
        claims: &Claims<'_, T>,
        clock: &dyn Clock,
    ) -> Result<String> {
        issue_under(&self.header, self.key, claims, clock)
    }

    /// Appends a JWT with these claims to a string, as
    /// [`MacKey::issue_onto`](crate::key::MacKey::issue_onto) does.
    ///
    /// # Errors
    ///
    /// Those of [`issue`](Issuer::issue).
    pub fn issue_onto<T: CustomClaims>(
        &self,
        claims: &Claims<'_, T>,
        token: &mut String,
    ) -> Result<()> {
        issue_under_onto(&self.header, self.key, claims, &SystemClock, token)
    }

    /// Returns an upper bound for the length of a token with these claims, bytes. The claims are not written.
    pub fn issued_length_bound(&self, claims: &Claims<'_, JsonClaims<'_>>) -> usize {
        length_bound(&self.header, self.key, claims)
    }
}

impl Issue for Issuer<'_> {
    fn issue_with_clock(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        issue_under(&self.header, self.key, claims, clock)
    }

    fn issue_onto_with_clock(
        &self,
        claims: &dyn AnyClaims,
        clock: &dyn Clock,
        token: &mut String,
    ) -> Result<()> {
        issue_under_onto(&self.header, self.key, claims, clock, token)
    }
}

impl fmt::Debug for Issuer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issuer")
            .field("key", &self.key)
            .field("typ", &self.typ)
            .finish_non_exhaustive()
    }
}
