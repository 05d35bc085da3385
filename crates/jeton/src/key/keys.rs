#[cfg(feature = "hmac")]
use super::MacKey;
use super::{Alg, Headers, KeyId, KnownHeader, VerifyingKey};
use crate::error::Rejection;
use crate::json::Text;

/// The keys that a verifier trusts: one key, or a key set.
///
/// Every key type that verifies converts into it.
///
/// ```
/// use jeton::jwk::KeySet;
/// use jeton::jws::JwsVerifier;
/// use jeton::key::{Keys, MacAlg, MacKey, SigAlg, SigningKey};
///
/// let public = SigningKey::generate(SigAlg::ES256)?.verifying_key();
/// let one = JwsVerifier::new(public.clone());
/// let same = JwsVerifier::new(Keys::from(public.clone()));
/// let secret = JwsVerifier::new(&MacKey::generate(MacAlg::HS256)?);
/// let mut set = KeySet::new();
/// set.insert(public)?;
/// let several = JwsVerifier::new(&set);
/// let first = JwsVerifier::new(set.iter().next().unwrap());
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug)]
pub struct Keys(Trusted);

#[derive(Debug)]
enum Trusted {
    One(VerificationKey),
    Set(Set),
}

#[derive(Debug)]
struct Set {
    keys: Vec<VerificationKey>,
    /// See [`Set::known_headers`].
    known: Vec<(usize, usize)>,
}

/// A key that checks JWS signatures or MACs: an element of a [`KeySet`](crate::jwk::KeySet).
#[derive(Debug)]
#[non_exhaustive]
pub enum VerificationKey {
    /// A symmetric key. The secret is shared by its copies.
    #[cfg(feature = "hmac")]
    Mac(MacKey),
    /// A public key.
    Public(VerifyingKey),
}

impl Clone for VerificationKey {
    fn clone(&self) -> Self {
        match self {
            #[cfg(feature = "hmac")]
            VerificationKey::Mac(key) => VerificationKey::Mac(key.share()),
            VerificationKey::Public(key) => VerificationKey::Public(key.clone()),
        }
    }
}

#[cfg(feature = "hmac")]
impl From<MacKey> for VerificationKey {
    fn from(key: MacKey) -> Self {
        VerificationKey::Mac(key)
    }
}

#[cfg(feature = "hmac")]
impl From<&MacKey> for VerificationKey {
    /// The secret is shared, not copied.
    fn from(key: &MacKey) -> Self {
        VerificationKey::Mac(key.share())
    }
}

impl From<VerifyingKey> for VerificationKey {
    fn from(key: VerifyingKey) -> Self {
        VerificationKey::Public(key)
    }
}

impl Keys {
    pub(crate) fn of_set(keys: Vec<VerificationKey>) -> Keys {
        let known = Set::known_headers(&keys);
        Keys(Trusted::Set(Set { keys, known }))
    }

    /// Returns the only key that may have signed a token with this encoded header, if that is known without
    /// parsing the header; see [`Headers`].
    pub(crate) fn known(&self, header: &str) -> Option<(&VerificationKey, KnownHeader)> {
        match &self.0 {
            Trusted::One(key) => Some((key, key.headers().known(header)?)),
            Trusted::Set(set) => set.known(header),
        }
    }

    /// Returns the key, if there is only one key and no key set.
    pub(crate) fn only(&self) -> Option<&VerificationKey> {
        match &self.0 {
            Trusted::One(key) => Some(key),
            Trusted::Set(_) => None,
        }
    }

    /// Calls `verify` with each key that may have signed a token with this `alg` and `kid`, until it returns
    /// true.
    ///
    /// A single key is used for any `kid`. In a key set, a `kid` selects the keys with this id. Without a `kid`,
    /// keys with this algorithm are tried, at most `limit`.
    pub(crate) fn find(
        &self,
        alg: Text<'_>,
        kid: Option<&str>,
        limit: usize,
        mut verify: impl FnMut(&VerificationKey) -> bool,
    ) -> Result<&VerificationKey, Rejection> {
        let keys = match &self.0 {
            Trusted::One(key) if !key.matches_name(alg) => {
                return Err(Rejection::AlgorithmMismatch);
            }
            Trusted::One(key) if verify(key) => return Ok(key),
            Trusted::One(_) => return Err(Rejection::Signature),
            Trusted::Set(set) => &set.keys,
        };
        let named = |key: &&VerificationKey| {
            kid.is_none_or(|kid| key.id().is_some_and(|id| id.as_str() == kid))
        };
        let mut last_error = Rejection::UnknownKey;
        let candidates = keys
            .iter()
            .filter(named)
            .filter(|key| key.matches_name(alg));
        for key in candidates.clone().take(limit) {
            if verify(key) {
                return Ok(key);
            }
            last_error = Rejection::Signature;
        }
        match candidates.count() {
            count if count > limit && kid.is_none() => Err(Rejection::too_many_keys(count, limit)),
            _ => Err(last_error),
        }
    }
}

