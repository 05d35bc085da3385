//! Content encryption (RFC 7518, section 5) with one content key for one token.

use zeroize::Zeroizing;

use crate::crypto::{aes_cbc_hmac, aes_gcm, random};
use crate::error::{Error, Result};
use crate::key::{Cipher, ContentEnc};

/// The result of an encryption.
pub(super) struct Sealed {
    pub(super) iv: Vec<u8>,
    pub(super) ciphertext: Vec<u8>,
    pub(super) tag: Vec<u8>,
}

pub(super) fn fresh_key(enc: ContentEnc) -> Result<Zeroizing<Vec<u8>>> {
    let mut key = Zeroizing::new(vec![0; enc.key_bytes()]);
    random::fill(&mut key)?;
    Ok(key)
}

pub(super) fn seal(enc: ContentEnc, key: &[u8], aad: &[u8], plaintext: &[u8]) -> Result<Sealed> {
    if key.len() != enc.key_bytes() {
        return Err(Error::Primitive);
    }
    // Reserve capacity for the padding, so that no reallocation leaves a copy of the plaintext.
    let mut data = Vec::with_capacity(plaintext.len() + aes_cbc_hmac::IV_BYTES);
    data.extend_from_slice(plaintext);
    let (iv, tag) = match enc.cipher() {
        Cipher::Gcm => {
            let mut iv = [0; aes_gcm::NONCE_BYTES];
            random::fill(&mut iv)?;
            (
                iv.to_vec(),
                aes_gcm::seal(key, iv, aad, &mut data)?.to_vec(),
            )
        }
        Cipher::CbcHmac(hash) => {
            let mut iv = [0; aes_cbc_hmac::IV_BYTES];
            random::fill(&mut iv)?;
            (
                iv.to_vec(),
                aes_cbc_hmac::seal(hash, key, iv, aad, &mut data)?,
            )
        }
    };
    Ok(Sealed {
        iv,
        ciphertext: data,
        tag,
    })
}

/// Decrypts in place. Returns `None` for every failure.
pub(super) fn open(
    enc: ContentEnc,
    key: &[u8],
    iv: &[u8],
    aad: &[u8],
    data: &mut Vec<u8>,
    tag: &[u8],
) -> Option<()> {
    if key.len() != enc.key_bytes() {
        return None;
    }
    match enc.cipher() {
        Cipher::Gcm => aes_gcm::open(key, iv, aad, data, tag),
        Cipher::CbcHmac(hash) => aes_cbc_hmac::open(hash, key, iv, aad, data, tag),
    }
}
