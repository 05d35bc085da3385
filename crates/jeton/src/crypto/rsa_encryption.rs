//! RSA encryption (RFC 8017, section 7): OAEP, and PKCS#1 v1.5 for the `danger` module.

use std::sync::OnceLock;

use aws_lc_rs::error::Unspecified;
use aws_lc_rs::rsa::{
    OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OAEP_SHA384_MGF1SHA384, OAEP_SHA512_MGF1SHA512,
    OaepAlgorithm, OaepPrivateDecryptingKey, OaepPublicEncryptingKey, Pkcs1PrivateDecryptingKey,
    Pkcs1PublicEncryptingKey, PrivateDecryptingKey, PublicEncryptingKey, PublicKeyComponents,
};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::random;
use super::rsa::{Strength, check_public};
use crate::error::{Error, KeyError, KeyProblem, Result};

/// The padding of an encrypted key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Padding {
    /// With SHA-1, as RSA-OAEP requires. No known attack on SHA-1 applies to OAEP.
    OaepSha1,
    OaepSha256,
    OaepSha384,
    OaepSha512,
    Pkcs1,
}

impl Padding {
    fn oaep(self) -> Option<&'static OaepAlgorithm> {
        match self {
            Padding::OaepSha1 => Some(&OAEP_SHA1_MGF1SHA1),
            Padding::OaepSha256 => Some(&OAEP_SHA256_MGF1SHA256),
            Padding::OaepSha384 => Some(&OAEP_SHA384_MGF1SHA384),
            Padding::OaepSha512 => Some(&OAEP_SHA512_MGF1SHA512),
            Padding::Pkcs1 => None,
        }
    }
}

/// A public key, parsed once for one padding.
pub(crate) enum Public {
    Oaep(&'static OaepAlgorithm, OaepPublicEncryptingKey),
    Pkcs1(Pkcs1PublicEncryptingKey),
}

impl Public {
    /// `n` and `e` have no leading zeros. The error names the invalid member.
    pub(crate) fn from_parts(padding: Padding, n: &[u8], e: &[u8]) -> Result<Public, KeyError> {
        check_public(Strength::Current, n, e)?;
        let invalid = || KeyError::at("n", KeyProblem::Invalid);
        let key: PublicEncryptingKey = PublicKeyComponents { n, e }
            .try_into()
            .map_err(|_| invalid())?;
        match padding.oaep() {
            Some(algorithm) => {
                OaepPublicEncryptingKey::new(key).map(|key| Public::Oaep(algorithm, key))
            }
            None => Pkcs1PublicEncryptingKey::new(key).map(Public::Pkcs1),
        }
        .map_err(|_| invalid())
    }

    pub(crate) fn encrypt(&self, secret: &[u8]) -> Result<Vec<u8>> {
        let mut out = vec![0; self.modulus_bytes()];
        match self {
            Public::Oaep(algorithm, key) => {
                key.encrypt(algorithm, secret, &mut out, None).map(|_| ())
            }
            Public::Pkcs1(key) => key.encrypt(secret, &mut out).map(|_| ()),
        }
        .map_err(|_| Error::Primitive)?;
        Ok(out)
    }

    fn modulus_bytes(&self) -> usize {
        match self {
            Public::Oaep(_, key) => key.key_size_bytes(),
            Public::Pkcs1(key) => key.key_size_bytes(),
        }
    }
}

/// A private key, ready to decrypt with one padding.
pub(crate) enum Private {
    Oaep(&'static OaepAlgorithm, OaepPrivateDecryptingKey),
    Pkcs1(Box<Pkcs1Private>),
}

impl Private {
    pub(crate) fn from_pkcs8(padding: Padding, der: &[u8]) -> Result<Private, KeyProblem> {
        let key = PrivateDecryptingKey::from_pkcs8(der).map_err(|_| KeyProblem::Invalid)?;
        match padding.oaep() {
            Some(algorithm) => {
                OaepPrivateDecryptingKey::new(key).map(|key| Private::Oaep(algorithm, key))
            }
            None => Pkcs1Private::new(key).map(|key| Private::Pkcs1(Box::new(key))),
        }
        .map_err(|_| KeyProblem::Invalid)
    }

    /// Returns the secret of this length. With PKCS#1 v1.5, a wrong padding or length returns a random secret
    /// (RFC 7516, section 11.5): decryption of the content then fails as with any wrong key.
    pub(crate) fn decrypt(&self, data: &[u8], secret_bytes: usize) -> Option<Zeroizing<Vec<u8>>> {
        match self {
            Private::Oaep(algorithm, key) => {
                if data.len() != key.key_size_bytes() {
                    return None;
                }
                let mut out = Zeroizing::new(vec![0; key.min_output_size()]);
                let length = key.decrypt(algorithm, data, &mut out, None).ok()?.len();
                out.truncate(length);
                (length == secret_bytes).then_some(out)
            }
            Private::Pkcs1(key) => key.decrypt(data, secret_bytes),
        }
    }
}

/// A private key for PKCS#1 v1.5.
///
/// AWS-LC checks the padding without a branch, and then branches on the result: it copies a valid
/// plaintext, or adds an error to its queue. aws-lc-rs has no decryption without padding. So every
/// decryption runs two operations: the requested one, and one of a number that is known to have the
/// opposite result. The total work is the same for a valid and an invalid padding.
///
/// Two differences remain: the order of the two operations, and the number of bytes that AWS-LC copies.
pub(crate) struct Pkcs1Private {
    key: Pkcs1PrivateDecryptingKey,
    public: Pkcs1PublicEncryptingKey,
    dummies: OnceLock<DummyCiphertexts>,
}

/// Two encrypted numbers, each as long as the modulus, one with valid and one with invalid padding.
struct DummyCiphertexts {
    right_padding: Vec<u8>,
    wrong_padding: Vec<u8>,
}

impl Pkcs1Private {
    fn new(key: PrivateDecryptingKey) -> Result<Pkcs1Private, Unspecified> {
        Ok(Pkcs1Private {
            public: Pkcs1PublicEncryptingKey::new(key.public_key())?,
            key: Pkcs1PrivateDecryptingKey::new(key)?,
            dummies: OnceLock::new(),
        })
    }

