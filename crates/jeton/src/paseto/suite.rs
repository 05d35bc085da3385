//! The algorithms of a PASETO version. Each version defines one [`Suite`] in its own file, and
//! [`super::versions`] lists them. All other code is shared.

use smallvec::SmallVec;
use zeroize::Zeroizing;

use super::TokenContext;
use crate::crypto::Signature;
use crate::error::{InvalidUse, KeyProblem, Result};
use crate::key::SigAlg;
use crate::limits;
use crate::paserk_kind::PaserkVersion;

pub struct Suite {
    pub(crate) version: PaserkVersion,
    /// The start of its tokens, with dots.
    pub(crate) local_header: &'static str,
    pub(crate) public_header: &'static str,
    /// The JOSE name of the signature algorithm of its `public` tokens.
    pub(crate) signed_as: SigAlg,
    /// Whether it has implicit assertions; versions 1 and 2 do not.
    pub(crate) implicit_assertion: bool,
    /// Takes a key of the right length.
    pub(crate) cipher: fn(Zeroizing<Vec<u8>>) -> Box<dyn Cipher>,
    pub(crate) generate: fn() -> Result<Box<dyn Pair>>,
    /// Reads the bytes of a PASERK `secret`.
    pub(crate) pair: Read<dyn Pair>,
    /// Reads the bytes of a PASERK `public`.
    pub(crate) public: Read<dyn Public>,
}

/// Creates a key from unchecked bytes.
type Read<K> = fn(&[u8]) -> Result<Box<K>, KeyProblem>;

impl Suite {
    /// Checks that a token of this version supports the context.
    pub(super) fn check(&self, context: TokenContext<'_>) -> Result<()> {
        if !self.implicit_assertion && !context.implicit_assertion.is_empty() {
            return Err(InvalidUse::ImplicitAssertion.into());
        }
        if context.footer.len() > limits::FOOTER_BYTES {
            return Err(InvalidUse::FooterTooLarge {
                bytes: context.footer.len(),
                limit: limits::FOOTER_BYTES,
            }
            .into());
        }
        Ok(())
    }
}

/// The authentication tag after a message.
pub(crate) type Tag = SmallVec<[u8; 48]>;

/// Encryption with one local key. A body consists of nonce, ciphertext and tag.
pub(crate) trait Cipher: Send + Sync {
    /// Returns the key.
    fn key(&self) -> &[u8];

    fn nonce_bytes(&self) -> usize;

    fn tag_bytes(&self) -> usize;

    /// Converts random bytes into the nonce for this message, in place. From version 3 on, the random bytes are
    /// the nonce.
    fn finish_nonce(&self, _random: &mut [u8], _message: &[u8]) {}

    /// Encrypts in place.
    fn seal(&self, nonce: &[u8], message: &mut [u8], context: TokenContext<'_>) -> Result<Tag>;

    /// Decrypts ciphertext and tag in place; the message is at the start. Returns
    /// [`Rejection::Decryption`](crate::error::Rejection::Decryption) for every failure.
    fn open(&self, nonce: &[u8], sealed: &mut [u8], context: TokenContext<'_>) -> Result<()>;
}

/// A pair of keys that signs.
pub(crate) trait Pair: Send + Sync {
    fn sign(&self, message: &[u8]) -> Result<Signature>;

    fn public(&self) -> Result<Box<dyn Public>, KeyProblem>;

    /// Returns the bytes of the PASERK.
    fn bytes(&self) -> Result<Zeroizing<Vec<u8>>>;
}

/// A key that verifies.
pub(crate) trait Public: Send + Sync {
    /// Returns the bytes of the PASERK.
    fn bytes(&self) -> &[u8];

    /// Whether these bytes are signed before every message.
    fn is_signed(&self) -> bool {
        false
    }

    fn signature_bytes(&self) -> usize;

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool;
}
