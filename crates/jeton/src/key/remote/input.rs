use std::fmt;

use crate::crypto::{Hash, Padding};
use crate::error::{RemoteError, Result};
use crate::key::{Scheme, SigAlg, VerifyingKey};

/// The data that a remote signer signs.
#[derive(Clone, Copy)]
pub struct SigningInput<'p> {
    alg: SigAlg,
    message: &'p [u8],
}

impl<'p> SigningInput<'p> {
    pub(crate) fn new(alg: SigAlg, message: &'p [u8]) -> SigningInput<'p> {
        SigningInput { alg, message }
    }

    /// Returns the algorithm of the key. For a PASETO, this is ES384 (`v3.public`) or EdDSA (`v4.public`).
    pub fn alg(&self) -> SigAlg {
        self.alg
    }

    /// Returns the whole message, for signers that hash it themselves, and for EdDSA and ML-DSA, which require it.
    pub fn message(&self) -> &'p [u8] {
        self.message
    }

    /// Returns the hash of the message, for signers that take a digest: SHA-256, SHA-384 or SHA-512, depending on
    /// the algorithm. `None` for EdDSA and ML-DSA, which do not sign a digest.
    ///
    /// ```
    /// use jeton::key::{SigAlg, SigningKey};
    /// use jeton::remote::RemoteKey;
    ///
    /// for (alg, digest_bytes) in [(SigAlg::ES384, Some(48)), (SigAlg::EdDSA, None)] {
    ///     let prepared = RemoteKey::new(SigningKey::generate(alg)?.verifying_key()).prepare_payload(b"x")?;
    ///     assert_eq!(prepared.input().digest().map(|digest| digest.len()), digest_bytes);
    /// }
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn digest(&self) -> Option<Vec<u8>> {
        Some(self.hash()?.digest(self.message))
    }

    /// Returns the required length of the salt, bytes, for PS256, PS384 and PS512. It is the length of the hash
    /// (RFC 7518, section 3.5). Many signers use the longest possible salt by default.
    pub fn salt_bytes(&self) -> Option<usize> {
        match self.alg.scheme() {
            Scheme::Rsa(Padding::Pss, hash) => Some(hash.length()),
            _ => None,
        }
    }

    fn hash(&self) -> Option<Hash> {
        match self.alg.scheme() {
            Scheme::Rsa(_, hash) => Some(hash),
            Scheme::Ecdsa(curve) => Some(curve.hash()),
            Scheme::Ed25519 | Scheme::MlDsa(_) => None,
        }
    }
}

impl fmt::Debug for SigningInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningInput")
            .field("alg", &self.alg)
            .field("bytes", &self.message.len())
            .finish_non_exhaustive()
    }
}

/// The operations of the public key of a remote key.
pub trait RemoteVerifier: Send + Sync {
    #[doc(hidden)]
    fn alg(&self) -> SigAlg;

    #[doc(hidden)]
    fn signature_bytes(&self) -> usize;

    #[doc(hidden)]
    fn verify_bytes(&self, message: &[u8], signature: &[u8]) -> bool;
}

impl RemoteVerifier for VerifyingKey {
    fn alg(&self) -> SigAlg {
        VerifyingKey::alg(self)
    }

    fn signature_bytes(&self) -> usize {
        VerifyingKey::signature_bytes(self)
    }

    fn verify_bytes(&self, message: &[u8], signature: &[u8]) -> bool {
        VerifyingKey::verify_bytes(self, message, signature)
    }
}

/// A signature, in the encoding that the signer returned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signature {
    /// The encoding of JOSE and PASETO: r‖s at full length for ECDSA (PKCS#11 returns this), the unchanged bytes
    /// for all other algorithms.
    Fixed(Vec<u8>),
    /// The DER sequence of r and s, which most services and OpenSSL return. Only for ECDSA, and only in canonical
    /// form.
    Der(Vec<u8>),
}

impl Signature {
    /// Returns the encoding for a token, if the signature is valid for this key and message.
    pub(crate) fn checked(&self, key: &dyn RemoteVerifier, message: &[u8]) -> Result<Vec<u8>> {
        let fixed = match (self, key.alg().scheme()) {
            (Signature::Fixed(bytes), _) => bytes.clone(),
            (Signature::Der(der), Scheme::Ecdsa(curve)) => {
                crate::crypto::ecdsa::fixed_from_strict_der(der, curve)
                    .ok_or(RemoteError::SignatureForm)?
                    .to_vec()
            }
            (Signature::Der(_), _) => return Err(RemoteError::SignatureForm.into()),
        };
        if fixed.len() != key.signature_bytes() {
            return Err(RemoteError::SignatureForm.into());
        }
        if !key.verify_bytes(message, &fixed) {
            return Err(RemoteError::Signature.into());
        }
        Ok(fixed)
    }
}
