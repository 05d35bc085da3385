//! Private keys at rest: AES-256-GCM under a key-encryption key, bound to the record they are in.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::{digest, rand};
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::record::{hex, unhex_into};

const BYTES: usize = 32;

/// More than 64 digits and the end of their line.
const FILE_BYTES_MAX: u64 = 256;

/// What private keys are encrypted under: 32 random bytes from a file, the environment or a KMS.
///
/// ```
/// use jeton_issuer::KeyEncryptionKey;
/// let key = KeyEncryptionKey::generate()?;
/// let same = KeyEncryptionKey::from_hex(&key.to_hex())?;
/// assert_eq!(key.id(), same.id());
/// # Ok::<(), jeton_issuer::Error>(())
/// ```
pub struct KeyEncryptionKey {
    /// Boxed: what is moved is not wiped where it was.
    secret: Box<Zeroizing<[u8; BYTES]>>,
    id: String,
}

impl KeyEncryptionKey {
    /// A new one.
    ///
    /// # Errors
    ///
    /// [`Error::Token`] if the system has no randomness.
    pub fn generate() -> Result<KeyEncryptionKey> {
        let mut secret = Box::new(Zeroizing::new([0; BYTES]));
        rand::fill(secret.as_mut_slice()).map_err(|_| Error::Token(jeton::Error::Primitive))?;
        Ok(KeyEncryptionKey::of(secret))
    }

    /// The one with these bytes: what a KMS hook hands over.
    pub fn new(secret: Zeroizing<[u8; BYTES]>) -> KeyEncryptionKey {
        let mut boxed = Box::new(Zeroizing::new([0; BYTES]));
        boxed.copy_from_slice(secret.as_slice());
        KeyEncryptionKey::of(boxed)
    }

    fn of(secret: Box<Zeroizing<[u8; BYTES]>>) -> KeyEncryptionKey {
        // A one-way name for 256 random bits: it tells which key is meant and nothing of the key.
        let mut named = digest::Context::new(&digest::SHA256);
        named.update(b"jeton key-encryption key id\0");
        named.update(secret.as_slice());
        let id = hex(&named.finish().as_ref()[..8]);
        KeyEncryptionKey { secret, id }
    }

    /// The one that is written as 64 hexadecimal digits: how a file and the environment have it.
    ///
    /// # Errors
    ///
    /// [`Error::KeyEncryptionKey`] for anything else.
    pub fn from_hex(text: &str) -> Result<KeyEncryptionKey> {
        let mut secret = Box::new(Zeroizing::new([0; BYTES]));
        match unhex_into(text.trim(), secret.as_mut_slice()) {
            Some(()) => Ok(KeyEncryptionKey::of(secret)),
            None => Err(Error::KeyEncryptionKey(
                "wants 64 hexadecimal digits".to_owned(),
            )),
        }
    }

    /// The one in a file, which no other user may be able to read or write. A link to it is followed: a
    /// secret that Kubernetes mounts is one.
    ///
    /// # Errors
    ///
    /// [`Error::KeyEncryptionKey`] if it cannot be read, every user of the machine can, or it does not
    /// hold one; [`Error::Store`] with [`Unsafe`](jeton_store::Error::Unsafe) if others can write it.
    pub fn from_file(path: &Path) -> Result<KeyEncryptionKey> {
        let opened = File::open(path).map_err(|error| unreadable(path, &error))?;
        jeton_store::check_private(path, &opened)?;
        KeyEncryptionKey::read(path, opened)
    }

    /// The one in an open file, which nobody else can write.
    pub(crate) fn read(path: &Path, file: File) -> Result<KeyEncryptionKey> {
        let refused = |why: &str| Error::KeyEncryptionKey(format!("{} {why}", path.display()));
        let read = || {
            let about = file.metadata()?;
            // Room for all of it, so that it is not moved while it is read.
            let mut text = Zeroizing::new(String::with_capacity(2 * FILE_BYTES_MAX as usize));
            file.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
            Ok((about, text))
        };
        let (about, text) = read().map_err(|error| unreadable(path, &error))?;
        if is_open_to_others(&about) {
            return Err(refused(
                "can be read by every user of this machine: chmod 600 makes it yours alone",
            ));
        }
        KeyEncryptionKey::from_hex(&text)
            .map_err(|_| refused("holds no such key: wants 64 hexadecimal digits"))
    }

