//! A cache of verified tokens, for those who ask for one.

mod memory;

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use crate::crypto::{Hash, hmac, random};
use crate::error::{Misuse, Rejection, Result};
use crate::limits;
use crate::verified::{Scratch, Untyped, Verified, VerifiedIn};
use crate::verify::Verify;
use memory::{Memory, TokenHash};

/// A verifier that remembers the tokens it has verified.
///
/// # When it helps
///
/// When the same token comes many times and its signature is dear: a service that sees each ES256,
/// RS256 or `v4.public` token a hundred times in its quarter of an hour. It does not when tokens come
/// once, and it does not for HS256 and `v4.local`: what is saved there costs about as much as the
/// hash below. Measure with your own tokens.
///
/// # What it costs
///
/// A hit costs one HMAC-SHA256 over the whole token, a lock held for a look into one set of eight
/// entries, the policy again, the revocation hook, a copy of the payload (into the caller's
/// [`Scratch`], without an allocation, with [`verify_in`](Cached::verify_in)), and reading the
/// caller's type out of it. A miss costs a verification and all of that but the copy. An entry takes
/// the payload, its claims' places and about a hundred bytes; the payload of an encrypted token lies
/// in memory decrypted. A token of more than [`limits::CACHED_TOKEN_BYTES`] is not remembered.
///
/// # What it may not change
///
/// Nothing is accepted that would not be accepted without it, but for the signature that is not
/// computed again:
/// - An entry is found by a keyed hash of *the whole* token, never by a part of it.
/// - Only accepted tokens are remembered. A refusal is found out anew each time, so that sending
///   garbage fills nothing and a refused token is not tied to its refusal.
/// - Every hit is held against the whole [`Policy`](crate::Policy) again: `exp`, `nbf`, `iat` and the
///   maximum age against the clock, whichever of them the token has.
/// - Every hit asks the [revocation hook](Cached::revocations), like every miss.
/// - An entry belongs to the verifier that made it, with its keys and its policy:
///   [`replace`](Cached::replace) leaves all of them behind at once. A key that is to be honoured no
///   longer is left out of the next verifier. Calls that have begun are still answered by the old one.
/// - The number of entries is bounded, and so is the work of making room: of eight that share a set,
///   one goes that has not been used of late. Where a token falls depends on a secret of the cache,
///   so nobody can aim at an entry.
///
/// Several threads that miss the same token at once all verify it: nobody waits for anybody's
/// verification, and no lock is held during one.
///
/// ```
/// use std::time::Duration;
/// use jeton::key::SigAlg;
/// use jeton::{Cached, Claims, Policy, Untyped, Verified, jwt};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Visit { page: String }
///
/// let key = jwt::SigningKey::generate(SigAlg::ES256)?;
/// let token = key.issue(
///     &Claims::new(Visit { page: "/".into() })
///         .issuer("https://id.example")
///         .audience("api")
///         .token_id("7")
///         .expires_in(Duration::from_mins(15)),
/// )?;
///
/// let policy = Policy::new("https://id.example", "api");
/// let verifier = Cached::new(jwt::Verifier::new(key.verifying_key(), policy.clone()), 10_000)?
///     .revocations(|token: &Verified<Untyped>| token.token_id() == Some("8"));
/// for _ in 0..3 {
///     let visit: Verified<Visit> = verifier.verify(&token)?; // the signature once, the rest each time
///     assert_eq!(visit.page, "/");
/// }
///
/// // The key set has changed: a new verifier, and nothing of the old one counts any more.
/// let next = jwt::SigningKey::generate(SigAlg::ES256)?;
/// verifier.replace(jwt::Verifier::new(next.verifying_key(), policy));
/// assert!(verifier.verify::<Visit>(&token).is_err());
/// # Ok::<(), jeton::Error>(())
/// ```
pub struct Cached<V> {
    current: RwLock<Arc<Current<V>>>,
    revocations: Option<Box<dyn Revocations>>,
    hash_key: hmac::Prepared,
    memory: Memory,
}

/// A verifier and its number in the order of replacement.
struct Current<V> {
    verifier: V,
    generation: u64,
}

/// Says which tokens are no longer honoured though they verify. Every closure of that shape does.
///
/// ```
/// use std::collections::HashSet;
/// use jeton::{Revocations, Untyped, Verified};
///
/// struct Blocked(HashSet<String>);
///
/// impl Revocations for Blocked {
///     fn is_revoked(&self, token: &Verified<Untyped>) -> bool {
///         // A token without an id cannot be told from a revoked one.
///         token.token_id().is_none_or(|id| self.0.contains(id))
///     }
/// }
/// ```
pub trait Revocations: Send + Sync {
    /// Whether that token, its subject, its client or its key is revoked. It is asked for every
    /// token that is otherwise accepted, so it should be quick and must not wait for a network.
    fn is_revoked(&self, token: &Verified<Untyped>) -> bool;
}

