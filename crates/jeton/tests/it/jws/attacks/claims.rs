//! Attacks with claims of correctly signed tokens.

use super::support::{Key, rejection_of};
use jeton::error::{Part, Rejection};
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

/// Each registered claim with each type: the message has the type that was found and the one that is expected.
#[test]
fn verify_claim_of_wrong_type_names_both_types() {
    let key = Key::generate(Alg::Mac(MacAlg::HS256));
    let verifier = JwtVerifier::new(key.keys(), lenient());
    let strings = "a string";
    let list = "a string or a list of strings";
    let time = "a number of seconds since 1970";
    let values = [
        ("null", "null"),
        ("true", "a boolean"),
        ("7", "a number"),
        ("\"7\"", "a string"),
        ("[7]", "a list"),
        ("{}", "an object"),
    ];
    let claims = [
        ("iss", strings),
        ("sub", strings),
        ("jti", strings),
        ("aud", list),
        ("exp", time),
        ("nbf", time),
        ("iat", time),
    ];
    let mut rejected = 0;
    for (name, expected) in claims {
        for (value, found) in values {
            let is_right = expected.starts_with(found);
            if is_right {
                continue;
            }
            let text = format!("{{\"{name}\":{value}}}");
            let rejection = rejection_of(verifier.verify::<Value>(&jwt(&key, &text)));
            let found = match (name, value) {
                ("aud", "[7]") => "a list with a number",
                _ => found,
            };
            let message = format!("the claim `{name}` must be {expected}, not {found}");
            assert_eq!(rejection.to_string(), message);
            assert_eq!(rejection.code(), "TOKEN_INVALID_CLAIMS");
            rejected += 1;
        }
    }
    assert_eq!(rejected, claims.len() * (values.len() - 1));
}

#[test]
fn verify_time_in_another_unit_names_the_unit() {
    let key = Key::generate(Alg::Mac(MacAlg::HS256));
    let verifier = JwtVerifier::new(key.keys(), lenient());
    let range = "is outside the years 1970 to 9999";
    for name in ["exp", "nbf", "iat"] {
        for (value, unit) in [
            ("1800000000000", "milliseconds"),
            ("1800000000123.5", "milliseconds"),
            ("1.8e12", "milliseconds"),
            ("1800000000000000", "microseconds"),
            ("1800000000000000000", "nanoseconds"),
        ] {
            let text = format!("{{\"{name}\":{value}}}");
            let rejection = rejection_of(verifier.verify::<Value>(&jwt(&key, &text)));
            let message = format!("the claim `{name}` {range}: {unit}? It must be in seconds");
            assert_eq!(rejection.to_string(), message, "{value}");
        }
        for value in ["-1", "1e400", "-1800000000000", "99999999999999999999999"] {
            let text = format!("{{\"{name}\":{value}}}");
            let rejection = rejection_of(verifier.verify::<Value>(&jwt(&key, &text)));
            let message = format!("the claim `{name}` {range}");
            assert_eq!(rejection.to_string(), message, "{value}");
        }
    }
}

#[test]
fn verify_invalid_payload_is_rejected() {
    let key = Key::generate(Alg::Mac(MacAlg::HS256));
    let verifier = JwtVerifier::new(key.keys(), lenient());
    let verify = |claims: &str| verifier.verify::<Value>(&jwt(&key, claims));
    assert!(verify("{\"exp\":4102444800}").is_ok());
    for (claims, expected) in [
        ("{\"exp\":0}", Rejection::Expired),
        ("{\"nbf\":4102444800}", Rejection::NotYetValid),
        ("{\"iat\":4102444800}", Rejection::IssuedInTheFuture),
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
