//! The JSON serialization.

use super::support::{encode, parts, rejection_of};
use jeton::error::{Part, Rejection};
use jeton::jwk::KeySet;
use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{SigAlg, SigningKey};
use jeton::limits;
use serde_json::{Value, json};

#[test]
fn verify_json_returns_the_signature_index() {
    let trusted = SigningKey::generate(SigAlg::ES256).unwrap();
    let other_key = SigningKey::generate(SigAlg::ES256).unwrap();
    let sign = |key: &SigningKey| {
        let token = JwsSigner::new(key).sign(b"both").unwrap();
        let [protected, _, signature] = parts(&token).map(str::to_owned);
        json!({"protected": protected, "signature": signature})
    };
    let document = |signatures: Vec<Value>| {
        json!({"payload": encode(b"both"), "signatures": signatures}).to_string()
    };
    let verifier = JwsVerifier::new(trusted.verifying_key());
    let both = document(vec![sign(&other_key), sign(&trusted)]);
    assert_eq!(verifier.verify_json(&both).unwrap().signature_index(), 1);
    assert_eq!(
        rejection_of(verifier.verify_json(&document(vec![sign(&other_key)]))),
        Rejection::Signature
    );
    assert_eq!(
        rejection_of(verifier.verify_json(&document(vec![]))),
        Rejection::Malformed(Part::Token)
    );
    let many = document(vec![sign(&other_key); 17]);
    assert!(matches!(
        rejection_of(verifier.verify_json(&many)),
        Rejection::TooLarge {
            part: Part::Token,
            ..
        }
    ));
}

/// 16 signatures without a `kid`, each of which might be from any of eight keys.
#[test]
fn number_of_signature_checks_is_limited() {
    let other_key = SigningKey::generate(SigAlg::EdDSA).unwrap();
    let keys: Vec<SigningKey> = (0..limits::KEYS_TRIED)
        .map(|_| SigningKey::generate(SigAlg::EdDSA).unwrap())
        .collect();
    let publics = keys.iter().map(|key| key.verifying_key().to_jwk());
    let set = format!("{{\"keys\":[{}]}}", publics.collect::<Vec<_>>().join(","));
    let verifier = JwsVerifier::new(KeySet::from_json(&set).unwrap());
    let sign = |key: &SigningKey| {
        let token = JwsSigner::new(key).sign(b"all").unwrap();
        let [protected, _, signature] = parts(&token).map(str::to_owned);
        json!({"protected": protected, "signature": signature})
    };
    let document = |forged: usize, last: &SigningKey| {
        let mut signatures = vec![sign(&other_key); forged];
        signatures.push(sign(last));
        verifier
            .verify_json(&json!({"payload": encode(b"all"), "signatures": signatures}).to_string())
    };
    let before = limits::SIGNATURES_TRIED / limits::KEYS_TRIED;
    assert!(document(before - 1, &keys[limits::KEYS_TRIED - 1]).is_ok());
    assert_eq!(
        rejection_of(document(before - 1, &other_key)),
        Rejection::Signature
    );
    assert!(matches!(
        rejection_of(document(before, &keys[0])),
        Rejection::TooLarge {
            part: Part::Token,
            ..
        }
    ));
}

#[test]
fn verify_malformed_json_serialization_is_rejected() {
    let key = SigningKey::generate(SigAlg::EdDSA).unwrap();
    let token = JwsSigner::new(&key).sign(b"x").unwrap();
    let [protected, payload, signature] = parts(&token);
    let verifier = JwsVerifier::new(key.verifying_key());
    let good = json!({"payload": payload, "protected": protected, "signature": signature});
    assert!(verifier.verify_json(&good.to_string()).is_ok());
    // The compact verifier rejects JSON, and the reverse.
    assert!(verifier.verify(&good.to_string()).is_err());
    assert!(verifier.verify_json(&token).is_err());

    let with = |name: &str, value: Value| {
        let mut changed = good.clone();
        changed[name] = value;
        changed.to_string()
    };
    assert!(verifier.verify_json(&with("unknown", json!(1))).is_ok());
    for (forged, expected) in [
        (
            with("header", json!({"alg": "EdDSA"})),
            Rejection::DuplicateMember(Part::Header),
        ),
        (
            with("header", json!({"crit": ["x"]})),
            Rejection::CriticalExtension,
        ),
        (
            with("header", json!("x")),
            Rejection::Malformed(Part::Header),
        ),
        (
            with("signatures", json!([])),
            Rejection::Malformed(Part::Token),
        ),
        (
            with(
                "signatures",
                json!([{"protected": protected, "signature": signature}]),
            ),
            Rejection::Malformed(Part::Token),
        ),
        (with("payload", json!(1)), Rejection::Malformed(Part::Token)),
        (
            with("signature", json!(null)),
            Rejection::Malformed(Part::Token),
        ),
        (
            with("protected", json!("")),
            Rejection::Malformed(Part::Header),
        ),
    ] {
        assert_eq!(
            rejection_of(verifier.verify_json(&forged)),
            expected,
            "{forged}"
        );
    }
    let twice = good.to_string().replacen('{', "{\"payload\":\"eA\",", 1);
    assert_eq!(
        rejection_of(verifier.verify_json(&twice)),
        Rejection::DuplicateMember(Part::Token)
    );
    // An unprotected `typ` is not signed, so it must be ignored.
    let typed = with("header", json!({"typ": "at+jwt"}));
    assert_eq!(verifier.verify_json(&typed).unwrap().typ(), None);
}
