//! Encryption of local keys to a public key (PASERK, "Public-Key Encryption").

use zeroize::Zeroizing;

use super::encrypted::Envelope;
use super::key_cipher::KeyCipher;
use crate::crypto::ecdh::{Group, Private, Public};
use crate::crypto::{ecdsa, ed25519};
use crate::error::{KeyError, KeyProblem, Result};
use crate::paserk;
use crate::paserk_kind::{Family, Form, Kind};
use crate::paseto::paserk::key_error;
use crate::paseto::{LocalKey, PublicKey, SecretKey, Version};

impl<V: Version> LocalKey<V> {
    /// Encrypts the key to a public key (`k4.seal.…`). Only the owner of the secret key can decrypt it. It does
    /// not authenticate the sender. It may appear in a footer.
    ///
    /// The key pair should have no other use. Version 1 is not supported: it needs RSA without padding, which
    /// none of the libraries used by jeton offers.
    ///
    /// # Errors
    ///
    /// [`Error::Primitive`](crate::Error::Primitive) if the system has no randomness;
    /// [`KeyProblem::Unsupported`] for version 1.
    ///
    /// ```
    /// use jeton::paseto::v4::{LocalKey, SecretKey};
    ///
    /// let recipient = SecretKey::generate()?;
    /// let key = LocalKey::generate()?;
    /// let text = key.to_sealed_paserk(&recipient.public_key())?;
    /// assert!(text.starts_with("k4.seal."));
    /// assert_eq!(LocalKey::from_sealed_paserk(&text, &recipient)?.id(), key.id());
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn to_sealed_paserk(&self, recipient: &PublicKey<V>) -> Result<String> {
        let group = Curve::of(V::VERSION)?;
        let ephemeral = Private::generate(group.group())?;
        let public = group.of_public(recipient.bytes()).map_err(key_error)?;
        let secret = ephemeral
            .agree(&public.key)
            .ok_or(key_error(KeyProblem::Invalid))?;
        let envelope = envelope::<V>(&group);
        let header = envelope.header();
        let ephemeral = group.written(ephemeral.public());
        let family = Family::of(V::VERSION);
        let cipher = KeyCipher::agreed(family, &header, &secret, &ephemeral, &public.bytes);
        let mut encrypted = Zeroizing::new(self.secret().to_vec());
        cipher.apply(&mut encrypted)?;
        let tag = cipher.tag(&[header.as_bytes(), &ephemeral, &encrypted]);
        Ok(envelope.write(&[&tag, &ephemeral, &encrypted]))
    }

    /// Decrypts a key that was encrypted to the public key of this pair.
    ///
    /// # Errors
    ///
    /// [`Error::Key`](crate::Error::Key) if the text is malformed or of another kind,
    /// [`KeyProblem::Decryption`] if it was encrypted to another key, and [`KeyProblem::Unsupported`] for
    /// version 1.
    pub fn from_sealed_paserk(text: &str, recipient: &SecretKey<V>) -> Result<LocalKey<V>> {
        let group = Curve::of(V::VERSION)?;
        let envelope = envelope::<V>(&group);
        let data = envelope.read(text)?;
        let family = Family::of(V::VERSION);
        let (tag, rest) = data.split_at(family.tag_bytes());
        let (ephemeral, encrypted) = rest.split_at(group.public_bytes());
        let private = group.of_secret(&recipient.secret()?).map_err(key_error)?;
        let header = envelope.header();
        let public = group.written(private.public());
        // An invalid point, a point of small order and a wrong tag give the same error.
        let cipher = group
            .of_ephemeral(ephemeral)
            .ok()
            .and_then(|key| private.agree(&key))
            .map(|secret| KeyCipher::agreed(family, &header, &secret, ephemeral, &public))
            .filter(|cipher| cipher.is_authentic(&[header.as_bytes(), ephemeral, encrypted], tag))
            .ok_or(key_error(KeyProblem::Decryption))?;
        let mut key = Zeroizing::new(encrypted.to_vec());
        cipher.apply(&mut key)?;
        LocalKey::from_bytes(key)
    }
}

fn envelope<V: Version>(curve: &Curve) -> Envelope {
    let overhead = Family::of(V::VERSION).tag_bytes() + curve.public_bytes();
    Envelope::new(Kind::of(V::VERSION, Form::Local), Form::Seal, "", overhead)
}

/// The curve for key agreement of a version.
enum Curve {
    /// P-384 with compressed points.
    P384,
    /// X25519 with converted Ed25519 keys.
    X25519,
}

/// The key of a recipient, and its bytes for hashing.
struct Recipient {
    key: Public,
    bytes: Vec<u8>,
}

impl Curve {
    fn of(version: paserk::PaserkVersion) -> Result<Curve> {
        match version {
            paserk::PaserkVersion::V1 => {
                Err(KeyError::at("k1.seal", KeyProblem::Unsupported).into())
            }
            paserk::PaserkVersion::V3 => Ok(Curve::P384),
            paserk::PaserkVersion::V2 | paserk::PaserkVersion::V4 => Ok(Curve::X25519),
        }
    }

    fn group(&self) -> Group {
        match self {
            Curve::P384 => Group::P384,
            Curve::X25519 => Group::X25519,
        }
    }

    /// Length of an encoded public key, bytes.
    fn public_bytes(&self) -> usize {
        match self {
            Curve::P384 => 49,
            Curve::X25519 => 32,
        }
    }

    /// Encodes a public key of the group.
    fn written(&self, public: &[u8]) -> Vec<u8> {
        match self {
            Curve::P384 => ecdsa::compress(public),
            Curve::X25519 => public.to_vec(),
        }
    }

    fn of_ephemeral(&self, bytes: &[u8]) -> Result<Public, KeyProblem> {
        match self {
            Curve::P384 => Public::from_compressed(Group::P384, bytes),
            Curve::X25519 => Public::from_bytes(Group::X25519, bytes),
        }
    }

    /// Converts the bytes of a PASERK `public`.
    fn of_public(&self, bytes: &[u8]) -> Result<Recipient, KeyProblem> {
        let bytes = match self {
            Curve::P384 => bytes.to_vec(),
            Curve::X25519 => ed25519::Public::from_bytes(bytes)?.x25519().to_vec(),
        };
        Ok(Recipient {
            key: self.of_ephemeral(&bytes)?,
            bytes,
        })
    }

    /// Converts the bytes of a PASERK `secret`.
    fn of_secret(&self, bytes: &[u8]) -> Result<Private, KeyProblem> {
        match self {
            Curve::P384 => Private::from_secret(Group::P384, bytes),
            Curve::X25519 => {
                let seed = &bytes[..ed25519::SEED_BYTES];
                Private::from_secret(Group::X25519, ed25519::x25519_secret(seed).as_slice())
            }
        }
    }
}
