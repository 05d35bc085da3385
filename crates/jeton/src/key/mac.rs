use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::jwk::{self, Members, Operation};
use super::key_text::is_key_text;
use super::mismatch::{another_algorithm, another_kind, wrong_jwk_type};
use super::{Headers, KeyId, MacAlg};
use crate::crypto::{SignatureBuffer, hmac, random};
use crate::error::{KeyError, KeyProblem, Result};

/// An HMAC key. Anyone who can verify with it can also sign with it.
///
/// It has at least as many bytes as the hash (RFC 7518, section 3.2). The encoding of a public key is
/// rejected.
///
/// ```
/// use jeton::key::{MacAlg, MacKey};
///
/// let key = MacKey::generate(MacAlg::HS256)?.with_key_id("2026-11")?;
/// let same = MacKey::from_jwk(&key.to_jwk())?;
/// assert_eq!(same.key_id(), Some("2026-11"));
/// assert!(MacKey::new(MacAlg::HS256, b"too short").is_err());
/// # Ok::<(), jeton::Error>(())
/// ```
pub struct MacKey {
    alg: MacAlg,
    material: Arc<Material>,
    operations: Operations,
    key_id: Option<KeyId>,
    headers: Headers,
}

struct Material {
    secret: Zeroizing<Vec<u8>>,
    prepared: hmac::Prepared,
}

/// The operations that `key_ops` permits for a MAC key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operations {
    Both,
    SignOnly,
    VerifyOnly,
}

impl Operations {
    /// Returns the `key_ops` to write; empty if the key is not restricted.
    const fn restricted_to(self) -> &'static [&'static str] {
        match self {
            Operations::Both => &[],
            Operations::SignOnly => const { &[Operation::Sign.name()] },
            Operations::VerifyOnly => const { &[Operation::Verify.name()] },
        }
    }
}

impl MacKey {
    /// Generates a key with the length of the hash.
    pub fn generate(alg: MacAlg) -> Result<MacKey> {
        let mut secret = Zeroizing::new(vec![0; alg.key_bytes()]);
        random::fill(&mut secret)?;
        Ok(Self::from_parts(alg, secret, Operations::Both, None))
    }

    /// Creates a key from secret random bytes.
    ///
    /// Fewer bytes than the hash has are rejected. The encoding of a key is rejected too: PEM, DER, JWK, PASERK or
    /// OpenSSH, in UTF-8 or UTF-16, also inside base64, hexadecimal or percent-encoding. This prevents the attack
    /// that uses a public key as an HMAC secret.
    pub fn new(alg: MacAlg, secret: &[u8]) -> Result<MacKey> {
        Ok(Self::from_secret(
            alg,
            alg.key_bytes(),
            Zeroizing::new(secret.to_vec()),
            Operations::Both,
            None,
        )?)
    }

    /// Reads a JWK with `kty` `oct` and `alg`.
    pub fn from_jwk(text: &str) -> Result<MacKey> {
        Self::read_jwk(text, None)
    }

    /// Reads a JWK with `kty` `oct` for this algorithm. A different `alg` is rejected.
    pub fn from_jwk_as(text: &str, alg: MacAlg) -> Result<MacKey> {
        Self::read_jwk(text, Some(alg))
    }

    /// Returns the key as a JWK, which contains the secret.
    pub fn to_jwk(&self) -> Zeroizing<String> {
        jwk::Writer::new("oct")
            .word("alg", self.alg.name())
            .key_id(self.key_id())
            .operations(self.operations.restricted_to())
            .bytes("k", &self.material.secret)
            .finish()
    }

    /// Returns the algorithm.
    pub fn alg(&self) -> MacAlg {
        self.alg
    }

