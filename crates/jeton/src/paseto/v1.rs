//! PASETO version 1: AES-256-CTR with HMAC-SHA-384, and RSA of 2,048 bits (PASETO, "Version 1").
//!
//! Legacy: [`danger::paseto_v1`](crate::danger::paseto_v1) re-exports it.

use zeroize::Zeroizing;

use super::TokenContext;
use super::aes_ctr_hmac::{Bound, Derived, MAC_BYTES, NONCE_BYTES};
use super::suite::{self, Cipher, Suite, Tag};
use crate::crypto::aes_ctr::COUNTER_BYTES;
use crate::crypto::hmac::Sha384;
use crate::crypto::rsa::{self, Strength};
use crate::crypto::{Hash, Padding, Signature, hkdf};
use crate::error::{Error, KeyProblem, Result};
use crate::key::{RsaSize, SigAlg, rsa_parts_from_pkcs1};
use crate::paserk_kind::{K1_PUBLIC_BYTES, PaserkVersion};

/// The type parameter for version 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum V1 {}

/// A key that encrypts and decrypts `v1.local` tokens (`k1.local`).
pub type LocalKey = super::LocalKey<V1>;
/// A key that signs `v1.public` tokens (`k1.secret`), RSA of 2,048 bits.
pub type SecretKey = super::SecretKey<V1>;
/// A key that verifies `v1.public` tokens (`k1.public`), RSA of 2,048 bits.
pub type PublicKey = super::PublicKey<V1>;

pub(crate) static SUITE: Suite = Suite {
    version: PaserkVersion::V1,
    local_header: HEADER,
    public_header: "v1.public.",
    signed_as: SigAlg::PS384,
    implicit_assertion: false,
    cipher: |key| Box::new(Local(key)),
    generate: || {
        let pkcs8 = rsa::Pair::generate(RsaSize::Bits2048)?.pkcs8()?;
        let pkcs1 = rsa::own_pkcs1(&pkcs8)?;
        let pair = Pair::of(pkcs1).map_err(|_| Error::Primitive)?;
        Ok(Box::new(pair))
    },
    pair: |bytes| Ok(Box::new(Pair::of(bytes)?)),
    public: |bytes| Ok(Box::new(Public::of(bytes)?)),
};

const HEADER: &str = "v1.local.";

/// The key, at an address that does not change when its owner is moved.
struct Local(Zeroizing<Vec<u8>>);

impl Local {
    /// Derives the keys of one token. Half of the nonce is the salt of HKDF, the other half the AES counter.
    fn derive(&self, nonce: &[u8]) -> Result<Derived<32>> {
        let (salt, counted) = nonce.split_at(NONCE_BYTES - COUNTER_BYTES);
        let derive = |purpose: &[u8]| hkdf::sha384::<32>(&self.0, salt, &[purpose]);
        let mut counter = [0; COUNTER_BYTES];
        counter.copy_from_slice(counted);
        Ok(Derived {
            encryption: derive(b"paseto-encryption-key")?,
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

    fn finish_nonce(&self, random: &mut [u8], message: &[u8]) {
        let hash = Sha384::keyed(random).and(message).finish();
        random.copy_from_slice(&hash[..NONCE_BYTES]);
    }

    fn seal(&self, nonce: &[u8], message: &mut [u8], context: TokenContext<'_>) -> Result<Tag> {
        let derived = self.derive(nonce)?;
        derived.seal(message, &bound(nonce, &[context.footer_bytes()]))
    }

    fn open(&self, nonce: &[u8], sealed: &mut [u8], context: TokenContext<'_>) -> Result<()> {
        let derived = self.derive(nonce)?;
        derived.open(sealed, &bound(nonce, &[context.footer_bytes()]))
    }
}

fn bound<'a>(nonce: &'a [u8], behind: &'a [&'a [u8]]) -> Bound<'a> {
    Bound {
        header: HEADER,
        nonce,
        behind,
    }
}

