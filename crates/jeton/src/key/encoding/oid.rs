//! Object identifiers of key types and curves, and the errors for what names them.

use der::asn1::ObjectIdentifier;
use der::{Tag, Tagged as _};
use spki::AlgorithmIdentifierRef;

use crate::crypto::Curve;
use crate::error::{KeyError, KeyProblem};

pub(super) const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
pub(super) const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
pub(super) const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
pub(super) const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
pub(super) const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
pub(super) const P521: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.35");
pub(super) const SECP256K1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.10");
pub(super) const ML_DSA_44: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.17");
pub(super) const ML_DSA_65: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.18");
pub(super) const ML_DSA_87: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.19");

pub(super) fn malformed<E>(_: E) -> KeyError {
    KeyError::new(KeyProblem::Malformed).with_expected("the DER of a key")
}

/// Returns the name of the curve of an EC key (RFC 5480, section 2.1.1).
pub(super) fn named_curve(
    algorithm: &AlgorithmIdentifierRef<'_>,
) -> Result<ObjectIdentifier, KeyError> {
    match algorithm.parameters {
        Some(spelled_out) if spelled_out.tag() == Tag::Sequence => {
            Err(KeyError::new(KeyProblem::ExplicitCurve))
        }
        _ => algorithm.parameters_oid().map_err(parameters),
    }
}

/// The algorithm has invalid parameters.
pub(super) fn parameters<E>(_: E) -> KeyError {
    KeyError::at("parameters", KeyProblem::Invalid)
}

pub(super) fn curve(oid: ObjectIdentifier) -> Result<Curve, KeyError> {
    match oid {
        P256 => Ok(Curve::P256),
        P384 => Ok(Curve::P384),
        P521 => Ok(Curve::P521),
        SECP256K1 => Ok(Curve::Secp256k1),
        _ => Err(KeyError::at("curve", KeyProblem::Unsupported)
            .with_expected("P-256, P-384, P-521 or secp256k1")),
    }
}
