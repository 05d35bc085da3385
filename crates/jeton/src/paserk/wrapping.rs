use std::fmt;
use std::marker::PhantomData;

use zeroize::Zeroizing;

use super::encrypted::Envelope;
use super::key_cipher::KeyCipher;
use crate::crypto::random;
use crate::error::{KeyProblem, Result};
use crate::paserk_kind::{Family, Form, Kind, LOCAL_KEY_BYTES};
use crate::paseto::paserk::{self, Id, Paserk, key_error};
use crate::paseto::{LocalKey, SecretKey, Version};

const NONCE_BYTES: usize = 32;

/// A key that encrypts other keys of its version with the PASERK protocol `pie`.
///
/// Its text is that of a local key, `k4.local`. It is a separate type, so that one key does not both wrap keys
/// and encrypt tokens.
///
/// ```
/// use jeton::paserk::PaserkWrappingKey;
/// use jeton::paseto::v4::{LocalKey, V4};
///
/// let wrapping = PaserkWrappingKey::<V4>::generate()?;
/// let key = LocalKey::generate()?;
/// let text = key.to_wrapped_paserk(&wrapping)?;
/// assert!(text.starts_with("k4.local-wrap.pie."));
/// assert_eq!(LocalKey::from_wrapped_paserk(&text, &wrapping)?.id(), key.id());
/// # Ok::<_, jeton::Error>(())
/// ```
pub struct PaserkWrappingKey<V> {
    /// 32 bytes, at an address that does not change when the key is moved.
    key: Zeroizing<Vec<u8>>,
    version: PhantomData<V>,
}

impl<V: Version> PaserkWrappingKey<V> {
    const KIND: Kind = Kind::of(V::VERSION, Form::Local);

    /// Generates a key.
    ///
    /// # Errors
    ///
    /// [`Error::Primitive`](crate::Error::Primitive) if the system has no randomness.
    pub fn generate() -> Result<PaserkWrappingKey<V>> {
        Ok(PaserkWrappingKey {
            key: random::secret_bytes(LOCAL_KEY_BYTES)?,
            version: PhantomData,
        })
    }

    /// Reads a PASERK of this version with the form `local`.
    ///
    /// # Errors
    ///
    /// Those of [`LocalKey::from_paserk`].
    pub fn from_paserk(text: &str) -> Result<PaserkWrappingKey<V>> {
        let paserk = Paserk::read(text, Self::KIND)?;
        Ok(PaserkWrappingKey {
            key: Zeroizing::new(paserk.bytes().to_vec()),
            version: PhantomData,
        })
    }

    /// Returns the PASERK of the key, which is as secret as the key and all keys that it wraps.
    pub fn to_paserk(&self) -> Zeroizing<String> {
        paserk::text(Self::KIND, &self.key)
    }

    /// Returns the id of the key, for example `k4.lid`. It is not secret.
    pub fn id(&self) -> Id {
        Id::of(Self::KIND, &self.key)
    }

    fn bytes(&self) -> &[u8; LOCAL_KEY_BYTES] {
        (self.key.as_slice().try_into()).expect("a local key has its length")
    }

    fn wrap(&self, form: Form, key_kind: Kind, key: &[u8]) -> Result<String> {
        let nonce = random::secret::<NONCE_BYTES>()?;
        let envelope = envelope(key_kind, form);
        let cipher = KeyCipher::wrapping(Family::of(V::VERSION), self.bytes(), nonce.as_slice());
        let mut encrypted = Zeroizing::new(key.to_vec());
        cipher.apply(&mut encrypted)?;
        let header = envelope.header();
        let tag = cipher.tag(&[header.as_bytes(), nonce.as_slice(), &encrypted]);
        Ok(envelope.write(&[&tag, nonce.as_slice(), &encrypted]))
    }

