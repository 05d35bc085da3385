//! Literal tokens from `vectors/attack-tokens` that broke other libraries, each with its key.

use jeton::danger::{Password, Pbes2Alg};
use jeton::error::{Part, Rejection};
use jeton::jwe::Decrypter;
use jeton::key::{ContentEnc, ContentKey, DecryptionKey, KeyManagementAlg};
use serde_json::Value;

use super::support::{decode, direct, rejection};

use crate::effort::at_once;

fn cases(name: &str) -> Vec<Value> {
    let text = include_str!("../../../../../../vectors/attack-tokens/literal.json");
    let file: Value = serde_json::from_str(text).unwrap();
    let tests = file["tests"].as_array().unwrap().iter();
    let found: Vec<Value> = tests.filter(|test| test["name"] == name).cloned().collect();
    assert!(!found.is_empty(), "{name}");
    found
}

fn rejection_of(decrypter: &Decrypter, case: &Value) -> Rejection {
    // Their limit is 50 ms of CPU time; ours is a fifth of that.
    match &case["input"] {
        Value::String(token) => at_once(|| rejection(decrypter.decrypt(token))),
        json => at_once(|| rejection(decrypter.decrypt_json(&json.to_string()))),
    }
}

#[test]
fn decrypt_huge_p2c_is_rejected() {
    for name in ["pbes2-p2c-10M", "CVE-2023-50967-pbes2-p2c"] {
        for case in cases(name) {
            let secret = decode(case["key"]["k"].as_str().unwrap());
            let password = Password::new(Pbes2Alg::Hs256A128Kw, &secret).unwrap();
            let rejection = rejection_of(&Decrypter::new(password), &case);
            assert!(matches!(
                rejection,
                Rejection::TooLarge {
                    part: Part::Header,
                    ..
                }
            ));
        }
    }
    let case = &cases("CVE-2023-50967-pbes2-p2c")[0];
    let from_jwk = Password::from_jwk(&case["key"].to_string()).unwrap();
    assert!(matches!(
        rejection_of(&Decrypter::new(from_jwk), case),
        Rejection::TooLarge {
            part: Part::Header,
            ..
        }
    ));
}

#[test]
fn decrypt_epk_off_the_curve_is_rejected() {
    for name in ["ecdh-invalid-curve-mod113", "ecdh-invalid-curve-mod2447"] {
        for case in cases(name) {
            let alg = KeyManagementAlg::EcdhEsA128Kw;
            let key = DecryptionKey::from_jwk_as(&case["key"].to_string(), alg).unwrap();
            assert_eq!(
                rejection_of(&Decrypter::new(key), &case),
                Rejection::Decryption
            );
        }
    }
}

#[test]
fn decrypt_truncated_gcm_tag_is_rejected() {
    for case in cases("gcm-truncated-tag") {
        let key = ContentKey::from_jwk_as(&case["key"].to_string(), ContentEnc::A128Gcm).unwrap();
        assert_eq!(
            rejection_of(&Decrypter::new(key), &case),
            Rejection::Decryption
        );
    }
}

#[test]
fn decrypt_zip_as_boolean_is_rejected() {
    for case in cases("zip-as-boolean") {
        let enc = ContentEnc::A256CbcHs512;
        let key = ContentKey::from_jwk_as(&case["key"].to_string(), enc).unwrap();
        let decrypter = jeton::danger::allow_zip(Decrypter::new(key));
        assert_eq!(
            rejection_of(&decrypter, &case),
            Rejection::Malformed(Part::Header)
        );
    }
}

#[test]
fn decrypt_header_member_of_wrong_type_is_rejected() {
    for case in cases("malformed-header-type") {
        let rejection = rejection_of(&direct(), &case);
        let expected = [Part::Header, Part::Token].map(Rejection::Malformed);
        assert!(expected.contains(&rejection));
    }
}
