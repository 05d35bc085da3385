//! ECDSA on the NIST curves (FIPS 186-5) and secp256k1 (RFC 8812), in the fixed r‖s form of JOSE (RFC 7518, section 3.4).
//!
//! AWS-LC works with DER. Converting between r‖s and DER on the stack costs less than the fixed-length
//! functions of AWS-LC, which allocate several times.

use aws_lc_rs::encoding::{AsBigEndian, AsDer as _, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    self as aws, EcdsaKeyPair, EcdsaSigningAlgorithm, EcdsaVerificationAlgorithm, KeyPair as _,
    ParsedPublicKey,
};
use smallvec::SmallVec;
use zeroize::Zeroizing;

use super::{Curve, Signature};
use crate::error::{Error, KeyProblem, Result};

/// A private key, ready to sign.
pub(crate) struct Pair {
    curve: Curve,
    key: EcdsaKeyPair,
}

impl Pair {
    pub(crate) fn generate(curve: Curve) -> Result<Pair> {
        let key = EcdsaKeyPair::generate(signing(curve)).map_err(|_| Error::Primitive)?;
        Ok(Pair { curve, key })
    }

    /// Creates a pair from the scalar and the uncompressed point, which must match.
    pub(crate) fn from_halves(
        curve: Curve,
        scalar: &[u8],
        point: &[u8],
    ) -> Result<Pair, KeyProblem> {
        if scalar.len() != curve.bytes() {
            return Err(KeyProblem::WrongLength);
        }
        EcdsaKeyPair::from_private_key_and_public_key(signing(curve), scalar, point)
            .map(|key| Pair { curve, key })
            .map_err(|_| KeyProblem::Mismatch)
    }

    /// Reads the RFC 5915 form ("EC PRIVATE KEY").
    pub(crate) fn from_sec1(curve: Curve, der: &[u8]) -> Result<Pair, KeyProblem> {
        EcdsaKeyPair::from_private_key_der(signing(curve), der)
            .map(|key| Pair { curve, key })
            .map_err(|_| KeyProblem::Invalid)
    }

    /// Returns the private scalar at full length.
    pub(crate) fn scalar(&self) -> Result<Zeroizing<Vec<u8>>> {
        let scalar = self.key.private_key();
        let bytes = scalar.as_be_bytes().map_err(|_| Error::Primitive)?;
        Ok(Zeroizing::new(bytes.as_ref().to_vec()))
    }

    pub(crate) fn pkcs8(&self) -> Result<Zeroizing<Vec<u8>>> {
        let document = self.key.to_pkcs8v1().map_err(|_| Error::Primitive)?;
        Ok(Zeroizing::new(document.as_ref().to_vec()))
    }

    /// Returns the uncompressed point: 4, x, y.
    pub(crate) fn point(&self) -> &[u8] {
        self.key.public_key().as_ref()
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Result<Signature> {
        let der = self
            .key
            .sign(&SystemRandom::new(), message)
            .map_err(|_| Error::Primitive)?;
        fixed_from_der(der.as_ref(), self.curve.bytes()).ok_or(Error::Primitive)
    }
}

/// Returns the compressed form of an uncompressed point: 2 or 3 for an even or odd y, then x (SEC 1,
/// section 2.3.3).
pub(crate) fn compress(point: &[u8]) -> Vec<u8> {
    let (x, y) = point[1..].split_at(point.len() / 2);
    let odd = y.last().is_some_and(|byte| byte & 1 == 1);
    [&[2 + u8::from(odd)], x].concat()
}

/// A public key, parsed once.
pub(crate) struct Public {
    curve: Curve,
    key: ParsedPublicKey,
}

impl Public {
    /// Reads an uncompressed point, which must be on the curve. The hybrid form has the same length and is
    /// accepted by AWS-LC, but is rejected here (RFC 5480, section 2.2).
    pub(crate) fn from_point(curve: Curve, point: &[u8]) -> Result<Public, KeyProblem> {
        if point.len() != 1 + 2 * curve.bytes() {
            return Err(KeyProblem::WrongLength);
        }
        if point[0] != 4 {
            return Err(KeyProblem::Invalid);
        }
        ParsedPublicKey::new(verification(curve), point)
            .map(|key| Public { curve, key })
            .map_err(|_| KeyProblem::Invalid)
    }

