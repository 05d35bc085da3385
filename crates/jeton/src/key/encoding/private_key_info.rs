//! Strict reading of PKCS#8 (RFC 5208, RFC 5958) and its algorithm-specific contents. Additional data is
//! rejected everywhere, and redundant fields must agree.
//!
//! Attributes are ignored.

use der::asn1::{AnyRef, BitStringRef, OctetStringRef, SequenceRef};
use der::{Decode, Reader, SliceReader, Tag, TagMode, TagNumber, Tagged as _};
use pkcs1::RsaPublicKeyRef;
use sec1::{EcParameters, EcPrivateKey};
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

use super::oid::{self, malformed};
use super::rsa_private_key::parts_from_pkcs1;
use crate::crypto::ml_dsa::{self, ParameterSet};
use crate::crypto::{Curve, ecdsa, rsa};
use crate::error::{KeyError, KeyProblem};

/// A private key whose algorithm-specific contents are not read yet.
pub(super) struct PrivateKey<'a> {
    pub(super) algorithm: AlgorithmIdentifierRef<'a>,
    pub(super) key: &'a [u8],
    /// The public key that version 2 contains.
    pub(super) public: Option<&'a [u8]>,
}

impl<'a> PrivateKey<'a> {
    pub(super) fn read(der: &'a [u8]) -> Result<PrivateKey<'a>, KeyError> {
        let read = || -> der::Result<PrivateKey<'a>> {
            let mut reader = SliceReader::new(der)?;
            let key = reader.sequence(Self::read_parts)?;
            reader.finish()?;
            Ok(key)
        };
        read().map_err(malformed)
    }

    /// RFC 5958, section 2. The sequence must end with the last of these fields.
    fn read_parts(reader: &mut SliceReader<'a>) -> der::Result<PrivateKey<'a>> {
        let version = u8::decode(reader)?;
        let algorithm = AlgorithmIdentifierRef::decode(reader)?;
        let key = <&OctetStringRef>::decode(reader)?.as_bytes();
        if is_next(reader, ATTRIBUTES) {
            reader.context_specific::<&SequenceRef>(TagNumber(0), TagMode::Implicit)?;
        }
        let public = if !is_next(reader, PUBLIC_KEY) {
            None
        } else {
            reader.context_specific::<BitStringRef<'a>>(TagNumber(1), TagMode::Implicit)?
        };
        let whole_bytes = |bits: BitStringRef<'a>| {
            (bits.as_bytes()).ok_or_else(|| der::Tag::BitString.value_error())
        };
        let public = public.map(whole_bytes).transpose()?;
        // The version tells whether there is a public key.
        if version != u8::from(public.is_some()) {
            return Err(der::Tag::Integer.value_error().into());
        }
        Ok(PrivateKey {
            algorithm,
            key,
            public,
        })
    }

    /// Checks that the public key next to the private key, if present, matches it.
    pub(super) fn check_public(&self, own: &[u8]) -> Result<(), KeyError> {
        match self.public {
            Some(public) if public != own => Err(KeyError::at("publicKey", KeyProblem::Mismatch)),
            _ => Ok(()),
        }
    }

    /// Reads an RSA key (RFC 8017, appendix A.1.2).
    pub(super) fn rsa_parts(&self) -> Result<rsa::Parts, KeyError> {
        let parts = parts_from_pkcs1(self.key)?;
        if let Some(public) = self.public {
            let public = RsaPublicKeyRef::from_der(public)
                .map_err(|_| KeyError::at("publicKey", KeyProblem::Malformed))?;
            if public.modulus.as_bytes() != parts.n || public.public_exponent.as_bytes() != parts.e
            {
                return Err(KeyError::at("publicKey", KeyProblem::Mismatch));
            }
        }
        Ok(parts)
    }

    /// Reads a key on the curve that the algorithm names.
    pub(super) fn ecdsa(&self, curve: Curve) -> Result<ecdsa::Pair, KeyError> {
        ec_pair(self.key, Some(curve), self.public)
    }

    /// Reads the 32 bytes of an Ed25519 or X25519 key: an OCTET STRING inside the OCTET STRING (RFC 8410, section
    /// 7).
    pub(super) fn octets_32(&self) -> Result<&'a [u8], KeyError> {
        match self.key {
            [0x04, 0x20, secret @ ..] if secret.len() == 32 => Ok(secret),
            _ => Err(KeyError::at("privateKey", KeyProblem::Malformed)),
        }
    }

    /// Reads an ML-DSA key (RFC 9881, section 6): the seed, optionally with the expanded key, which must match. An
    /// expanded key without a seed is not supported, because a JWK cannot represent it.
    pub(super) fn ml_dsa(&self, set: ParameterSet) -> Result<ml_dsa::Pair, KeyError> {
        let at_key = |problem| KeyError::at("privateKey", problem);
        let pair = match self.key {
            [0x80, 0x20, seed @ ..] if seed.len() == ml_dsa::SEED_BYTES => {
                ml_dsa::Pair::from_seed(set, seed)
            }
            [0x30, ..] => {
                let both = || -> der::Result<[&'a [u8]; 2]> {
                    let mut reader = SliceReader::new(self.key)?;
                    let both = reader.sequence(|reader| -> der::Result<_> {
                        let seed = <&OctetStringRef>::decode(reader)?;
                        let expanded = <&OctetStringRef>::decode(reader)?;
                        Ok([seed.as_bytes(), expanded.as_bytes()])
                    })?;
                    reader.finish()?;
                    Ok(both)
                };
                let [seed, expanded] = both().map_err(|_| at_key(KeyProblem::Malformed))?;
                ml_dsa::Pair::from_seed_and_expanded(set, seed, expanded)
            }
            [0x04, ..] => Err(KeyProblem::Unsupported),
            _ => Err(KeyProblem::Malformed),
        }
        .map_err(at_key)?;
        self.check_public(pair.public_bytes())?;
        Ok(pair)
    }
}

