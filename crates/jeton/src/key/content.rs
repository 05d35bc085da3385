use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::shared_secret::{PermittedUse, SharedSecret, KeyOps};
use super::{ContentEnc, KeyId};
use crate::crypto::random;
use crate::error::{KeyError, KeyProblem, Result};
use crate::jwk::{self, Members};

/// A shared key that encrypts content itself (`alg: dir`, RFC 7518, section 4.5).
///
/// With AES-GCM at most 2³² tokens may be encrypted under one key (RFC 7518, section 8.4): the
/// nonces are random. A [`WrappingKey`](super::WrappingKey) for AES key wrap gives each token its own content
/// key, and has no such limit; one for AES-GCM key wrap has the same.
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
    /// A fresh key.
    pub fn generate(enc: ContentEnc) -> Result<ContentKey> {
        let mut secret = Zeroizing::new(vec![0; enc.key_bytes()]);
        random::fill(&mut secret)?;
        Self::new(enc, &secret)
    }

    /// A key from bytes that are both secret and random: exactly as many as `enc` has, and not the text of a
    /// key.
    pub fn new(enc: ContentEnc, secret: &[u8]) -> Result<ContentKey> {
        let secret = Zeroizing::new(secret.to_vec());
        let shared = SharedSecret::new(secret, enc.key_bytes(), PermittedUse::Both)?;
        Ok(Self::from_parts(enc, shared, None))
    }

    /// Reads a JWK of `kty` `oct` whose `alg` is an `enc`, such as `A256GCM`. `use` is `enc` if it is
    /// there; `key_ops` has `encrypt`, `decrypt` or both, and the key does no more than that.
    pub fn from_jwk(text: &str) -> Result<ContentKey> {
        Ok(Self::from_members(&Members::parse(text)?, None)?)
    }

    /// Reads a JWK of `kty` `oct` for a content encryption; one that says another is refused. `alg`
    /// may also be `dir`.
    pub fn from_jwk_as(text: &str, enc: ContentEnc) -> Result<ContentKey> {
        Ok(Self::from_members(&Members::parse(text)?, Some(enc))?)
    }

    /// The key as a JWK. It holds the secret.
    pub fn to_jwk(&self) -> Zeroizing<String> {
        let writer = jwk::Writer::new("oct")
            .word("alg", self.enc.name())
            .key_id(self.key_id());
        self.shared.write(writer, &KeyOps::CONTENT)
    }

    /// What the key encrypts with.
    pub fn enc(&self) -> ContentEnc {
        self.enc
    }

    /// The key's id (`kid`).
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_ref().map(KeyId::as_str)
    }

    /// The same key under an id of 1 to 256 bytes.
    pub fn with_key_id(mut self, key_id: &str) -> Result<ContentKey> {
        self.key_id = Some(KeyId::chosen(key_id)?);
        Ok(self)
    }

    /// The key's thumbprint (RFC 7638). It is a hash of the secret: fit to name the key among
    /// those who have it, not to be published.
    pub fn thumbprint(&self) -> String {
        self.shared.thumbprint()
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

    /// The same key for a decrypter; the secret is shared, not copied.
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