    /// Reads a compressed point (SEC 1, section 2.3.3), which must be on the curve.
    pub(crate) fn from_compressed(curve: Curve, point: &[u8]) -> Result<Public, KeyProblem> {
        if point.len() != 1 + curve.bytes() {
            return Err(KeyProblem::WrongLength);
        }
        ParsedPublicKey::new(verification(curve), point)
            .map(|key| Public { curve, key })
            .map_err(|_| KeyProblem::Invalid)
    }

    /// Returns the uncompressed point: 4, x, y.
    pub(crate) fn uncompressed(&self) -> Result<Vec<u8>, KeyProblem> {
        // The end of the SubjectPublicKeyInfo.
        let der: PublicKeyX509Der<'_> = self.key.as_der().map_err(|_| KeyProblem::Invalid)?;
        let der = der.as_ref();
        let point = der.len().checked_sub(1 + 2 * self.curve.bytes());
        point
            .map(|at| der[at..].to_vec())
            .filter(|point| point[0] == 4)
            .ok_or(KeyProblem::Invalid)
    }

    pub(crate) fn signature_bytes(&self) -> usize {
        2 * self.curve.bytes()
    }

    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        // AWS-LC rejects r = 0, s = 0 and values that are not below the order.
        der_from_fixed(signature, self.curve.bytes())
            .is_some_and(|der| self.key.verify_sig(message, &der).is_ok())
    }
}

/// Converts a DER signature to r‖s. Only the canonical encoding is accepted: encoding the result gives
/// exactly the input.
pub(crate) fn fixed_from_strict_der(der: &[u8], curve: Curve) -> Option<Signature> {
    let fixed = fixed_from_der(der, curve.bytes())?;
    let again = der_from_fixed(&fixed, curve.bytes())?;
    (again.as_slice() == der).then_some(fixed)
}

fn signing(curve: Curve) -> &'static EcdsaSigningAlgorithm {
    match curve {
        Curve::P256 => &aws::ECDSA_P256_SHA256_ASN1_SIGNING,
        Curve::P384 => &aws::ECDSA_P384_SHA384_ASN1_SIGNING,
        Curve::P521 => &aws::ECDSA_P521_SHA512_ASN1_SIGNING,
        Curve::Secp256k1 => &aws::ECDSA_P256K1_SHA256_ASN1_SIGNING,
    }
}

fn verification(curve: Curve) -> &'static EcdsaVerificationAlgorithm {
    match curve {
        Curve::P256 => &aws::ECDSA_P256_SHA256_ASN1,
        Curve::P384 => &aws::ECDSA_P384_SHA384_ASN1,
        Curve::P521 => &aws::ECDSA_P521_SHA512_ASN1,
        Curve::Secp256k1 => &aws::ECDSA_P256K1_SHA256_ASN1,
    }
}

/// The longest DER signature (P-521), with a two-byte length.
type Der = SmallVec<[u8; 144]>;

/// Encodes `SEQUENCE { INTEGER r, INTEGER s }` from two halves of equal length.
fn der_from_fixed(fixed: &[u8], length: usize) -> Option<Der> {
    if fixed.len() != 2 * length {
        return None;
    }
    let (r, s) = fixed.split_at(length);
    let mut body = Der::new();
    for half in [r, s] {
        let zeros = half.iter().take_while(|byte| **byte == 0).count();
        let digits = &half[zeros.min(half.len() - 1)..];
        let sign = usize::from(digits[0] & 0x80 != 0);
        // A half has at most 66 bytes, so each integer has a one-byte length.
        body.extend_from_slice(&[0x02, (digits.len() + sign) as u8]);
        body.extend_from_slice(&[0][..sign]);
        body.extend_from_slice(digits);
    }
    let mut der = Der::new();
    der.push(0x30);
    if body.len() >= 0x80 {
        der.push(0x81);
    }
    der.push(body.len() as u8);
    der.extend_from_slice(&body);
    Some(der)
}

