//! josekit, over the OpenSSL of the system.

use josekit::JoseError;
use josekit::jwk::Jwk;
use josekit::jwk::KeyPair;
use josekit::jwk::alg::ec::EcKeyPair;
use josekit::jwk::alg::ed::EdKeyPair;
use josekit::jwk::alg::rsa::RsaKeyPair;
use josekit::jws::{ES256, ES256K, ES384, ES512, EdDSA, HS256, HS384, HS512, JwsVerifier};
use josekit::jws::{PS256, PS384, PS512, RS256, RS384, RS512};

use super::Answer;
use crate::signed::{MESSAGE, Signed};

pub fn read(text: &[u8], signed: Option<&Signed>) -> Answer {
    let jwk = match Jwk::from_bytes(text) {
        Ok(jwk) => jwk,
        Err(error) => return Answer::Rejected(error.to_string()),
    };
    // The getters of a JWK that was not checked can panic.
    let read = std::panic::catch_unwind(|| of_jwk(&jwk, signed));
    match read {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => Answer::Rejected(error.to_string()),
        Err(_) => Answer::Rejected("panic".into()),
    }
}

fn of_jwk(jwk: &Jwk, signed: Option<&Signed>) -> Result<Answer, JoseError> {
    let is_private = jwk.parameter("d").is_some();
    let alg = jwk.algorithm().unwrap_or_default();
    let curve = jwk
        .parameter("crv")
        .and_then(|crv| crv.as_str())
        .unwrap_or_default();
    match (jwk.key_type(), is_private) {
        ("RSA", true) => {
            let key = RsaKeyPair::from_jwk(jwk)?;
            Ok(of_spki(&key.to_der_public_key()))
        }
        ("EC", true) => Ok(of_spki(&EcKeyPair::from_jwk(jwk)?.to_der_public_key())),
        ("OKP", true) if curve == "Ed25519" => {
            Ok(of_spki(&EdKeyPair::from_jwk(jwk)?.to_der_public_key()))
        }
        ("RSA", false) => {
            let verifier: Box<dyn JwsVerifier> = match alg {
                "RS384" => Box::new(RS384.verifier_from_jwk(jwk)?),
                "RS512" => Box::new(RS512.verifier_from_jwk(jwk)?),
                "PS256" => Box::new(PS256.verifier_from_jwk(jwk)?),
                "PS384" => Box::new(PS384.verifier_from_jwk(jwk)?),
                "PS512" => Box::new(PS512.verifier_from_jwk(jwk)?),
                _ => Box::new(RS256.verifier_from_jwk(jwk)?),
            };
            Ok(of_verifier(&*verifier, "RS256", alg, signed))
        }
        ("EC", false) => {
            let (own, verifier) = match curve {
                "P-384" => ("ES384", ES384.verifier_from_jwk(jwk)?),
                "P-521" => ("ES512", ES512.verifier_from_jwk(jwk)?),
                "secp256k1" => ("ES256K", ES256K.verifier_from_jwk(jwk)?),
                _ => ("ES256", ES256.verifier_from_jwk(jwk)?),
            };
            Ok(of_verifier(&verifier, own, alg, signed))
        }
        ("OKP", false) if curve == "Ed25519" => {
            let verifier = EdDSA.verifier_from_jwk(jwk)?;
            Ok(of_verifier(&verifier, "EdDSA", alg, signed))
        }
        ("oct", _) => {
            match alg {
                "HS384" => drop(HS384.verifier_from_jwk(jwk)?),
                "HS512" => drop(HS512.verifier_from_jwk(jwk)?),
                _ => drop(HS256.verifier_from_jwk(jwk)?),
            };
            Ok(Answer::Verifies(None))
        }
        ("AKP" | "OKP", _) => Ok(Answer::Unknown),
        (other, _) => Ok(Answer::Rejected(format!("kty {other}"))),
    }
}

fn of_spki(der: &[u8]) -> Answer {
    super::openssl_reader::read(super::Format::Der, der)
}

/// Verifies the signature of the original key, if it has the algorithm of this one.
fn of_verifier(
    verifier: &dyn JwsVerifier,
    own: &str,
    alg: &str,
    signed: Option<&Signed>,
) -> Answer {
    match signed {
        Some(signed) if signed.alg == own && (alg.is_empty() || alg == own) => {
            Answer::Verifies(Some(verifier.verify(MESSAGE, &signed.signature).is_ok()))
        }
        _ => Answer::Verifies(None),
    }
}
