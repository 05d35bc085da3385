use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::encryption::{self, Public};
use super::encryption_algorithm::Management;
use super::jwk::Members;
use super::mismatch::wrong_type;
use super::{EncryptionKey, KeyId, KeyManagementAlg, RsaSize};
use crate::crypto::ecdh::{self, Group};
use crate::crypto::{rsa, rsa_encryption};
use crate::error::{KeyError, KeyProblem, Result};

/// A private key that decrypts with one key management algorithm.
///
/// ```
/// use jeton::key::{DecryptionKey, KeyManagementAlg};
///
/// let key = DecryptionKey::generate(KeyManagementAlg::EcdhEs)?.with_key_id("2026-11")?;
/// let same = DecryptionKey::from_jwk(&key.to_jwk()?)?;
/// assert_eq!(same.encryption_key().thumbprint(), key.encryption_key().thumbprint());
/// # Ok::<(), jeton::Error>(())
/// ```
pub struct DecryptionKey {
    private: Arc<Private>,
    public: EncryptionKey,
}

/// The private key material of each key type.
pub(crate) enum Private {
    Rsa {
        key: rsa_encryption::Private,
        pkcs8: Zeroizing<Vec<u8>>,
    },
    Ecdh(ecdh::Private),
}

impl DecryptionKey {
    /// Generates a key: RSA of 2,048 bits, or P-256 for ECDH-ES.
    pub fn generate(alg: KeyManagementAlg) -> Result<DecryptionKey> {
        match alg.management() {
            Management::Rsa(_) => {
                let pkcs8 = rsa::Pair::generate(RsaSize::default())?.pkcs8()?;
                Ok(Self::of_rsa(alg, pkcs8)?)
            }
            Management::Ecdh(_) => Self::generate_in(alg, Group::P256),
        }
    }

    /// Generates an RSA key of another size than [`generate`](Self::generate). If the algorithm does not use
    /// RSA, this returns [`KeyProblem::WrongKeyType`].
    ///
    /// ```
    /// use jeton::key::{DecryptionKey, KeyManagementAlg, RsaSize};
    /// assert!(DecryptionKey::generate_rsa(KeyManagementAlg::EcdhEs, RsaSize::Bits3072).is_err());
    /// ```
    pub fn generate_rsa(alg: KeyManagementAlg, size: RsaSize) -> Result<DecryptionKey> {
        let Management::Rsa(_) = alg.management() else {
            return Err(wrong_type("RSA", alg.required_key()).into());
        };
        let pkcs8 = rsa::Pair::generate(size)?.pkcs8()?;
        Ok(Self::of_rsa(alg, pkcs8)?)
    }

    /// Generates a P-384 key for ECDH-ES.
    pub fn generate_p384(alg: KeyManagementAlg) -> Result<DecryptionKey> {
        Self::generate_in(alg, Group::P384)
    }

    /// Generates a P-521 key for ECDH-ES.
    pub fn generate_p521(alg: KeyManagementAlg) -> Result<DecryptionKey> {
        Self::generate_in(alg, Group::P521)
    }

    /// Generates an X25519 key (RFC 8037, section 3.2) for ECDH-ES.
    pub fn generate_x25519(alg: KeyManagementAlg) -> Result<DecryptionKey> {
        Self::generate_in(alg, Group::X25519)
    }

    /// Reads a private JWK with `alg`. Without `alg`, an X25519 key, or a key on another curve with `use: enc`,
    /// is for plain ECDH-ES. `use`, if present, must be `enc`. `key_ops`, if present, must contain `decrypt` or
    /// `unwrapKey` for RSA, `deriveKey` or `deriveBits` for ECDH.
    ///
    /// An RSA key must contain `p`, `q`, `dp`, `dq` and `qi`, and must not contain `oth`.
    pub fn from_jwk(text: &str) -> Result<DecryptionKey> {
        Ok(Self::from_members(&Members::parse(text)?, None)?)
    }

    /// Reads a private JWK for this algorithm. A different `alg` is rejected.
    pub fn from_jwk_as(text: &str, alg: KeyManagementAlg) -> Result<DecryptionKey> {
        Ok(Self::from_members(&Members::parse(text)?, Some(alg))?)
    }

    /// Returns the key as a private JWK, which contains the secret.
    pub fn to_jwk(&self) -> Result<Zeroizing<String>> {
        let writer = self.public.public_members();
        Ok(match &*self.private {
            Private::Ecdh(key) => writer.bytes("d", key.secret()),
            Private::Rsa { pkcs8, .. } => {
                let parts = rsa::Parts::from_own_pkcs8(pkcs8)?;
                writer
                    .bytes("d", &parts.d)
                    .bytes("p", &parts.p)
                    .bytes("q", &parts.q)
                    .bytes("dp", &parts.dp)
                    .bytes("dq", &parts.dq)
                    .bytes("qi", &parts.qi)
            }
        }
        .finish())
    }

    /// Returns the public key, with the same algorithm and key id.
    pub fn encryption_key(&self) -> EncryptionKey {
        self.public.clone()
    }

    /// Returns the algorithm.
    pub fn alg(&self) -> KeyManagementAlg {
        self.public.alg()
    }

    /// Returns the key id (`kid`).
    pub fn key_id(&self) -> Option<&str> {
        self.public.key_id()
    }

