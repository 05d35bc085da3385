//! What works with every set of features: `cargo test -p jeton --no-default-features --test features`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::time::Duration;

use jeton::error::{InvalidUse, KeyProblem};
use jeton::jwk::KeySet;
use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{SigAlg, SigningKey, VerifyingKey};
use jeton::{Claims, Error, Policy, Verified, jwt::JwtVerifier};
use serde::de::IgnoredAny;

fn policy() -> Policy {
    Policy::new("https://id.example", "api")
}

fn claims() -> Claims<'static, ()> {
    Claims::registered()
        .issuer("https://id.example")
        .audience("api")
        .expires_in(Duration::from_secs(60))
}

/// Every algorithm, with keys that are written as JWK and read again.
#[test]
fn token_of_every_algorithm_verifies_with_its_jwk() {
    for &alg in SigAlg::ALL.iter() {
        let generated = SigningKey::generate(alg).unwrap();
        let key = SigningKey::from_jwk(&generated.to_jwk().unwrap()).unwrap();
        let token = key.issue(&claims()).unwrap();
        let public = VerifyingKey::from_jwk(&generated.verifying_key().to_jwk()).unwrap();
        let verified: Verified<IgnoredAny> =
            JwtVerifier::new(&public, policy()).verify(&token).unwrap();
        assert_eq!(verified.issuer(), Some("https://id.example"), "{alg}");
        let signed = JwsSigner::new(&key).sign(b"hello").unwrap();
        let verified = JwsVerifier::new(public).verify(&signed).unwrap();
        assert_eq!(verified.payload(), b"hello", "{alg}");
    }
}

/// Without `hmac`, a symmetric key is skipped with its reason.
#[test]
fn symmetric_key_in_a_set_needs_hmac() {
    let public = SigningKey::generate(SigAlg::RS256).unwrap().verifying_key();
    let secret = "A".repeat(43);
    let text = format!(
        r#"{{"keys":[{},{{"kty":"oct","alg":"HS256","k":"{secret}"}}]}}"#,
        public.to_jwk()
    );
    let set = KeySet::from_json(&text).unwrap();
    if cfg!(feature = "hmac") {
        assert_eq!(set.len(), 2);
    } else {
        assert_eq!(set.len(), 1);
        assert_eq!(set.skipped().len(), 1);
        assert_eq!(
            set.skipped()[0].reason().problem(),
            &KeyProblem::Unsupported
        );
    }
}

/// A time as text is for PASETO only. No set of features issues a JWT with one.
#[test]
fn date_as_text_in_a_jwt_is_an_error() {
    let key = SigningKey::generate(SigAlg::ES256).unwrap();
    let issued = Claims::from_json(r#"{"exp":"2030-01-01T00:00:00Z"}"#)
        .and_then(|claims| key.issue(&claims));
    let refused = match issued {
        Err(Error::InvalidUse(refused)) => refused,
        other => panic!("{other:?}"),
    };
    assert!(
        matches!(
            refused,
            InvalidUse::DateForm(_) | InvalidUse::ClaimType { .. }
        ),
        "{refused:?}"
    );
}