    fn decrypt(&self, data: &[u8], secret_bytes: usize) -> Option<Zeroizing<Vec<u8>>> {
        let dummies = self.dummies()?;
        let mut secret = Zeroizing::new(vec![0; secret_bytes]);
        random::fill(&mut secret).ok()?;
        let mut out = Zeroizing::new(vec![0; self.key.min_output_size().max(secret_bytes)]);
        let (is_padded, length) = self.attempt(data, &mut out);
        let is_right = is_padded & (length as u64).ct_eq(&(secret_bytes as u64));
        for (byte, decrypted) in secret.iter_mut().zip(out.iter()) {
            byte.conditional_assign(decrypted, is_right);
        }

        let mut other = Zeroizing::new(dummies.right_padding.clone());
        for (byte, wrong) in other.iter_mut().zip(&dummies.wrong_padding) {
            byte.conditional_assign(wrong, is_padded);
        }
        let (other_is_padded, _) = self.attempt(&other, &mut out);
        debug_assert!(bool::from(other_is_padded ^ is_padded));
        Some(secret)
    }

    /// Returns whether the padding was valid, and the length of the plaintext.
    fn attempt(&self, data: &[u8], out: &mut [u8]) -> (Choice, usize) {
        let plain = self.key.decrypt(data, out);
        let is_padded = Choice::from(u8::from(plain.is_ok()));
        (is_padded, plain.map_or(0, |plain| plain.len()))
    }

    /// Created before the first decryption, whatever its result.
    fn dummies(&self) -> Option<&DummyCiphertexts> {
        if self.dummies.get().is_none() {
            let made = self.make_dummies()?;
            // If two threads create them at once, those of the first one are kept.
            let _ = self.dummies.set(made);
        }
        self.dummies.get()
    }

    fn make_dummies(&self) -> Option<DummyCiphertexts> {
        let modulus_bytes = self.key.key_size_bytes();
        let mut right_padding = vec![0; modulus_bytes];
        self.public
            .encrypt(random::secret::<32>().ok()?.as_slice(), &mut right_padding)
            .ok()?;
        let mut wrong_padding = vec![0; modulus_bytes];
        let mut out = Zeroizing::new(vec![0; self.key.min_output_size()]);
        loop {
            // Less than the modulus, whose first byte is not zero. About 1 of 70,000 numbers has a valid padding.
            random::fill(&mut wrong_padding[1..]).ok()?;
            let (is_padded, _) = self.attempt(&wrong_padding, &mut out);
            if !bool::from(is_padded) {
                break;
            }
        }
        Some(DummyCiphertexts {
            right_padding,
            wrong_padding,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::rsa;
    use super::*;
    use crate::crypto::RsaSize;

    fn pair(padding: Padding) -> (Public, Private) {
        let pkcs8 = rsa::Pair::generate(RsaSize::default()).and_then(|pair| pair.pkcs8());
        let pkcs8 = pkcs8.expect("randomness");
        let parts = crate::crypto::rsa::Parts::from_own_pkcs8(&pkcs8).expect("its own form");
        (
            Public::from_parts(padding, &parts.n, &parts.e).expect("a sound key"),
            Private::from_pkcs8(padding, &pkcs8).expect("a sound key"),
        )
    }

    /// RFC 7516, section 11.5.
    #[test]
    fn decrypt_pkcs1_wrong_padding_gives_random_secret() {
        let (public, private) = pair(Padding::Pkcs1);
        let good = public.encrypt(&[7; 32]).expect("encrypts");
        let open = |data: &[u8], length| private.decrypt(data, length).expect("always one");
        assert_eq!(open(&good, 32).as_slice(), [7; 32]);
        let mut seen = vec![vec![7; 32]];
        let wrong_length = public.encrypt(&[7; 31]).expect("encrypts");
        for data in [
            &wrong_length[..],
            &wrong_length,
            &[0; 256],
            &[1; 256],
            &[1; 255],
            &[],
        ] {
            let secret = open(data, 32).to_vec();
            assert_eq!(secret.len(), 32);
            assert!(!seen.contains(&secret));
            seen.push(secret);
        }
        assert_eq!(open(&good, 16).len(), 16);
        assert_ne!(open(&good, 16).as_slice(), [7; 16]);
    }

    #[test]
    fn decrypt_oaep_gives_the_secret_or_none() {
        for padding in [
            Padding::OaepSha1,
            Padding::OaepSha256,
            Padding::OaepSha384,
            Padding::OaepSha512,
        ] {
            let (public, private) = pair(padding);
            let good = public.encrypt(&[7; 32]).expect("encrypts");
            let opened = private.decrypt(&good, 32).expect("its own");
            assert_eq!(opened.as_slice(), [7; 32]);
            assert!(private.decrypt(&good, 16).is_none());
            assert!(private.decrypt(&good[1..], 32).is_none());
            assert!(private.decrypt(&[0; 256], 32).is_none());
        }
    }
}
