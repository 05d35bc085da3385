//! `crit`, and the only supported extension: `b64` (RFC 7797).

use super::support::{Key, encode, parts, reference, rejection_of};
use jeton::error::{Part, Rejection};
use jeton::jws::JwsSigner;
use jeton::key::{Alg, MacAlg, SigningKey};
use jeton::{Policy, jwt::JwtVerifier};
use serde_json::{Value, json};

#[test]
fn verify_unknown_crit_or_b64_without_crit_is_rejected() {
    for key in Key::every() {
        let alg = key.alg();
        for extra in [
            json!({"crit": ["exp"], "exp": 1}),
            json!({"crit": ["x-unknown"], "x-unknown": true}),
            json!({"crit": ["b64", "exp"], "b64": false, "exp": 1}),
            json!({"crit": ["exp", "b64"], "b64": false, "exp": 1}),
            json!({"crit": ["b64", "b64"], "b64": false}),
            json!({"crit": ["B64"], "b64": false, "B64": false}),
            json!({"crit": ["alg"]}),
            json!({"crit": ["alg"], "b64": true}),
            json!({"crit": []}),
            json!({"crit": [], "b64": true}),
            json!({"crit": "b64", "b64": true}),
            json!({"crit": ["b64"]}),
            json!({"crit": [["b64"]], "b64": true}),
            json!({"crit": {"b64": 1}, "b64": true}),
            json!({"crit": null, "b64": true}),
            json!({"crit": null}),
            json!({"b64": false}),
            json!({"b64": true}),
            json!({"b64": "false"}),
        ] {
            let mut header = extra;
            header["alg"] = json!(alg);
            let token = key.sign_under(&header.to_string(), b"{}");
            assert_eq!(
                rejection_of(key.verifier().verify(&token)),
                Rejection::CriticalExtension,
                "{header}"
            );
            let [protected, payload, signature] = parts(&token);
            let document =
                json!({"payload": payload, "protected": protected, "signature": signature});
            assert_eq!(
                rejection_of(key.verifier().verify_json(&document.to_string())),
                Rejection::CriticalExtension,
                "{header}"
            );
        }
        for b64 in [json!("false"), json!(0), json!(null), json!([false])] {
            let header = json!({"alg": alg, "crit": ["b64"], "b64": b64});
            let token = key.sign_under(&header.to_string(), b"{}");
            assert_eq!(
                rejection_of(key.verifier().verify(&token)),
                Rejection::Malformed(Part::Header),
                "{header}"
            );
        }
    }
}

#[test]
fn verify_jwt_with_crit_is_rejected() {
    for key in Key::every() {
        let verifier = JwtVerifier::new(
            key.keys(),
            Policy::new("i", "a")
                .any_issuer()
                .any_audience()
                .without_expiry(),
        );
        let verify = |token: &str| verifier.verify::<Value>(token);
        let plain = key.sign_under(&json!({"alg": key.alg()}).to_string(), b"{}");
        assert!(verify(&plain).is_ok(), "the control is not valid");
        for b64 in [true, false] {
            let header = json!({"alg": key.alg(), "crit": ["b64"], "b64": b64}).to_string();
            for payload in ["e30", "{}"] {
                let token = reference::sign(&key, &encode(header.as_bytes()), payload);
                assert_eq!(rejection_of(verify(&token)), Rejection::CriticalExtension);
            }
        }
    }
}

#[test]
fn verify_b64_change_is_rejected() {
    let key = SigningKey::generate(jeton::key::SigAlg::ES256).unwrap();
    let verifier = jeton::jws::JwsVerifier::new(key.verifying_key());
    let encoded = JwsSigner::new(&key).sign(b"x").unwrap();
    let plain = JwsSigner::new(&key).unencoded().sign(b"eA").unwrap();
    // Three equal characters between the dots, with two headers, are two payloads.
    assert_eq!(verifier.verify(&encoded).unwrap().payload(), b"x");
    assert_eq!(verifier.verify(&plain).unwrap().payload(), b"eA");
    let ([encoded_header, ..], [plain_header, middle, signature]) =
        (parts(&encoded), parts(&plain));
    let swapped = format!("{encoded_header}.{middle}.{signature}");
    assert_eq!(
        rejection_of(verifier.verify(&swapped)),
        Rejection::Signature
    );
    let document =
        |signatures: Value| json!({"payload": "eA", "signatures": signatures}).to_string();
    let [_, _, encoded_signature] = parts(&encoded);
    let one = json!({"protected": encoded_header, "signature": encoded_signature});
    let other = json!({"protected": plain_header, "signature": signature});
    assert!(verifier.verify_json(&document(json!([one]))).is_ok());
    assert!(verifier.verify_json(&document(json!([other]))).is_ok());
    for both in [json!([one, other]), json!([other, one])] {
        assert_eq!(
            rejection_of(verifier.verify_json(&document(both))),
            Rejection::Malformed(Part::Header)
        );
    }
    // The extension is only valid in the protected header.
    let outer = json!({"payload": "eA", "protected": encoded_header, "signature": encoded_signature,
        "header": {"crit": ["b64"], "b64": false}});
    assert_eq!(
        rejection_of(verifier.verify_json(&outer.to_string())),
        Rejection::CriticalExtension
    );
}

#[test]
fn unencoded_payload_with_forbidden_characters_is_rejected() {
    let key = Key::generate(Alg::Mac(MacAlg::HS256));
    let header = encode(b"{\"alg\":\"HS256\",\"b64\":false,\"crit\":[\"b64\"]}");
    let verify = |payload: &str| {
        key.verifier()
            .verify(&reference::sign(&key, &header, payload))
    };
    assert!(verify("as it is!").is_ok(), "the control is not valid");
    assert!(verify("").is_ok());
    for payload in ["a.b", ".", "a\nb", "a\r", "\t", "\u{7f}", "é", "\0"] {
        assert!(verify(payload).is_err(), "{payload:?}");
    }
}
