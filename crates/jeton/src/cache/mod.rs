//! An optional cache of verified tokens, and the hook for revocations.

mod memory;

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use crate::crypto::{Hash, hmac, random};
use crate::error::{InvalidUse, Rejection, Result};
use crate::limits;
use crate::verified::{RawClaims, Scratch, Verified, VerifiedIn};
use crate::verify::Verify;
use memory::{Memory, TokenHash};

/// A verifier that caches the tokens it has verified.
///
/// # When to use it
///
/// Use it when the same token arrives many times and its signature is expensive to verify. An example is a
/// service that sees each ES256, RS256 or `v4.public` token a hundred times in 15 minutes. It does not help
/// when each token arrives once. It does not help for HS256 and `v4.local` either, where a verification
/// costs about as much as a cache lookup. Measure with your own tokens.
///
/// # Cost
///
/// A hit costs:
/// - one HMAC-SHA256 over the whole token
/// - a lookup in one set of eight entries, under a lock
/// - the policy checks and the revocation hook
/// - a copy of the payload; with [`verify_in`](Cached::verify_in) it goes to the caller's [`Scratch`] and
///   allocates nothing
/// - deserializing the custom claims
///
/// A miss costs a verification in addition. An entry needs memory for the payload, the positions of its
/// claims and about 100 bytes. The payload of an encrypted token stays in memory in decrypted form. A token
/// of more than [`limits::CACHED_TOKEN_BYTES`] is not cached.
///
/// # Guarantees
///
/// The cache accepts no token that the verifier would reject. It only skips computing the signature again:
/// - An entry is found by a keyed hash of the *whole* token.
/// - Only accepted tokens are cached. A rejected token is verified again each time, so invalid tokens do
///   not fill the cache.
/// - Every hit is checked against the whole [`Policy`](crate::Policy) again. This includes `exp`, `nbf`,
///   `iat` and the maximum age at the current time.
/// - Every hit and every miss calls the [revocation hook](Cached::revocations).
/// - An entry is only valid for the verifier that created it, with its keys and its policy.
///   [`replace`](Cached::replace) invalidates all entries at once. To stop trusting a key, omit it from the next
///   verifier. Calls that have started still use the previous verifier.
/// - The number of entries is limited, and so is the work per insertion: one entry of a set of eight is
///   replaced. A secret of the cache selects the set, so an attacker cannot target an entry.
///
/// If several threads miss the same token at once, each of them verifies it. No lock is held during a
/// verification.
///
/// ```
/// use std::time::Duration;
/// use jeton::key::{SigAlg, SigningKey};
/// use jeton::{Cached, Claims, Policy, RawClaims, Verified, jwt::JwtVerifier};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Visit { page: String }
///
/// let key = SigningKey::generate(SigAlg::ES256)?;
/// let token = key.issue(
///     &Claims::new(Visit { page: "/".into() })
///         .issuer("https://id.example")
///         .audience("api")
///         .token_id("7")
///         .expires_in(Duration::from_secs(900)),
/// )?;
///
/// let policy = Policy::new("https://id.example", "api");
/// let verifier = Cached::new(JwtVerifier::new(key.verifying_key(), policy.clone()), 10_000)?
///     .revocations(|token: &Verified<RawClaims>| token.token_id() == Some("8"));
/// for _ in 0..3 {
///     let visit: Verified<Visit> = verifier.verify(&token)?; // the signature once, the rest each time
///     assert_eq!(visit.claims().page, "/");
/// }
///
/// // The key set has changed: a new verifier invalidates all cached entries.
/// let next = SigningKey::generate(SigAlg::ES256)?;
/// verifier.replace(JwtVerifier::new(next.verifying_key(), policy));
/// assert!(verifier.verify::<Visit>(&token).is_err());
/// # Ok::<(), jeton::Error>(())
/// ```
pub struct Cached<V> {
    current: RwLock<Arc<Current<V>>>,
    revocations: Option<Box<dyn Revocations>>,
    hash_key: hmac::Prepared,
    memory: Memory,
}

/// A verifier and its generation, which counts replacements.
struct Current<V> {
    verifier: V,
    generation: u64,
}

/// Decides which valid tokens are revoked. Implemented for closures with this signature.
///
/// An implementation that cannot answer must answer true: its list is too old, was never loaded, or the token has no id.
/// Then the tokens are rejected with [`Rejection::Revoked`] until the list is back. To log the reason is up to the
/// implementation.
///
/// ```
/// use std::collections::HashSet;
/// use jeton::{Revocations, RawClaims, Verified};
///
/// /// The ids of revoked tokens; `None` while there is no current list.
/// struct Blocked(Option<HashSet<String>>);
///
/// impl Revocations for Blocked {
///     fn is_revoked(&self, token: &Verified<RawClaims>) -> bool {
///         match (&self.0, token.token_id()) {
///             (Some(blocked), Some(id)) => blocked.contains(id),
///             // Cannot answer.
///             _ => true,
///         }
///     }
/// }
/// ```
pub trait Revocations: Send + Sync {
    /// Returns whether the token, its subject, its client or its key is revoked. It is called for every
    /// token that is otherwise accepted, so it must be fast and must not wait for a network.
    ///
    /// Returns true if it cannot answer.
    fn is_revoked(&self, token: &Verified<RawClaims>) -> bool;
}

impl<F: Fn(&Verified<RawClaims>) -> bool + Send + Sync> Revocations for F {
    fn is_revoked(&self, token: &Verified<RawClaims>) -> bool {
        self(token)
    }
}

