//! HMAC with SHA-2 (RFC 2104, FIPS 198-1).
//!
//! The key's two inner states are computed once. Where the CPU has SHA instructions, sha2's
//! compression with kept states is faster than a call into AWS-LC; where it has not, AWS-LC's
//! vector code is. `benches/hmac.rs` shows both.

use aws_lc_rs::hmac as aws;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{Hash, Signature};

/// A key with all that can be computed once.
#[expect(
    clippy::large_enum_variant,
    reason = "a key holds one behind its Arc; another pointer would be followed for every token"
)]
pub(crate) enum Prepared {
    /// SHA-256 by the CPU's own instructions: the states after the padded key.
    Sha256 { inner: Sha256, outer: Sha256 },
    /// AWS-LC, which keeps the states likewise.
    AwsLc(aws::Key),
}

impl Prepared {
    pub(crate) fn new(hash: Hash, secret: &[u8]) -> Prepared {
        match hash {
            Hash::Sha256 if cpu_has_sha256() => Self::sha256(secret),
            Hash::Sha256 => Self::aws_lc(aws::HMAC_SHA256, secret),
            Hash::Sha384 => Self::aws_lc(aws::HMAC_SHA384, secret),
            Hash::Sha512 => Self::aws_lc(aws::HMAC_SHA512, secret),
        }
    }

    fn aws_lc(algorithm: aws::Algorithm, secret: &[u8]) -> Prepared {
        Prepared::AwsLc(aws::Key::new(algorithm, secret))
    }

    fn sha256(secret: &[u8]) -> Prepared {
        const BLOCK: usize = 64;
        let mut block = Zeroizing::new([0; BLOCK]);
        if secret.len() > BLOCK {
            block[..32].copy_from_slice(&Sha256::digest(secret));
        } else {
            block[..secret.len()].copy_from_slice(secret);
        }
        let state = |pad: u8| {
            let padded = Zeroizing::new(block.map(|byte| byte ^ pad));
            Sha256::new_with_prefix(padded.as_slice())
        };
        Prepared::Sha256 {
            inner: state(0x36),
            outer: state(0x5c),
        }
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Signature {
        match self {
            Prepared::Sha256 { inner, outer } => {
                let inner = inner.clone().chain_update(message).finalize();
                Signature::from_slice(&outer.clone().chain_update(inner).finalize())
            }
            Prepared::AwsLc(key) => Signature::from_slice(aws::sign(key, message).as_ref()),
        }
    }

    /// Compares in constant time.
    pub(crate) fn verify(&self, message: &[u8], tag: &[u8]) -> bool {
        self.sign(message).ct_eq(tag).into()
    }
}

/// HMAC-SHA-384 of a message that comes in pieces.
pub(crate) struct Sha384(aws::Context);

impl Sha384 {
    pub(crate) fn keyed(secret: &[u8]) -> Sha384 {
        let key = aws::Key::new(aws::HMAC_SHA384, secret);
        Sha384(aws::Context::with_key(&key))
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// With more bytes after those it has had.
    pub(crate) fn and(mut self, bytes: &[u8]) -> Self {
        self.0.update(bytes);
        self
    }

    pub(crate) fn finish(self) -> Zeroizing<[u8; 48]> {
        let mut tag = Zeroizing::new([0; 48]);
        tag.copy_from_slice(self.0.sign().as_ref());
        tag
    }
}

/// Whether sha2 will find SHA instructions at run time.
fn cpu_has_sha256() -> bool {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    return std::arch::is_x86_feature_detected!("sha");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("sha2");
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
    return false;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways must give the same MAC whatever the CPU: for every length of key and message
    /// around the block's borders.
    #[test]
    fn both_ways_agree() {
        for key_length in [0, 1, 31, 32, 63, 64, 65, 200] {
            let secret = vec![0xa7; key_length];
            let kept = Prepared::sha256(&secret);
            let called = Prepared::aws_lc(aws::HMAC_SHA256, &secret);
            for message_length in [0, 1, 55, 56, 63, 64, 65, 1000] {
                let message = vec![0x5a; message_length];
                let tag = kept.sign(&message);
                assert_eq!(tag, called.sign(&message));
                assert!(kept.verify(&message, &tag) && called.verify(&message, &tag));
                assert!(!kept.verify(&message, &tag[1..]) && !kept.verify(&message, &[]));
            }
        }
    }

    #[test]
    fn pieces_make_the_same_mac() {
        let whole = Prepared::aws_lc(aws::HMAC_SHA384, b"key").sign(b"one and two");
        let pieces = Sha384::keyed(b"key").and(b"one").and(b" and two").finish();
        assert_eq!(whole.as_slice(), pieces.as_slice());
    }

    /// RFC 4231, test case 2.
    #[test]
    fn rfc_4231() {
        let expected = [
            0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24, 0x26, 0x08, 0x95,
            0x75, 0xc7, 0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9,
            0x64, 0xec, 0x38, 0x43,
        ];
        let key = Prepared::sha256(b"Jefe");
        assert_eq!(
            key.sign(b"what do ya want for nothing?").as_slice(),
            expected
        );
    }
}
