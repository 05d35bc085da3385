//! PBKDF2 (RFC 8018, section 5.2) for PBES2 in JOSE (RFC 7518, section 4.8).

use std::num::NonZeroU32;

use aws_lc_rs::pbkdf2;
use zeroize::Zeroizing;

use super::Hash;

/// Derives a key of this length from a password. The salt is the one of JOSE: the name of the algorithm, a
/// zero byte, and `p2s`.
pub(crate) fn derive(
    hash: Hash,
    rounds: NonZeroU32,
    salt: &[u8],
    password: &[u8],
    key_bytes: usize,
) -> Zeroizing<Vec<u8>> {
    let algorithm = match hash {
        Hash::Sha256 => pbkdf2::PBKDF2_HMAC_SHA256,
        Hash::Sha384 => pbkdf2::PBKDF2_HMAC_SHA384,
        Hash::Sha512 => pbkdf2::PBKDF2_HMAC_SHA512,
    };
    let mut key = Zeroizing::new(vec![0; key_bytes]);
    pbkdf2::derive(algorithm, rounds, salt, password, &mut key);
    key
}
