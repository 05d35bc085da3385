//! What a version of PASETO is made of. Each version fills in one [`Suite`] in a file of its own,
//! and [`Suite::of`] is the one place that lists them: everything else is the same for all.

use smallvec::SmallVec;
use zeroize::Zeroizing;

use super::{Binding, v3, v4};
use crate::crypto::Signature;
use crate::danger::{paseto_v1, paseto_v2};
use crate::error::{KeyProblem, Result};
use crate::key::SigAlg;
use crate::paserk::Version;

/// Length of a local key, whatever the version.
pub(crate) const LOCAL_KEY_BYTES: usize = 32;

pub(crate) struct Suite {
    pub(crate) version: Version,
    /// What its tokens begin with, dots included.
    pub(crate) local_header: &'static str,
    pub(crate) public_header: &'static str,
    /// What JOSE calls the way in which its `public` tokens are signed.
    pub(crate) signed_as: SigAlg,
    /// Whether it knows implicit assertions; versions 1 and 2 do not.
    pub(crate) implicit_assertion: bool,
    pub(crate) cipher: fn(&[u8; LOCAL_KEY_BYTES]) -> Box<dyn Cipher>,
    pub(crate) generate: fn() -> Result<Box<dyn Pair>>,
    /// From the bytes of a PASERK `secret`.
    pub(crate) pair: Read<dyn Pair>,
    /// From the bytes of a PASERK `public`.
    pub(crate) public: Read<dyn Public>,
}

/// Makes a key from bytes that nobody has looked at.
type Read<K> = fn(&[u8]) -> Result<Box<K>, KeyProblem>;

impl Suite {
    pub(crate) fn of(version: Version) -> &'static Suite {
        match version {
            Version::V1 => &paseto_v1::SUITE,
            Version::V2 => &paseto_v2::SUITE,
            Version::V3 => &v3::SUITE,
            Version::V4 => &v4::SUITE,
        }
    }
}

/// What stands behind a message to authenticate it.
pub(crate) type Tag = SmallVec<[u8; 48]>;

/// Encryption under one local key. A body is nonce, ciphertext and tag.
pub(crate) trait Cipher: Send + Sync {
    fn nonce_bytes(&self) -> usize;

    fn tag_bytes(&self) -> usize;

    /// Turns fresh random bytes into the nonce for that message, in place. Since version 3 they
    /// are the nonce.
    fn finish_nonce(&self, _random: &mut [u8], _message: &[u8]) {}

    /// Encrypts in place.
    fn seal(&self, nonce: &[u8], message: &mut [u8], binding: Binding<'_>) -> Result<Tag>;

    /// Decrypts ciphertext and tag in place, the message in front, or says
    /// [`Rejection::Decryption`](crate::error::Rejection::Decryption).
    fn open(&self, nonce: &[u8], sealed: &mut [u8], binding: Binding<'_>) -> Result<()>;
}

/// A pair of keys that signs.
pub(crate) trait Pair: Send + Sync {
    fn sign(&self, message: &[u8]) -> Result<Signature>;

    fn public(&self) -> Result<Box<dyn Public>, KeyProblem>;

    /// The bytes of its PASERK.
    fn bytes(&self) -> Result<Zeroizing<Vec<u8>>>;
}

/// A key that verifies.
pub(crate) trait Public: Send + Sync {
    /// The bytes of its PASERK.
    fn bytes(&self) -> &[u8];

    /// Whether those bytes are signed with every message, in front of it.
    fn is_signed(&self) -> bool {
        false
    }

    fn signature_bytes(&self) -> usize;

    fn verify(&self, message: &[u8], signature: &[u8]) -> bool;
}
