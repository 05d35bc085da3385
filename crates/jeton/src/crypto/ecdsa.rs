//! ECDSA on the NIST curves (FIPS 186-5) and secp256k1 (RFC 8812), in the fixed r‖s form of JOSE (RFC 7518, section 3.4).
//!
//! AWS-LC works with DER. Converting between r‖s and DER on the stack costs less than the fixed-length
//! functions of AWS-LC, which allocate several times.

use std::sync::OnceLock;

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
    ///
    /// AWS-LC reads both as PKCS#8. Then it computes the point of the scalar once and compares it. Its function for the
    /// two values computes that point twice.
    pub(crate) fn from_halves(
        curve: Curve,
        scalar: &[u8],
        point: &[u8],
    ) -> Result<Pair, KeyProblem> {
        if scalar.len() != curve.bytes() {
            return Err(KeyProblem::WrongLength);
        }
        // AWS-LC also reads compressed and hybrid points, and would write them again.
        if point.len() != 1 + 2 * curve.bytes() || point[0] != 4 {
            return Err(KeyProblem::Mismatch);
        }
        EcdsaKeyPair::from_pkcs8(signing(curve), &pkcs8(curve, scalar, Some(point)))
            .map(|key| Pair { curve, key })
            .map_err(|_| KeyProblem::Mismatch)
    }

    /// Creates a pair from the scalar alone; the point is computed.
    #[cfg(feature = "pem")]
    pub(crate) fn from_scalar(curve: Curve, scalar: &[u8]) -> Result<Pair, KeyProblem> {
        if scalar.len() != curve.bytes() {
            return Err(KeyProblem::WrongLength);
        }
        let key = EcdsaKeyPair::from_pkcs8(signing(curve), &pkcs8(curve, scalar, None))
            .map_err(|_| KeyProblem::Invalid)?;
        // AWS-LC only writes a public key if it was read with one.
        Pair::from_halves(curve, scalar, key.public_key().as_ref())
    }

    pub(crate) fn curve(&self) -> Curve {
        self.curve
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

    /// Returns the public key. AWS-LC computed or compared the point, so it is only parsed when it is prepared to verify:
    /// most private keys only sign.
    pub(crate) fn public(&self) -> Public {
        Public {
            curve: self.curve,
            point: self.point().to_vec(),
            parsed: OnceLock::new(),
        }
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Result<Signature> {
        let der = self
            .key
            .sign(&SystemRandom::new(), message)
            .map_err(|_| Error::Primitive)?;
        fixed_from_der(der.as_ref(), self.curve.bytes()).ok_or(Error::Primitive)
    }
}

/// Encodes a private key as PKCS#8 (RFC 5208; RFC 5915, section 3). That of P-521 has 241 bytes.
fn pkcs8(curve: Curve, scalar: &[u8], point: Option<&[u8]>) -> Zeroizing<Vec<u8>> {
    let algorithm = algorithm(curve);
    let public = point.map_or(0, |point| element(element(1 + point.len())));
    let key = VERSION_BYTES + element(scalar.len()) + public;
    let whole = VERSION_BYTES + algorithm.len() + element(element(key));

    // Of the right size, so that no reallocation leaves a copy of the scalar.
    let mut der = Zeroizing::new(Vec::with_capacity(element(whole)));
    begin(&mut der, 0x30, whole);
    der.extend_from_slice(&[0x02, 1, 0]);
    der.extend_from_slice(algorithm);
    begin(&mut der, 0x04, element(key));
    begin(&mut der, 0x30, key);
    der.extend_from_slice(&[0x02, 1, 1]);
    begin(&mut der, 0x04, scalar.len());
    der.extend_from_slice(scalar);
    if let Some(point) = point {
        begin(&mut der, 0xa1, element(1 + point.len()));
        bit_string(&mut der, point);
    }
    der
}

/// Encodes a public key as SubjectPublicKeyInfo (RFC 5480, section 2).
fn spki(curve: Curve, point: &[u8]) -> Vec<u8> {
    let algorithm = algorithm(curve);
    let whole = algorithm.len() + element(1 + point.len());
    let mut der = Vec::with_capacity(element(whole));
    begin(&mut der, 0x30, whole);
    der.extend_from_slice(algorithm);
    bit_string(&mut der, point);
    der
}

/// The DER of the algorithm: the type of an elliptic curve, and the curve (RFC 5480, section 2.1.1).
fn algorithm(curve: Curve) -> &'static [u8] {
    match curve {
        Curve::P256 => {
            b"\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07"
        }
        Curve::P384 => b"\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x22",
        Curve::P521 => b"\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x23",
        Curve::Secp256k1 => {
            b"\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x0a"
        }
    }
}

/// Length of an INTEGER with one byte.
const VERSION_BYTES: usize = 3;

/// Length of a DER element whose content has this length, below 256.
const fn element(content: usize) -> usize {
    match content {
        0..0x80 => 2 + content,
        _ => 3 + content,
    }
}

/// Appends the tag and the length of a DER element whose content has less than 256 bytes.
fn begin(der: &mut Vec<u8>, tag: u8, content: usize) {
    der.push(tag);
    if content >= 0x80 {
        der.push(0x81);
    }
    der.push(content as u8);
}

