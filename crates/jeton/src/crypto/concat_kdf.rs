//! The Concat KDF for ECDH-ES (RFC 7518, section 4.6.2; NIST SP 800-56A, section 5.8.1).

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Derives a key of this length from the shared secret, bound to the algorithm and the parties.
pub(crate) fn derive(
    secret: &[u8],
    algorithm: &str,
    party_u: &[u8],
    party_v: &[u8],
    key_bytes: usize,
) -> Zeroizing<Vec<u8>> {
    let mut key = Zeroizing::new(Vec::with_capacity(key_bytes.next_multiple_of(32)));
    let mut counter = 1_u32;
    while key.len() < key_bytes {
        let mut hash = Sha256::new_with_prefix(counter.to_be_bytes());
        hash.update(secret);
        for field in [algorithm.as_bytes(), party_u, party_v] {
            hash.update((field.len() as u32).to_be_bytes());
            hash.update(field);
        }
        hash.update((key_bytes as u32 * 8).to_be_bytes());
        let mut derived = Zeroizing::new([0; 32]);
        hash.finalize_into((&mut *derived).into());
        key.extend_from_slice(derived.as_slice());
        counter += 1;
    }
    key.truncate(key_bytes);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7518, appendix C.
    #[test]
    fn rfc7518_appendix_c() {
        let secret = [
            158, 86, 217, 29, 129, 113, 53, 211, 114, 131, 66, 131, 191, 132, 38, 156, 251, 49,
            110, 163, 218, 128, 106, 72, 246, 218, 167, 121, 140, 254, 144, 196,
        ];
        let key = derive(&secret, "A128GCM", b"Alice", b"Bob", 16);
        assert_eq!(crate::base64::encode(&key), "VqqN6vgjbSBcIijNcacQGg");
    }

    #[test]
    fn derive_other_length_gives_another_key() {
        for bytes in [16, 24, 32, 48, 64] {
            assert_eq!(derive(b"z", "x", b"", b"", bytes).len(), bytes);
        }
        let (short, long) = (
            derive(b"z", "x", b"", b"", 32),
            derive(b"z", "x", b"", b"", 64),
        );
        assert_ne!(short.as_slice(), &long[..32]);
    }
}
