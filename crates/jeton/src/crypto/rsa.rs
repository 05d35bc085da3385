//! RSA signatures (RFC 8017): PKCS#1 v1.5 and PSS with a salt as long as the hash.

use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeyPairComponents, KeySize, PublicKeyComponents};
use aws_lc_rs::signature::{self as aws, ParsedPublicKey, RsaEncoding, RsaParameters};
use zeroize::Zeroizing;

use super::{Hash, Padding, RsaSize};
use crate::error::{Error, KeyError, KeyProblem, Result};
use crate::limits;

/// The requirements for a public key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strength {
    /// RFC 7518, section 3.3, and FIPS 186-5, section 5.4: 2,048 bits or more, an exponent of
    /// 65,537 or more.
    Current,
    /// 1,024 bits or more, an exponent of 3 or more. Only for verifying signatures of legacy systems.
    Legacy,
}

/// A private key, ready to sign.
pub(crate) struct Pair(KeyPair);

/// The parts of a private key, each a big-endian integer without leading zeros.
pub(crate) struct Parts {
    pub(crate) n: Vec<u8>,
    pub(crate) e: Vec<u8>,
    pub(crate) d: Zeroizing<Vec<u8>>,
    pub(crate) p: Zeroizing<Vec<u8>>,
    pub(crate) q: Zeroizing<Vec<u8>>,
    pub(crate) dp: Zeroizing<Vec<u8>>,
    pub(crate) dq: Zeroizing<Vec<u8>>,
    pub(crate) qi: Zeroizing<Vec<u8>>,
}

impl Parts {
    /// Reads the PKCS#8 that AWS-LC wrote. It is not for input: that is read with the `pkcs1` crate, which the
    /// smallest build does not have.
    pub(crate) fn from_own_pkcs8(pkcs8: &[u8]) -> Result<Parts> {
        let mut key = own_pkcs1(pkcs8)?;
        let mut parts = element(0x30, &mut key)?;
        element(0x02, &mut parts)?;
        let mut integer = || {
            let digits = element(0x02, &mut parts)?;
            Ok::<_, Error>(digits.strip_prefix(&[0]).unwrap_or(digits).to_vec())
        };
        Ok(Parts {
            n: integer()?,
            e: integer()?,
            d: integer().map(Zeroizing::new)?,
            p: integer().map(Zeroizing::new)?,
            q: integer().map(Zeroizing::new)?,
            dp: integer().map(Zeroizing::new)?,
            dq: integer().map(Zeroizing::new)?,
            qi: integer().map(Zeroizing::new)?,
        })
    }
}

/// Returns the RSAPrivateKey (RFC 8017, appendix A.1.2) in the PKCS#8 that AWS-LC wrote.
pub(crate) fn own_pkcs1(mut pkcs8: &[u8]) -> Result<&[u8]> {
    let mut parts = element(0x30, &mut pkcs8)?;
    element(0x02, &mut parts)?;
    element(0x30, &mut parts)?;
    element(0x04, &mut parts)
}

/// Takes a DER element with this tag, of at most 65,535 bytes, and returns its content.
fn element<'d>(tag: u8, rest: &mut &'d [u8]) -> Result<&'d [u8]> {
    let (length, behind) = match *rest {
        [first, 0x82, high, low, behind @ ..] if *first == tag => {
            (usize::from(u16::from_be_bytes([*high, *low])), behind)
        }
        [first, 0x81, length, behind @ ..] if *first == tag => (usize::from(*length), behind),
        [first, length @ ..=0x7f, behind @ ..] if *first == tag => (usize::from(*length), behind),
        _ => return Err(Error::Primitive),
    };
    let (content, behind) = behind.split_at_checked(length).ok_or(Error::Primitive)?;
    *rest = behind;
    Ok(content)
}

