//! Errors for keys that do not fit an algorithm or an operation. They name what was found and what was expected.

#[cfg(feature = "pem")]
use super::KeyHalf;
use super::algorithm::Scheme;
#[cfg(feature = "jwe")]
use super::encryption_algorithm::Management;
use super::signing::Pair;
use super::verifying::Public;
#[cfg(feature = "jwe")]
use super::{ContentEnc, KeyManagementAlg, KeyWrapAlg};
use super::{MacAlg, SigAlg};
use crate::crypto::Curve;
#[cfg(any(feature = "jwe", feature = "paseto"))]
use crate::crypto::ecdh::Group;
use crate::crypto::ml_dsa::ParameterSet;
use crate::error::{FoundInput, KeyError, KeyProblem};
use crate::jwk::Members;

/// The start of a PEM block (RFC 7468).
pub(super) const PEM_BEGIN: &str = "-----BEGIN ";

/// Whether the text has a block.
pub(super) fn is_pem(text: &str) -> bool {
    text.contains(PEM_BEGIN)
}

/// Returns the error for a text that is no JSON object.
pub(crate) fn not_json(text: &str) -> KeyError {
    let start = text.trim_start_matches('\u{feff}').trim_start().as_bytes();
    match start {
        [] => KeyError::input(FoundInput::Empty),
        [b'k', b'1'..=b'4', b'.', ..] => KeyError::input(FoundInput::Paserk),
        _ if is_pem(text) => KeyError::input(FoundInput::Pem),
        _ => KeyError::new(KeyProblem::Malformed).with_expected("a JWK"),
    }
}

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

/// A key pair, or a half of it, was given for a MAC.
#[cfg(feature = "pem")]
pub(super) fn not_a_secret(half: KeyHalf) -> KeyError {
    KeyError::new(KeyProblem::WrongKeyType)
        .with_found(Some(match half {
            KeyHalf::Public => "a public key",
            KeyHalf::Private => "a private key",
            KeyHalf::Symmetric => "a secret",
        }))
        .with_expected("a secret for HMAC")
}

/// The `kty` or `crv` of a JWK does not fit the algorithm.
pub(crate) fn wrong_jwk_type(members: &Members<'_>, expected: &'static str) -> KeyError {
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

impl Pair {
    /// Returns the type of the key, for messages.
    pub(super) const fn key_type(&self) -> &'static str {
        match self {
            Pair::Rsa(_) => "RSA",
            Pair::Ecdsa(_) => "EC",
            Pair::Ed25519(_) => "Ed25519",
            Pair::MlDsa(_) => "ML-DSA",
        }
    }
}

impl Public {
    /// Returns the type of the key, for messages.
    pub(super) const fn key_type(&self) -> &'static str {
        match self {
            Public::Rsa { .. } => "RSA",
            Public::Ecdsa(_) => "EC",
            Public::Ed25519(_) => "Ed25519",
            Public::MlDsa(_) => "ML-DSA",
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