impl<V: Verify> Cached<V> {
    /// Creates a cache for at most this many tokens.
    ///
    /// # Errors
    ///
    /// [`InvalidUse::CacheEntries`] for 0 and for more than [`limits::CACHE_ENTRIES`];
    /// [`Error::Primitive`](crate::Error::Primitive) if the system has no randomness.
    pub fn new(verifier: V, entries: usize) -> Result<Cached<V>> {
        if !(1..=limits::CACHE_ENTRIES).contains(&entries) {
            let limit = limits::CACHE_ENTRIES;
            return Err(InvalidUse::CacheEntries { entries, limit }.into());
        }
        let mut secret = Zeroizing::new([0; 32]);
        random::fill(secret.as_mut_slice())?;
        Ok(Cached {
            current: RwLock::new(Arc::new(Current {
                verifier,
                generation: 0,
            })),
            revocations: None,
            hash_key: hmac::Prepared::new(Hash::Sha256, secret.as_slice()),
            memory: Memory::new(entries),
        })
    }

    /// Calls this hook for every token, cached or not. A revoked token is rejected with [`Rejection::Revoked`].
    pub fn revocations(mut self, revocations: impl Revocations + 'static) -> Cached<V> {
        self.revocations = Some(Box::new(revocations));
        self
    }

    /// Replaces the verifier: other keys, another policy, or both. Calls that start after this returns use
    /// the new verifier, and no entry of an earlier one.
    ///
    /// A call that another thread started earlier may still use the previous verifier after this returns.
    /// Its result is not cached for the new verifier.
    pub fn replace(&self, verifier: V) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let generation = current.generation + 1;
        *current = Arc::new(Current {
            verifier,
            generation,
        });
    }

    /// Verifies a token and returns its claims.
    ///
    /// # Errors
    ///
    /// [`Error::Rejected`](crate::Error::Rejected) is the only error that a token can cause.
    pub fn verify<T: DeserializeOwned>(&self, token: &str) -> Result<Verified<T>> {
        self.verify_raw(token)?.deserialize()
    }

    /// Verifies a token with its payload in `scratch`, from which `T` may borrow. A hit allocates nothing.
    ///
    /// # Errors
    ///
    /// Those of [`verify`](Cached::verify).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use jeton::{Cached, Claims, Policy, Scratch, jwt::JwtVerifier, key::{SigAlg, SigningKey}};
    /// # let key = SigningKey::generate(SigAlg::EdDSA)?;
    /// # let claims = Claims::new(()).issuer("i").audience("a").expires_in(Duration::from_secs(60));
    /// # let token = key.issue(&claims)?;
    /// let verifier = JwtVerifier::new(key.verifying_key(), Policy::new("i", "a"));
    /// let verifier = Cached::new(verifier, 1_000)?;
    /// let mut scratch = Scratch::new();
    /// let verified = verifier.verify_in::<serde::de::IgnoredAny>(&token, &mut scratch)?;
    /// assert_eq!(verified.issuer(), Some("i"));
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn verify_in<'s, T: Deserialize<'s>>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
    ) -> Result<VerifiedIn<'s, T>> {
        self.verify_raw_in(token, scratch)?.deserialize()
    }

    /// Returns the number of cached tokens. It includes entries of earlier verifiers until they are
    /// overwritten.
    pub fn remembered(&self) -> usize {
        self.memory.len()
    }

    /// Calls `hit` with cached claims, or `miss` with claims that were just verified.
    fn check<R>(
        &self,
        token: &str,
        hit: impl FnOnce(&Verified<RawClaims>) -> R,
        miss: impl FnOnce(Verified<RawClaims>) -> R,
    ) -> Result<R> {
        let current = self.current();
        if token.len() > limits::CACHED_TOKEN_BYTES {
            let verified = current.verifier.verify_raw(token)?;
            self.reject_revoked(&verified)?;
            return Ok(miss(verified));
        }
        let hash = self.hash(token);
        if let Some(remembered) = self.memory.find(&hash, current.generation) {
            let still = current.verifier.recheck(&remembered);
            if let Err(error) = still.and_then(|()| self.reject_revoked(&remembered)) {
                self.memory.forget(&hash);
                return Err(error);
            }
            return Ok(hit(&remembered));
        }
        let verified = current.verifier.verify_raw(token)?;
        self.reject_revoked(&verified)?;
        self.memory
            .keep(hash, current.generation, Arc::new(verified.clone()));
        Ok(miss(verified))
    }

    fn current(&self) -> Arc<Current<V>> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn reject_revoked(&self, verified: &Verified<RawClaims>) -> Result<()> {
        match &self.revocations {
            Some(revocations) if revocations.is_revoked(verified) => Err(Rejection::Revoked.into()),
            _ => Ok(()),
        }
    }

    fn hash(&self, token: &str) -> TokenHash {
        let mut hash = TokenHash::default();
        hash.copy_from_slice(&self.hash_key.sign(token.as_bytes()));
        hash
    }
}

impl<V: Verify> Verify for Cached<V> {
    fn verify_raw(&self, token: &str) -> Result<Verified<RawClaims>> {
        self.check(token, Verified::clone, |verified| verified)
    }

    fn verify_raw_in<'s>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
    ) -> Result<VerifiedIn<'s, RawClaims>> {
        // Both closures write to the buffer, but only one of them is called.
        let buffer = std::cell::Cell::new(Some(scratch));
        let copy = |verified: &Verified<RawClaims>| {
            let scratch = buffer.take().expect("either hit or miss is called, once");
            verified.copied_into(scratch)
        };
        self.check(token, copy, |verified| copy(&verified))
    }

    fn recheck(&self, verified: &Verified<RawClaims>) -> Result<()> {
        self.current().verifier.recheck(verified)?;
        self.reject_revoked(verified)
    }
}

impl<V> fmt::Debug for Cached<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cached")
            .field("remembered", &self.memory.len())
            .finish_non_exhaustive()
    }
}