impl Pair {
    /// Generates a key.
    pub(crate) fn generate(size: RsaSize) -> Result<Pair> {
        let size = match size {
            RsaSize::Bits2048 => KeySize::Rsa2048,
            RsaSize::Bits3072 => KeySize::Rsa3072,
            RsaSize::Bits4096 => KeySize::Rsa4096,
            RsaSize::Bits8192 => KeySize::Rsa8192,
        };
        KeyPair::generate(size)
            .map(Pair)
            .map_err(|_| Error::Primitive)
    }

    pub(crate) fn from_parts(parts: &Parts) -> Result<Pair, KeyProblem> {
        check_public(Strength::Current, &parts.n, &parts.e)
            .map_err(|error| error.into_problem())?;
        KeyPair::from_components(&KeyPairComponents {
            public_key: PublicKeyComponents {
                n: &parts.n,
                e: &parts.e,
            },
            d: &parts.d,
            p: &parts.p,
            q: &parts.q,
            dP: &parts.dp,
            dQ: &parts.dq,
            qInv: &parts.qi,
        })
        .map(Pair)
        .map_err(|_| KeyProblem::Mismatch)
    }

    pub(crate) fn pkcs8(&self) -> Result<Zeroizing<Vec<u8>>> {
        let der = self.0.as_der().map_err(|_| Error::Primitive)?;
        Ok(Zeroizing::new(der.as_ref().to_vec()))
    }

    /// `signature` must have the length of the modulus.
    pub(crate) fn sign(
        &self,
        padding: Padding,
        hash: Hash,
        message: &[u8],
        signature: &mut [u8],
    ) -> Result<()> {
        self.0
            .sign(
                encoding(padding, hash),
                &SystemRandom::new(),
                message,
                signature,
            )
            .map_err(|_| Error::Primitive)
    }
}

/// A public key, parsed once for one padding and hash.
pub(crate) struct Public {
    modulus_bytes: usize,
    key: ParsedPublicKey,
}

impl Public {
    /// `n` and `e` have no leading zeros. The error names the invalid member.
    pub(crate) fn from_parts(
        padding: Padding,
        hash: Hash,
        strength: Strength,
        n: &[u8],
        e: &[u8],
    ) -> Result<Public, KeyError> {
        check_public(strength, n, e)?;
        let parameters = if bits(n) < limits::RSA_MODULUS_BITS_MIN {
            short_verification(padding, hash).ok_or(KeyError::at("n", KeyProblem::Unsupported))?
        } else {
            verification(padding, hash)
        };
        PublicKeyComponents { n, e }
            .to_parsed_public_key(parameters)
            .map(|key| Public {
                modulus_bytes: n.len(),
                key,
            })
            .map_err(|_| KeyError::at("n", KeyProblem::Invalid))
    }

    pub(crate) fn signature_bytes(&self) -> usize {
        self.modulus_bytes
    }

    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        signature.len() == self.modulus_bytes && self.key.verify_sig(message, signature).is_ok()
    }
}

/// Checks that modulus and exponent are odd and within the size limits.
pub(super) fn check_public(strength: Strength, n: &[u8], e: &[u8]) -> Result<(), KeyError> {
    let odd = |integer: &[u8]| integer.last().is_some_and(|byte| byte & 1 == 1);
    let (modulus_bits_min, exponent_bits_min) = match strength {
        Strength::Current => (limits::RSA_MODULUS_BITS_MIN, 17),
        Strength::Legacy => (limits::WEAK_RSA_MODULUS_BITS_MIN, 2),
    };
    if bits(n) > limits::RSA_MODULUS_BITS {
        return Err(KeyError::too_large("n", bits(n), limits::RSA_MODULUS_BITS));
    }
    if bits(n) < modulus_bits_min {
        return Err(KeyError::too_weak("n", bits(n), modulus_bits_min));
    }
    if !odd(n) {
        return Err(KeyError::at("n", KeyProblem::Invalid));
    }
    if bits(e) > limits::RSA_EXPONENT_BITS {
        return Err(KeyError::too_large("e", bits(e), limits::RSA_EXPONENT_BITS));
    }
    if bits(e) < exponent_bits_min {
        return Err(KeyError::too_weak("e", bits(e), exponent_bits_min));
    }
    if !odd(e) {
        return Err(KeyError::at("e", KeyProblem::Invalid));
    }
    Ok(())
}

