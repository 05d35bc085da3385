//! XChaCha20 (draft-irtf-cfrg-xchacha, section 2.3). A stream cipher: it hides and does not
//! authenticate.

use chacha20::cipher::{KeyIvInit, StreamCipher};
use chacha20::{Key, XChaCha20, XNonce};

use crate::error::{Error, Result};

pub(crate) const KEY_BYTES: usize = 32;
pub(crate) const NONCE_BYTES: usize = 24;

/// Encrypts or decrypts in place: both are the same. At most 256 GiB.
pub(crate) fn apply(
    key: &[u8; KEY_BYTES],
    nonce: &[u8; NONCE_BYTES],
    data: &mut [u8],
) -> Result<()> {
    let key: &Key = key.into();
    let nonce: &XNonce = nonce.into();
    XChaCha20::new(key, nonce)
        .try_apply_keystream(data)
        .map_err(|_| Error::Primitive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draft_s_own_example() {
        // draft-irtf-cfrg-xchacha-03, A.3.2: the start of the plaintext and of its ciphertext.
        let key: [u8; 32] = std::array::from_fn(|i| 0x80 + i as u8);
        let nonce: [u8; 24] = std::array::from_fn(|i| if i == 23 { 0x58 } else { 0x40 + i as u8 });
        let mut data = *b"The dhole (prono";
        apply(&key, &nonce, &mut data).expect("short");
        assert_eq!(
            data,
            [
                0x45, 0x59, 0xab, 0xba, 0x4e, 0x48, 0xc1, 0x61, 0x02, 0xe8, 0xbb, 0x2c, 0x05, 0xe6,
                0x94, 0x7f
            ]
        );
    }
}
