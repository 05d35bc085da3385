use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::UnverifiedJwt;
use crate::base64;
use crate::claims::{Dates, Layout, Scanned};
use crate::clock::{Clock, SystemClock};
use crate::error::{Part, Rejection, Result};
use crate::jws::{Compact, Extensions};
use crate::key::{KeyId, Keys, VerificationKey};
use crate::policy::Policy;
use crate::token_limits::Limits;
use crate::verified::{Header, RawClaims, Scratch, Verified, VerifiedIn};
use crate::verify::Verify;

/// Verifies JWTs: the signature first, then the claims.
///
/// Create it once and use it for all tokens, from any thread.
///
/// ```
/// use std::time::Duration;
/// use jeton::error::Rejection;
/// use jeton::key::{MacAlg, MacKey};
/// use jeton::{Claims, FixedClock, Policy, Timestamp, jwt::JwtVerifier};
///
/// let key = MacKey::generate(MacAlg::HS256)?;
/// let claims = Claims::new(()).issuer("i").audience("a").expires_in(Duration::from_secs(60));
/// let token = key.issue(&claims)?;
///
/// let verifier = JwtVerifier::new(&key, Policy::new("i", "a"));
/// let verified = verifier.verify::<serde::de::IgnoredAny>(&token)?;
/// assert_eq!(verified.issuer(), Some("i"));
///
/// let later = FixedClock(Timestamp::now().saturating_add(Duration::from_secs(120)));
/// let later = JwtVerifier::new(&key, Policy::new("i", "a")).clock(later);
/// let error = later.verify::<serde::de::IgnoredAny>(&token).unwrap_err();
/// assert_eq!(error.rejection(), Some(&Rejection::Expired));
/// # Ok::<(), jeton::Error>(())
/// ```
pub struct JwtVerifier {
    trust: Trust,
    limits: Limits,
    clock: Box<dyn Clock>,
}

/// The keys of an issuer, and what its tokens must be.
#[derive(Debug)]
pub(super) struct Trust {
    keys: Keys,
    pub(super) policy: Policy,
}

impl JwtVerifier {
    /// Creates a verifier with these keys (one key, or a key set) and this policy.
    pub fn new(keys: impl Into<Keys>, policy: Policy) -> JwtVerifier {
        JwtVerifier {
            trust: Trust::new(keys.into(), policy),
            limits: Limits::default(),
            clock: Box::new(SystemClock),
        }
    }

    /// Sets the size limits.
    pub fn limits(mut self, limits: Limits) -> JwtVerifier {
        self.limits = limits;
        self
    }

    /// Sets the clock.
    pub fn clock(mut self, clock: impl Clock + 'static) -> JwtVerifier {
        self.clock = Box::new(clock);
        self
    }

    /// Verifies a token and returns its claims.
    ///
    /// The payload needs one allocation, plus those of `T`.
    pub fn verify<T: DeserializeOwned>(&self, token: &str) -> Result<Verified<T>> {
        self.accept(token, |layout, payload| layout.read(payload))
    }

    /// Verifies a token without allocating: the payload is written to `scratch`, and `T` may borrow from it.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use jeton::{Claims, Policy, Scratch, jwt::JwtVerifier, key::{MacAlg, MacKey}};
    /// #[derive(serde::Serialize, serde::Deserialize)]
    /// struct Visit<'a> { page: &'a str }
    ///
    /// let key = MacKey::generate(MacAlg::HS256)?;
    /// # let claims = Claims::new(Visit { page: "/" }).issuer("i").audience("a").expires_in(Duration::from_secs(60));
    /// # let token = key.issue(&claims)?;
    /// let verifier = JwtVerifier::new(&key, Policy::new("i", "a"));
    /// let mut scratch = Scratch::new();
    /// let visit = verifier.verify_in::<Visit>(&token, &mut scratch)?;
    /// assert_eq!(visit.claims().page, "/");
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn verify_in<'s, T: Deserialize<'s>>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
    ) -> Result<VerifiedIn<'s, T>> {
        self.accept_in(token, scratch, |layout, payload| layout.read(payload))
    }

    /// `deserialize` reads the custom claims of the verified payload.
    #[inline]
    fn accept<T>(
        &self,
        token: &str,
        deserialize: impl FnOnce(&Layout, &str) -> Result<T, Rejection>,
    ) -> Result<Verified<T>> {
        let mut payload = Vec::new();
        let (key, header) = self.trust.open(token, &self.limits, &mut payload)?;
        let payload = String::from_utf8(payload)
            .map_err(|_| Rejection::Malformed(Part::Payload))?
            .into_boxed_str();
        let mut claims = Scanned::default();
        self.read(&payload, &mut claims)?;
        let custom = deserialize(&claims.layout, &payload)?;
        Ok(Verified::new(
            custom,
            claims.registered,
            payload,
            shared_id(key),
            header,
        ))
    }

    /// The same with the payload in a buffer of the caller.
    #[inline]
    fn accept_in<'s, T>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
        deserialize: impl FnOnce(&Layout, &'s str) -> Result<T, Rejection>,
    ) -> Result<VerifiedIn<'s, T>> {
        scratch.payload.clear();
        let (key, header) = (self.trust).open(token, &self.limits, &mut scratch.payload)?;
        let payload = std::str::from_utf8(&scratch.payload)
            .map_err(|_| Rejection::Malformed(Part::Payload))?;
        let mut claims = Scanned::default();
        self.read(payload, &mut claims)?;
        let custom = deserialize(&claims.layout, payload)?;
        Ok(Verified::new(
            custom,
            claims.registered,
            payload,
            shared_id(key),
            header,
        ))
    }

    fn read(&self, payload: &str, claims: &mut Scanned) -> Result<(), Rejection> {
        let clock = self.clock.as_ref();
        (self.trust.policy).accept(payload, Dates::Numeric, &self.limits, clock, claims)
    }
}