impl<F: Fn(&Verified<Untyped>) -> bool + Send + Sync> Revocations for F {
    fn is_revoked(&self, token: &Verified<Untyped>) -> bool {
        self(token)
    }
}

impl<V: Verify> Cached<V> {
    /// Remembers at most that many tokens of this verifier.
    ///
    /// # Errors
    ///
    /// [`Misuse::CacheEntries`] for 0 and for more than [`limits::CACHE_ENTRIES`];
    /// [`Error::Primitive`](crate::Error::Primitive) if the system has no randomness.
    pub fn new(verifier: V, entries: usize) -> Result<Cached<V>> {
        if !(1..=limits::CACHE_ENTRIES).contains(&entries) {
            return Err(Misuse::CacheEntries.into());
        }
        let secret: Zeroizing<[u8; 32]> = random::secret()?;
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

    /// Asks this for every token, remembered or not; what it revokes is [`Rejection::Revoked`].
    pub fn revocations(mut self, revocations: impl Revocations + 'static) -> Cached<V> {
        self.revocations = Some(Box::new(revocations));
        self
    }

    /// Replaces the verifier: other keys, another policy, or both. Calls that begin after this has
    /// returned use the new one, and find nothing that an earlier one has verified.
    ///
    /// A call that another thread began before may still be answered by the old verifier, after this has
    /// returned. What it verifies is not remembered for the new one.
    pub fn replace(&self, verifier: V) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let generation = current.generation + 1;
        *current = Arc::new(Current {
            verifier,
            generation,
        });
    }

    /// The claims, if the token is what the policy demands.
    ///
    /// # Errors
    ///
    /// [`Error::Rejected`](crate::Error::Rejected), and nothing else on account of the token.
    pub fn verify<T: DeserializeOwned>(&self, token: &str) -> Result<Verified<T>> {
        self.verify_untyped(token)?.typed()
    }

    /// The same with the payload in `scratch`, from which `T` may borrow: a hit allocates nothing.
    ///
    /// # Errors
    ///
    /// As [`verify`](Cached::verify).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use jeton::{Cached, Claims, Policy, Scratch, jwt, key::SigAlg};
    /// # let key = jwt::SigningKey::generate(SigAlg::EdDSA)?;
    /// # let claims = Claims::new(()).issuer("i").audience("a").expires_in(Duration::from_mins(1));
    /// # let token = key.issue(&claims)?;
    /// let verifier = jwt::Verifier::new(key.verifying_key(), Policy::new("i", "a"));
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
        self.verify_untyped_in(token, scratch)?.typed()
    }

    /// How many tokens are remembered now, those of earlier verifiers among them until they are
    /// overwritten.
    pub fn remembered(&self) -> usize {
        self.memory.len()
    }

    /// `hit` is for claims that were remembered, `miss` for those just verified.
    fn check<R>(
        &self,
        token: &str,
        hit: impl FnOnce(&Verified<Untyped>) -> R,
        miss: impl FnOnce(Verified<Untyped>) -> R,
    ) -> Result<R> {
        let current = self.current();
        if token.len() > limits::CACHED_TOKEN_BYTES {
            let verified = current.verifier.verify_untyped(token)?;
            self.reject_revoked(&verified)?;
            return Ok(miss(verified));
        }
        let hash = self.hash(token);
        if let Some(remembered) = self.memory.find(&hash, current.generation) {
            let still = current.verifier.recheck(&remembered);
            if let Err(refusal) = still.and_then(|()| self.reject_revoked(&remembered)) {
                self.memory.forget(&hash);
                return Err(refusal);
            }
            return Ok(hit(&remembered));
        }
        let verified = current.verifier.verify_untyped(token)?;
        self.reject_revoked(&verified)?;
        self.memory
            .keep(hash, current.generation, Arc::new(verified.clone()));
        Ok(miss(verified))
    }

    fn current(&self) -> Arc<Current<V>> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn reject_revoked(&self, verified: &Verified<Untyped>) -> Result<()> {
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
    fn verify_untyped(&self, token: &str) -> Result<Verified<Untyped>> {
        self.check(token, Verified::clone, |verified| verified)
    }

    fn verify_untyped_in<'s>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
    ) -> Result<VerifiedIn<'s, Untyped>> {
        // Both ways end in the buffer, and only one of them is taken.
        let buffer = std::cell::Cell::new(Some(scratch));
        let copy = |verified: &Verified<Untyped>| {
            let scratch = buffer.take().expect("either hit or miss is called, once");
            verified.copied_into(scratch)
        };
        self.check(token, copy, |verified| copy(&verified))
    }

    fn recheck(&self, verified: &Verified<Untyped>) -> Result<()> {
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
