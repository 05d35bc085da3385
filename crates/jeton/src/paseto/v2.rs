//! PASETO version 2: XChaCha20-Poly1305, and Ed25519 (PASETO, "Version 2").
//!
//! Legacy: [`danger::paseto_v2`](crate::danger::paseto_v2) re-exports it.

use smallvec::SmallVec;
use zeroize::Zeroizing;

use super::suite::{Cipher, Suite, Tag};
use super::{TokenContext, ed25519, pae};
use crate::crypto::blake2b::Blake2b;
use crate::crypto::xchacha20::NONCE_BYTES;
use crate::crypto::xchacha20_poly1305::{self as aead, TAG_BYTES};
use crate::error::{Rejection, Result};
use crate::key::SigAlg;
use crate::paserk_kind::{LOCAL_KEY_BYTES, PaserkVersion};

/// The type parameter for version 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum V2 {}

/// A key that encrypts and decrypts `v2.local` tokens (`k2.local`).
pub type LocalKey = super::LocalKey<V2>;
/// A key that signs `v2.public` tokens (`k2.secret`).
pub type SecretKey = super::SecretKey<V2>;
/// A key that verifies `v2.public` tokens (`k2.public`).
pub type PublicKey = super::PublicKey<V2>;

pub(crate) static SUITE: Suite = Suite {
    version: PaserkVersion::V2,
    local_header: HEADER,
    public_header: "v2.public.",
    signed_as: SigAlg::EdDSA,
    implicit_assertion: false,
    cipher: |key| Box::new(Local(key)),
    generate: ed25519::generate,
    pair: ed25519::pair,
    public: ed25519::public,
};

const HEADER: &str = "v2.local.";

/// The key, at an address that does not change when its owner is moved.
struct Local(Zeroizing<Vec<u8>>);

impl Local {
    fn key(&self) -> &[u8; LOCAL_KEY_BYTES] {
        (self.0.as_slice().try_into()).expect("a local key has its length")
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
        TAG_BYTES
    }

    fn finish_nonce(&self, random: &mut [u8], message: &[u8]) {
        let hash = Blake2b::<NONCE_BYTES>::keyed(nonce_of(random))
            .and(message)
            .finish();
        random.copy_from_slice(hash.as_slice());
    }

    fn seal(&self, nonce: &[u8], message: &mut [u8], context: TokenContext<'_>) -> Result<Tag> {
        let associated = associated(nonce, context);
        let tag = aead::seal(self.key(), nonce_of(nonce), &associated, message)?;
        Ok(Tag::from_slice(&tag))
    }

    fn open(&self, nonce: &[u8], sealed: &mut [u8], context: TokenContext<'_>) -> Result<()> {
        let associated = associated(nonce, context);
        if !aead::open(self.key(), nonce_of(nonce), &associated, sealed)? {
            return Err(Rejection::Decryption.into());
        }
        Ok(())
    }
}

fn nonce_of(bytes: &[u8]) -> &[u8; NONCE_BYTES] {
    bytes
        .try_into()
        .expect("a nonce is as long as this cipher says")
}

/// The associated data of the encryption.
fn associated(nonce: &[u8], context: TokenContext<'_>) -> SmallVec<[u8; 256]> {
    let mut associated = SmallVec::new();
    pae::encode(
        &[HEADER.as_bytes(), nonce, context.footer_bytes()],
        |bytes| associated.extend_from_slice(bytes),
    );
    associated
}
