//! Ed25519 (RFC 8032) with AWS-LC. curve25519-dalek checks public keys when they are loaded.
//!
//! Which of the two libraries verifies faster depends on the CPU and the build of the program. AWS-LC is
//! close to the faster one in every case and needs no compiler flag.

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, ParsedPublicKey};
use curve25519_dalek::edwards::CompressedEdwardsY;
use zeroize::Zeroizing;

use super::random;
use crate::error::{Error, KeyProblem, Result};

pub(crate) const SEED_BYTES: usize = 32;
pub(crate) const PUBLIC_BYTES: usize = 32;
pub(crate) const SIGNATURE_BYTES: usize = 64;

/// A private key, ready to sign, and its seed. aws-lc-rs returns the seed in memory that is never wiped. So
/// it is kept here, at an address that does not change when the pair is moved.
pub(crate) struct Pair {
    key: Ed25519KeyPair,
    seed: Zeroizing<Vec<u8>>,
}

impl Pair {
    pub(crate) fn generate() -> Result<Pair> {
        let mut seed = Zeroizing::new(vec![0; SEED_BYTES]);
        random::fill(&mut seed)?;
        Pair::from_seed(&seed).map_err(|_| Error::Primitive)
    }

    pub(crate) fn from_seed(seed: &[u8]) -> Result<Pair, KeyProblem> {
        if seed.len() != SEED_BYTES {
            return Err(KeyProblem::WrongLength);
        }
        let key = Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| KeyProblem::Invalid)?;
        let seed = Zeroizing::new(seed.to_vec());
        Ok(Pair { key, seed })
    }

    /// Creates a pair from a seed and a public key, which must match.
    pub(crate) fn from_halves(seed: &[u8], public: &[u8]) -> Result<Pair, KeyProblem> {
        let pair = Pair::from_seed(seed)?;
        if public.len() != PUBLIC_BYTES {
            return Err(KeyProblem::WrongLength);
        }
        if pair.public_bytes() != public {
            return Err(KeyProblem::Mismatch);
        }
        Ok(pair)
    }

    pub(crate) fn seed(&self) -> &[u8] {
        &self.seed
    }

    pub(crate) fn public_bytes(&self) -> [u8; PUBLIC_BYTES] {
        let mut bytes = [0; PUBLIC_BYTES];
        bytes.copy_from_slice(self.key.public_key().as_ref());
        bytes
    }

    /// Returns the public key. AWS-LC computed it from the seed, so it needs no check.
    pub(crate) fn public(&self) -> Result<Public, KeyProblem> {
        Public::unchecked(self.public_bytes())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Result<[u8; SIGNATURE_BYTES]> {
        let signature = self.key.try_sign(message).map_err(|_| Error::Primitive)?;
        signature.as_ref().try_into().map_err(|_| Error::Primitive)
    }
}

/// Returns the X25519 private key of the same pair: the first half of the hash of the seed (RFC 8032).
/// X25519 clamps it in the same way as Ed25519.
#[cfg(feature = "paseto")]
pub(crate) fn x25519_secret(seed: &[u8]) -> Zeroizing<[u8; 32]> {
    use sha2::{Digest as _, Sha512};

    let mut secret = Zeroizing::new([0; 32]);
    let mut hash = Zeroizing::new([0; 64]);
    Sha512::new_with_prefix(seed).finalize_into((&mut *hash).into());
    secret.copy_from_slice(&hash[..32]);
    secret
}

/// A public key, checked and parsed once.
pub(crate) struct Public {
    bytes: [u8; PUBLIC_BYTES],
    key: ParsedPublicKey,
}

impl Public {
    /// Rejects values that are not a point, points of small order, and encodings that are not canonical. No
    /// correctly generated key is one of these, and libraries treat them differently. AWS-LC itself accepts any
    /// 32 bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Public, KeyProblem> {
        let bytes: [u8; PUBLIC_BYTES] = bytes.try_into().map_err(|_| KeyProblem::WrongLength)?;
        let point = CompressedEdwardsY(bytes)
            .decompress()
            .ok_or(KeyProblem::Invalid)?;
        if point.is_small_order() || !is_canonical(&bytes) {
            return Err(KeyProblem::Invalid);
        }
        Public::unchecked(bytes)
    }

    fn unchecked(bytes: [u8; PUBLIC_BYTES]) -> Result<Public, KeyProblem> {
        ParsedPublicKey::new(&ED25519, bytes)
            .map(|key| Public { bytes, key })
            .map_err(|_| KeyProblem::Invalid)
    }

    pub(crate) fn bytes(&self) -> &[u8; PUBLIC_BYTES] {
        &self.bytes
    }

    /// Returns the same point as an X25519 public key: its u-coordinate (RFC 7748, section 4.1).
    pub(crate) fn x25519(&self) -> [u8; 32] {
        CompressedEdwardsY(self.bytes)
            .decompress()
            .expect("a key that was loaded is a point")
            .to_montgomery()
            .to_bytes()
    }

    /// Verifies by RFC 8032, section 5.1.7, without the cofactor. `s` must be reduced, and `R` must have exactly
    /// the bytes that the equation gives.
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8; SIGNATURE_BYTES]) -> bool {
        self.key.verify_sig(message, signature).is_ok()
    }
}

