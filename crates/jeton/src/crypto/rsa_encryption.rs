//! RSA encryption (RFC 8017, section 7): OAEP, and PKCS#1 v1.5 for what is behind danger.

use aws_lc_rs::rsa::{
    OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OAEP_SHA384_MGF1SHA384, OAEP_SHA512_MGF1SHA512,
    OaepAlgorithm, OaepPrivateDecryptingKey, OaepPublicEncryptingKey, Pkcs1PrivateDecryptingKey,
    Pkcs1PublicEncryptingKey, PrivateDecryptingKey, PublicEncryptingKey, PublicKeyComponents,
};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::random;
use super::rsa::{Strength, check_public};
use crate::error::{Error, KeyProblem, Result};

/// How a key is padded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Padding {
    /// With SHA-1, as RSA-OAEP has it. Nothing known against SHA-1 touches OAEP.
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
    /// `n` and `e` without leading zeros; the error names the one at fault.
    pub(crate) fn from_parts(
        padding: Padding,
        n: &[u8],
        e: &[u8],
    ) -> Result<Public, (&'static str, KeyProblem)> {
        check_public(Strength::Today, n, e)?;
        let invalid = ("n", KeyProblem::Invalid);
        let key: PublicEncryptingKey = PublicKeyComponents { n, e }
            .try_into()
            .map_err(|_| invalid)?;
        match padding.oaep() {
            Some(algorithm) => {
                OaepPublicEncryptingKey::new(key).map(|key| Public::Oaep(algorithm, key))
            }
            None => Pkcs1PublicEncryptingKey::new(key).map(Public::Pkcs1),
        }
        .map_err(|_| invalid)
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
    Pkcs1(Pkcs1PrivateDecryptingKey),
}

impl Private {
    pub(crate) fn from_pkcs8(padding: Padding, der: &[u8]) -> Result<Private, KeyProblem> {
        let key = PrivateDecryptingKey::from_pkcs8(der).map_err(|_| KeyProblem::Invalid)?;
        match padding.oaep() {
            Some(algorithm) => {
                OaepPrivateDecryptingKey::new(key).map(|key| Private::Oaep(algorithm, key))
            }
            None => Pkcs1PrivateDecryptingKey::new(key).map(Private::Pkcs1),
        }
        .map_err(|_| KeyProblem::Invalid)
    }

    /// The secret of that length. With PKCS#1 v1.5 a wrong padding or length yields a random secret
    /// instead (RFC 7516, section 11.5): what follows fails as it would for any wrong key.
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
            Private::Pkcs1(key) => {
                let mut secret = Zeroizing::new(vec![0; secret_bytes]);
                random::fill(&mut secret).ok()?;
                let mut out = Zeroizing::new(vec![0; key.min_output_size().max(secret_bytes)]);
                // AWS-LC looks at the padding without branching, and aws-lc-rs then says whether it was
                // right; nothing after that branches on it, nor on the length.
                let (sound, length) = match key.decrypt(data, &mut out) {
                    Ok(plain) => (1, plain.len()),
                    Err(_) => (0, 0),
                };
                let right = Choice::from(sound) & (length as u64).ct_eq(&(secret_bytes as u64));
                for (byte, decrypted) in secret.iter_mut().zip(out.iter()) {
                    byte.conditional_assign(decrypted, right);
                }
                Some(secret)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rsa;
    use super::*;
    use crate::key::RsaSize;

    fn pair(padding: Padding) -> (Public, Private) {
        let pkcs8 = rsa::Pair::generate(RsaSize::default()).and_then(|pair| pair.pkcs8());
        let pkcs8 = pkcs8.expect("randomness");
        let parts = crate::key::rsa_parts(&pkcs8).expect("its own form");
        (
            Public::from_parts(padding, &parts.n, &parts.e).expect("a sound key"),
            Private::from_pkcs8(padding, &pkcs8).expect("a sound key"),
        )
    }

    /// RFC 7516, section 11.5.
    #[test]
    fn a_wrong_padding_or_length_yields_a_random_secret() {
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
    fn oaep_yields_the_secret_or_nothing() {
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
