//! Signs and verifies every form of JWS with every algorithm.

use jeton::Error;
use jeton::error::InvalidUse;
use jeton::jws::{GeneralJws, JwsSigner, JwsVerifier};
use jeton::key::{Keys, MacAlg, MacKey, SigAlg, SigningKey, SigningKeyRef};
use serde_json::{Value, json};

/// The payloads: empty, text, JSON, and bytes that are not text.
const PAYLOADS: [&[u8]; 5] = [
    b"",
    b"text",
    b"{\"a\":\"\\u0001\"}",
    b"$.02 \"'\n\xc3\xa9",
    b"\xff\x00",
];

fn every_key(mut run: impl FnMut(SigningKeyRef<'_>, Keys)) {
    for &alg in MacAlg::ALL {
        let key = MacKey::generate(alg).unwrap();
        run((&key).into(), (&key).into());
    }
    for &alg in SigAlg::ALL {
        let key = SigningKey::generate(alg).unwrap();
        run((&key).into(), key.verifying_key().into());
    }
}

fn invalid_use<T>(result: jeton::Result<T>) -> InvalidUse {
    match result {
        Err(Error::InvalidUse(invalid_use)) => invalid_use,
        Err(other) => panic!("not an invalid use: {other}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn every_serialization_round_trips() {
    every_key(|key, keys| {
        let verifier = JwsVerifier::new(keys);
        for payload in PAYLOADS {
            for unencoded in [false, true] {
                let signer = || {
                    if unencoded {
                        JwsSigner::new(key).unencoded()
                    } else {
                        JwsSigner::new(key)
                    }
                };
                let detached = signer().sign_detached(payload).unwrap();
                let verified = verifier.verify_detached(&detached, payload).unwrap();
                assert_eq!(verified.payload(), payload);
                assert!(verifier.verify_detached(&detached, b"another").is_err());
                let text = signer().sign_flattened_detached(payload).unwrap();
                assert!(verifier.verify_json_detached(&text, payload).is_ok());
                assert!(verifier.verify_json_detached(&text, b"another").is_err());
                assert!(verifier.verify_json(&text).is_err());
                let general = GeneralJws::new().signer(signer()).signer(signer());
                let text = general.sign_detached(payload).unwrap();
                assert!(verifier.verify_json_detached(&text, payload).is_ok());

                let is_text = std::str::from_utf8(payload).is_ok();
                for made in [signer().sign_flattened(payload), general.sign(payload)] {
                    if unencoded && !is_text {
                        assert_eq!(invalid_use(made), InvalidUse::UnencodedPayload);
                        continue;
                    }
                    let text = made.unwrap();
                    assert_eq!(verifier.verify_json(&text).unwrap().payload(), payload);
                    // A document with a payload is not detached.
                    assert!(verifier.verify_json_detached(&text, payload).is_err());
                }
                let fits = payload
                    .iter()
                    .all(|b| matches!(b, b' '..=b'~') && *b != b'.');
                if unencoded && !fits {
                    assert_eq!(
                        invalid_use(signer().sign(payload)),
                        InvalidUse::UnencodedPayload
                    );
                } else {
                    let token = signer().sign(payload).unwrap();
                    assert_eq!(verifier.verify(&token).unwrap().payload(), payload);
                }
            }
        }
    });
}

#[test]
fn unencoded_payload_is_verbatim() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let text = JwsSigner::new(&key)
        .unencoded()
        .sign_flattened(b"a \"quoted\" dot .")
        .unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["payload"], "a \"quoted\" dot .");
    let token = JwsSigner::new(&key)
        .unencoded()
        .sign(b"a space, a comma")
        .unwrap();
    assert_eq!(token.split('.').nth(1), Some("a space, a comma"));
}

#[test]
fn header_contains_the_requested_members() {
    let key = SigningKey::generate(SigAlg::ES256)
        .unwrap()
        .with_key_id("k")
        .unwrap();
    let signer = || JwsSigner::new(&key).typ("t").content_type("c");
    for token in [
        signer().sign(b"x").unwrap(),
        signer().unencoded().sign(b"x").unwrap(),
    ] {
        let verified = JwsVerifier::new(key.verifying_key())
            .verify(&token)
            .unwrap();
        assert_eq!(
            (verified.typ(), verified.content_type(), verified.key_id()),
            (Some("t"), Some("c"), Some("k"))
        );
    }
}

#[test]
fn unprotected_header_is_separate() {
    let key = SigningKey::generate(SigAlg::EdDSA).unwrap();
    let signer = JwsSigner::new(&key).unprotected("note", json!(["x", 1]));
    let text = signer.sign_flattened(b"x").unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["header"], json!({"note": ["x", 1]}));
    assert!(
        JwsVerifier::new(key.verifying_key())
            .verify_json(&text)
            .is_ok()
    );
    assert_eq!(invalid_use(signer.sign(b"x")), InvalidUse::CompactForm);
    assert_eq!(
        invalid_use(signer.sign_detached(b"x")),
        InvalidUse::CompactForm
    );
    let signed = |name, value: Value| {
        let signer = JwsSigner::new(&key).unprotected("note", "x");
        invalid_use(signer.unprotected(name, value).sign_flattened(b"x"))
    };
    for (name, value) in [
        ("alg", json!("none")),
        ("kid", json!("another")),
        ("crit", json!(["b64"])),
        ("b64", json!(false)),
        ("jwk", json!({})),
        ("note", json!("y")),
    ] {
        assert_eq!(signed(name, value), InvalidUse::HeaderMember, "{name}");
    }
    let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
    for value in [json!("x".repeat(20_000)), deep] {
        assert_eq!(signed("other", value), InvalidUse::UnprotectedHeader);
    }
    let unserializable = std::collections::HashMap::from([((1, 2), 3)]);
    let signer = JwsSigner::new(&key).unprotected("other", unserializable);
    assert_eq!(
        invalid_use(signer.sign_flattened(b"x")),
        InvalidUse::UnprotectedHeader
    );
}

#[test]
fn signers_with_different_encoding_are_an_error() {
    let key = SigningKey::generate(SigAlg::ES384).unwrap();
    let signer = || JwsSigner::new(&key);
    let none = InvalidUse::Signers {
        signers: 0,
        limit: 16,
    };
    assert_eq!(invalid_use(GeneralJws::new().sign(b"x")), none);
    assert_eq!(invalid_use(GeneralJws::new().sign_detached(b"x")), none);
    let mixed = GeneralJws::new()
        .signer(signer())
        .signer(signer().unencoded());
    let differ = InvalidUse::MixedPayloadEncoding;
    assert_eq!(invalid_use(mixed.sign(b"x")), differ);
    assert_eq!(invalid_use(mixed.sign_detached(b"x")), differ);
    let crowd = (0..17).fold(GeneralJws::new(), |general, _| general.signer(signer()));
    let crowd = invalid_use(crowd.sign(b"x"));
    assert_eq!(
        crowd,
        InvalidUse::Signers {
            signers: 17,
            limit: 16
        }
    );
    assert_eq!(
        crowd.to_string(),
        "a general JWS has 17 signers, must be between 1 and 16"
    );
    let sixteen = (0..16).fold(GeneralJws::new(), |general, _| general.signer(signer()));
    let text = sixteen.sign(b"x").unwrap();
    assert!(
        JwsVerifier::new(key.verifying_key())
            .verify_json(&text)
            .is_ok()
    );
}
