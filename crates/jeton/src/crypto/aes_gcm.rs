//! AES-GCM (NIST SP 800-38D) with 96-bit nonces and 128-bit tags, as JOSE requires.

use aws_lc_rs::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey};

use crate::error::{Error, Result};

pub(crate) const NONCE_BYTES: usize = 12;
pub(crate) const TAG_BYTES: usize = 16;

/// Encrypts in place and returns the tag. The key has 16, 24 or 32 bytes.
pub(crate) fn seal(
    key: &[u8],
    nonce: [u8; NONCE_BYTES],
    aad: &[u8],
    data: &mut [u8],
) -> Result<[u8; TAG_BYTES]> {
    let tag = prepare(key)
        .ok_or(Error::Primitive)?
        .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::from(aad), data)
        .map_err(|_| Error::Primitive)?;
    tag.as_ref().try_into().map_err(|_| Error::Primitive)
}

/// Decrypts in place, or returns `None` and leaves no plaintext behind. A nonce or tag of another length
/// is rejected.
pub(crate) fn open(
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    data: &mut [u8],
    tag: &[u8],
) -> Option<()> {
    if tag.len() != TAG_BYTES {
        return None;
    }
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    prepare(key)?
        .open_in_place_separate_tag(nonce, Aad::from(aad), tag, data)
        .ok()
        .map(|_| ())
}

fn prepare(key: &[u8]) -> Option<LessSafeKey> {
    let algorithm = match key.len() {
        16 => &aead::AES_128_GCM,
        24 => &aead::AES_192_GCM,
        32 => &aead::AES_256_GCM,
        _ => return None,
    };
    UnboundKey::new(algorithm, key).ok().map(LessSafeKey::new)
}