/// A key pair, and its DER (RFC 8017, appendix A.1.2).
struct Pair {
    pair: rsa::Pair,
    pkcs1: Zeroizing<Vec<u8>>,
    modulus: Vec<u8>,
}

impl Pair {
    fn of(pkcs1: &[u8]) -> Result<Pair, KeyProblem> {
        let parts = rsa_parts_from_pkcs1(pkcs1).map_err(|_| KeyProblem::Malformed)?;
        check_size(&parts.n, &parts.e)?;
        Ok(Pair {
            pair: rsa::Pair::from_parts(&parts)?,
            pkcs1: Zeroizing::new(pkcs1.to_vec()),
            modulus: parts.n,
        })
    }
}

impl suite::Pair for Pair {
    fn sign(&self, message: &[u8]) -> Result<Signature> {
        let mut signature = Signature::from_elem(0, MODULUS_BYTES);
        self.pair
            .sign(Padding::Pss, Hash::Sha384, message, &mut signature)?;
        Ok(signature)
    }

    fn public(&self) -> Result<Box<dyn suite::Public>, KeyProblem> {
        let spki = [&SPKI_BEFORE[..], &self.modulus, &SPKI_BEHIND].concat();
        Ok(Box::new(Public::of(&spki)?))
    }

    fn bytes(&self) -> Result<Zeroizing<Vec<u8>>> {
        Ok(self.pkcs1.clone())
    }
}

/// A public key, and its DER (RFC 5280, section 4.1).
struct Public {
    spki: Vec<u8>,
    key: rsa::Public,
}

impl Public {
    fn of(spki: &[u8]) -> Result<Public, KeyProblem> {
        let modulus = spki
            .strip_prefix(&SPKI_BEFORE)
            .and_then(|rest| rest.strip_suffix(&SPKI_BEHIND))
            .ok_or(KeyProblem::Malformed)?;
        check_size(modulus, &EXPONENT)?;
        let (padding, hash) = (Padding::Pss, Hash::Sha384);
        let key = rsa::Public::from_parts(padding, hash, Strength::Current, modulus, &EXPONENT)
            .map_err(|error| error.into_problem())?;
        Ok(Public {
            spki: spki.to_vec(),
            key,
        })
    }
}

impl suite::Public for Public {
    fn bytes(&self) -> &[u8] {
        &self.spki
    }

    fn signature_bytes(&self) -> usize {
        MODULUS_BYTES
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.key.verify(message, signature)
    }
}

const MODULUS_BYTES: usize = 256;
const EXPONENT: [u8; 3] = [1, 0, 1];

/// The bytes before the modulus in a SubjectPublicKeyInfo with 2,048 bits and the exponent 65537. Both are
/// fixed, so DER has only one encoding.
const SPKI_BEFORE: [u8; 33] = [
    0x30, 0x82, 0x01, 0x22, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01,
    0x01, 0x05, 0x00, 0x03, 0x82, 0x01, 0x0f, 0x00, 0x30, 0x82, 0x01, 0x0a, 0x02, 0x82, 0x01, 0x01,
    0x00,
];
/// The bytes after the modulus.
const SPKI_BEHIND: [u8; 5] = [0x02, 0x03, 1, 0, 1];

// The lengths of PASERKs are listed with their kinds.
const _: () = assert!(SPKI_BEFORE.len() + MODULUS_BYTES + SPKI_BEHIND.len() == K1_PUBLIC_BYTES);

/// Requires exactly 2,048 bits and the exponent 65537.
fn check_size(modulus: &[u8], exponent: &[u8]) -> Result<(), KeyProblem> {
    if modulus.len() != MODULUS_BYTES || modulus[0] & 0x80 == 0 {
        return Err(KeyProblem::WrongLength);
    }
    if exponent != EXPONENT {
        return Err(KeyProblem::Invalid);
    }
    Ok(())
}