/// Whether the encoding of a point that is not of small order is the canonical one: y is less than the prime
/// 2^255 - 19. Only the points with x = 0 have a second encoding with such a y, by its sign, and they are of small
/// order.
fn is_canonical(bytes: &[u8; PUBLIC_BYTES]) -> bool {
    // Little endian, and the sign of x is the highest bit.
    let [first, middle @ .., last] = bytes;
    last & 0x7f != 0x7f || middle.iter().any(|byte| *byte != 0xff) || *first < 0xed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pair_of_mismatched_seed_and_public_key_is_rejected() {
        let (one, other) = (Pair::generate(), Pair::generate());
        let (one, other) = (one.expect("randomness"), other.expect("randomness"));
        let seed = one.seed();
        assert!(Pair::from_halves(seed, &one.public_bytes()).is_ok());
        assert_eq!(
            Pair::from_halves(seed, &other.public_bytes()).err(),
            Some(KeyProblem::Mismatch)
        );
    }

    #[test]
    fn public_key_of_small_order_or_non_canonical_is_rejected() {
        // The identity, a point of order 8, and the identity encoded as y = p + 1.
        let mut neutral = [0; 32];
        neutral[0] = 1;
        let mut non_canonical = [0xff; 32];
        non_canonical[0] = 0xee;
        non_canonical[31] = 0x7f;
        for bytes in [neutral, non_canonical, [0; 32]] {
            assert_eq!(Public::from_bytes(&bytes).err(), Some(KeyProblem::Invalid));
        }
        assert_eq!(
            Public::from_bytes(&[0; 31]).err(),
            Some(KeyProblem::WrongLength)
        );
    }

    /// Every y from 2^255 - 19 on, and some below it, with both signs, and random points: the check agrees with encoding
    /// the point again.
    #[test]
    fn canonical_check_agrees_with_encoding() {
        let mut high = [0xff; PUBLIC_BYTES];
        let mut tested = 0;
        for (first, last) in (0..=0xff).flat_map(|first| [(first, 0x7f), (first, 0xff)]) {
            (high[0], high[PUBLIC_BYTES - 1]) = (first, last);
            let Some(point) = CompressedEdwardsY(high).decompress() else {
                continue;
            };
            if point.is_small_order() {
                continue;
            }
            assert_eq!(is_canonical(&high), point.compress().0 == high, "{high:?}");
            tested += 1;
        }
        assert!(tested > 100, "{tested}");
        for _ in 0..100 {
            let bytes = Pair::generate().expect("randomness").public_bytes();
            assert!(is_canonical(&bytes), "{bytes:?}");
            assert!(Public::from_bytes(&bytes).is_ok(), "{bytes:?}");
        }
    }

    /// The matrix of C2SP's CCTV: what jeton says to every combination of flags is written down in
    /// `docs/reference/ed25519.md`, and this test holds it to that. If it fails, its message is the new file.
    #[test]
    fn cctv_matrix_matches_documentation() {
        use std::collections::BTreeMap;
        use std::fmt::Write as _;

        let vectors = include_str!("../../../../vectors/cctv/ed25519vectors.json");
        let documented = include_str!("../../../../docs/reference/ed25519.md");
        let vectors: serde_json::Value = serde_json::from_str(vectors).expect("JSON");
        let hex = |value: &serde_json::Value| -> Vec<u8> {
            let text = value.as_str().expect("a string");
            let digits = (0..text.len()).step_by(2);
            digits
                .map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal"))
                .collect()
        };
        let mut rows: BTreeMap<String, [u32; 3]> = BTreeMap::new();
        for vector in vectors.as_array().expect("an array") {
            let flags = vector["flags"].as_array().map(Vec::as_slice);
            let flags: Vec<&str> = flags
                .unwrap_or_default()
                .iter()
                .map(|flag| flag.as_str().expect("a string"))
                .collect();
            let signature: [u8; SIGNATURE_BYTES] =
                hex(&vector["sig"]).try_into().expect("64 bytes");
            let message = vector["msg"].as_str().expect("a string").as_bytes();
            let answer = match Public::from_bytes(&hex(&vector["key"])) {
                Err(_) => 0,
                Ok(key) if !key.verify(message, &signature) => 1,
                Ok(_) => 2,
            };
            // Keys of small order and keys in a second encoding are rejected on import.
            if flags.contains(&"low_order_A") || flags.contains(&"non_canonical_A") {
                assert_eq!(answer, 0, "{vector}");
            }
            rows.entry(flags.join(", ")).or_default()[answer] += 1;
        }
        let mut table = String::from(
            "# Ed25519 edge cases\n\n\
             Libraries disagree about Ed25519 signatures that a correct signer never makes. This page \
             lists jeton's result for each combination of flags of the \
             [CCTV matrix](https://github.com/C2SP/CCTV/tree/main/ed25519). A unit test of \
             `crates/jeton/src/crypto/ed25519.rs` checks it.\n\n\
             - A public key of small order, or in a second encoding, is rejected when it is loaded.\n\
             - Verification follows RFC 8032 without the cofactor. `R` must equal the result of the \
             equation byte for byte, and `s` must be reduced. So a signature with a \
             `low_order_residue` fails, and so does a non-canonical `R`.\n\
             - Some accepted signatures have a part with a low-order component. They satisfy the \
             equation, and only the holder of the private key can make them.\n\n\
             | flags | key rejected | signature rejected | accepted |\n|---|---:|---:|---:|\n",
        );
        for (flags, [key, signature, accepted]) in &rows {
            let flags = if flags.is_empty() { "(none)" } else { flags };
            writeln!(table, "| {flags} | {key} | {signature} | {accepted} |").expect("a String");
        }
        assert!(
            table == documented,
            "docs/reference/ed25519.md should be:\n{table}"
        );
    }
}
