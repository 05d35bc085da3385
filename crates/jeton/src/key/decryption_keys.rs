#[cfg(feature = "legacy")]
use super::Password;
use super::jwk::Members;
use super::{ContentKey, DecryptionKey, KeyId, KeyManagementAlg, WrappingKey, set};
use crate::error::{InvalidUse, KeyError, KeyProblem, Result};

/// The keys of a decrypter: one, or several.
///
/// Every key type that decrypts converts into it. From a reference, the secret is shared, not copied.
///
/// ```
/// use jeton::key::{DecryptionKey, DecryptionKeys, KeyManagementAlg, KeyWrapAlg, WrappingKey};
///
/// let one = DecryptionKey::generate(KeyManagementAlg::EcdhEs)?.with_key_id("a")?;
/// let two = WrappingKey::generate(KeyWrapAlg::A256Kw)?.with_key_id("b")?;
/// let set = format!(r#"{{"keys":[{},{}]}}"#, *one.to_jwk()?, *two.to_jwk());
/// assert_eq!(DecryptionKeys::from_jwk_set(&set)?.len(), 2);
/// assert_eq!(DecryptionKeys::from(&one).and(&two).len(), 2);
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug)]
pub struct DecryptionKeys(Vec<DecryptWith>);

/// A key that decrypts.
#[derive(Debug)]
pub(crate) enum DecryptWith {
    Private(DecryptionKey),
    Wrapping(WrappingKey),
    Content(ContentKey),
    #[cfg(feature = "legacy")]
    Password(Password),
}

impl DecryptionKeys {
    /// Reads a JWK Set of private and shared keys, each with `alg`.
    ///
    /// Keys of an unknown type and keys that cannot decrypt are skipped. A set has at most
    /// [`limits::KEY_SET_KEYS`](crate::limits::KEY_SET_KEYS) keys and
    /// [`limits::KEY_SET_BYTES`](crate::limits::KEY_SET_BYTES) bytes.
    pub fn from_jwk_set(text: &str) -> Result<DecryptionKeys> {
        let mut keys = Vec::new();
        for key in set::elements(text)? {
            keys.extend(read_key(key));
        }
        if keys.is_empty() {
            return Err(KeyError::at("keys", KeyProblem::NoUsableKey).into());
        }
        Ok(DecryptionKeys(keys))
    }

    /// Adds more keys.
    ///
    /// One RSA key must not be used for both [`RSA1_5`](crate::danger::RSA1_5) and RSA-OAEP. Otherwise every
    /// call of a [`Decrypter`](crate::jwe::Decrypter) returns [`InvalidUse::SharedRsaKey`].
    pub fn and(mut self, others: impl Into<DecryptionKeys>) -> DecryptionKeys {
        self.0.extend(others.into().0);
        self
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Always returns false: there is at least one key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn all(&self) -> &[DecryptWith] {
        &self.0
    }

    /// Rejects an RSA key for both RSA1_5 and OAEP. An oracle for one padding would also reveal content that was
    /// encrypted with the other.
    pub(crate) fn check(&self) -> Result<(), InvalidUse> {
        let is_old = |key: &&DecryptionKey| matches!(key.alg(), KeyManagementAlg::Rsa1_5(_));
        let rsa = || self.0.iter().filter_map(DecryptWith::rsa);
        let is_shared = rsa()
            .filter(is_old)
            .any(|old| rsa().any(|new| !is_old(&new) && new.modulus() == old.modulus()));
        if is_shared {
            Err(InvalidUse::SharedRsaKey)
        } else {
            Ok(())
        }
    }
}

/// Reads a key, if it is one that decrypts.
fn read_key(text: &str) -> Option<DecryptWith> {
    let members = Members::parse(text).ok()?;
    if members.required("kty").ok()? != "oct" {
        let key = DecryptionKey::from_members(&members, None).ok()?;
        return Some(DecryptWith::Private(key));
    }
    match WrappingKey::from_members(&members, None) {
        Ok(key) => Some(DecryptWith::Wrapping(key)),
        Err(_) => ContentKey::from_members(&members, None)
            .ok()
            .map(DecryptWith::Content),
    }
}

impl DecryptWith {
    pub(crate) fn id(&self) -> Option<&KeyId> {
        match self {
            DecryptWith::Private(key) => key.id(),
            DecryptWith::Wrapping(key) => key.id(),
            DecryptWith::Content(key) => key.id(),
            #[cfg(feature = "legacy")]
            DecryptWith::Password(key) => key.id(),
        }
    }

    fn rsa(&self) -> Option<&DecryptionKey> {
        match self {
            DecryptWith::Private(key) => key.modulus().map(|_| key),
            _ => None,
        }
    }

    /// Returns the `alg` name that a header must have.
    pub(crate) fn alg_name(&self) -> &'static str {
        match self {
            DecryptWith::Private(key) => key.alg().name(),
            DecryptWith::Wrapping(key) => key.alg().name(),
            DecryptWith::Content(_) => "dir",
            #[cfg(feature = "legacy")]
            DecryptWith::Password(key) => key.alg().name(),
        }
    }
}

impl From<DecryptionKey> for DecryptionKeys {
    fn from(key: DecryptionKey) -> Self {
        DecryptionKeys(vec![DecryptWith::Private(key)])
    }
}

impl From<&DecryptionKey> for DecryptionKeys {
    fn from(key: &DecryptionKey) -> Self {
        key.share().into()
    }
}

impl From<WrappingKey> for DecryptionKeys {
    fn from(key: WrappingKey) -> Self {
        DecryptionKeys(vec![DecryptWith::Wrapping(key)])
    }
}

impl From<&WrappingKey> for DecryptionKeys {
    fn from(key: &WrappingKey) -> Self {
        key.share().into()
    }
}

impl From<ContentKey> for DecryptionKeys {
    fn from(key: ContentKey) -> Self {
        DecryptionKeys(vec![DecryptWith::Content(key)])
    }
}

impl From<&ContentKey> for DecryptionKeys {
    fn from(key: &ContentKey) -> Self {
        key.share().into()
    }
}

#[cfg(feature = "legacy")]
impl From<Password> for DecryptionKeys {
    fn from(key: Password) -> Self {
        DecryptionKeys(vec![DecryptWith::Password(key)])
    }
}

#[cfg(feature = "legacy")]
impl From<&Password> for DecryptionKeys {
    fn from(key: &Password) -> Self {
        key.share().into()
    }
}
