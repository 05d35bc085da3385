use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use jeton::error::Rejection;
use jeton::jwk::KeySet;
use jeton::{Limits, Policy, Untyped, Verified, Verify as _, jwt};
use serde::de::DeserializeOwned;

use crate::error::Result;
use crate::remote::{Fetched, RemoteKeySet};

/// Verifies JWTs with the keys at an address, by one policy.
///
/// Several verifiers, each with a policy of its own, share one [`RemoteKeySet`].
pub struct Verifier {
    keys: RemoteKeySet,
    policy: Policy,
    limits: Limits,
    made: ArcSwapOption<Made>,
}

/// A verifier of one version of the set.
struct Made {
    version: u64,
    verifier: jwt::Verifier,
}

impl Verifier {
    /// Takes tokens that a key at the address made, and that the policy lets through.
    #[must_use]
    pub fn new(keys: &RemoteKeySet, policy: Policy) -> Self {
        Self {
            keys: keys.clone(),
            policy,
            limits: Limits::default(),
            made: ArcSwapOption::empty(),
        }
    }

    /// Other limits for tokens than the usual.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The claims of a token that is as the policy demands.
    ///
    /// A token whose key is known does not wait. For one whose key is not, the address is asked again, as
    /// its [`Schedule`](crate::Schedule) allows.
    ///
    /// # Errors
    /// [`Error::Jeton`](crate::Error::Jeton) with what is wrong with the token, and
    /// [`Error::NoKeys`](crate::Error::NoKeys) if there are no keys to tell.
    pub async fn verify<T: DeserializeOwned>(&self, token: &str) -> Result<Verified<T>> {
        self.verified(|verifier| verifier.verify(token)).await
    }

    /// The same before the caller's type is read: [`Verified::typed`] reads it.
    ///
    /// # Errors
    /// As [`verify`](Verifier::verify).
    pub async fn verify_untyped(&self, token: &str) -> Result<Verified<Untyped>> {
        self.verified(|verifier| verifier.verify_untyped(token))
            .await
    }

    async fn verified<T>(
        &self,
        verify: impl Fn(&jwt::Verifier) -> jeton::Result<Verified<T>>,
    ) -> Result<Verified<T>> {
        let keys = self.keys.current().await?;
        let refused = match verify(&self.of(&keys)?.verifier) {
            Err(error) if error.rejection() == Some(Rejection::UnknownKey) => error,
            other => return Ok(other?),
        };
        match self.keys.others(&keys).await {
            Some(others) => Ok(verify(&self.of(&others)?.verifier)?),
            None => Err(refused.into()),
        }
    }

    /// The verifier of that version, made once.
    fn of(&self, keys: &Fetched) -> Result<Arc<Made>> {
        if let Some(made) = self.made.load_full()
            && made.version == keys.version
        {
            return Ok(made);
        }
        let set = KeySet::from_json(&keys.text)?;
        let verifier = jwt::Verifier::new(set, self.policy.clone()).limits(self.limits);
        let made = Arc::new(Made {
            version: keys.version,
            verifier,
        });
        self.made.store(Some(Arc::clone(&made)));
        Ok(made)
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier")
            .field("keys", &self.keys)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