    /// Its name, which says nothing about it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// To be written to a file that only its owner reads.
    pub fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(hex(self.secret.as_slice()))
    }

    pub(crate) fn seal(&self, place: &Place<'_>, secret: &str) -> Result<Vec<u8>> {
        let mut text = Zeroizing::new(Vec::with_capacity(secret.len() + 32));
        text.extend_from_slice(secret.as_bytes());
        let nonce = self
            .aead()?
            .seal_in_place_append_tag(Aad::from(place.bytes()), &mut *text)
            .map_err(|_| Error::Token(jeton::Error::Primitive))?;
        Ok([nonce.as_ref(), text.as_slice()].concat())
    }

    pub(crate) fn open(&self, place: &Place<'_>, sealed: &[u8]) -> Result<Zeroizing<String>> {
        let damaged = || Error::Record(format!("of key {}", place.kid));
        let (nonce, rest) = sealed
            .split_first_chunk::<NONCE_LEN>()
            .ok_or_else(damaged)?;
        let mut text = Zeroizing::new(rest.to_vec());
        let length = self
            .aead()?
            .open_in_place(
                Nonce::assume_unique_for_key(*nonce),
                Aad::from(place.bytes()),
                &mut text,
            )
            .map_err(|_| damaged())?
            .len();
        text.truncate(length);
        // What is no text stays where it is wiped.
        std::str::from_utf8(&text).map_err(|_| damaged())?;
        let text = String::from_utf8(std::mem::take(&mut *text)).map_err(|_| damaged())?;
        Ok(Zeroizing::new(text))
    }

    fn aead(&self) -> Result<RandomizedNonceKey> {
        RandomizedNonceKey::new(&AES_256_GCM, self.secret.as_slice())
            .map_err(|_| Error::Token(jeton::Error::Primitive))
    }
}

impl fmt::Debug for KeyEncryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyEncryptionKey")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::KeyEncryptionKey(format!("{} cannot be read: {error}", path.display()))
}

#[cfg(unix)]
fn is_open_to_others(file: &Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o007 != 0
}

#[cfg(not(unix))]
fn is_open_to_others(_file: &Metadata) -> bool {
    false
}

/// The record that a sealed key belongs to. It opens nowhere else.
pub(crate) struct Place<'a> {
    pub(crate) iss: &'a str,
    pub(crate) kid: &'a str,
    pub(crate) kind: KeyKind,
    pub(crate) schema: u64,
}

impl Place<'_> {
    /// Each part with its length, so that no two places have the same bytes.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"jeton key record".to_vec();
        bytes.extend_from_slice(&self.schema.to_be_bytes());
        for part in [self.iss, self.kid, self.kind.name()] {
            bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_sealed_key_opens_only_where_it_belongs() {
        let kek = KeyEncryptionKey::generate().unwrap();
        let place = |iss, kid, kind, schema| Place {
            iss,
            kid,
            kind,
            schema,
        };
        let here = place("i", "k", KeyKind::V4Public, 1);
        let sealed = kek.seal(&here, "secret").unwrap();
        assert_eq!(*kek.open(&here, &sealed).unwrap(), "secret");
        for other in [
            place("j", "k", KeyKind::V4Public, 1),
            place("i", "l", KeyKind::V4Public, 1),
            place("i", "k", KeyKind::V3Public, 1),
            place("i", "k", KeyKind::V4Public, 2),
            place("ik", "", KeyKind::V4Public, 1),
        ] {
            assert!(kek.open(&other, &sealed).is_err());
        }
        assert!(
            KeyEncryptionKey::generate()
                .unwrap()
                .open(&here, &sealed)
                .is_err()
        );
        for at in 0..sealed.len() {
            let mut flipped = sealed.clone();
            flipped[at] ^= 1;
            assert!(kek.open(&here, &flipped).is_err());
        }
    }
}
