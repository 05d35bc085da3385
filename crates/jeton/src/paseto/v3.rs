//! Version 3: AES-256-CTR and HMAC-SHA-384 for `local`, ECDSA on P-384 for `public` (PASETO, "Version 3"). Use
//! it if you must use NIST algorithms; otherwise use [`v4`](super::v4).
//!
//! The public key is signed with every message. So nobody can create another key for which an existing
//! signature is valid. Signatures are randomized.
//!
//! ```
//! use std::time::Duration;
//! use jeton::paseto::v3;
//! use jeton::paseto::PasetoVerifier;
//! use jeton::{Claims, Policy};
//!
//! let key = v3::SecretKey::generate()?;
//! let claims = Claims::new(()).issuer("i").audience("a").expires_in(Duration::from_secs(300));
//! let token = key.issue(&claims)?;
//! assert!(token.starts_with("v3.public."));
//!
//! let verifier = PasetoVerifier::new(key.public_key(), Policy::new("i", "a"));
//! assert!(verifier.verify::<serde::de::IgnoredAny>(&token).is_ok());
//! # Ok::<_, jeton::Error>(())
//! ```

use zeroize::Zeroizing;

use super::TokenContext;
use super::aes_ctr_hmac::{Bound, Derived, MAC_BYTES, NONCE_BYTES};
use super::suite::{self, Cipher, Suite, Tag};
use crate::crypto::ecdh::{Group, Private};
use crate::crypto::{Curve, Signature, ecdsa, hkdf};
use crate::error::{KeyProblem, Result};
use crate::key::SigAlg;
use crate::paserk_kind::PaserkVersion;

/// The type parameter for version 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum V3 {}

/// A key that encrypts and decrypts `v3.local` tokens (`k3.local`).
pub type LocalKey = super::LocalKey<V3>;
/// A key that signs `v3.public` tokens (`k3.secret`).
pub type SecretKey = super::SecretKey<V3>;
/// A key that verifies `v3.public` tokens (`k3.public`).
pub type PublicKey = super::PublicKey<V3>;

pub(crate) static SUITE: Suite = Suite {
    version: PaserkVersion::V3,
    local_header: HEADER,
    public_header: "v3.public.",
    signed_as: SigAlg::ES384,
    implicit_assertion: true,
    cipher: |key| Box::new(Local(key)),
    generate: || Ok(Box::new(Pair(ecdsa::Pair::generate(Curve::P384)?))),
    pair: |bytes| {
        let private = Private::from_secret(Group::P384, bytes)?;
        let pair = ecdsa::Pair::from_halves(Curve::P384, bytes, private.public())?;
        Ok(Box::new(Pair(pair)))
    },
    public: |bytes| Ok(Box::new(Public::of(bytes.to_vec())?)),
};

const HEADER: &str = "v3.local.";

/// The key, at an address that does not change when its owner is moved.
struct Local(Zeroizing<Vec<u8>>);

impl Local {
    /// Derives the keys of one token. The whole nonce is part of the HKDF info.
    fn derive(&self, nonce: &[u8]) -> Result<Derived<48>> {
        let derive = |purpose: &[u8]| hkdf::sha384::<48>(&self.0, &[], &[purpose, nonce]);
        let first = derive(b"paseto-encryption-key")?;
        let mut encryption = Zeroizing::new([0; 32]);
        encryption.copy_from_slice(&first[..32]);
        let mut counter = [0; 16];
        counter.copy_from_slice(&first[32..]);
        Ok(Derived {
            encryption,
            counter,
            authentication: derive(b"paseto-auth-key-for-aead")?,
        })
    }
}

impl Cipher for Local {
    fn key(&self) -> &[u8] {
        &self.0
    }

    fn nonce_bytes(&self) -> usize {
        NONCE_BYTES
    }

    fn tag_bytes(&self) -> usize {
        MAC_BYTES
    }

    fn seal(&self, nonce: &[u8], message: &mut [u8], context: TokenContext<'_>) -> Result<Tag> {
        let behind = [context.footer_bytes(), context.implicit_assertion];
        self.derive(nonce)?.seal(message, &bound(nonce, &behind))
    }

    fn open(&self, nonce: &[u8], sealed: &mut [u8], context: TokenContext<'_>) -> Result<()> {
        let behind = [context.footer_bytes(), context.implicit_assertion];
        self.derive(nonce)?.open(sealed, &bound(nonce, &behind))
    }
}

fn bound<'a>(nonce: &'a [u8], behind: &'a [&'a [u8]]) -> Bound<'a> {
    Bound {
        header: HEADER,
        nonce,
        behind,
    }
}

struct Pair(ecdsa::Pair);

impl suite::Pair for Pair {
    fn sign(&self, message: &[u8]) -> Result<Signature> {
        self.0.sign(message)
    }

    fn public(&self) -> Result<Box<dyn suite::Public>, KeyProblem> {
        Ok(Box::new(Public {
            compressed: ecdsa::compress(self.0.point()),
            key: self.0.public(),
        }))
    }

    fn bytes(&self) -> Result<Zeroizing<Vec<u8>>> {
        self.0.scalar()
    }
}

/// A key, and its compressed point, which is signed with every message.
struct Public {
    compressed: Vec<u8>,
    key: ecdsa::Public,
}

impl Public {
    fn of(compressed: Vec<u8>) -> Result<Public, KeyProblem> {
        let key = ecdsa::Public::from_compressed(Curve::P384, &compressed)?;
        Ok(Public { compressed, key })
    }
}

impl suite::Public for Public {
    fn bytes(&self) -> &[u8] {
        &self.compressed
    }

    fn is_signed(&self) -> bool {
        true
    }

    fn signature_bytes(&self) -> usize {
        self.key.signature_bytes()
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.key.verify(message, signature)
    }
}
