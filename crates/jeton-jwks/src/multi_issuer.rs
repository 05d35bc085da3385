use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use jeton::__private::UnverifiedJwt;
use jeton::error::{Claim, InvalidUse, Rejection};
use jeton::{Clock, Limits, Policy, RawClaims, Verified};
use serde::de::DeserializeOwned;

use crate::builder::default_client;
#[cfg(doc)]
use crate::error::Error;
use crate::error::{FetchError, Result};
use crate::fetch::Fetch;
use crate::remote::RemoteKeySet;
use crate::verifier::RemoteVerifier;

/// Verifies JWTs of several issuers, each with its own [`RemoteKeySet`] and policy.
///
/// `iss` of the token selects the issuer before keys are fetched and before the signature is verified. Only the keys
/// and the policy of that issuer are used, as with [`jeton::jwt::MultiIssuerVerifier`].
///
/// - A token of an unknown issuer, or without `iss`, is rejected at once. It causes no request.
/// - If the keys of one issuer cannot be fetched, only its tokens get [`Error::NoKeys`].
///
/// ```no_run
/// use jeton::{Policy, RawClaims, Verified};
/// use jeton_jwks::{MultiIssuerVerifier, RemoteKeySet};
///
/// # async fn example(token: &str) -> Result<(), jeton_jwks::Error> {
/// let keys = RemoteKeySet::new("https://b.example/keys.json")?;
/// let verifier = MultiIssuerVerifier::new()
///     .discover(Policy::new("https://a.example", "api"))?
///     .issuer(&keys, Policy::new("https://b.example", "api"))?;
/// let verified: Verified<RawClaims> = verifier.verify_raw(token).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct MultiIssuerVerifier {
    issuers: Vec<RemoteVerifier>,
    /// The names of the issuers, with their index in `issuers`.
    names: HashMap<String, usize>,
    limits: Limits,
    clock: Option<Arc<dyn Clock>>,
    /// The client for discovered issuers.
    fetch: Option<Arc<dyn Fetch>>,
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
    /// [`InvalidUse::IssuerNotChosen`] if the policy accepts any issuer or none, and [`InvalidUse::IssuerTwice`] if one
    /// of its issuers was added before.
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
        let mut verifier = RemoteVerifier::new(keys, policy).limits(self.limits);
        if let Some(clock) = &self.clock {
            verifier = verifier.clock(Arc::clone(clock));
        }
        self.issuers.push(verifier);
        Ok(self)
    }

    /// Adds the issuer of the policy. Its key set is [discovered](RemoteKeySet::discover). If the policy accepts several
    /// issuers, the key set of each is discovered, and is used for that issuer only. All discovered issuers share one
    /// client: [`fetch`](MultiIssuerVerifier::fetch).
    ///
    /// For other settings, such as a default algorithm, pass a key set of
    /// [`RemoteKeySet::builder_with_discovery`] to [`issuer`](MultiIssuerVerifier::issuer).
    ///
    /// # Errors
    /// The errors of [`issuer`](MultiIssuerVerifier::issuer) and [`RemoteKeySet::discover`].
    pub fn discover(mut self, policy: Policy) -> Result<Self> {
        let names = policy.accepted_issuers().unwrap_or_default().to_vec();
        if names.is_empty() {
            return Err(jeton::Error::from(InvalidUse::IssuerNotChosen).into());
        }
        let fetch = match &self.fetch {
            Some(fetch) => Arc::clone(fetch),
            None => default_client()?,
        };
        self.fetch = Some(Arc::clone(&fetch));
        for name in names {
            let keys = RemoteKeySet::builder_with_discovery(&*name)
                .fetch(Arc::clone(&fetch))
                .build()?;
            self = self.issuer(&keys, policy.clone().issuer(name))?;
        }
        Ok(self)
    }

    /// Sets the client for issuers that are [discovered](MultiIssuerVerifier::discover) after this call. Default:
    /// [`Https`](crate::Https).
    #[must_use]
    pub fn fetch(mut self, fetch: impl Fetch) -> Self {
        self.fetch = Some(Arc::new(fetch));
        self
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
    /// [`Error::Jeton`] if the token is rejected, and [`Error::NoKeys`] if there are no keys for its issuer.
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

    /// Sets the clock for the tokens of all issuers. Default: [`SystemClock`](jeton::SystemClock).
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(clock);
        let issuers = self.issuers.into_iter();
        let with_clock = |issuer: RemoteVerifier| issuer.clock(Arc::clone(&clock));
        self.issuers = issuers.map(with_clock).collect();
        self.clock = Some(clock);
        self
    }

    /// Fetches the missing keys of all issuers, at the same time. Returns the issuers that failed, in the order in
    /// which they were added. Call it when a service starts.
    ///
    /// ```no_run
    /// # async fn example(verifier: jeton_jwks::MultiIssuerVerifier) {
    /// for failure in verifier.ready().await {
    ///     eprintln!("warning: {failure}");
    /// }
    /// # }
    /// ```
    pub async fn ready(&self) -> Vec<IssuerNotReady> {
        let fetch = |issuer: &RemoteVerifier| {
            let keys = issuer.keys().clone();
            tokio::spawn(async move { keys.ready().await })
        };
        let fetches: Vec<_> = self.issuers.iter().map(fetch).collect();
        let mut failed = Vec::new();
        for (issuer, fetch) in self.issuers.iter().zip(fetches) {
            // An error of the task means that the runtime shuts down.
            if let Err(error) = fetch.await.unwrap_or(Err(FetchError::TimedOut)) {
                let names = issuer.policy().accepted_issuers().unwrap_or_default();
                failed.push(IssuerNotReady {
                    issuers: names.iter().map(ToString::to_string).collect(),
                    error,
                });
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

impl fmt::Debug for MultiIssuerVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MultiIssuerVerifier")
            .field("issuers", &self.issuers)
            .finish_non_exhaustive()
    }
}

/// An issuer whose keys could not be fetched. [`MultiIssuerVerifier::ready`] returns it.
///
/// Its message contains the issuer, as the policy names it, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerNotReady {
    issuers: Vec<String>,
    error: FetchError,
}

impl IssuerNotReady {
    /// Returns the issuers of the policy, which share the keys. There is at least one.
    #[must_use]
    pub fn issuers(&self) -> &[String] {
        &self.issuers
    }

    /// Returns why the keys could not be fetched.
    #[must_use]
    pub fn error(&self) -> &FetchError {
        &self.error
    }
}

impl fmt::Display for IssuerNotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no keys for {}: {}", self.issuers.join(", "), self.error)
    }
}

impl std::error::Error for IssuerNotReady {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
