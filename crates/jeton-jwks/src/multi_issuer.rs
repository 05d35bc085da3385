use std::collections::HashMap;

use jeton::error::{Claim, InvalidUse, Rejection};
use jeton::jwt::UnverifiedJwt;
use jeton::{Limits, Policy, RawClaims, Verified};
use serde::de::DeserializeOwned;

#[cfg(doc)]
use crate::error::Error;
use crate::error::{FetchError, Result};
use crate::remote::RemoteKeySet;
use crate::verifier::RemoteVerifier;

/// Verifies JWTs of several issuers, each with its own [`RemoteKeySet`] and policy.
///
/// `iss` of the token selects the issuer before keys are fetched and before the signature is verified. Then only the
/// keys of that issuer and its policy count, as with [`jeton::jwt::MultiIssuerVerifier`].
///
/// - A token of an unknown issuer, or without `iss`, is rejected at once. It causes no request.
/// - If the keys of one issuer cannot be fetched, only its tokens get [`Error::NoKeys`].
///
/// ```no_run
/// use jeton::{Policy, RawClaims, Verified};
/// use jeton_jwks::{MultiIssuerVerifier, RemoteKeySet};
///
/// # async fn example(token: &str) -> Result<(), jeton_jwks::Error> {
/// let mut verifier = MultiIssuerVerifier::new();
/// for issuer in ["https://a.example/", "https://b.example/"] {
///     let keys = RemoteKeySet::new(&format!("{issuer}.well-known/jwks.json"))?;
///     verifier = verifier.issuer(&keys, Policy::new(issuer, "api"))?;
/// }
/// let verified: Verified<RawClaims> = verifier.verify_raw(token).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct MultiIssuerVerifier {
    issuers: Vec<RemoteVerifier>,
    /// The names of the issuers, and their index in `issuers`.
    names: HashMap<String, usize>,
    limits: Limits,
}

impl MultiIssuerVerifier {
    /// Creates a verifier without issuers, which rejects all tokens.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an issuer with its keys and its policy. If the policy accepts several issuers, they share these keys.
    ///
    /// # Errors
    /// [`InvalidUse::IssuerNotChosen`] if the policy accepts any issuer or none, and [`InvalidUse::IssuerTwice`] if one of its
    /// issuers was added before.
    pub fn issuer(mut self, keys: &RemoteKeySet, policy: Policy) -> jeton::Result<Self> {
        let accepted = policy.accepted_issuers().unwrap_or_default();
        if accepted.is_empty() {
            return Err(InvalidUse::IssuerNotChosen.into());
        }
        for name in accepted {
            let index = self.issuers.len();
            if self.names.insert(name.to_string(), index).is_some() {
                return Err(InvalidUse::IssuerTwice.into());
            }
        }
        let verifier = RemoteVerifier::new(keys, policy).limits(self.limits);
        self.issuers.push(verifier);
        Ok(self)
    }

    /// Sets the limits for the tokens of all issuers.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        let issuers = self.issuers.into_iter();
        self.issuers = issuers.map(|issuer| issuer.limits(limits)).collect();
        self
    }

    /// Verifies a token and returns its claims.
    ///
    /// # Errors
    /// [`Error::Jeton`] if the token is rejected, and [`Error::NoKeys`] if there are no keys of its issuer.
    pub async fn verify<T: DeserializeOwned>(&self, token: &str) -> Result<Verified<T>> {
        Ok(self.verify_raw(token).await?.deserialize()?)
    }

    /// Verifies a token without reading the caller's type. [`Verified::deserialize`] does that.
    ///
    /// # Errors
    /// As [`verify`](MultiIssuerVerifier::verify).
    pub async fn verify_raw(&self, token: &str) -> Result<Verified<RawClaims>> {
        let read = UnverifiedJwt::read(token, &self.limits).map_err(jeton::Error::from)?;
        let issuer = self.find(read.issuer()).map_err(jeton::Error::from)?;
        issuer.verify_read(read, token).await
    }

    /// Fetches the keys of all issuers that have none. Returns the issuers whose keys could not be fetched, by the
    /// names in their policies, with the reason. Call it when a service starts.
    pub async fn ready(&self) -> Vec<(String, FetchError)> {
        let mut failed = Vec::new();
        for (index, verifier) in self.issuers.iter().enumerate() {
            if let Err(error) = verifier.keys().ready().await {
                let names = self.names.iter().filter(|(_, at)| **at == index);
                failed.extend(names.map(|(name, _)| (name.clone(), error.clone())));
            }
        }
        failed
    }

    fn find(&self, issuer: Option<&str>) -> Result<&RemoteVerifier, Rejection> {
        let issuer = issuer.ok_or(Rejection::ClaimMissing(Claim::Issuer))?;
        let index = self.names.get(issuer).ok_or(Rejection::IssuerMismatch)?;
        Ok(&self.issuers[*index])
    }
}
