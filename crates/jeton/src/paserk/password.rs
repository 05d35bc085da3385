use std::num::NonZeroU32;
use std::ops::RangeInclusive;

#[cfg(feature = "legacy")]
use der::pem::{self, LineEnding};
use zeroize::Zeroizing;

use super::PasswordLimits;
use super::encrypted::Envelope;
use super::key_cipher::KeyCipher;
use crate::crypto::{Hash, argon2id, pbes2, random};
use crate::error::{Error, InvalidUse, KeyError, KeyProblem, Result};
use crate::limits;
use crate::paserk;
use crate::paserk_kind::{Family, Form, Kind};
use crate::paseto::paserk::key_error;
use crate::paseto::{LocalKey, SecretKey, Version};

/// The cost of deriving a key from a password. The reader of the key pays it once, an attacker for every
/// guess.
///
/// Versions 1 and 3 use PBKDF2, versions 2 and 4 use Argon2id. Costs have a minimum and a maximum, both for
/// writing and for reading. The text of the key states the cost; [`PasswordLimits`] limits it for reading.
///
/// ```
/// use jeton::paserk::PasswordCost;
/// use jeton::paseto::v4::LocalKey;
///
/// let key = LocalKey::generate()?;
/// let cost = PasswordCost::argon2id(16 * 1024 * 1024, 2, 1)?; // 16 MiB, two passes, one lane
/// let text = key.to_password_paserk_with(b"correct horse battery staple", cost)?;
/// assert!(text.starts_with("k4.local-pw."));
/// let again = LocalKey::from_password_paserk(&text, b"correct horse battery staple")?;
/// assert_eq!(again.id(), key.id());
/// # Ok::<_, jeton::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordCost(Work);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    Pbkdf2 {
        iterations: NonZeroU32,
    },
    Argon2id {
        memory_kib: u32,
        passes: u32,
        lanes: u32,
    },
}

impl PasswordCost {
    /// Creates a cost for PBKDF2 with HMAC-SHA-384 (versions 1 and 3), from [`limits::PBKDF2_ITERATIONS_MIN`] to
    /// [`limits::PBKDF2_ITERATIONS`].
    ///
    /// # Errors
    ///
    /// [`InvalidUse::PasswordCost`] outside the limits.
    pub fn pbkdf2(iterations: u32) -> Result<PasswordCost> {
        let bounds = limits::PBKDF2_ITERATIONS_MIN..=limits::PBKDF2_ITERATIONS;
        let iterations = NonZeroU32::new(iterations)
            .filter(|iterations| bounds.contains(&iterations.get()))
            .ok_or(InvalidUse::PasswordCost)?;
        Ok(PasswordCost(Work::Pbkdf2 { iterations }))
    }

    /// Creates a cost for Argon2id (versions 2 and 4). The memory, bytes, is a multiple of 1,024, from
    /// [`limits::ARGON2ID_MEMORY_BYTES_MIN`] to [`limits::ARGON2ID_MEMORY_BYTES`]. The maximum of the others is
    /// [`limits::ARGON2ID_PASSES`] and [`limits::ARGON2ID_LANES`].
    ///
    /// # Errors
    ///
    /// [`InvalidUse::PasswordCost`] outside the limits.
    pub fn argon2id(memory_bytes: u64, passes: u32, lanes: u32) -> Result<PasswordCost> {
        let bounds = limits::ARGON2ID_MEMORY_BYTES_MIN..=limits::ARGON2ID_MEMORY_BYTES;
        let good = bounds.contains(&memory_bytes)
            && memory_bytes.is_multiple_of(1024)
            && (1..=limits::ARGON2ID_PASSES).contains(&passes)
            && (1..=limits::ARGON2ID_LANES).contains(&lanes);
        let memory_kib = u32::try_from(memory_bytes / 1024)
            .ok()
            .filter(|_| good)
            .ok_or(InvalidUse::PasswordCost)?;
        Ok(PasswordCost(Work::Argon2id {
            memory_kib,
            passes,
            lanes,
        }))
    }

