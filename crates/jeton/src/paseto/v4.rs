//! Version 4: XChaCha20 and BLAKE2b for `local`, Ed25519 for `public` (PASETO, "Version 4"). The recommended
//! version.

use std::sync::OnceLock;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::suite::{Cipher, Suite, Tag};
use super::{TokenContext, ed25519, pae};
use crate::crypto::blake2b::Blake2b;
use crate::crypto::xchacha20;
use crate::error::{Rejection, Result};
use crate::key::SigAlg;
use crate::paserk_kind::{LOCAL_KEY_BYTES, PaserkVersion};

/// The type parameter for version 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum V4 {}

/// A key that encrypts and decrypts `v4.local` tokens (`k4.local`).
pub type LocalKey = super::LocalKey<V4>;
/// A key that signs `v4.public` tokens (`k4.secret`).
pub type SecretKey = super::SecretKey<V4>;
/// A key that verifies `v4.public` tokens (`k4.public`).
pub type PublicKey = super::PublicKey<V4>;

pub(crate) static SUITE: Suite = Suite {
    version: PaserkVersion::V4,
    local_header: HEADER,
    public_header: "v4.public.",
    signed_as: SigAlg::EdDSA,
    implicit_assertion: true,
    cipher: |key| Box::new(Local::new(key)),
    generate: ed25519::generate,
    pair: ed25519::pair,
    public: ed25519::public,
};

const HEADER: &str = "v4.local.";
const NONCE_BYTES: usize = 32;
const MAC_BYTES: usize = 32;
/// One hash yields the encryption key and its nonce.
const ENCRYPTION_BYTES: usize = xchacha20::KEY_BYTES + xchacha20::NONCE_BYTES;

struct Local {
    /// At an address that does not change when its owner is moved.
    key: Zeroizing<Vec<u8>>,
    /// Computed for the first token: a program may load many keys and use few of them.
    derivations: OnceLock<Derivations>,
}

/// The states of both derivations after the key and the purpose; each token adds its nonce.
struct Derivations {
    encryption: Blake2b<ENCRYPTION_BYTES>,
    authentication: Blake2b<LOCAL_KEY_BYTES>,
}

impl Local {
    fn new(key: Zeroizing<Vec<u8>>) -> Local {
        Local {
            key,
            derivations: OnceLock::new(),
        }
    }

    fn derivations(&self) -> &Derivations {
        self.derivations.get_or_init(|| {
            let key = self.key.first_chunk::<LOCAL_KEY_BYTES>();
            let key = key.expect("a local key has its length");
            Derivations {
                encryption: Blake2b::keyed(key).and(b"paseto-encryption-key"),
                authentication: Blake2b::keyed(key).and(b"paseto-auth-key-for-aead"),
            }
        })
    }

    /// Encrypts or decrypts in place.
    fn apply(&self, nonce: &[u8], message: &mut [u8]) -> Result<()> {
        let derived = self.derivations().encryption.clone().and(nonce).finish();
        let (key, cipher_nonce) = derived
            .split_first_chunk::<{ xchacha20::KEY_BYTES }>()
            .expect("the hash is as long as both together");
        let cipher_nonce = cipher_nonce
            .first_chunk::<{ xchacha20::NONCE_BYTES }>()
            .expect("the hash is as long as both together");
        xchacha20::apply(key, cipher_nonce, message)
    }

    fn mac(
        &self,
        nonce: &[u8],
        encrypted: &[u8],
        context: TokenContext<'_>,
    ) -> Zeroizing<[u8; MAC_BYTES]> {
        let derivation = &self.derivations().authentication;
        let key = derivation.clone().and(nonce).finish();
        let mut mac = Blake2b::<MAC_BYTES>::keyed(&key);
        let pieces = [
            HEADER.as_bytes(),
            nonce,
            encrypted,
            context.footer_bytes(),
            context.implicit_assertion,
        ];
        pae::encode(&pieces, |bytes| mac.update(bytes));
        mac.finish()
    }
}

impl Cipher for Local {
    fn key(&self) -> &[u8] {
        &self.key
    }

    fn nonce_bytes(&self) -> usize {
        NONCE_BYTES
    }

    fn tag_bytes(&self) -> usize {
        MAC_BYTES
    }

    fn seal(&self, nonce: &[u8], message: &mut [u8], context: TokenContext<'_>) -> Result<Tag> {
        self.apply(nonce, message)?;
        Ok(Tag::from_slice(
            self.mac(nonce, message, context).as_slice(),
        ))
    }

    fn open(&self, nonce: &[u8], sealed: &mut [u8], context: TokenContext<'_>) -> Result<()> {
        let (encrypted, tag) = sealed.split_at_mut(sealed.len() - MAC_BYTES);
        let mac = self.mac(nonce, encrypted, context);
        if !bool::from(mac.as_slice().ct_eq(tag)) {
            return Err(Rejection::Decryption.into());
        }
        self.apply(nonce, encrypted)
    }
}