    /// Returns the key id (`kid`).
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_ref().map(KeyId::as_str)
    }

    /// Returns the same key with a key id of 1 to 1,024 bytes.
    pub fn with_key_id(mut self, key_id: &str) -> Result<MacKey> {
        self.key_id = Some(KeyId::from_caller(key_id)?);
        self.headers = Headers::new(self.alg.name(), self.key_id());
        Ok(self)
    }

    /// Returns the thumbprint (RFC 7638). It is a hash of the secret: it may identify the key among its owners,
    /// but must not be published.
    pub fn thumbprint(&self) -> String {
        let secret = crate::base64::encode_secret(&self.material.secret);
        jwk::thumbprint(&[("k", &secret), ("kty", "oct")])
    }

    /// Returns the thumbprint as a URI (RFC 9278).
    ///
    /// It is a hash of the secret: do not publish it.
    pub fn thumbprint_uri(&self) -> String {
        jwk::thumbprint_uri(&self.thumbprint())
    }

    fn read_jwk(text: &str, wanted: Option<MacAlg>) -> Result<MacKey> {
        Ok(Self::from_members(&Members::parse(text)?, wanted)?)
    }

    pub(crate) fn from_members(
        members: &Members<'_>,
        wanted: Option<MacAlg>,
    ) -> Result<MacKey, KeyError> {
        Self::from_members_of(members, wanted, MacAlg::key_bytes)
    }

    /// Creates a key of any length except 0. For [`danger`](crate::danger).
    pub(crate) fn weak(alg: MacAlg, secret: &[u8]) -> Result<MacKey, KeyError> {
        let secret = Zeroizing::new(secret.to_vec());
        Self::from_secret(alg, 1, secret, Operations::Both, None)
    }

    pub(crate) fn weak_from_members(
        members: &Members<'_>,
        alg: MacAlg,
    ) -> Result<MacKey, KeyError> {
        Self::from_members_of(members, Some(alg), |_| 1)
    }

    fn from_members_of(
        members: &Members<'_>,
        wanted: Option<MacAlg>,
        bytes_min: fn(MacAlg) -> usize,
    ) -> Result<MacKey, KeyError> {
        if members.required("kty")? != "oct" {
            return Err(wrong_jwk_type(members, "oct"));
        }
        let declared = match members.optional("alg")? {
            None => None,
            Some(name) => Some(
                name.parse::<MacAlg>()
                    .map_err(|_| another_kind(&name, "a MAC algorithm"))?,
            ),
        };
        let alg = match (declared, wanted) {
            (Some(declared), Some(wanted)) if declared != wanted => {
                return Err(another_algorithm(declared.name(), wanted.name()));
            }
            (Some(alg), _) | (None, Some(alg)) => alg,
            (None, None) => return Err(KeyError::at("alg", KeyProblem::AlgorithmNeeded)),
        };
        let operations = match (
            members.permit(Operation::Sign),
            members.permit(Operation::Verify),
        ) {
            (Ok(()), Ok(())) => Operations::Both,
            (Ok(()), Err(_)) => Operations::SignOnly,
            (Err(_), Ok(())) => Operations::VerifyOnly,
            (Err(error), Err(_)) => return Err(error),
        };
        let secret = members.bytes("k")?;
        Self::from_secret(alg, bytes_min(alg), secret, operations, members.key_id()?)
    }

    fn from_secret(
        alg: MacAlg,
        bytes_min: usize,
        secret: Zeroizing<Vec<u8>>,
        operations: Operations,
        key_id: Option<KeyId>,
    ) -> Result<MacKey, KeyError> {
        if secret.len() < bytes_min {
            return Err(KeyError::too_weak("k", secret.len(), bytes_min));
        }
        if secret.len() > crate::limits::KEY_BYTES {
            return Err(KeyError::too_large(
                "k",
                secret.len(),
                crate::limits::KEY_BYTES,
            ));
        }
        if is_key_text(&secret) {
            return Err(KeyError::at("k", KeyProblem::KeyAsSecret));
        }
        Ok(Self::from_parts(alg, secret, operations, key_id))
    }

    fn from_parts(
        alg: MacAlg,
        secret: Zeroizing<Vec<u8>>,
        operations: Operations,
        key_id: Option<KeyId>,
    ) -> MacKey {
        let mut material = Arc::new(Material {
            secret,
            prepared: hmac::Prepared::unset(),
        });
        // Computed at the final address: the states are as secret as the key, and a move would leave a copy.
        let Material { secret, prepared } =
            Arc::get_mut(&mut material).expect("the Arc is not shared yet");
        prepared.set(alg.hash(), secret);
        MacKey {
            alg,
            material,
            operations,
            headers: Headers::new(alg.name(), key_id.as_ref().map(KeyId::as_str)),
            key_id,
        }
    }

    /// Returns the same key for a verifier. The secret is shared, not copied.
    pub(crate) fn share(&self) -> MacKey {
        MacKey {
            alg: self.alg,
            material: Arc::clone(&self.material),
            operations: self.operations,
            key_id: self.key_id.clone(),
            headers: self.headers.clone(),
        }
    }

    pub(crate) fn headers(&self) -> &Headers {
        &self.headers
    }

    pub(crate) fn id(&self) -> Option<&KeyId> {
        self.key_id.as_ref()
    }

    /// Fills an empty buffer with the MAC.
    pub(crate) fn sign_bytes(&self, message: &[u8], tag: &mut SignatureBuffer) -> Result<()> {
        tag.extend_from_slice(&self.to_sign()?.sign(message));
        Ok(())
    }

    /// Starts a MAC over this prefix.
    pub(crate) fn begin(&self, message: &[u8]) -> Result<hmac::MacPrefix<'_>> {
        Ok(self.to_sign()?.begin(message))
    }

    fn to_sign(&self) -> Result<&hmac::Prepared> {
        if self.operations == Operations::VerifyOnly {
            return Err(KeyError::at("key_ops", KeyProblem::OperationNotPermitted)
                .with_expected("sign")
                .into());
        }
        Ok(&self.material.prepared)
    }

    pub(crate) fn verify_bytes(&self, message: &[u8], tag: &[u8]) -> bool {
        self.operations != Operations::SignOnly && self.material.prepared.verify(message, tag)
    }
}

impl fmt::Debug for MacKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MacKey")
            .field("alg", &self.alg)
            .field("key_id", &self.key_id())
            .finish_non_exhaustive()
    }
}