    /// Returns the default cost: 600,000 iterations of PBKDF2, or Argon2id with 64 MiB, three passes and one
    /// lane.
    pub fn default_of(version: paserk::PaserkVersion) -> PasswordCost {
        PasswordCost(match Family::of(version) {
            Family::Nist => Work::Pbkdf2 {
                iterations: const { NonZeroU32::new(600_000).expect("not zero") },
            },
            Family::Sodium => Work::Argon2id {
                memory_kib: 64 * 1024,
                passes: 3,
                lanes: 1,
            },
        })
    }

    fn family(self) -> Family {
        match self.0 {
            Work::Pbkdf2 { .. } => Family::Nist,
            Work::Argon2id { .. } => Family::Sodium,
        }
    }

    /// Encodes the cost as in a PASERK.
    fn write(self) -> Vec<u8> {
        match self.0 {
            Work::Pbkdf2 { iterations } => iterations.get().to_be_bytes().to_vec(),
            Work::Argon2id {
                memory_kib,
                passes,
                lanes,
            } => {
                let memory_bytes = u64::from(memory_kib) * 1024;
                let mut bytes = memory_bytes.to_be_bytes().to_vec();
                bytes.extend_from_slice(&passes.to_be_bytes());
                bytes.extend_from_slice(&lanes.to_be_bytes());
                bytes
            }
        }
    }

    /// Decodes the cost of an untrusted PASERK.
    fn read(family: Family, bytes: &[u8], limits: &PasswordLimits) -> Result<PasswordCost> {
        let number = |at: usize| {
            let four = bytes[at..].first_chunk().expect("a cost has its length");
            u32::from_be_bytes(*four)
        };
        let cost = match family {
            Family::Nist => {
                limits.check_pbkdf2(number(0))?;
                PasswordCost::pbkdf2(number(0))
            }
            Family::Sodium => {
                let memory_bytes = u64::from(number(0)) << 32 | u64::from(number(4));
                limits.check_argon2id(memory_bytes, number(8))?;
                PasswordCost::argon2id(memory_bytes, number(8), number(12))
            }
        };
        cost.map_err(|_| key_error(KeyProblem::PasswordCost).into())
    }

    fn derive(self, password: &[u8], salt: &[u8]) -> Result<Zeroizing<[u8; 32]>> {
        match self.0 {
            Work::Pbkdf2 { iterations } => {
                let derived = pbes2::derive(Hash::Sha384, iterations, salt, password, 32);
                let mut key = Zeroizing::new([0; 32]);
                key.copy_from_slice(&derived);
                Ok(key)
            }
            Work::Argon2id {
                memory_kib,
                passes,
                lanes,
            } => argon2id::derive(password, salt, memory_kib, passes, lanes),
        }
    }
}

/// The positions of the parts of such a text: salt, cost, nonce, encrypted key, tag.
struct Layout {
    family: Family,
    envelope: Envelope,
}

impl Layout {
    fn of(key: Kind, form: Form) -> Layout {
        let family = Family::of(key.version());
        let overhead =
            salt_bytes(family) + cost_bytes(family) + family.nonce_bytes() + family.tag_bytes();
        Layout {
            family,
            envelope: Envelope::new(key, form, "", overhead),
        }
    }

    fn encrypt(&self, key: &[u8], password: &[u8], cost: PasswordCost) -> Result<String> {
        if cost.family() != self.family {
            return Err(InvalidUse::PasswordCost.into());
        }
        check(password)?;
        let mut salt = vec![0; salt_bytes(self.family)];
        random::fill(&mut salt)?;
        let mut nonce = vec![0; self.family.nonce_bytes()];
        random::fill(&mut nonce)?;
        let cipher = KeyCipher::password(self.family, &*cost.derive(password, &salt)?, &nonce);
        let mut encrypted = Zeroizing::new(key.to_vec());
        cipher.apply(&mut encrypted)?;
        let header = self.envelope.header();
        let cost = cost.write();
        let tag = cipher.tag(&[header.as_bytes(), &salt, &cost, &nonce, &encrypted]);
        Ok(self
            .envelope
            .write(&[&salt, &cost, &nonce, &encrypted, &tag]))
    }

