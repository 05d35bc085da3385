//! Errors for keys that do not fit an algorithm or an operation. They name what was found and what was expected.

use super::algorithm::Scheme;
#[cfg(feature = "jwe")]
use super::encryption_algorithm::Management;
use super::jwk::Members;
#[cfg(feature = "jwe")]
use super::{ContentEnc, KeyManagementAlg, KeyWrapAlg};
use super::{MacAlg, SigAlg};
use crate::crypto::Curve;
#[cfg(any(feature = "jwe", feature = "paseto"))]
use crate::crypto::ecdh::Group;
use crate::crypto::ml_dsa::ParameterSet;
use crate::error::{KeyError, KeyProblem};

/// A key names another algorithm than the requested one.
pub(super) fn another_algorithm(declared: &str, expected: &str) -> KeyError {
    KeyError::at("alg", KeyProblem::AnotherAlgorithm)
        .with_found(known_name(declared))
        .with_expected(known_name(expected).unwrap_or("the requested algorithm"))
}

/// A key names an algorithm that is not of the requested kind.
pub(super) fn another_kind(declared: &str, expected: &'static str) -> KeyError {
    KeyError::at("alg", KeyProblem::AnotherAlgorithm)
        .with_found(known_name(declared))
        .with_expected(expected)
}

/// A PEM or DER key of the type `found` does not fit the algorithm.
pub(super) fn wrong_type(found: &'static str, expected: &'static str) -> KeyError {
    KeyError::new(KeyProblem::WrongKeyType)
        .with_found(Some(found))
        .with_expected(expected)
}

/// The `kty` or `crv` of a JWK does not fit the algorithm.
pub(super) fn wrong_jwk_type(members: &Members<'_>, expected: &'static str) -> KeyError {
    KeyError::at("kty", KeyProblem::WrongKeyType)
        .with_found(jwk_type(members))
        .with_expected(expected)
}

/// Returns the type of a JWK, if it is known.
fn jwk_type(members: &Members<'_>) -> Option<&'static str> {
    let crv = members.optional("crv").ok().flatten();
    Some(match (&*members.required("kty").ok()?, crv.as_deref()) {
        ("oct", _) => "oct (a secret)",
        ("RSA", _) => "RSA",
        ("AKP", _) => "AKP",
        ("EC", Some("P-256")) => "EC P-256",
        ("EC", Some("P-384")) => "EC P-384",
        ("EC", Some("P-521")) => "EC P-521",
        ("EC", Some("secp256k1")) => "EC secp256k1",
        ("EC", _) => "EC",
        ("OKP", Some("Ed25519")) => "Ed25519",
        ("OKP", Some("X25519")) => "X25519",
        ("OKP", _) => "OKP",
        _ => return None,
    })
}

/// Returns the same name, if it is an algorithm that jeton knows: a name from a key must not be in a message.
fn known_name(name: &str) -> Option<&'static str> {
    let signatures = SigAlg::ALL.iter().copied().map(SigAlg::name);
    let names = signatures.chain(MacAlg::ALL.iter().copied().map(MacAlg::name));
    #[cfg(feature = "jwe")]
    let names = names
        .chain(
            KeyManagementAlg::ALL
                .iter()
                .copied()
                .map(KeyManagementAlg::name),
        )
        .chain(KeyWrapAlg::ALL.iter().copied().map(KeyWrapAlg::name))
        .chain(ContentEnc::ALL.iter().copied().map(ContentEnc::name));
    let mut names = names.chain(["RSA1_5", "dir", "none"]);
    names.find(|known| *known == name)
}

impl Scheme {
    /// Returns the type of its keys, for messages.
    pub(super) const fn key_type(self) -> &'static str {
        match self {
            Scheme::Rsa(..) => "RSA",
            Scheme::Ecdsa(Curve::P256) => "EC P-256",
            Scheme::Ecdsa(Curve::P384) => "EC P-384",
            Scheme::Ecdsa(Curve::P521) => "EC P-521",
            Scheme::Ecdsa(Curve::Secp256k1) => "EC secp256k1",
            Scheme::Ed25519 => "Ed25519",
            Scheme::MlDsa(ParameterSet::MlDsa44) => "ML-DSA-44",
            Scheme::MlDsa(ParameterSet::MlDsa65) => "ML-DSA-65",
            Scheme::MlDsa(ParameterSet::MlDsa87) => "ML-DSA-87",
        }
    }
}

#[cfg(any(feature = "jwe", feature = "paseto"))]
impl Group {
    /// Returns the type of its keys, for messages.
    pub(super) const fn key_type(self) -> &'static str {
        match self {
            Group::P256 => "EC P-256",
            Group::P384 => "EC P-384",
            Group::P521 => "EC P-521",
            Group::X25519 => "X25519",
        }
    }
}

#[cfg(feature = "jwe")]
impl KeyManagementAlg {
    /// Returns the type of key that it requires, for messages.
    pub(super) const fn required_key(self) -> &'static str {
        match self.management() {
            Management::Rsa(_) => "RSA for RSA-OAEP",
            Management::Ecdh(_) => "EC or X25519 for ECDH-ES",
        }
    }
}