/// The length of an integer without leading zero bits, bits.
fn bits(integer: &[u8]) -> usize {
    match integer.first() {
        Some(first) => integer.len() * 8 - first.leading_zeros() as usize,
        None => 0,
    }
}

fn encoding(padding: Padding, hash: Hash) -> &'static dyn RsaEncoding {
    match (padding, hash) {
        (Padding::Pkcs1, Hash::Sha256) => &aws::RSA_PKCS1_SHA256,
        (Padding::Pkcs1, Hash::Sha384) => &aws::RSA_PKCS1_SHA384,
        (Padding::Pkcs1, Hash::Sha512) => &aws::RSA_PKCS1_SHA512,
        (Padding::Pss, Hash::Sha256) => &aws::RSA_PSS_SHA256,
        (Padding::Pss, Hash::Sha384) => &aws::RSA_PSS_SHA384,
        (Padding::Pss, Hash::Sha512) => &aws::RSA_PSS_SHA512,
    }
}

fn verification(padding: Padding, hash: Hash) -> &'static RsaParameters {
    match (padding, hash) {
        (Padding::Pkcs1, Hash::Sha256) => &aws::RSA_PKCS1_2048_8192_SHA256,
        (Padding::Pkcs1, Hash::Sha384) => &aws::RSA_PKCS1_2048_8192_SHA384,
        (Padding::Pkcs1, Hash::Sha512) => &aws::RSA_PKCS1_2048_8192_SHA512,
        (Padding::Pss, Hash::Sha256) => &aws::RSA_PSS_2048_8192_SHA256,
        (Padding::Pss, Hash::Sha384) => &aws::RSA_PSS_2048_8192_SHA384,
        (Padding::Pss, Hash::Sha512) => &aws::RSA_PSS_2048_8192_SHA512,
    }
}

/// The parameters for a modulus under 2,048 bits. AWS-LC has only these.
fn short_verification(padding: Padding, hash: Hash) -> Option<&'static RsaParameters> {
    match (padding, hash) {
        (Padding::Pkcs1, Hash::Sha256) => {
            Some(&aws::RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY)
        }
        (Padding::Pkcs1, Hash::Sha512) => {
            Some(&aws::RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY)
        }
        _ => None,
    }
}

#[cfg(all(test, feature = "pem"))]
mod tests {
    use super::*;
    use crate::key::rsa_parts_from_pkcs1;

    /// The `pkcs1` crate reads the same parts from what AWS-LC writes.
    #[test]
    fn own_pkcs8_read_twice_has_the_same_parts() {
        for size in [RsaSize::Bits2048, RsaSize::Bits3072] {
            let pkcs8 = Pair::generate(size).and_then(|pair| pair.pkcs8());
            let pkcs8 = pkcs8.expect("randomness");
            let own = Parts::from_own_pkcs8(&pkcs8).expect("its own form");
            let pkcs1 = own_pkcs1(&pkcs8).expect("its own form");
            let by_crate = rsa_parts_from_pkcs1(pkcs1).expect("its own form");
            let all = |parts: &Parts| {
                let secrets = [
                    &parts.d, &parts.p, &parts.q, &parts.dp, &parts.dq, &parts.qi,
                ];
                let secrets = secrets.map(|secret| secret.to_vec());
                (parts.n.clone(), parts.e.clone(), secrets)
            };
            assert_eq!(all(&own), all(&by_crate));
            for end in [0, 1, 4, pkcs8.len() / 2, pkcs8.len() - 1] {
                assert!(Parts::from_own_pkcs8(&pkcs8[..end]).is_err(), "{end}");
            }
        }
    }
}
