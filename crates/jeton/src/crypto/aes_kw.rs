//! AES Key Wrap (RFC 3394) with the default initial value.
//!
//! AWS-LC supports keys of 128 and 256 bits. For 192 bits, this module implements the loop of the RFC with
//! AES in ECB mode from AWS-LC.

use aws_lc_rs::cipher::{
    AES_192, DecryptingKey, DecryptionContext, EncryptingKey, UnboundCipherKey,
};
use aws_lc_rs::key_wrap::{AES_128, AES_256, AesKek, KeyWrap};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// The number of bytes that wrapping adds.
const OVERHEAD_BYTES: usize = 8;

/// RFC 3394, section 2.2.3.1.
const INITIAL_VALUE: [u8; 8] = [0xa6; 8];

/// Wraps a secret of 16 bytes or more, a multiple of 8, with a key of 16, 24 or 32 bytes.
pub(crate) fn wrap(key: &[u8], secret: &[u8]) -> Result<Vec<u8>> {
    if key.len() == 24 {
        return wrap_192(key, secret).ok_or(Error::Primitive);
    }
    let mut wrapped = vec![0; secret.len() + OVERHEAD_BYTES];
    kek(key)
        .ok_or(Error::Primitive)?
        .wrap(secret, &mut wrapped)
        .map_err(|_| Error::Primitive)?;
    Ok(wrapped)
}

/// Returns the unwrapped key, or `None`.
pub(crate) fn unwrap(key: &[u8], wrapped: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    // At least two blocks of secret, and at most the length of the longest content key.
    if !(24..=72).contains(&wrapped.len()) || !wrapped.len().is_multiple_of(8) {
        return None;
    }
    if key.len() == 24 {
        return unwrap_192(key, wrapped);
    }
    let mut secret = Zeroizing::new(vec![0; wrapped.len() - OVERHEAD_BYTES]);
    kek(key)?.unwrap(wrapped, &mut secret).ok()?;
    Some(secret)
}

fn kek(key: &[u8]) -> Option<AesKek> {
    match key.len() {
        16 => AesKek::new(&AES_128, key).ok(),
        32 => AesKek::new(&AES_256, key).ok(),
        _ => None,
    }
}

/// RFC 3394, section 2.2.1, with indexes.
fn wrap_192(key: &[u8], secret: &[u8]) -> Option<Vec<u8>> {
    let key = EncryptingKey::ecb(UnboundCipherKey::new(&AES_192, key).ok()?).ok()?;
    if secret.len() < 16 || !secret.len().is_multiple_of(8) {
        return None;
    }
    let mut wrapped = [&INITIAL_VALUE, secret].concat();
    let (integrity, registers) = wrapped.split_at_mut(OVERHEAD_BYTES);
    let mut step = 0_u64;
    for _ in 0..6 {
        for register in registers.chunks_exact_mut(8) {
            step += 1;
            let mut block = Zeroizing::new([0; 16]);
            block[..8].copy_from_slice(integrity);
            block[8..].copy_from_slice(register);
            key.encrypt(block.as_mut_slice()).ok()?;
            for (byte, (made, count)) in integrity
                .iter_mut()
                .zip(block.iter().zip(step.to_be_bytes()))
            {
                *byte = made ^ count;
            }
            register.copy_from_slice(&block[8..]);
        }
    }
    Some(wrapped)
}

/// RFC 3394, section 2.2.2, with indexes.
fn unwrap_192(key: &[u8], wrapped: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let key = DecryptingKey::ecb(UnboundCipherKey::new(&AES_192, key).ok()?).ok()?;
    let mut secret = Zeroizing::new(wrapped[OVERHEAD_BYTES..].to_vec());
    let mut integrity = Zeroizing::new([0; OVERHEAD_BYTES]);
    integrity.copy_from_slice(&wrapped[..OVERHEAD_BYTES]);
    let mut step = 6 * (secret.len() as u64 / 8);
    for _ in 0..6 {
        for register in secret.chunks_exact_mut(8).rev() {
            let mut block = Zeroizing::new([0; 16]);
            for (byte, (held, count)) in block
                .iter_mut()
                .zip(integrity.iter().zip(step.to_be_bytes()))
            {
                *byte = held ^ count;
            }
            block[8..].copy_from_slice(register);
            key.decrypt(block.as_mut_slice(), DecryptionContext::None)
                .ok()?;
            integrity.copy_from_slice(&block[..8]);
            register.copy_from_slice(&block[8..]);
            step -= 1;
        }
    }
    bool::from(integrity.ct_eq(&INITIAL_VALUE)).then_some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(start: u8, length: u8) -> Vec<u8> {
        (0..length).map(|i| start.wrapping_add(i * 0x11)).collect()
    }

    /// RFC 3394, section 4: the key is 00 01 02 …, the secret 00 11 22 … and 00 01 02 ….
    #[test]
    fn rfc3394_examples() {
        let kek: Vec<u8> = (0..32).collect();
        let mut secret = counting(0, 16);
        secret.extend(0..16);
        for (key_bytes, secret_bytes, expected) in [
            (16, 16, "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5"),
            (24, 16, "96778b25ae6ca435f92b5b97c050aed2468ab8a17ad84e5d"),
            (32, 16, "64e8c3f9ce0f5ba263e9777905818a2a93c8191e7d6e8ae7"),
            (
                24,
                24,
                "031d33264e15d33268f24ec260743edce1c6c7ddee725a936ba814915c6762d2",
            ),
            (
                32,
                32,
                "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21",
            ),
        ] {
            let (key, secret) = (&kek[..key_bytes], &secret[..secret_bytes]);
            let wrapped = wrap(key, secret).expect("wraps");
            let hex: String = wrapped.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, expected);
            let unwrapped = unwrap(key, &wrapped).expect("unwraps");
            assert_eq!(unwrapped.as_slice(), secret);
        }
    }

    #[test]
    fn unwrap_changed_byte_or_length_is_rejected() {
        for key_bytes in [16, 24, 32] {
            let key = vec![3; key_bytes];
            let wrapped = wrap(&key, &[5; 32]).expect("wraps");
            for position in 0..wrapped.len() {
                let mut changed = wrapped.clone();
                changed[position] ^= 1;
                assert!(unwrap(&key, &changed).is_none());
                assert!(unwrap(&key, &wrapped[..position]).is_none());
            }
            assert!(unwrap(&key, &[wrapped.as_slice(), &[0; 8]].concat()).is_none());
        }
    }
}