/// The first bytes of the optional elements: \[0\] constructed, \[1\] primitive. Each is only checked at its
/// position.
const ATTRIBUTES: u8 = 0xa0;
const PUBLIC_KEY: u8 = 0x81;

fn is_next(reader: &SliceReader<'_>, tag: u8) -> bool {
    reader.peek_byte() == Some(tag)
}

/// Reads an EC key (RFC 5915), alone or from PKCS#8, which then gives the curve and the public key.
pub(super) fn ec_pair(
    der: &[u8],
    named: Option<Curve>,
    public: Option<&[u8]>,
) -> Result<ecdsa::Pair, KeyError> {
    let key = EcPrivateKey::from_der(der).map_err(|error| {
        if has_explicit_curve(der) {
            KeyError::new(KeyProblem::ExplicitCurve)
        } else {
            malformed(error)
        }
    })?;
    let own = key.parameters.and_then(EcParameters::named_curve);
    let own = own.map(oid::curve);
    let curve = match (named, own) {
        (Some(named), Some(own)) if own != Ok(named) => {
            return Err(KeyError::at("parameters", KeyProblem::CurveMismatch));
        }
        (Some(curve), _) => curve,
        (None, Some(own)) => own?,
        (None, None) => return Err(KeyError::at("curve", KeyProblem::Missing)),
    };
    let scalar = whole_scalar(key.private_key, curve)?;
    let publics = [key.public_key, public];
    let is_whole = |point: &&[u8]| point.len() == 1 + 2 * curve.bytes();
    let pair = match publics.into_iter().flatten().find(is_whole) {
        // Without the point it shows which half is invalid.
        Some(point) => ecdsa::Pair::from_halves(curve, &scalar, point)
            .or_else(|_| ecdsa::Pair::from_scalar(curve, &scalar)),
        None => ecdsa::Pair::from_scalar(curve, &scalar),
    }
    .map_err(|problem| KeyError::at("privateKey", problem))?;
    for public in publics.into_iter().flatten() {
        if public != pair.point() && public != ecdsa::compress(pair.point()) {
            return Err(KeyError::at("publicKey", KeyProblem::Mismatch));
        }
    }
    Ok(pair)
}

/// Whether the parameters of an EC key are a SEQUENCE (X9.62, "specifiedCurve").
fn has_explicit_curve(der: &[u8]) -> bool {
    let read = AnyRef::from_der(der).and_then(|all| {
        all.sequence(|parts| {
            let mut is_explicit = false;
            while !parts.is_finished() {
                let part: AnyRef<'_> = parts.decode()?;
                is_explicit |= is_parameters(part.tag())
                    && AnyRef::from_der(part.value())
                        .is_ok_and(|inner| inner.tag() == Tag::Sequence);
            }
            Ok::<_, der::Error>(is_explicit)
        })
    });
    read.unwrap_or(false)
}

fn is_parameters(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::ContextSpecific { constructed: true, number } if number == TagNumber(0)
    )
}

/// The most zeros in front of an EC private key that a file may leave out, bytes. The lengths of two curves differ by
/// at least four (P-224 and P-256), so that a key is never read for a longer curve. One key of 16 million has more zeros.
const OMITTED_ZEROS: usize = 3;

/// Returns the private key in the length of the curve. Some programs leave out zeros in front, which RFC 5915,
/// section 3, does not permit.
fn whole_scalar(scalar: &[u8], curve: Curve) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let omitted = curve.bytes().checked_sub(scalar.len());
    let Some(omitted) = omitted.filter(|omitted| *omitted <= OMITTED_ZEROS) else {
        return Err(KeyError::at("privateKey", KeyProblem::WrongLength));
    };
    let mut whole = Zeroizing::new(vec![0; curve.bytes()]);
    whole[omitted..].copy_from_slice(scalar);
    Ok(whole)
}

/// Whether the parameters are NULL, as RSA requires (RFC 8017, appendix A.1).
pub(super) fn are_null(parameters: Option<AnyRef<'_>>) -> bool {
    parameters == Some(AnyRef::NULL)
}
