//! HMAC with SHA-2 (RFC 2104, FIPS 198-1).
//!
//! The two inner states of the key are computed once. If the CPU has SHA instructions, the compression
//! function of `sha2` with stored states is faster than a call to AWS-LC. Otherwise the vector code of AWS-LC
//! is faster.

use aws_lc_rs::hmac as aws;
#[cfg(feature = "_secrets")]
use subtle::ConstantTimeEq;

#[cfg(feature = "_secrets")]
use super::hmac_sha256;
use super::{Hash, Signature};

/// A key with its precomputed states.
///
/// Without the feature `hmac`, only the cache of verified tokens has a key.
#[cfg_attr(
    feature = "_secrets",
    expect(
        clippy::large_enum_variant,
        reason = "a key holds one behind its Arc; another pointer would be followed for every token"
    )
)]
pub(crate) enum Prepared {
    /// SHA-256 with SHA instructions of the CPU.
    #[cfg(feature = "_secrets")]
    Sha256(hmac_sha256::Keyed),
    /// AWS-LC, which stores the states too.
    AwsLc(aws::Key),
}

impl Prepared {
    /// A placeholder without a key. Call [`set`](Self::set) at the final address of the value.
    #[cfg(feature = "_secrets")]
    pub(crate) const fn unset() -> Prepared {
        Prepared::Sha256(hmac_sha256::Keyed::unset())
    }

    #[cfg(feature = "_secrets")]
    pub(crate) fn set(&mut self, hash: Hash, secret: &[u8]) {
        match (hash, &mut *self) {
            (Hash::Sha256, Prepared::Sha256(key)) if cpu_has_sha256() => key.set(secret),
            _ => *self = Self::aws_lc(algorithm(hash), secret),
        }
    }

    /// Creates a key that is then moved to its final address.
    #[cfg(feature = "_secrets")]
    pub(crate) fn new(hash: Hash, secret: &[u8]) -> Prepared {
        let mut key = Prepared::unset();
        key.set(hash, secret);
        key
    }

    #[cfg(not(feature = "_secrets"))]
    pub(crate) fn new(hash: Hash, secret: &[u8]) -> Prepared {
        Self::aws_lc(algorithm(hash), secret)
    }

    fn aws_lc(algorithm: aws::Algorithm, secret: &[u8]) -> Prepared {
        Prepared::AwsLc(aws::Key::new(algorithm, secret))
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Signature {
        match self {
            #[cfg(feature = "_secrets")]
            Prepared::Sha256(key) => Signature::from_slice(&key.mac(message)),
            Prepared::AwsLc(key) => Signature::from_slice(aws::sign(key, message).as_ref()),
        }
    }

    /// Processes a message prefix, to compute MACs of messages that begin with it.
    #[cfg(feature = "_secrets")]
    pub(crate) fn begin(&self, message: &[u8]) -> MacPrefix<'_> {
        match self {
            Prepared::Sha256(key) => MacPrefix::Sha256(key.begin(message)),
            Prepared::AwsLc(key) => {
                let mut context = aws::Context::with_key(key);
                context.update(message);
                MacPrefix::AwsLc(Box::new(context), message.len())
            }
        }
    }

    /// Compares in constant time.
    pub(crate) fn verify(&self, message: &[u8], tag: &[u8]) -> bool {
        match self {
            #[cfg(feature = "_secrets")]
            Prepared::Sha256(key) => key.mac(message).as_slice().ct_eq(tag).into(),
            Prepared::AwsLc(key) => aws::verify(key, message, tag).is_ok(),
        }
    }
}

/// The MAC state after a message prefix.
#[cfg(feature = "_secrets")]
pub(crate) enum MacPrefix<'k> {
    Sha256(hmac_sha256::MacPrefix<'k>),
    /// The state, and the length of the prefix.
    AwsLc(Box<aws::Context>, usize),
}

#[cfg(feature = "_secrets")]
impl MacPrefix<'_> {
    /// Returns the MAC of a whole message, which must begin with the prefix.
    pub(crate) fn finish(&self, message: &[u8]) -> Signature {
        match self {
            MacPrefix::Sha256(begun) => Signature::from_slice(&begun.finish(message)),
            MacPrefix::AwsLc(context, hashed) => {
                let mut context = aws::Context::clone(context);
                context.update(&message[*hashed..]);
                Signature::from_slice(context.sign().as_ref())
            }
        }
    }
}

/// HMAC-SHA-384 of a message in pieces.
#[cfg(feature = "paseto")]
pub(crate) struct Sha384(aws::Context);

#[cfg(feature = "paseto")]
impl Sha384 {
    pub(crate) fn keyed(secret: &[u8]) -> Sha384 {
        let key = aws::Key::new(aws::HMAC_SHA384, secret);
        Sha384(aws::Context::with_key(&key))
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Appends bytes and returns the computation.
    pub(crate) fn and(mut self, bytes: &[u8]) -> Self {
        self.0.update(bytes);
        self
    }

    pub(crate) fn finish(self) -> zeroize::Zeroizing<[u8; 48]> {
        let mut tag = zeroize::Zeroizing::new([0; 48]);
        tag.copy_from_slice(self.0.sign().as_ref());
        tag
    }
}

fn algorithm(hash: Hash) -> aws::Algorithm {
    match hash {
        Hash::Sha256 => aws::HMAC_SHA256,
        Hash::Sha384 => aws::HMAC_SHA384,
        Hash::Sha512 => aws::HMAC_SHA512,
    }
}

/// Whether `sha2` uses SHA instructions at run time.
#[cfg(feature = "_secrets")]
fn cpu_has_sha256() -> bool {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    return std::arch::is_x86_feature_detected!("sha");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("sha2");
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
    return false;
}

#[cfg(all(test, feature = "_secrets", feature = "paseto"))]
mod tests {
    use super::*;

    /// Both implementations must agree on every CPU.
    #[test]
    fn both_implementations_agree() {
        let kept = Prepared::Sha256(hmac_sha256::Keyed::new(b"key"));
        let called = Prepared::aws_lc(aws::HMAC_SHA256, b"key");
        let tag = kept.sign(b"message");
        assert_eq!(tag, called.sign(b"message"));
        for key in [kept, called] {
            assert!(key.verify(b"message", &tag));
            assert!(!key.verify(b"another", &tag));
            assert!(!key.verify(b"message", &tag[1..]) && !key.verify(b"message", &[]));
        }
    }

    #[test]
    fn prefix_state_gives_the_same_mac() {
        for hash in [Hash::Sha256, Hash::Sha384, Hash::Sha512] {
            let key = Prepared::new(hash, b"key");
            let message = [0x5a; 300];
            for border in [0, 1, 63, 64, 65, 128, 300] {
                let begun = key.begin(&message[..border]);
                for end in [border, 300] {
                    let mac = begun.finish(&message[..end]);
                    assert_eq!(mac, key.sign(&message[..end]), "{border} to {end}");
                }
            }
        }
    }

    #[test]
    fn pieces_give_the_same_mac() {
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
        let key = Prepared::new(Hash::Sha256, b"Jefe");
        assert_eq!(
            key.sign(b"what do ya want for nothing?").as_slice(),
            expected
        );
    }
}