impl Trust {
    pub(super) fn new(keys: Keys, policy: Policy) -> Trust {
        Trust { keys, policy }
    }

    /// Checks the signature and the header, and only then decodes the payload.
    fn open(
        &self,
        token: &str,
        limits: &Limits,
        payload: &mut Vec<u8>,
    ) -> Result<(&VerificationKey, Header), Rejection> {
        let compact = Compact::split(token, limits)?;
        let (key, encoded, header) = self.verify_signature(compact, limits)?;
        base64::decode_onto(encoded.as_bytes(), payload)
            .map_err(|_| Rejection::Malformed(Part::Payload))?;
        Ok((key, header))
    }

    /// Checks the signature and the header. Returns the payload, base64url.
    #[inline(always)]
    fn verify_signature<'t>(
        &self,
        compact: Compact<'t>,
        limits: &Limits,
    ) -> Result<(&VerificationKey, &'t str, Header), Rejection> {
        let mut header = None;
        let verified = compact.verify(&self.keys, limits, Extensions::None, &mut header)?;
        let header = Header {
            alg: verified.key.alg_name(),
            kid: verified.kid,
            typ: self.policy.accept_typ(verified.typ.as_deref())?,
        };
        Ok((verified.key, verified.payload, header))
    }

    /// Verifies a token whose claims were read before.
    pub(super) fn verify_read<Text: AsRef<str>>(
        &self,
        token: UnverifiedJwt<'_, Text>,
        limits: &Limits,
        clock: &dyn Clock,
    ) -> Result<Verified<RawClaims, Text>, Rejection> {
        let (key, _, header) = self.verify_signature(token.compact, limits)?;
        let UnverifiedJwt {
            payload, claims, ..
        } = token;
        self.policy
            .check_scanned(&claims, payload.as_ref(), clock)?;
        Ok(Verified::raw(claims, payload, shared_id(key), header))
    }
}

/// Verifies a token whose claims were read before, within the limits of this verifier.
///
/// # Errors
///
/// Those of [`JwtVerifier::verify`].
pub fn verify_read(
    verifier: &JwtVerifier,
    token: UnverifiedJwt<'_>,
) -> Result<Verified<RawClaims>> {
    let clock = verifier.clock.as_ref();
    Ok(verifier.trust.verify_read(token, &verifier.limits, clock)?)
}

impl Verify for JwtVerifier {
    #[inline]
    fn verify_raw(&self, token: &str) -> Result<Verified<RawClaims>> {
        self.accept(token, |layout, _| Ok(RawClaims::new(layout.clone())))
    }

    #[inline]
    fn verify_raw_in<'s>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
    ) -> Result<VerifiedIn<'s, RawClaims>> {
        self.accept_in(token, scratch, |layout, _| {
            Ok(RawClaims::new(layout.clone()))
        })
    }

    fn recheck(&self, verified: &Verified<RawClaims>) -> Result<()> {
        Ok(self.trust.policy.recheck(verified, self.clock.as_ref())?)
    }
}

fn shared_id(key: &VerificationKey) -> Option<std::sync::Arc<str>> {
    key.id().map(KeyId::shared)
}

impl fmt::Debug for JwtVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwtVerifier")
            .field("keys", &self.trust.keys)
            .field("policy", &self.trust.policy)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
