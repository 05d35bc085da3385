use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::jwk::{self, Members};
use super::shared_secret::{KeyOps, PermittedUse, SharedSecret};
use super::{KeyId, KeyWrapAlg};
use crate::crypto::random;
use crate::error::{KeyError, Result};

/// A shared key that wraps content keys. Anyone who can decrypt with it can also encrypt, and so can every
/// other recipient of a token that it decrypts ([`Encrypter::recipient`](crate::jwe::Encrypter::recipient)).
///
/// With A128GCMKW, A192GCMKW and A256GCMKW, one key may wrap at most 2³² content keys (RFC 7518, section 8.4),
/// because the nonces are random. A128KW, A192KW and A256KW have no nonce and no such limit.
///
/// ```
/// use jeton::key::{KeyWrapAlg, WrappingKey};
///
/// let key = WrappingKey::generate(KeyWrapAlg::A256Kw)?.with_key_id("2026-11")?;
/// let same = WrappingKey::from_jwk(&key.to_jwk())?;
/// assert_eq!(same.key_id(), Some("2026-11"));
/// # Ok::<(), jeton::Error>(())
/// ```
pub struct WrappingKey {
    alg: KeyWrapAlg,
    shared: Arc<SharedSecret>,
    key_id: Option<KeyId>,
}

impl WrappingKey {
    /// Generates a key.
    pub fn generate(alg: KeyWrapAlg) -> Result<WrappingKey> {
        let mut secret = Zeroizing::new(vec![0; alg.key_bytes()]);
        random::fill(&mut secret)?;
        Self::new(alg, &secret)
    }

    /// Creates a key from secret random bytes, exactly as many as the algorithm requires. The encoding of a key
    /// is rejected.
    pub fn new(alg: KeyWrapAlg, secret: &[u8]) -> Result<WrappingKey> {
        let secret = Zeroizing::new(secret.to_vec());
        let shared = SharedSecret::new(secret, alg.key_bytes(), PermittedUse::Both)?;
        Ok(Self::from_parts(alg, shared, None))
    }

    /// Reads a JWK with `kty` `oct` and `alg`. `use`, if present, must be `enc`. `key_ops`, if present, must
    /// contain `wrapKey`, `unwrapKey` or both, and restricts the key to these.
    pub fn from_jwk(text: &str) -> Result<WrappingKey> {
        Ok(Self::from_members(&Members::parse(text)?, None)?)
    }

    /// Reads a JWK with `kty` `oct` for this algorithm. A different `alg` is rejected.
    pub fn from_jwk_as(text: &str, alg: KeyWrapAlg) -> Result<WrappingKey> {
        Ok(Self::from_members(&Members::parse(text)?, Some(alg))?)
    }

    /// Returns the key as a JWK, which contains the secret.
    pub fn to_jwk(&self) -> Zeroizing<String> {
        let writer = jwk::Writer::new("oct")
            .word("alg", self.alg.name())
            .key_id(self.key_id());
        self.shared.write(writer, &KeyOps::WRAPPING)
    }

    /// Returns the algorithm.
    pub fn alg(&self) -> KeyWrapAlg {
        self.alg
    }

    /// Returns the key id (`kid`).
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_ref().map(KeyId::as_str)
    }

    /// Returns the same key with a key id of 1 to 1,024 bytes.
    pub fn with_key_id(mut self, key_id: &str) -> Result<WrappingKey> {
        self.key_id = Some(KeyId::from_caller(key_id)?);
        Ok(self)
    }

    /// Returns the thumbprint (RFC 7638). It is a hash of the secret: it may identify the key among its owners,
    /// but must not be published.
    pub fn thumbprint(&self) -> String {
        self.shared.thumbprint()
    }

    /// Returns the thumbprint as a URI (RFC 9278).
    ///
    /// It is a hash of the secret: do not publish it.
    pub fn thumbprint_uri(&self) -> String {
        jwk::thumbprint_uri(&self.thumbprint())
    }

    pub(crate) fn from_members(
        members: &Members<'_>,
        wanted: Option<KeyWrapAlg>,
    ) -> Result<WrappingKey, KeyError> {
        let alg = super::shared_secret::algorithm(members, wanted)?;
        let shared = SharedSecret::from_members(members, alg.key_bytes(), &KeyOps::WRAPPING)?;
        Ok(Self::from_parts(alg, shared, members.key_id()?))
    }

    fn from_parts(alg: KeyWrapAlg, shared: SharedSecret, key_id: Option<KeyId>) -> WrappingKey {
        WrappingKey {
            alg,
            shared: Arc::new(shared),
            key_id,
        }
    }

    /// Returns the same key for a decrypter. The secret is shared, not copied.
    pub(crate) fn share(&self) -> WrappingKey {
        WrappingKey {
            alg: self.alg,
            shared: Arc::clone(&self.shared),
            key_id: self.key_id.clone(),
        }
    }

    pub(crate) fn shared(&self) -> &SharedSecret {
        &self.shared
    }

    pub(crate) fn id(&self) -> Option<&KeyId> {
        self.key_id.as_ref()
    }
}

impl fmt::Debug for WrappingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WrappingKey")
            .field("alg", &self.alg)
            .field("key_id", &self.key_id())
            .finish_non_exhaustive()
    }
}