    /// Returns the same key with a key id of 1 to 1,024 bytes.
    pub fn with_key_id(mut self, key_id: &str) -> Result<DecryptionKey> {
        self.public = self.public.with_key_id(key_id)?;
        Ok(self)
    }

    fn generate_in(alg: KeyManagementAlg, group: Group) -> Result<DecryptionKey> {
        Ok(Self::of_ecdh(alg, ecdh::Private::generate(group)?)?)
    }

    pub(crate) fn from_members(
        members: &Members<'_>,
        wanted: Option<KeyManagementAlg>,
    ) -> Result<DecryptionKey, KeyError> {
        let alg = encryption::algorithm(members, wanted)?;
        if !members.has("d") {
            return Err(KeyError::at("d", KeyProblem::PublicGiven));
        }
        let key = match alg.management() {
            Management::Rsa(_) => {
                members.permit_one_of("enc", &["decrypt", "unwrapKey"])?;
                members.has_primes()?;
                if members.has("oth") {
                    return Err(KeyError::at("oth", KeyProblem::Unsupported));
                }
                let parts = rsa::Parts {
                    n: members.integer("n")?.to_vec(),
                    e: members.integer("e")?.to_vec(),
                    d: members.integer("d")?,
                    p: members.integer("p")?,
                    q: members.integer("q")?,
                    dp: members.integer("dp")?,
                    dq: members.integer("dq")?,
                    qi: members.integer("qi")?,
                };
                // Check the public key first, so that the error names the invalid member.
                Public::rsa(alg, &parts.n, &parts.e)?;
                Self::of_rsa_parts(alg, &parts)?
            }
            Management::Ecdh(_) => {
                members.permit_one_of("enc", &["deriveKey", "deriveBits"])?;
                let group = encryption::group(members)?;
                let public = encryption::public_bytes(members, group)?;
                let secret = members.fixed("d", group.bytes())?;
                Public::ecdh(group, &public).map_err(|problem| KeyError::at("x", problem))?;
                let key = ecdh::Private::from_secret(group, &secret)
                    .map_err(|problem| KeyError::at("d", problem))?;
                if key.public() != public {
                    return Err(KeyError::at("d", KeyProblem::Mismatch));
                }
                Self::of_ecdh(alg, key)?
            }
        };
        Ok(key.with_id(members.key_id()?))
    }

    pub(super) fn of_rsa_parts(
        alg: KeyManagementAlg,
        parts: &rsa::Parts,
    ) -> Result<DecryptionKey, KeyError> {
        // The error of the public key names the invalid member.
        Public::rsa(alg, &parts.n, &parts.e)?;
        let pair = rsa::Pair::from_parts(parts).map_err(|problem| KeyError::at("d", problem))?;
        let pkcs8 = pair
            .pkcs8()
            .map_err(|_| KeyError::at("d", KeyProblem::Invalid))?;
        Self::of_rsa(alg, pkcs8)
    }

    fn of_rsa(alg: KeyManagementAlg, pkcs8: Zeroizing<Vec<u8>>) -> Result<DecryptionKey, KeyError> {
        let Management::Rsa(padding) = alg.management() else {
            return Err(wrong_type("RSA", alg.required_key()));
        };
        let parts = rsa::Parts::from_own_pkcs8(&pkcs8)
            .map_err(|_| KeyError::at("d", KeyProblem::Invalid))?;
        let public = Public::rsa(alg, &parts.n, &parts.e)?;
        let key = rsa_encryption::Private::from_pkcs8(padding, &pkcs8)
            .map_err(|problem| KeyError::at("d", problem))?;
        Ok(DecryptionKey {
            private: Arc::new(Private::Rsa { key, pkcs8 }),
            public: EncryptionKey::from_parts(alg, public, None),
        })
    }

    pub(super) fn of_ecdh(
        alg: KeyManagementAlg,
        key: ecdh::Private,
    ) -> Result<DecryptionKey, KeyError> {
        if !matches!(alg.management(), Management::Ecdh(_)) {
            return Err(wrong_type(key.group().key_type(), alg.required_key()));
        }
        let public = Public::ecdh(key.group(), key.public())
            .map_err(|problem| KeyError::at("x", problem))?;
        Ok(DecryptionKey {
            private: Arc::new(Private::Ecdh(key)),
            public: EncryptionKey::from_parts(alg, public, None),
        })
    }

    fn with_id(mut self, key_id: Option<KeyId>) -> DecryptionKey {
        self.public = self.public.with_id(key_id);
        self
    }

    /// Returns the same key for a decrypter. The secret is shared, not copied.
    pub(crate) fn share(&self) -> DecryptionKey {
        DecryptionKey {
            private: Arc::clone(&self.private),
            public: self.public.clone(),
        }
    }

    pub(crate) fn private(&self) -> &Private {
        &self.private
    }

    pub(crate) fn id(&self) -> Option<&KeyId> {
        self.public.id()
    }

    /// Returns the modulus of an RSA key.
    pub(super) fn modulus(&self) -> Option<&[u8]> {
        self.public.modulus()
    }
}

impl fmt::Debug for DecryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecryptionKey")
            .field("alg", &self.alg())
            .field("key_id", &self.key_id())
            .finish_non_exhaustive()
    }
}