impl Set {
    /// The headers that these keys write, sorted by text, as pairs of key index and header index.
    ///
    /// Only keys with a unique id are included: then the header selects exactly one key.
    fn known_headers(keys: &[VerificationKey]) -> Vec<(usize, usize)> {
        let id = |key: usize| keys[key].id().map(KeyId::as_str);
        let mut named: Vec<usize> = (0..keys.len()).filter(|&key| id(key).is_some()).collect();
        named.sort_unstable_by_key(|&key| id(key));
        let alone = named.chunk_by(|&one, &next| id(one) == id(next));
        let alone = alone.filter(|same| same.len() == 1).flatten();
        let mut known: Vec<_> = alone
            .flat_map(|&key| (0..keys[key].headers().all().len()).map(move |n| (key, n)))
            .collect();
        known.sort_unstable_by_key(|&(key, n)| keys[key].headers().all()[n].0);
        known
    }

    fn known(&self, header: &str) -> Option<(&VerificationKey, KnownHeader)> {
        let written = |&(key, n): &(usize, usize)| self.keys[key].headers().all()[n];
        let found = (self.known).binary_search_by(|at| written(at).0.cmp(header));
        let at = &self.known[found.ok()?];
        Some((&self.keys[at.0], written(at).1))
    }
}

impl VerificationKey {
    /// Returns the algorithm.
    pub fn alg(&self) -> Alg {
        match self {
            #[cfg(feature = "hmac")]
            VerificationKey::Mac(key) => key.alg().into(),
            VerificationKey::Public(key) => key.alg().into(),
        }
    }

    /// Returns the key id (`kid`).
    pub fn key_id(&self) -> Option<&str> {
        self.id().map(KeyId::as_str)
    }

    /// Returns the key unless it is a secret.
    pub(crate) fn public(&self) -> Option<&VerifyingKey> {
        match self {
            #[cfg(feature = "hmac")]
            VerificationKey::Mac(_) => None,
            VerificationKey::Public(key) => Some(key),
        }
    }

    pub(crate) fn id(&self) -> Option<&KeyId> {
        match self {
            #[cfg(feature = "hmac")]
            VerificationKey::Mac(key) => key.id(),
            VerificationKey::Public(key) => key.id(),
        }
    }

    pub(crate) fn headers(&self) -> &Headers {
        match self {
            #[cfg(feature = "hmac")]
            VerificationKey::Mac(key) => key.headers(),
            VerificationKey::Public(key) => key.headers(),
        }
    }

    pub(crate) fn alg_name(&self) -> &'static str {
        match self {
            #[cfg(feature = "hmac")]
            VerificationKey::Mac(key) => key.alg().name(),
            VerificationKey::Public(key) => key.alg().name(),
        }
    }

    pub(crate) fn matches_name(&self, alg: Text<'_>) -> bool {
        match self {
            #[cfg(feature = "hmac")]
            VerificationKey::Mac(key) => alg == *key.alg().name(),
            VerificationKey::Public(key) => key.alg().matches_name(&alg.to_cow()),
        }
    }

    pub(crate) fn signature_bytes(&self) -> usize {
        match self {
            #[cfg(feature = "hmac")]
            VerificationKey::Mac(key) => key.alg().key_bytes(),
            VerificationKey::Public(key) => key.signature_bytes(),
        }
    }

    pub(crate) fn verify_bytes(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            #[cfg(feature = "hmac")]
            VerificationKey::Mac(key) => key.verify_bytes(message, signature),
            VerificationKey::Public(key) => key.verify_bytes(message, signature),
        }
    }
}

#[cfg(feature = "hmac")]
impl From<MacKey> for Keys {
    fn from(key: MacKey) -> Self {
        Keys(Trusted::One(VerificationKey::Mac(key)))
    }
}

#[cfg(feature = "hmac")]
impl From<&MacKey> for Keys {
    /// The secret is shared with the verifier, not copied.
    fn from(key: &MacKey) -> Self {
        key.share().into()
    }
}

impl From<VerifyingKey> for Keys {
    fn from(key: VerifyingKey) -> Self {
        Keys(Trusted::One(VerificationKey::Public(key)))
    }
}

impl From<&VerifyingKey> for Keys {
    fn from(key: &VerifyingKey) -> Self {
        key.clone().into()
    }
}

impl From<VerificationKey> for Keys {
    fn from(key: VerificationKey) -> Self {
        Keys(Trusted::One(key))
    }
}

impl From<&VerificationKey> for Keys {
    /// A secret is shared with the verifier, not copied.
    fn from(key: &VerificationKey) -> Self {
        key.clone().into()
    }
}
