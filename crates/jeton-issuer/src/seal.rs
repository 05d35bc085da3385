//! Encryption of private keys at rest: AES-256-GCM under a key-encryption key, bound to their record.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::{digest, rand};
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::hex::{hex, unhex_into};
use crate::key_kind::KeyKind;

const BYTES: usize = 32;

/// Maximum bytes of a key file: more than 64 digits and a line break.
const FILE_BYTES_MAX: u64 = 256;

/// A key-encryption key for private keys: 32 random bytes from a file, the environment or a KMS.
///
/// ```
/// use jeton_issuer::KeyEncryptionKey;
/// let key = KeyEncryptionKey::generate()?;
/// let same = KeyEncryptionKey::from_hex(&key.to_hex())?;
/// assert_eq!(key.id(), same.id());
/// # Ok::<(), jeton_issuer::Error>(())
/// ```
pub struct KeyEncryptionKey {
    /// Boxed, because moving a value leaves a copy that is not wiped.
    secret: Box<Zeroizing<[u8; BYTES]>>,
    id: String,
}

impl KeyEncryptionKey {
    /// Generates a new key.
    ///
    /// # Errors
    ///
    /// [`Error::Token`] if the system provides no randomness.
    pub fn generate() -> Result<KeyEncryptionKey> {
        let mut secret = Box::new(Zeroizing::new([0; BYTES]));
        rand::fill(secret.as_mut_slice()).map_err(|_| Error::Token(jeton::Error::Primitive))?;
        Ok(KeyEncryptionKey::of(secret))
    }

    /// Creates the key from bytes, for example from a KMS hook.
    pub fn new(secret: Zeroizing<[u8; BYTES]>) -> KeyEncryptionKey {
        let mut boxed = Box::new(Zeroizing::new([0; BYTES]));
        boxed.copy_from_slice(secret.as_slice());
        KeyEncryptionKey::of(boxed)
    }

    fn of(secret: Box<Zeroizing<[u8; BYTES]>>) -> KeyEncryptionKey {
        // A hash of 256 random bits identifies the key and reveals nothing about it.
        let mut named = digest::Context::new(&digest::SHA256);
        named.update(b"jeton key-encryption key id\0");
        named.update(secret.as_slice());
        let id = hex(&named.finish().as_ref()[..8]);
        KeyEncryptionKey { secret, id }
    }

    /// Parses 64 hexadecimal digits, the format of the file and the environment variable.
    ///
    /// # Errors
    ///
    /// [`Error::KeyEncryptionKey`] for any other text.
    pub fn from_hex(text: &str) -> Result<KeyEncryptionKey> {
        let mut secret = Box::new(Zeroizing::new([0; BYTES]));
        match unhex_into(text.trim(), secret.as_mut_slice()) {
            Some(()) => Ok(KeyEncryptionKey::of(secret)),
            None => Err(Error::KeyEncryptionKey(
                "must be 64 hexadecimal digits".to_owned(),
            )),
        }
    }

    /// Reads the key from a file that no other user may read or write. Links are followed: secrets mounted
    /// by Kubernetes are links.
    ///
    /// # Errors
    ///
    /// [`Error::KeyEncryptionKey`] if it cannot be read, other users can read it, or it has no valid key;
    /// [`Error::Store`] with [`Unsafe`](jeton_store::Error::Unsafe) if others can write it.
    pub fn from_file(path: &Path) -> Result<KeyEncryptionKey> {
        let opened = File::open(path).map_err(|error| unreadable(path, &error))?;
        jeton_store::check_private(path, &opened)?;
        KeyEncryptionKey::read(path, opened)
    }

    /// Reads the key from an open file that nobody else can write.
    pub(crate) fn read(path: &Path, file: File) -> Result<KeyEncryptionKey> {
        let refused = |why: &str| Error::KeyEncryptionKey(format!("{} {why}", path.display()));
        let read = || {
            let about = file.metadata()?;
            // Preallocated, so that reading does not reallocate and leave copies.
            let mut text = Zeroizing::new(String::with_capacity(2 * FILE_BYTES_MAX as usize));
            file.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
            Ok((about, text))
        };
        let (about, text) = read().map_err(|error| unreadable(path, &error))?;
        if is_open_to_others(&about) {
            return Err(refused(
                "can be read by every user of this machine: chmod 600",
            ));
        }
        KeyEncryptionKey::from_hex(&text)
            .map_err(|_| refused("has no valid key: must be 64 hexadecimal digits"))
    }

    /// Returns the id, which reveals nothing about the key.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the hexadecimal digits, for a file that only its owner can read.
    pub fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(hex(self.secret.as_slice()))
    }

    pub(crate) fn seal(&self, context: &RecordContext<'_>, secret: &str) -> Result<Vec<u8>> {
        let mut text = Zeroizing::new(Vec::with_capacity(secret.len() + 32));
        text.extend_from_slice(secret.as_bytes());
        let nonce = self
            .aead()?
            .seal_in_place_append_tag(Aad::from(context.bytes()), &mut *text)
            .map_err(|_| Error::Token(jeton::Error::Primitive))?;
        Ok([nonce.as_ref(), text.as_slice()].concat())
    }

    pub(crate) fn open(
        &self,
        context: &RecordContext<'_>,
        sealed: &[u8],
    ) -> Result<Zeroizing<String>> {
        let damaged = || Error::Record(format!("of key {}", context.kid));
        let (nonce, rest) = sealed
            .split_first_chunk::<NONCE_LEN>()
            .ok_or_else(damaged)?;
        let mut text = Zeroizing::new(rest.to_vec());
        let length = self
            .aead()?
            .open_in_place(
                Nonce::assume_unique_for_key(*nonce),
                Aad::from(context.bytes()),
                &mut text,
            )
            .map_err(|_| damaged())?
            .len();
        text.truncate(length);
        // Invalid text stays in the buffer that is wiped.
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

/// The record that an encrypted key belongs to. It cannot be decrypted in another record.
pub(crate) struct RecordContext<'a> {
    pub(crate) iss: &'a str,
    pub(crate) kid: &'a str,
    pub(crate) kind: KeyKind,
    pub(crate) schema: u64,
}

impl RecordContext<'_> {
    /// Encodes each part with its length, so that different contexts have different bytes.
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
    fn sealed_key_opens_only_in_its_record() {
        let kek = KeyEncryptionKey::generate().unwrap();
        let context = |iss, kid, kind, schema| RecordContext {
            iss,
            kid,
            kind,
            schema,
        };
        let here = context("i", "k", KeyKind::V4Public, 1);
        let sealed = kek.seal(&here, "secret").unwrap();
        assert_eq!(*kek.open(&here, &sealed).unwrap(), "secret");
        for other in [
            context("j", "k", KeyKind::V4Public, 1),
            context("i", "l", KeyKind::V4Public, 1),
            context("i", "k", KeyKind::V3Public, 1),
            context("i", "k", KeyKind::V4Public, 2),
            context("ik", "", KeyKind::V4Public, 1),
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
