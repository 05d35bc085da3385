use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::UnverifiedJwt;
use super::verifier::Trust;
use crate::clock::{Clock, SystemClock};
use crate::error::{Claim, InvalidUse, Rejection, Result};
use crate::key::Keys;
use crate::policy::Policy;
use crate::token_limits::Limits;
use crate::verified::{RawClaims, Scratch, Verified, VerifiedIn};
use crate::verify::Verify;

/// Verifies JWTs of several issuers, each with its own keys and policy.
///
/// `iss` of the token selects the issuer *before* the signature is verified. Then only the keys of that issuer and
/// its policy count. So no issuer can issue tokens in the name of another.
///
/// The claims are read once, and both steps use the result. Therefore a token that is malformed, or whose claims
/// have a wrong type, is rejected for that reason before its signature is verified. All other reasons come after the
/// signature, as with a [`JwtVerifier`](super::JwtVerifier).
///
/// A token without `iss` is rejected with [`Rejection::ClaimMissing`], and one of an unknown issuer with
/// [`Rejection::IssuerMismatch`]. Names are compared byte for byte. A JWE is rejected.
///
/// ```
/// use std::time::Duration;
/// use jeton::error::Rejection;
/// use jeton::key::{SigAlg, SigningKey};
/// use jeton::{Claims, Policy, jwt};
///
/// let (a, b) = (SigningKey::generate(SigAlg::ES256)?, SigningKey::generate(SigAlg::EdDSA)?);
/// let verifier = jwt::MultiIssuerVerifier::new()
///     .issuer(a.verifying_key(), Policy::new("https://a.example", "api"))?
///     .issuer(b.verifying_key(), Policy::new("https://b.example", "api").max_age(Duration::from_secs(60)))?;
///
/// let claims = Claims::registered().audience("api").expires_in(Duration::from_secs(300));
/// let of_a = claims.clone().issuer("https://a.example");
/// assert!(verifier.verify::<serde_json::Value>(&a.issue(&of_a)?).is_ok());
///
/// // The key of b cannot issue in the name of a.
/// let error = verifier.verify::<serde_json::Value>(&b.issue(&of_a)?).unwrap_err();
/// assert_eq!(error.rejection(), Some(&Rejection::AlgorithmMismatch));
///
/// let error = verifier.verify::<serde_json::Value>(&a.issue(&claims.issuer("https://c.example"))?).unwrap_err();
/// assert_eq!(error.rejection(), Some(&Rejection::IssuerMismatch));
/// # Ok::<(), jeton::Error>(())
/// ```
pub struct MultiIssuerVerifier {
    issuers: Vec<Trust>,
    /// The names of the issuers, and their index in `issuers`.
    names: HashMap<Cow<'static, str>, usize>,
    limits: Limits,
    clock: Box<dyn Clock>,
}

impl Default for MultiIssuerVerifier {
    fn default() -> Self {
        MultiIssuerVerifier::new()
    }
}

impl MultiIssuerVerifier {
    /// Creates a verifier without issuers, which rejects all tokens.
    pub fn new() -> MultiIssuerVerifier {
        MultiIssuerVerifier {
            issuers: Vec::new(),
            names: HashMap::new(),
            limits: Limits::default(),
            clock: Box::new(SystemClock),
        }
    }

    /// Adds an issuer with its keys (one key, or a key set) and its policy. If the policy accepts several issuers,
    /// they share these keys.
    ///
    /// # Errors
    ///
    /// [`InvalidUse::IssuerNotChosen`] if the policy accepts any issuer or none, and [`InvalidUse::IssuerTwice`] if one of its
    /// issuers was added before.
    pub fn issuer(mut self, keys: impl Into<Keys>, policy: Policy) -> Result<MultiIssuerVerifier> {
        let accepted = policy.accepted_issuers().unwrap_or_default();
        if accepted.is_empty() {
            return Err(InvalidUse::IssuerNotChosen.into());
        }
        for name in accepted {
            if self
                .names
                .insert(name.clone(), self.issuers.len())
                .is_some()
            {
                return Err(InvalidUse::IssuerTwice.into());
            }
        }
        self.issuers.push(Trust::new(keys.into(), policy));
        Ok(self)
    }

    /// Sets the size limits for the tokens of all issuers.
    pub fn limits(mut self, limits: Limits) -> MultiIssuerVerifier {
        self.limits = limits;
        self
    }

    /// Sets the clock.
    pub fn clock(mut self, clock: impl Clock + 'static) -> MultiIssuerVerifier {
        self.clock = Box::new(clock);
        self
    }

    /// Verifies a token and returns its claims.
    ///
    /// # Errors
    ///
    /// [`Error::Rejected`](crate::Error::Rejected) is the only error that a token can cause.
    pub fn verify<T: DeserializeOwned>(&self, token: &str) -> Result<Verified<T>> {
        self.verify_raw(token)?.deserialize()
    }

    /// Verifies a token without allocating: the payload is written to `scratch`, and `T` may borrow from it.
    ///
    /// # Errors
    ///
    /// Those of [`verify`](MultiIssuerVerifier::verify).
    pub fn verify_in<'s, T: Deserialize<'s>>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
    ) -> Result<VerifiedIn<'s, T>> {
        self.verify_raw_in(token, scratch)?.deserialize()
    }

    fn trust_of(&self, issuer: Option<&str>) -> Result<&Trust, Rejection> {
        let issuer = issuer.ok_or(Rejection::ClaimMissing(Claim::Issuer))?;
        let index = self.names.get(issuer).ok_or(Rejection::IssuerMismatch)?;
        Ok(&self.issuers[*index])
    }
}

impl Verify for MultiIssuerVerifier {
    fn verify_raw(&self, token: &str) -> Result<Verified<RawClaims>> {
        let token = UnverifiedJwt::read(token, &self.limits)?;
        let trust = self.trust_of(token.issuer())?;
        Ok(trust.verify_read(token, &self.limits, self.clock.as_ref())?)
    }

    fn verify_raw_in<'s>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
    ) -> Result<VerifiedIn<'s, RawClaims>> {
        let token = UnverifiedJwt::read_in(token, &self.limits, scratch)?;
        let trust = self.trust_of(token.issuer())?;
        Ok(trust.verify_read(token, &self.limits, self.clock.as_ref())?)
    }

    fn recheck(&self, verified: &Verified<RawClaims>) -> Result<()> {
        let trust = self.trust_of(verified.issuer())?;
        Ok(trust.policy.recheck(verified, self.clock.as_ref())?)
    }
}

impl fmt::Debug for MultiIssuerVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MultiIssuerVerifier")
            .field("issuers", &self.issuers)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
