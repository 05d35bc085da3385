//! XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha, section 2). HChaCha20 derives a subkey from the key and the
//! first 16 bytes of the nonce. ChaCha20-Poly1305 of AWS-LC (RFC 8439) uses this subkey and the rest of the
//! nonce.

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use chacha20::{R20, hchacha};
use zeroize::Zeroizing;

use super::xchacha20::{KEY_BYTES, NONCE_BYTES};
use crate::error::{Error, Result};

pub(crate) const TAG_BYTES: usize = 16;

/// Encrypts in place and returns the tag.
pub(crate) fn seal(
    key: &[u8; KEY_BYTES],
    nonce: &[u8; NONCE_BYTES],
    associated: &[u8],
    message: &mut [u8],
) -> Result<[u8; TAG_BYTES]> {
    let (key, nonce) = inner(key, nonce)?;
    let tag = key
        .seal_in_place_separate_tag(nonce, Aad::from(associated), message)
        .map_err(|_| Error::Primitive)?;
    tag.as_ref().try_into().map_err(|_| Error::Primitive)
}

/// Decrypts ciphertext and tag in place. Returns whether they are authentic.
pub(crate) fn open(
    key: &[u8; KEY_BYTES],
    nonce: &[u8; NONCE_BYTES],
    associated: &[u8],
    sealed: &mut [u8],
) -> Result<bool> {
    let (key, nonce) = inner(key, nonce)?;
    Ok(key
        .open_in_place(nonce, Aad::from(associated), sealed)
        .is_ok())
}

fn inner(key: &[u8; KEY_BYTES], nonce: &[u8; NONCE_BYTES]) -> Result<(LessSafeKey, Nonce)> {
    let (first, last) = nonce
        .split_first_chunk::<16>()
        .expect("24 bytes have a first 16");
    let derived: [u8; KEY_BYTES] = hchacha::<R20>(key.into(), first.into()).into();
    let derived = Zeroizing::new(derived);
    let mut short = [0; 12];
    short[4..].copy_from_slice(last);
    let key =
        UnboundKey::new(&CHACHA20_POLY1305, derived.as_slice()).map_err(|_| Error::Primitive)?;
    Ok((LessSafeKey::new(key), Nonce::assume_unique_for_key(short)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// draft-irtf-cfrg-xchacha-03, A.3.1: the start of the ciphertext, and the tag.
    #[test]
    fn draft_test_vector() {
        let key: [u8; 32] = std::array::from_fn(|i| 0x80 + i as u8);
        let nonce: [u8; 24] = std::array::from_fn(|i| 0x40 + i as u8);
        let associated = [
            0x50, 0x51, 0x52, 0x53, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7,
        ];
        let mut message = b"Ladies and Gentlemen of the class of '99: If I could offer you \
            only one tip for the future, sunscreen would be it."
            .to_vec();
        let tag = seal(&key, &nonce, &associated, &mut message).expect("short");
        assert_eq!(
            message[..8],
            [0xbd, 0x6d, 0x17, 0x9d, 0x3e, 0x83, 0xd4, 0x3b]
        );
        assert_eq!(
            tag,
            [
                0xc0, 0x87, 0x59, 0x24, 0xc1, 0xc7, 0x98, 0x79, 0x47, 0xde, 0xaf, 0xd8, 0x78, 0x0a,
                0xcf, 0x49
            ]
        );
        message.extend_from_slice(&tag);
        let mut forged = message.clone();
        assert!(open(&key, &nonce, &associated, &mut message).expect("short"));
        assert!(message.starts_with(b"Ladies"));
        forged[0] ^= 1;
        assert!(!open(&key, &nonce, &associated, &mut forged).expect("short"));
    }
}
