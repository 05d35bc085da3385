//! AES-CBC with HMAC over the ciphertext (RFC 7518, section 5.2).
//!
//! The MAC is checked before any block is decrypted, so an attacker cannot observe the padding check. All
//! lengths in the MAC have 64 bits (CVE-2016-9123).

use aws_lc_rs::cipher::{
    self, DecryptionContext, EncryptionContext, PaddedBlockDecryptingKey, PaddedBlockEncryptingKey,
    UnboundCipherKey,
};
use aws_lc_rs::hmac;
use aws_lc_rs::iv::FixedLength;
use subtle::ConstantTimeEq;

use super::Hash;
use crate::error::{Error, Result};

pub(crate) const IV_BYTES: usize = 16;

/// Encrypts in place, appends the padding to `data` and returns the tag, which has half the length of the
/// hash. The key has the length of the hash: its first half is the MAC key, its second half the cipher key.
pub(crate) fn seal(
    hash: Hash,
    key: &[u8],
    iv: [u8; IV_BYTES],
    aad: &[u8],
    data: &mut Vec<u8>,
) -> Result<Vec<u8>> {
    let (mac_key, cipher_key) = halves(hash, key).ok_or(Error::Primitive)?;
    let context = EncryptionContext::Iv128(FixedLength::from(iv));
    unbound(cipher_key)
        .and_then(|key| PaddedBlockEncryptingKey::cbc_pkcs7(key).ok())
        .ok_or(Error::Primitive)?
        .less_safe_encrypt(data, context)
        .map_err(|_| Error::Primitive)?;
    let mac = mac(hash, mac_key, aad, &iv, data);
    Ok(mac.as_ref()[..key.len() / 2].to_vec())
}

/// Decrypts in place and removes the padding, or returns `None`.
pub(crate) fn open(
    hash: Hash,
    key: &[u8],
    iv: &[u8],
    aad: &[u8],
    data: &mut Vec<u8>,
    tag: &[u8],
) -> Option<()> {
    let (mac_key, cipher_key) = halves(hash, key)?;
    let iv: [u8; IV_BYTES] = iv.try_into().ok()?;
    let mac = mac(hash, mac_key, aad, &iv, data);
    // `ct_eq` is false for slices of different lengths, so a truncated tag is rejected.
    if !bool::from(mac.as_ref()[..key.len() / 2].ct_eq(tag)) {
        return None;
    }
    let context = DecryptionContext::Iv128(FixedLength::from(iv));
    let length = PaddedBlockDecryptingKey::cbc_pkcs7(unbound(cipher_key)?)
        .ok()?
        .decrypt(data, context)
        .ok()?
        .len();
    data.truncate(length);
    Some(())
}

fn halves(hash: Hash, key: &[u8]) -> Option<(&[u8], &[u8])> {
    (key.len() == hash.length()).then(|| key.split_at(key.len() / 2))
}

fn mac(hash: Hash, key: &[u8], aad: &[u8], iv: &[u8], ciphertext: &[u8]) -> hmac::Tag {
    let algorithm = match hash {
        Hash::Sha256 => hmac::HMAC_SHA256,
        Hash::Sha384 => hmac::HMAC_SHA384,
        Hash::Sha512 => hmac::HMAC_SHA512,
    };
    let mut context = hmac::Context::with_key(&hmac::Key::new(algorithm, key));
    let aad_bits = (aad.len() as u64).wrapping_mul(8);
    for part in [aad, iv, ciphertext, &aad_bits.to_be_bytes()] {
        context.update(part);
    }
    context.sign()
}

fn unbound(key: &[u8]) -> Option<UnboundCipherKey> {
    let algorithm = match key.len() {
        16 => &cipher::AES_128,
        24 => &cipher::AES_192,
        32 => &cipher::AES_256,
        _ => return None,
    };
    UnboundCipherKey::new(algorithm, key).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &serde_json::Value) -> Vec<u8> {
        let digits = hex.as_str().expect("hex").as_bytes();
        let value = |digit: u8| char::from(digit).to_digit(16).expect("a digit") as u8;
        digits
            .chunks(2)
            .map(|pair| value(pair[0]) * 16 + value(pair[1]))
            .collect()
    }

    /// RFC 7518, appendix B.
    #[test]
    fn rfc7518_appendix_b() {
        let text = include_str!("../../../../vectors/rfc7518/appendix-b-c.json");
        let file: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let mut seen = 0;
        for test in file["tests"].as_array().expect("tests") {
            let hash = match test["enc"].as_str() {
                Some("A128CBC-HS256") => Hash::Sha256,
                Some("A192CBC-HS384") => Hash::Sha384,
                Some("A256CBC-HS512") => Hash::Sha512,
                _ => continue,
            };
            let [key, iv, aad, plaintext, ciphertext, tag] =
                ["key", "iv", "aad", "plaintext", "ciphertext", "tag"]
                    .map(|name| bytes(&test[format!("{name}_hex")]));
            let mut data = plaintext.clone();
            let made = seal(
                hash,
                &key,
                iv.clone().try_into().expect("16"),
                &aad,
                &mut data,
            );
            assert_eq!(made.as_deref(), Ok(tag.as_slice()));
            assert_eq!(data, ciphertext);
            assert!(open(hash, &key, &iv, &aad, &mut data, &tag).is_some());
            assert_eq!(data, plaintext);
            seen += 1;
        }
        assert_eq!(seen, 3);
    }

    /// Moving a byte between the associated data and the ciphertext changes the MAC, because it covers the
    /// length.
    #[test]
    fn boundary_of_associated_data_is_authenticated() {
        let key = [7; 32];
        let mut data = vec![1; 40];
        let tag = seal(Hash::Sha256, &key, [9; 16], b"0123456789abcdef", &mut data).expect("seals");
        let mut shifted = [&[9; 16], data.as_slice()].concat();
        let iv = *b"0123456789abcdef";
        assert!(open(Hash::Sha256, &key, &iv, b"", &mut shifted, &tag).is_none());
        assert!(
            open(
                Hash::Sha256,
                &key,
                &[9; 16],
                b"0123456789abcdef",
                &mut data,
                &tag[..15]
            )
            .is_none()
        );
        assert!(
            open(
                Hash::Sha256,
                &key,
                &[9; 16],
                b"0123456789abcdef",
                &mut data,
                &[]
            )
            .is_none()
        );
        assert!(
            open(
                Hash::Sha256,
                &key,
                &[9; 16],
                b"0123456789abcdef",
                &mut data,
                &tag
            )
            .is_some()
        );
    }
}
