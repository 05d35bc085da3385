use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::jwk::Members;
use super::{KeyId, KeyOps, PermittedUse, UnknownAlgorithm, is_key_text, shared_algorithm};
use crate::crypto::{Hash, pbes2};
use crate::error::{InvalidUse, KeyError, KeyProblem, Result};
use crate::limits;

/// How a password wraps a content key (RFC 7518, section 4.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pbes2Alg {
    /// PBKDF2 with HMAC-SHA-256, and AES Key Wrap with 128 bits.
    Hs256A128Kw,
    /// PBKDF2 with HMAC-SHA-384, and AES Key Wrap with 192 bits.
    Hs384A192Kw,
    /// PBKDF2 with HMAC-SHA-512, and AES Key Wrap with 256 bits.
    Hs512A256Kw,
}

impl Pbes2Alg {
    /// All algorithms.
    pub const ALL: &'static [Pbes2Alg] = &[
        Pbes2Alg::Hs256A128Kw,
        Pbes2Alg::Hs384A192Kw,
        Pbes2Alg::Hs512A256Kw,
    ];

    /// Returns the `alg` name.
    pub const fn name(self) -> &'static str {
        match self {
            Pbes2Alg::Hs256A128Kw => "PBES2-HS256+A128KW",
            Pbes2Alg::Hs384A192Kw => "PBES2-HS384+A192KW",
            Pbes2Alg::Hs512A256Kw => "PBES2-HS512+A256KW",
        }
    }

    const fn hash(self) -> Hash {
        match self {
            Pbes2Alg::Hs256A128Kw => Hash::Sha256,
            Pbes2Alg::Hs384A192Kw => Hash::Sha384,
            Pbes2Alg::Hs512A256Kw => Hash::Sha512,
        }
    }
}

impl FromStr for Pbes2Alg {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let mut all = Pbes2Alg::ALL.iter().copied();
        all.find(|alg| alg.name() == name).ok_or(UnknownAlgorithm)
    }
}

impl fmt::Display for Pbes2Alg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A password that encrypts and decrypts JWEs.
///
/// Insecure: anyone who has a token can guess passwords offline, limited only by the cost of PBKDF2. The
/// sender of a token chooses that cost for the receiver, between [`limits::PBES2_ROUNDS_MIN`] and
/// [`limits::PBES2_ROUNDS`].
///
/// ```
/// use jeton::danger::{Password, Pbes2Alg};
/// use jeton::jwe::{Decrypter, Encrypter};
/// use jeton::key::ContentEnc;
///
/// let password = Password::new(Pbes2Alg::Hs512A256Kw, b"correct horse battery staple")?
///     .rounds(10_000)?;
/// let token = Encrypter::new(&password, ContentEnc::A256Gcm).encrypt(b"hello")?;
/// assert_eq!(Decrypter::new(&password).decrypt(&token)?.plaintext(), b"hello");
/// # Ok::<(), jeton::Error>(())
/// ```
pub struct Password {
    alg: Pbes2Alg,
    secret: Arc<Zeroizing<Vec<u8>>>,
    rounds: u32,
    permitted: PermittedUse,
    key_id: Option<KeyId>,
}

/// The error for a number of rounds outside its limits.
pub(crate) fn invalid_rounds(rounds: u32) -> InvalidUse {
    InvalidUse::Pbes2Rounds {
        rounds,
        minimum: limits::PBES2_ROUNDS_MIN,
        limit: limits::PBES2_ROUNDS,
    }
}

impl Password {
    /// Default number of PBKDF2 rounds for encryption; see [`rounds`](Self::rounds).
    pub const ROUNDS_DEFAULT: u32 = 600_000;

    /// Creates a password of 1 to [`limits::PASSWORD_BYTES`] bytes. The encoding of a key is rejected.
    pub fn new(alg: Pbes2Alg, password: &[u8]) -> Result<Password> {
        if password.is_empty() {
            return Err(KeyError::too_weak("password", 0, 1).into());
        }
        if password.len() > limits::PASSWORD_BYTES {
            return Err(
                KeyError::too_large("password", password.len(), limits::PASSWORD_BYTES).into(),
            );
        }
        if is_key_text(password) {
            return Err(KeyError::at("password", KeyProblem::KeyAsSecret).into());
        }
        Ok(Password {
            alg,
            secret: Arc::new(Zeroizing::new(password.to_vec())),
            rounds: Self::ROUNDS_DEFAULT,
            permitted: PermittedUse::Both,
            key_id: None,
        })
    }