fn bit_string(der: &mut Vec<u8>, bytes: &[u8]) {
    begin(der, 0x03, 1 + bytes.len());
    der.push(0);
    der.extend_from_slice(bytes);
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
    /// As it was read, which may be compressed.
    point: Vec<u8>,
    parsed: OnceLock<ParsedPublicKey>,
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
        Public::checked(curve, point)
    }

    /// Reads a compressed point (SEC 1, section 2.3.3), which must be on the curve.
    pub(crate) fn from_compressed(curve: Curve, point: &[u8]) -> Result<Public, KeyProblem> {
        if point.len() != 1 + curve.bytes() {
            return Err(KeyProblem::WrongLength);
        }
        Public::checked(curve, point)
    }

    fn checked(curve: Curve, point: &[u8]) -> Result<Public, KeyProblem> {
        let parsed = parse(curve, point).ok_or(KeyProblem::Invalid)?;
        Ok(Public {
            curve,
            point: point.to_vec(),
            parsed: parsed.into(),
        })
    }

    /// Parses the point of a pair, so that a verification need not.
    pub(crate) fn prepare(&self) {
        self.parsed();
    }

    fn parsed(&self) -> Option<&ParsedPublicKey> {
        if let Some(parsed) = self.parsed.get() {
            return Some(parsed);
        }
        let parsed = parse(self.curve, &self.point)?;
        Some(self.parsed.get_or_init(|| parsed))
    }

    pub(crate) fn curve(&self) -> Curve {
        self.curve
    }

    /// Returns the point as it was read; that of a pair is uncompressed: 4, x, y.
    pub(crate) fn point(&self) -> &[u8] {
        &self.point
    }

    /// Returns the uncompressed point: 4, x, y.
    pub(crate) fn uncompressed(&self) -> Result<Vec<u8>, KeyProblem> {
        // The end of the SubjectPublicKeyInfo.
        let parsed = self.parsed().ok_or(KeyProblem::Invalid)?;
        let der: PublicKeyX509Der<'_> = parsed.as_der().map_err(|_| KeyProblem::Invalid)?;
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
        self.parsed()
            .zip(der_from_fixed(signature, self.curve.bytes()))
            .is_some_and(|(key, der)| key.verify_sig(message, &der).is_ok())
    }
}

/// AWS-LC checks that the point is on the curve. It checks a point alone once more than a SubjectPublicKeyInfo.
fn parse(curve: Curve, point: &[u8]) -> Option<ParsedPublicKey> {
    ParsedPublicKey::new(verification(curve), spki(curve, point)).ok()
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
    fn private_key_is_encoded_like_that_of_aws_lc() {
        for curve in CURVES {
            let pair = Pair::generate(curve).expect("randomness");
            let scalar = pair.scalar().expect("a scalar");
            let own = pkcs8(curve, &scalar, Some(pair.point()));
            assert_eq!(own, pair.pkcs8().expect("a key"));
            assert_eq!(own.len(), own.capacity());
            let read = Pair::from_halves(curve, &scalar, pair.point()).expect("its own halves");
            assert_eq!(own, read.pkcs8().expect("a key"));
        }
    }

    #[test]
    fn public_key_of_a_pair_is_that_of_its_point() {
        for curve in CURVES {
            let pair = Pair::generate(curve).expect("randomness");
            let signature = pair.sign(b"m").expect("signs");
            let whole = Public::from_point(curve, pair.point()).expect("its own point");
            let compressed = Public::from_compressed(curve, &compress(pair.point()));
            let compressed = compressed.expect("its own point");
            for public in [pair.public(), whole, compressed] {
                assert!(public.verify(b"m", &signature));
                assert!(!public.verify(b"n", &signature));
                assert_eq!(public.uncompressed().as_deref(), Ok(pair.point()));
                let parsed = public.parsed().expect("a point on the curve");
                let der: PublicKeyX509Der<'_> = parsed.as_der().expect("a key");
                assert_eq!(der.as_ref(), spki(curve, pair.point()));
            }
        }
    }

    #[test]
    fn halves_that_do_not_match_are_rejected() {
        for curve in CURVES {
            let [one, other] = [(); 2].map(|()| Pair::generate(curve).expect("randomness"));
            let scalar = one.scalar().expect("a scalar");
            let problem =
                |scalar: &[u8], point: &[u8]| Pair::from_halves(curve, scalar, point).err();
            let mismatch = Some(KeyProblem::Mismatch);
            assert_eq!(problem(&scalar, one.point()), None);
            assert_eq!(problem(&scalar, other.point()), mismatch);
            assert_eq!(problem(&scalar, &compress(one.point())), mismatch);
            assert_eq!(problem(&scalar, &[]), mismatch);
            let last = one.point().len() - 1;
            let mut hybrid = one.point().to_vec();
            hybrid[0] = 6 + (hybrid[last] & 1);
            assert_eq!(problem(&scalar, &hybrid), mismatch);
            let mut off_the_curve = one.point().to_vec();
            off_the_curve[last] ^= 1;
            assert_eq!(problem(&scalar, &off_the_curve), mismatch);
            // Zero, and more than the order.
            for scalar in [0, 0xff].map(|byte| vec![byte; curve.bytes()]) {
                assert_eq!(problem(&scalar, one.point()), mismatch);
            }
            let length = Some(KeyProblem::WrongLength);
            assert_eq!(problem(&scalar[1..], one.point()), length);
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
