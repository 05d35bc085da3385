//! Recipes that modify the header.

use super::support::{Key, encode, parts, reference};
use super::{assert_rejected, every, hs256};
use jeton::key::SigningKey;
use serde_json::{Value, json};

fn unsigned(none: &str) {
    for key in every() {
        let header = encode(json!({"alg": none, "typ": "JWT"}).to_string().as_bytes());
        let [_, payload, signature] = parts(&key.sign(b"{}")).map(str::to_owned);
        assert_rejected(key, &format!("{header}.{payload}."));
        assert_rejected(key, &format!("{header}.{payload}"));
        assert_rejected(key, &format!("{header}.{payload}.{signature}"));
    }
}

pub(crate) fn none_lower() {
    unsigned("none");
}

pub(crate) fn none_case() {
    for none in ["None", "NONE", "nOnE", "none ", " none", "none\0"] {
        unsigned(none);
    }
}

/// A token of the attacker's key, with a header that contains or references that key.
fn attackers(extra: impl Fn(&SigningKey) -> Value) {
    for key in every() {
        let Key::Pair(own) = key else { continue };
        let attacker = SigningKey::generate(own.alg()).unwrap();
        let mut header = extra(&attacker);
        header["alg"] = json!(own.alg().name());
        let attacker = Key::Pair(attacker);
        let token = attacker.sign_under(&header.to_string(), b"{}");
        assert!(attacker.verifier().verify(&token).is_ok(), "no control");
        assert_rejected(key, &token);
    }
}

pub(crate) fn embedded_jwk() {
    attackers(|key| {
        let jwk: Value = serde_json::from_str(&key.verifying_key().to_jwk()).unwrap();
        json!({"jwk": jwk})
    });
}

pub(crate) fn jku_x5u() {
    // jeton has no network access; `cargo xtask arch` enforces that.
    attackers(|_| json!({"jku": "http://127.0.0.1:9/jwks.json"}));
    attackers(|_| json!({"x5u": "http://127.0.0.1:9/cert.pem"}));
}

pub(crate) fn kid_injection() {
    let long = "k".repeat(10_000);
    for kid in ["../../dev/null", "' OR '1'='1", "|cmd"] {
        attackers(|_| json!({"kid": kid}));
    }
    for kid in [json!(1), json!(null), json!(["k"]), json!({}), json!(long)] {
        for key in every() {
            let header = json!({"alg": key.alg(), "kid": kid});
            assert_rejected(key, &key.sign_under(&header.to_string(), b"{}"));
        }
    }
}

pub(crate) fn crit_unknown() {
    for key in every() {
        let header = json!({"alg": key.alg(), "crit": ["x-unknown"], "x-unknown": 1});
        assert_rejected(key, &key.sign_under(&header.to_string(), b"{}"));
    }
}

pub(crate) fn b64_false_uncrit() {
    for key in every() {
        for header in [
            json!({"alg": key.alg(), "b64": false}),
            json!({"alg": key.alg(), "b64": "false"}),
            json!({"alg": key.alg(), "b64": "false", "crit": ["b64"]}),
        ] {
            let header = encode(header.to_string().as_bytes());
            for payload in ["e30", "{}"] {
                assert_rejected(key, &reference::sign(key, &header, payload));
            }
        }
        let header = json!({"alg": key.alg(), "b64": false, "crit": ["b64"]});
        let header = encode(header.to_string().as_bytes());
        assert_rejected(key, &reference::sign(key, &header, "a.b"));
    }
}

pub(crate) fn dup_header() {
    for key in every() {
        let alg = key.alg();
        for header in [
            format!("{{\"alg\":\"{alg}\",\"alg\":\"none\"}}"),
            format!("{{\"alg\":\"none\",\"alg\":\"{alg}\"}}"),
            format!("{{\"alg\":\"{alg}\",\"x\":{{\"y\":1,\"y\":2}}}}"),
        ] {
            assert_rejected(key, &key.sign_under(&header, b"{}"));
        }
    }
}

/// A JWE has five parts, and its `alg` is not a signature algorithm, so a verifier must reject it.
pub(crate) fn jws_for_jwe() {
    for key in every() {
        for alg in ["RSA-OAEP", "ECDH-ES", "dir", key.alg()] {
            let header = encode(json!({"alg": alg, "enc": "A128GCM"}).to_string().as_bytes());
            let signed = reference::sign(key, &header, "e30");
            assert_rejected(key, &format!("{signed}.AAAA.AAAA"));
            assert_rejected(key, &format!("{header}.AAAA.AAAA.AAAA.AAAA"));
        }
    }
    // The members of a JWE in JSON are not a JWS in JSON.
    let document = json!({"protected": "e30", "iv": "AA", "ciphertext": "AA", "tag": "AA"});
    assert!(
        hs256()
            .verifier()
            .verify_json(&document.to_string())
            .is_err()
    );
}
