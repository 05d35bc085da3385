use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::jwk::{self, Members};
use super::shared_secret::{KeyOps, PermittedUse, SharedSecret};
use super::{ContentEnc, KeyId};
use crate::crypto::random;
use crate::error::{KeyError, KeyProblem, Result};

/// A shared key that encrypts content directly (`alg: dir`, RFC 7518, section 4.5).
///
/// With AES-GCM, at most 2³² tokens may be encrypted with one key (RFC 7518, section 8.4), because the nonces
/// are random. A [`WrappingKey`](super::WrappingKey) for AES Key Wrap gives each token a new content key and
/// has no such limit. A wrapping key for AES-GCM key wrap has the same limit.
///
/// ```
/// use jeton::key::{ContentEnc, ContentKey};
///
/// let key = ContentKey::generate(ContentEnc::A256Gcm)?;
/// assert!(ContentKey::from_jwk(&key.to_jwk()).is_ok());
/// # Ok::<(), jeton::Error>(())
/// ```
pub struct ContentKey {
    enc: ContentEnc,
    shared: Arc<SharedSecret>,
    key_id: Option<KeyId>,
}

impl ContentKey {
    /// Generates a key.
    pub fn generate(enc: ContentEnc) -> Result<ContentKey> {
        let mut secret = Zeroizing::new(vec![0; enc.key_bytes()]);
        random::fill(&mut secret)?;
        Self::new(enc, &secret)
    }

    /// Creates a key from secret random bytes, exactly as many as `enc` requires. The encoding of a key is
    /// rejected.
    pub fn new(enc: ContentEnc, secret: &[u8]) -> Result<ContentKey> {
        let secret = Zeroizing::new(secret.to_vec());
        let shared = SharedSecret::new(secret, enc.key_bytes(), PermittedUse::Both)?;
        Ok(Self::from_parts(enc, shared, None))
    }

    /// Reads a JWK with `kty` `oct` whose `alg` is a content encryption, such as `A256GCM`. `use`, if present,
    /// must be `enc`. `key_ops`, if present, must contain `encrypt`, `decrypt` or both, and restricts the key to
    /// these.
    pub fn from_jwk(text: &str) -> Result<ContentKey> {
        Ok(Self::from_members(&Members::parse(text)?, None)?)
    }

    /// Reads a JWK with `kty` `oct` for this content encryption. A different `alg` is rejected, except `dir`.
    pub fn from_jwk_as(text: &str, enc: ContentEnc) -> Result<ContentKey> {
        Ok(Self::from_members(&Members::parse(text)?, Some(enc))?)
    }

    /// Returns the key as a JWK, which contains the secret.
    pub fn to_jwk(&self) -> Zeroizing<String> {
        let writer = jwk::Writer::new("oct")
            .word("alg", self.enc.name())
            .key_id(self.key_id());
        self.shared.write(writer, &KeyOps::CONTENT)
    }

    /// Returns the content encryption of the key.
    pub fn enc(&self) -> ContentEnc {
        self.enc
    }

    /// Returns the key id (`kid`).
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_ref().map(KeyId::as_str)
    }

    /// Returns the same key with a key id of 1 to 1,024 bytes.
    pub fn with_key_id(mut self, key_id: &str) -> Result<ContentKey> {
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
        wanted: Option<ContentEnc>,
    ) -> Result<ContentKey, KeyError> {
        let enc = if members.optional("alg")?.as_deref() == Some("dir") {
            wanted.ok_or(KeyError::at("alg", KeyProblem::AlgorithmNeeded))?
        } else {
            super::shared_secret::algorithm(members, wanted)?
        };
        let shared = SharedSecret::from_members(members, enc.key_bytes(), &KeyOps::CONTENT)?;
        Ok(Self::from_parts(enc, shared, members.key_id()?))
    }

    fn from_parts(enc: ContentEnc, shared: SharedSecret, key_id: Option<KeyId>) -> ContentKey {
        ContentKey {
            enc,
            shared: Arc::new(shared),
            key_id,
        }
    }

    /// Returns the same key for a decrypter. The secret is shared, not copied.
    pub(crate) fn share(&self) -> ContentKey {
        ContentKey {
            enc: self.enc,
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

impl fmt::Debug for ContentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContentKey")
            .field("enc", &self.enc)
            .field("key_id", &self.key_id())
            .finish_non_exhaustive()
    }
}
