//! Attacks with claims of correctly signed tokens.

use super::support::{Key, rejection_of};
use jeton::error::{Claim, Part, Rejection};
use jeton::jws::JwsSigner;
use jeton::key::{Alg, MacAlg, MacKey};
use jeton::{Claims, Policy, Verified, jwt::JwtVerifier};
use serde_json::{Value, json};
use std::time::Duration;

/// A JWT with any claims, signed by the key's owner.
fn jwt(key: &Key, claims: &str) -> String {
    key.sign_under(
        &format!("{{\"alg\":\"{}\",\"typ\":\"JWT\"}}", key.alg()),
        claims.as_bytes(),
    )
}

fn lenient() -> Policy {
    Policy::new("i", "a")
        .any_issuer()
        .any_audience()
        .without_expiry()
}

#[test]
fn verify_claim_of_wrong_type_is_rejected() {
    let key = Key::generate(Alg::Mac(MacAlg::HS256));
    let verifier = JwtVerifier::new(key.keys(), lenient());
    let verify = |claims: &str| verifier.verify::<Value>(&jwt(&key, claims));
    assert!(verify("{\"exp\":4102444800}").is_ok());
    for (claims, expected) in [
        (
            "{\"exp\":\"4102444800\"}",
            Rejection::ClaimType(Claim::Expiry),
        ),
        ("{\"exp\":null}", Rejection::ClaimType(Claim::Expiry)),
        ("{\"exp\":0}", Rejection::Expired),
        ("{\"exp\":-1}", Rejection::ClaimRange(Claim::Expiry)),
        ("{\"exp\":1e400}", Rejection::ClaimRange(Claim::Expiry)),
        (
            "{\"exp\":18446744073709551616}",
            Rejection::ClaimRange(Claim::Expiry),
        ),
        ("{\"nbf\":\"0\"}", Rejection::ClaimType(Claim::NotBefore)),
        ("{\"nbf\":4102444800}", Rejection::NotYetValid),
        ("{\"iat\":[1]}", Rejection::ClaimType(Claim::IssuedAt)),
        ("{\"aud\":{}}", Rejection::ClaimType(Claim::Audience)),
        ("{\"aud\":[\"a\",1]}", Rejection::ClaimType(Claim::Audience)),
        ("{\"iss\":[\"i\"]}", Rejection::ClaimType(Claim::Issuer)),
        ("{\"sub\":1}", Rejection::ClaimType(Claim::Subject)),
        ("{\"jti\":1}", Rejection::ClaimType(Claim::TokenId)),
        (
            "{\"exp\":4102444800,\"exp\":1}",
            Rejection::DuplicateMember(Part::Payload),
        ),
        (
            "{\"a\":{\"b\":1,\"b\":1}}",
            Rejection::DuplicateMember(Part::Payload),
        ),
        ("[]", Rejection::Malformed(Part::Payload)),
        ("\"x\"", Rejection::Malformed(Part::Payload)),
        ("", Rejection::Malformed(Part::Payload)),
        ("{} ,", Rejection::Malformed(Part::Payload)),
    ] {
        assert_eq!(rejection_of(verify(claims)), expected, "{claims}");
    }
    let deep = format!("{{\"x\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(matches!(
        rejection_of(verify(&deep)),
        Rejection::TooDeep {
            part: Part::Payload,
            ..
        }
    ));
    let not_utf8 = key.sign_under(
        &format!("{{\"alg\":\"{}\"}}", key.alg()),
        b"{\"a\":\"\xff\"}",
    );
    assert_eq!(
        rejection_of(verifier.verify::<Value>(&not_utf8)),
        Rejection::Malformed(Part::Payload)
    );
}

#[test]
fn verify_forged_and_expired_token_reports_signature() {
    for key in Key::every() {
        let expired = jwt(&key, "{\"exp\":1}");
        let verifier = JwtVerifier::new(key.keys(), lenient());
        assert_eq!(
            rejection_of(verifier.verify::<Value>(&expired)),
            Rejection::Expired
        );
        let forger = Key::generate(key.alg().parse().unwrap());
        let forged = jwt(&forger, "{\"exp\":1}");
        assert_eq!(
            rejection_of(verifier.verify::<Value>(&forged)),
            Rejection::Signature,
            "{}",
            key.alg()
        );
    }
}

#[test]
fn issue_escapes_names_and_values() {
    let nasty = "\",\"admin\":true,\"x\":\"\u{0}\u{1f}\u{2028}\\";
    let key = MacKey::generate(MacAlg::HS256)
        .unwrap()
        .with_key_id(nasty)
        .unwrap();
    let mut custom = serde_json::Map::new();
    custom.insert(nasty.into(), nasty.into());
    let claims = Claims::new(custom)
        .issuer(nasty)
        .subject(nasty)
        .audience("a")
        .expires_in(Duration::from_secs(60));
    let token = key.issue(&claims).unwrap();
    let verifier = JwtVerifier::new(&key, Policy::new(nasty, "a"));
    let verified: Verified<serde_json::Map<String, Value>> = verifier.verify(&token).unwrap();
    assert_eq!(
        (verified.issuer(), verified.subject()),
        (Some(nasty), Some(nasty))
    );
    assert_eq!(verified.claims().get(nasty), Some(&Value::from(nasty)));
    assert!(!verified.claims().contains_key("admin"));
    let header: Value =
        serde_json::from_slice(&jeton::danger::peek(&token).unwrap().header).unwrap();
    assert_eq!(header, json!({"alg":"HS256","kid":nasty,"typ":"JWT"}));
    assert!(JwsSigner::new(&key).typ("a b").sign(b"x").is_err());
}