    fn decrypt(
        &self,
        text: &str,
        password: &[u8],
        limits: &PasswordLimits,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let data = self.envelope.read(text)?;
        let (authenticated, tag) = data.split_at(data.len() - self.family.tag_bytes());
        let (salt, rest) = authenticated.split_at(salt_bytes(self.family));
        let (cost, rest) = rest.split_at(cost_bytes(self.family));
        let (nonce, encrypted) = rest.split_at(self.family.nonce_bytes());
        let cost = PasswordCost::read(self.family, cost, limits)?;
        check(password)?;
        let cipher = KeyCipher::password(self.family, &*cost.derive(password, salt)?, nonce);
        let header = self.envelope.header();
        if !cipher.is_authentic(&[header.as_bytes(), authenticated], tag) {
            return Err(key_error(KeyProblem::Decryption).into());
        }
        let mut key = Zeroizing::new(encrypted.to_vec());
        cipher.apply(&mut key)?;
        Ok(key)
    }
}

fn salt_bytes(family: Family) -> usize {
    match family {
        Family::Nist => 32,
        Family::Sodium => 16,
    }
}

fn cost_bytes(family: Family) -> usize {
    match family {
        Family::Nist => 4,
        Family::Sodium => 16,
    }
}

/// Checks the length: 1 to [`limits::PASSWORD_BYTES`] bytes.
fn check(password: &[u8]) -> Result<()> {
    if password.is_empty() {
        return Err(KeyError::too_weak("password", 0, 1).into());
    }
    if password.len() > limits::PASSWORD_BYTES {
        return Err(KeyError::too_large("password", password.len(), limits::PASSWORD_BYTES).into());
    }
    Ok(())
}

impl<V: Version> LocalKey<V> {
    /// Encrypts the key with a password of 1 to [`limits::PASSWORD_BYTES`] bytes (`k4.local-pw.…`), with the
    /// default cost ([`PasswordCost::default_of`]). Anyone who has the text can guess passwords, so PASERK
    /// forbids it in a footer.
    ///
    /// # Errors
    ///
    /// [`Error::Key`](crate::Error::Key) for a password that is empty or too long,
    /// [`Error::Primitive`](crate::Error::Primitive) if the system has no randomness or not enough
    /// memory.
    pub fn to_password_paserk(&self, password: &[u8]) -> Result<String> {
        self.to_password_paserk_with(password, PasswordCost::default_of(V::VERSION))
    }

    /// Encrypts the key with this cost.
    ///
    /// # Errors
    ///
    /// Those of [`to_password_paserk`](LocalKey::to_password_paserk), and [`InvalidUse::PasswordCost`] for the cost of
    /// another version.
    pub fn to_password_paserk_with(&self, password: &[u8], cost: PasswordCost) -> Result<String> {
        local::<V>().encrypt(self.secret(), password, cost)
    }

    /// Decrypts a key with a password. The text determines the time, within the default [`PasswordLimits`].
    ///
    /// # Errors
    ///
    /// [`Error::Key`](crate::Error::Key) if the text is malformed or of another kind. Before any work is done:
    /// [`KeyProblem::PasswordIterations`], [`KeyProblem::PasswordMemory`] or [`KeyProblem::PasswordWork`] if the
    /// cost exceeds the limits, and [`KeyProblem::PasswordCost`] if it is below the minimum. After it:
    /// [`KeyProblem::Decryption`] for a wrong password.
    pub fn from_password_paserk(text: &str, password: &[u8]) -> Result<LocalKey<V>> {
        LocalKey::from_password_paserk_within(text, password, &PasswordLimits::default())
    }

    /// Decrypts a key with a password, within these limits.
    ///
    /// # Errors
    ///
    /// Those of [`from_password_paserk`](LocalKey::from_password_paserk).
    pub fn from_password_paserk_within(
        text: &str,
        password: &[u8],
        limits: &PasswordLimits,
    ) -> Result<LocalKey<V>> {
        LocalKey::from_bytes(local::<V>().decrypt(text, password, limits)?)
    }
}