/// Reads the two integers of a DER signature from AWS-LC, each at full length.
fn fixed_from_der(der: &[u8], length: usize) -> Option<Signature> {
    let body = match der {
        [0x30, 0x81, body_length, body @ ..] | [0x30, body_length, body @ ..]
            if usize::from(*body_length) == body.len() =>
        {
            body
        }
        _ => return None,
    };
    let mut fixed = Signature::from_elem(0, 2 * length);
    let mut rest = body;
    for half in fixed.chunks_exact_mut(length) {
        let [0x02, integer_length, tail @ ..] = rest else {
            return None;
        };
        let (integer, tail) = tail.split_at_checked(usize::from(*integer_length))?;
        let digits = integer.strip_prefix(&[0]).unwrap_or(integer);
        let start = length.checked_sub(digits.len())?;
        half[start..].copy_from_slice(digits);
        rest = tail;
    }
    rest.is_empty().then_some(fixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVES: [Curve; 4] = [Curve::P256, Curve::P384, Curve::P521, Curve::Secp256k1];

    #[test]
    fn fixed_and_der_round_trip() {
        for curve in CURVES {
            let length = curve.bytes();
            for (r, s) in [(1_u8, 0x80_u8), (0xff, 1), (0x7f, 0xff)] {
                for filled in [1, length / 2, length] {
                    let mut fixed = vec![0; 2 * length];
                    fixed[length - filled..length].fill(r);
                    fixed[2 * length - filled..].fill(s);
                    let der = der_from_fixed(&fixed, length).expect("right length");
                    let back = fixed_from_der(&der, length).expect("well formed");
                    assert_eq!(back.as_slice(), fixed);
                }
            }
        }
    }

    #[test]
    fn non_canonical_der_signature_is_rejected() {
        let strict = |der: &[u8]| fixed_from_strict_der(der, Curve::P256);
        let good = [0x30, 0x07, 2, 2, 0, 0x80, 2, 1, 1];
        let mut fixed = [0; 64];
        (fixed[31], fixed[63]) = (0x80, 1);
        assert_eq!(strict(&good).as_deref(), Some(&fixed[..]));
        for (what, bad) in [
            ("a negative r", &[0x30, 6, 2, 1, 0x80, 2, 1, 1][..]),
            ("a zero too many", &[0x30, 7, 2, 2, 0, 1, 2, 1, 1]),
            ("a long length", &[0x30, 0x81, 7, 2, 2, 0, 0x80, 2, 1, 1]),
            ("a byte behind", &[0x30, 7, 2, 2, 0, 0x80, 2, 1, 1, 0]),
            (
                "a byte behind, inside",
                &[0x30, 8, 2, 2, 0, 0x80, 2, 1, 1, 0],
            ),
            (
                "a third integer",
                &[0x30, 10, 2, 2, 0, 0x80, 2, 1, 1, 2, 1, 1],
            ),
            (
                "an indefinite length",
                &[0x30, 0x80, 2, 1, 1, 2, 1, 1, 0, 0],
            ),
            ("one integer", &[0x30, 3, 2, 1, 1]),
            ("an empty integer", &[0x30, 5, 2, 0, 2, 1, 1]),
            ("a set", &[0x31, 7, 2, 2, 0, 0x80, 2, 1, 1]),
            ("nothing", &[]),
            ("its beginning", &good[..5]),
        ] {
            assert_eq!(strict(bad), None, "{what}");
        }
        let mut long = vec![0x30, 38, 2, 33];
        long.extend([1; 33]);
        long.extend([2, 1, 1]);
        assert_eq!(strict(&long), None, "an r of 33 bytes");
    }

    #[test]
    fn short_integers_are_padded_with_zeros() {
        // Enough signatures for some r or s to start with a zero byte.
        for curve in CURVES {
            let pair = Pair::generate(curve).expect("randomness");
            let public = Public::from_point(curve, pair.point()).expect("its own point");
            for i in 0..300_u32 {
                let message = i.to_be_bytes();
                let signature = pair.sign(&message).expect("signs");
                assert_eq!(signature.len(), public.signature_bytes());
                assert!(public.verify(&message, &signature));
            }
        }
    }

    #[test]
    fn zero_and_order_are_rejected() {
        let pair = Pair::generate(Curve::P256).expect("randomness");
        let public = Public::from_point(Curve::P256, pair.point()).expect("its own point");
        let good = pair.sign(b"m").expect("signs");
        let order = [
            0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63,
            0x25, 0x51,
        ];
        for half in [0..32, 32..64] {
            for value in [[0; 32], order, [0xff; 32]] {
                let mut bad = good.to_vec();
                bad[half.clone()].copy_from_slice(&value);
                assert!(!public.verify(b"m", &bad));
            }
        }
        assert!(!public.verify(b"m", &[0; 64]));
        assert!(!public.verify(b"m", &good[..63]));
    }
}
