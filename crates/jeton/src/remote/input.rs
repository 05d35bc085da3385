use std::fmt;

use crate::crypto::{Hash, Padding};
use crate::error::{RemoteFault, Result};
use crate::key::{Scheme, SigAlg, VerifyingKey};

/// What a remote signer signs.
#[derive(Clone, Copy)]
pub struct SigningInput<'p> {
    alg: SigAlg,
    message: &'p [u8],
}

impl<'p> SigningInput<'p> {
    pub(crate) fn new(alg: SigAlg, message: &'p [u8]) -> SigningInput<'p> {
        SigningInput { alg, message }
    }

    /// The key's algorithm. A `v3.public` PASETO is signed as ES384, a `v4.public` one as EdDSA.
    pub fn alg(&self) -> SigAlg {
        self.alg
    }

    /// All of it: for signers that hash themselves, and for EdDSA and ML-DSA, which have to.
    pub fn message(&self) -> &'p [u8] {
        self.message
    }

    /// The message's hash, for signers that take a digest: SHA-256, SHA-384 or SHA-512 as the
    /// algorithm's name says. `None` for EdDSA and ML-DSA, which sign the message itself.
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

    /// How long the salt must be, bytes, if the algorithm is PS256, PS384 or PS512: as long as the
    /// hash (RFC 7518, section 3.5). Many signers default to the longest salt that fits.
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

/// What the public half of a remote key does here.
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

/// A signature, in the form in which its signer gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Signature {
    /// As JOSE and PASETO have it: r‖s at full length for ECDSA (as PKCS#11 gives it), the bytes as
    /// they are for every other algorithm.
    Fixed(Vec<u8>),
    /// The DER sequence of r and s that most services and OpenSSL give. ECDSA only, and strict: one
    /// encoding, nothing behind it.
    Der(Vec<u8>),
}

impl Signature {
    /// The form that stands in a token, if this is a signature of that key over that message.
    pub(crate) fn checked(&self, key: &dyn RemoteVerifier, message: &[u8]) -> Result<Vec<u8>> {
        let fixed = match (self, key.alg().scheme()) {
            (Signature::Fixed(bytes), _) => bytes.clone(),
            (Signature::Der(der), Scheme::Ecdsa(curve)) => {
                crate::crypto::ecdsa::fixed_from_strict_der(der, curve)
                    .ok_or(RemoteFault::SignatureForm)?
                    .to_vec()
            }
            (Signature::Der(_), _) => return Err(RemoteFault::SignatureForm.into()),
        };
        if fixed.len() != key.signature_bytes() {
            return Err(RemoteFault::SignatureForm.into());
        }
        if !key.verify_bytes(message, &fixed) {
            return Err(RemoteFault::Signature.into());
        }
        Ok(fixed)
    }
}