impl<V: Version> SecretKey<V> {
    /// Encrypts the key with a password of 1 to [`limits::PASSWORD_BYTES`] bytes (`k4.secret-pw.…`), with the
    /// default cost ([`PasswordCost::default_of`]). Anyone who has the text can guess passwords, so PASERK
    /// forbids it in a footer.
    ///
    /// # Errors
    ///
    /// Those of [`LocalKey::to_password_paserk`].
    ///
    /// ```
    /// use jeton::paserk::PasswordCost;
    /// use jeton::paseto::v3::SecretKey;
    ///
    /// let key = SecretKey::generate()?;
    /// let text = key.to_password_paserk_with(b"secret words", PasswordCost::pbkdf2(10_000)?)?;
    /// let again = SecretKey::from_password_paserk(&text, b"secret words")?;
    /// assert_eq!(again.public_key(), key.public_key());
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn to_password_paserk(&self, password: &[u8]) -> Result<String> {
        self.to_password_paserk_with(password, PasswordCost::default_of(V::VERSION))
    }

    /// Encrypts the key with this cost.
    ///
    /// # Errors
    ///
    /// Those of [`LocalKey::to_password_paserk_with`].
    pub fn to_password_paserk_with(&self, password: &[u8], cost: PasswordCost) -> Result<String> {
        let key = self.secret()?;
        let key = match V::VERSION {
            #[cfg(feature = "legacy")]
            paserk::PaserkVersion::V1 => pem(&key)?,
            _ => key,
        };
        secret::<V>().encrypt(&key, password, cost)
    }

    /// Decrypts a key with a password. The text determines the time, within the default [`PasswordLimits`].
    ///
    /// # Errors
    ///
    /// Those of [`LocalKey::from_password_paserk`], and an error if the decrypted bytes are not a valid key.
    pub fn from_password_paserk(text: &str, password: &[u8]) -> Result<SecretKey<V>> {
        SecretKey::from_password_paserk_within(text, password, &PasswordLimits::default())
    }

    /// Decrypts a key with a password, within these limits.
    ///
    /// # Errors
    ///
    /// Those of [`from_password_paserk`](SecretKey::from_password_paserk).
    pub fn from_password_paserk_within(
        text: &str,
        password: &[u8],
        limits: &PasswordLimits,
    ) -> Result<SecretKey<V>> {
        let key = secret::<V>().decrypt(text, password, limits)?;
        match V::VERSION {
            #[cfg(feature = "legacy")]
            paserk::PaserkVersion::V1 => SecretKey::from_bytes(&der(&key)?),
            _ => SecretKey::from_bytes(&key),
        }
    }
}

fn local<V: Version>() -> Layout {
    Layout::of(Kind::of(V::VERSION, Form::Local), Form::LocalPassword)
}

fn secret<V: Version>() -> Layout {
    let layout = Layout::of(Kind::of(V::VERSION, Form::Secret), Form::SecretPassword);
    match V::VERSION {
        #[cfg(feature = "legacy")]
        paserk::PaserkVersion::V1 => Layout {
            envelope: layout.envelope.with_key_bytes(PEM_BYTES),
            ..layout
        },
        _ => layout,
    }
}

/// The RSA key of version 1 is encoded as PEM when it is encrypted with a password, as in the official test
/// vectors. Length, bytes.
#[cfg(feature = "legacy")]
const PEM_BYTES: RangeInclusive<usize> = 1_600..=1_720;
#[cfg(feature = "legacy")]
const PEM_LABEL: &str = "RSA PRIVATE KEY";

#[cfg(feature = "legacy")]
fn pem(der: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let text = pem::encode_string(PEM_LABEL, LineEnding::LF, der).map_err(|_| Error::Primitive)?;
    let mut text = Zeroizing::new(text.into_bytes());
    text.pop_if(|last| *last == b'\n');
    Ok(text)
}

#[cfg(feature = "legacy")]
fn der(pem: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    let mut der = Zeroizing::new(vec![0; pem.len()]);
    let decoded = pem::decode(pem, &mut der).map_err(|_| key_error(KeyProblem::Malformed))?;
    let (label, length) = (decoded.0, decoded.1.len());
    if label != PEM_LABEL {
        return Err(key_error(KeyProblem::Malformed).into());
    }
    der.truncate(length);
    Ok(der)
}
