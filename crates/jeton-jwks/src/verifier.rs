use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use jeton::__private::{UnverifiedJwt, verify_read};
use jeton::error::Rejection;
use jeton::jwt::JwtVerifier;
use jeton::{Clock, Limits, Policy, RawClaims, Verified, Verify as _};
use serde::de::DeserializeOwned;

use crate::error::Result;
use crate::remote::{FetchedKeys, RemoteKeySet};

/// Verifies JWTs with a [`RemoteKeySet`] and a policy.
///
/// Several verifiers with different policies can share one [`RemoteKeySet`].
pub struct RemoteVerifier {
    keys: RemoteKeySet,
    policy: Policy,
    limits: Limits,
    clock: Option<Arc<dyn Clock>>,
    cached: ArcSwapOption<CachedVerifier>,
}

/// A verifier for one version of the set.
struct CachedVerifier {
    version: u64,
    verifier: JwtVerifier,
}

impl RemoteVerifier {
    /// Creates a verifier. It accepts a token if a key of the set verifies it and the policy allows it.
    #[must_use]
    pub fn new(keys: &RemoteKeySet, policy: Policy) -> Self {
        Self {
            keys: keys.clone(),
            policy,
            limits: Limits::default(),
            clock: None,
            cached: ArcSwapOption::empty(),
        }
    }

    /// Sets the limits for tokens.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sets the clock. Default: [`SystemClock`](jeton::SystemClock).
    #[must_use]
    pub fn clock(self, clock: impl Clock + 'static) -> Self {
        let clock: Option<Arc<dyn Clock>> = Some(Arc::new(clock));
        Self { clock, ..self }
    }

    /// Verifies a token and returns its claims.
    ///
    /// If the key of the token is known, this does not wait. Otherwise the set is fetched again, as its
    /// [`Schedule`](crate::Schedule) allows.
    ///
    /// # Errors
    /// [`Error::Jeton`](crate::Error::Jeton) if the token is rejected, and
    /// [`Error::NoKeys`](crate::Error::NoKeys) if there are no keys.
    pub async fn verify<T: DeserializeOwned>(&self, token: &str) -> Result<Verified<T>> {
        self.verify_with(|verifier| verifier.verify(token)).await
    }

    /// Verifies a token without reading the caller's type. [`Verified::deserialize`] does that.
    ///
    /// # Errors
    /// As [`verify`](RemoteVerifier::verify).
    pub async fn verify_raw(&self, token: &str) -> Result<Verified<RawClaims>> {
        self.verify_with(|verifier| verifier.verify_raw(token))
            .await
    }

    /// Verifies a token with the cached keys, for jeton-bindings. Returns `None` if none may be used.
    #[doc(hidden)]
    #[must_use]
    pub fn verify_cached(&self, token: &str) -> Option<jeton::Result<Verified<RawClaims>>> {
        let keys = self.keys.usable()?;
        Some(self.verifier_for(&keys).verifier.verify_raw(token))
    }

    /// Verifies a token after its claims were read.
    pub(crate) async fn verify_read(
        &self,
        read: UnverifiedJwt<'_>,
        token: &str,
    ) -> Result<Verified<RawClaims>> {
        let keys = self.keys.current().await?;
        let unknown_key = match verify_read(&self.verifier_for(&keys).verifier, read) {
            Err(error) if error.rejection() == Some(&Rejection::UnknownKey) => error,
            other => return Ok(other?),
        };
        match self.keys.newer_than(&keys).await {
            Some(newer) => Ok(self.verifier_for(&newer).verifier.verify_raw(token)?),
            None => Err(unknown_key.into()),
        }
    }

    pub(crate) fn keys(&self) -> &RemoteKeySet {
        &self.keys
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    async fn verify_with<T>(
        &self,
        verify: impl Fn(&JwtVerifier) -> jeton::Result<Verified<T>>,
    ) -> Result<Verified<T>> {
        let keys = self.keys.current().await?;
        let unknown_key = match verify(&self.verifier_for(&keys).verifier) {
            Err(error) if error.rejection() == Some(&Rejection::UnknownKey) => error,
            other => return Ok(other?),
        };
        match self.keys.newer_than(&keys).await {
            Some(newer) => Ok(verify(&self.verifier_for(&newer).verifier)?),
            None => Err(unknown_key.into()),
        }
    }

    /// Returns the verifier for this version of the set. It is built once per version.
    fn verifier_for(&self, keys: &FetchedKeys) -> Arc<CachedVerifier> {
        if let Some(cached) = self.cached.load_full()
            && cached.version == keys.version
        {
            return cached;
        }
        let verifier = JwtVerifier::new(keys.keys.clone(), self.policy.clone());
        let mut verifier = verifier.limits(self.limits);
        if let Some(clock) = &self.clock {
            verifier = verifier.clock(Arc::clone(clock));
        }
        let cached = Arc::new(CachedVerifier {
            version: keys.version,
            verifier,
        });
        self.cached.store(Some(Arc::clone(&cached)));
        cached
    }
}

impl fmt::Debug for RemoteVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteVerifier")
            .field("keys", &self.keys)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