    fn unwrap(&self, form: Form, key_kind: Kind, text: &str) -> Result<Zeroizing<Vec<u8>>> {
        let envelope = envelope(key_kind, form);
        let data = envelope.read(text)?;
        let family = Family::of(V::VERSION);
        let (tag, rest) = data.split_at(family.tag_bytes());
        let (nonce, encrypted) = rest.split_at(NONCE_BYTES);
        let cipher = KeyCipher::wrapping(family, self.bytes(), nonce);
        let header = envelope.header();
        if !cipher.is_authentic(&[header.as_bytes(), nonce, encrypted], tag) {
            return Err(key_error(KeyProblem::Decryption).into());
        }
        let mut key = Zeroizing::new(encrypted.to_vec());
        cipher.apply(&mut key)?;
        Ok(key)
    }
}

fn envelope(key: Kind, form: Form) -> Envelope {
    let tag_bytes = Family::of(key.version()).tag_bytes();
    Envelope::new(key, form, "pie.", tag_bytes + NONCE_BYTES)
}

impl<V> fmt::Debug for PaserkWrappingKey<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaserkWrappingKey").finish_non_exhaustive()
    }
}

impl<V: Version> LocalKey<V> {
    /// Encrypts the key with a wrapping key (`k4.local-wrap.pie.…`). The result may be stored and may appear in a
    /// footer, as long as the wrapping key is secret.
    ///
    /// # Errors
    ///
    /// [`Error::Primitive`](crate::Error::Primitive) if the system has no randomness.
    pub fn to_wrapped_paserk(&self, wrapping: &PaserkWrappingKey<V>) -> Result<String> {
        wrapping.wrap(
            Form::LocalWrap,
            Kind::of(V::VERSION, Form::Local),
            self.secret(),
        )
    }

    /// Decrypts a key with a wrapping key.
    ///
    /// # Errors
    ///
    /// [`Error::Key`](crate::Error::Key) if the text is malformed or of another kind or protocol, and
    /// [`KeyProblem::Decryption`] if another wrapping key encrypted it.
    pub fn from_wrapped_paserk(text: &str, wrapping: &PaserkWrappingKey<V>) -> Result<LocalKey<V>> {
        let kind = Kind::of(V::VERSION, Form::Local);
        LocalKey::from_bytes(wrapping.unwrap(Form::LocalWrap, kind, text)?)
    }
}

impl<V: Version> SecretKey<V> {
    /// Encrypts the key with a wrapping key (`k4.secret-wrap.pie.…`). The result may be stored and may appear in a
    /// footer, as long as the wrapping key is secret.
    ///
    /// # Errors
    ///
    /// [`Error::Primitive`](crate::Error::Primitive) if the system has no randomness, or if AWS-LC does not
    /// export the key.
    ///
    /// ```
    /// use jeton::paserk::PaserkWrappingKey;
    /// use jeton::paseto::v3::{SecretKey, V3};
    ///
    /// let wrapping = PaserkWrappingKey::<V3>::generate()?;
    /// let key = SecretKey::generate()?;
    /// let text = key.to_wrapped_paserk(&wrapping)?;
    /// let again = SecretKey::from_wrapped_paserk(&text, &wrapping)?;
    /// assert_eq!(again.public_key(), key.public_key());
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn to_wrapped_paserk(&self, wrapping: &PaserkWrappingKey<V>) -> Result<String> {
        let kind = Kind::of(V::VERSION, Form::Secret);
        wrapping.wrap(Form::SecretWrap, kind, &self.secret()?)
    }

    /// Decrypts a key with a wrapping key.
    ///
    /// # Errors
    ///
    /// [`Error::Key`](crate::Error::Key) if the text is malformed or of another kind or protocol, with
    /// [`KeyProblem::Decryption`] if another wrapping key encrypted it. Also if the decrypted bytes are not a
    /// valid key.
    pub fn from_wrapped_paserk(
        text: &str,
        wrapping: &PaserkWrappingKey<V>,
    ) -> Result<SecretKey<V>> {
        let kind = Kind::of(V::VERSION, Form::Secret);
        SecretKey::from_bytes(&wrapping.unwrap(Form::SecretWrap, kind, text)?)
    }
}