    /// Reads a JWK with `kty` `oct`, the password in `k`, and an `alg` of [`Pbes2Alg`]. `use`, if present, must
    /// be `enc`. `key_ops`, if present, must contain `wrapKey`, `unwrapKey` or both, and restricts the password
    /// to these.
    pub fn from_jwk(text: &str) -> Result<Password> {
        Self::read(text, None)
    }

    /// Reads a JWK with `kty` `oct` as a password for this algorithm. A different `alg` is rejected.
    ///
    /// ```
    /// use jeton::danger::{Password, Pbes2Alg};
    ///
    /// let password = Password::from_jwk_as(r#"{"kty":"oct","k":"c2VjcmV0"}"#, Pbes2Alg::Hs256A128Kw)?;
    /// assert_eq!(password.alg(), Pbes2Alg::Hs256A128Kw);
    /// let other = r#"{"kty":"oct","alg":"A128KW","k":"c2VjcmV0"}"#;
    /// assert!(Password::from_jwk_as(other, Pbes2Alg::Hs256A128Kw).is_err());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn from_jwk_as(text: &str, alg: Pbes2Alg) -> Result<Password> {
        Self::read(text, Some(alg))
    }

    fn read(text: &str, wanted: Option<Pbes2Alg>) -> Result<Password> {
        let members = Members::parse(text)?;
        let alg = shared_algorithm(&members, wanted)?;
        let password = Password::new(alg, &members.bytes("k")?)?;
        Ok(Password {
            permitted: PermittedUse::of(&members, &KeyOps::WRAPPING)?,
            key_id: members.key_id()?,
            ..password
        })
    }

    /// Sets the number of PBKDF2 rounds for encryption, from [`limits::PBES2_ROUNDS_MIN`] to
    /// [`limits::PBES2_ROUNDS`].
    pub fn rounds(mut self, rounds: u32) -> Result<Password> {
        if !(limits::PBES2_ROUNDS_MIN..=limits::PBES2_ROUNDS).contains(&rounds) {
            return Err(invalid_rounds(rounds).into());
        }
        self.rounds = rounds;
        Ok(self)
    }

    /// Returns the same password with a key id of 1 to 1,024 bytes.
    pub fn with_key_id(mut self, key_id: &str) -> Result<Password> {
        self.key_id = Some(KeyId::from_caller(key_id)?);
        Ok(self)
    }

    /// Returns the algorithm.
    pub fn alg(&self) -> Pbes2Alg {
        self.alg
    }

    /// Returns the key id (`kid`).
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_ref().map(KeyId::as_str)
    }

    /// Returns the same password for a decrypter. The secret is shared, not copied.
    pub(crate) fn share(&self) -> Password {
        Password {
            alg: self.alg,
            secret: Arc::clone(&self.secret),
            rounds: self.rounds,
            permitted: self.permitted,
            key_id: self.key_id.clone(),
        }
    }

    pub(crate) fn id(&self) -> Option<&KeyId> {
        self.key_id.as_ref()
    }

    pub(crate) fn rounds_when_encrypting(&self) -> u32 {
        self.rounds
    }

    /// Derives the wrapping key from a new `p2s` and `p2c`.
    pub(crate) fn wrapping_key(
        &self,
        salt: &[u8],
        rounds: NonZeroU32,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let password = self.permitted.to_encrypt(&self.secret)?;
        Ok(self.derive(password, salt, rounds))
    }

    /// Derives the unwrapping key from the `p2s` and `p2c` of a token. The caller has checked their limits.
    pub(crate) fn unwrapping_key(
        &self,
        salt: &[u8],
        rounds: NonZeroU32,
    ) -> Option<Zeroizing<Vec<u8>>> {
        let password = self.permitted.to_decrypt(&self.secret)?;
        Some(self.derive(password, salt, rounds))
    }

    fn derive(&self, password: &[u8], salt: &[u8], rounds: NonZeroU32) -> Zeroizing<Vec<u8>> {
        let salt = [self.alg.name().as_bytes(), &[0], salt].concat();
        let hash = self.alg.hash();
        // The AES key has half the length of the hash: 16, 24 or 32 bytes.
        pbes2::derive(hash, rounds, &salt, password, hash.length() / 2)
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Password")
            .field("alg", &self.alg)
            .field("key_id", &self.key_id())
            .finish_non_exhaustive()
    }
}
