//! Unprotected `alg`, a member in two headers, and a private key in a header.

use super::support::{Key, encode, parts, reference, rejection_of};
use jeton::error::{Part, Rejection};
use jeton::key::SigningKey;
use serde_json::{Value, json};

/// A correctly signed, flattened JWS with these two headers.
fn flattened(key: &Key, protected: Option<&str>, header: Option<Value>) -> Value {
    let encoded = protected.map(|text| encode(text.as_bytes()));
    let signed = reference::sign(key, encoded.as_deref().unwrap_or_default(), &encode(b"{}"));
    let [_, payload, signature] = parts(&signed);
    let mut document = json!({"payload": payload, "signature": signature});
    if let Some(encoded) = encoded {
        document["protected"] = json!(encoded);
    }
    if let Some(header) = header {
        document["header"] = header;
    }
    document
}

fn general(flattened: &Value) -> String {
    let mut signature = flattened.clone();
    let payload = signature.as_object_mut().unwrap().remove("payload");
    json!({"payload": payload, "signatures": [signature]}).to_string()
}

#[test]
fn verify_unprotected_alg_is_rejected() {
    for key in Key::every() {
        let alg = key.alg();
        let verifier = key.verifier();
        let protected = flattened(&key, Some(&format!("{{\"alg\":\"{alg}\"}}")), None);
        assert!(verifier.verify_json(&protected.to_string()).is_ok());
        assert!(verifier.verify_json(&general(&protected)).is_ok());
        for text in [None, Some("{}"), Some("{\"typ\":\"JWT\"}")] {
            let document = flattened(&key, text, Some(json!({"alg": alg})));
            for document in [document.to_string(), general(&document)] {
                let rejection = rejection_of(verifier.verify_json(&document));
                assert_eq!(rejection, Rejection::UnprotectedAlg, "{document}");
            }
        }
    }
}

#[test]
fn verify_member_in_two_headers_is_rejected() {
    for key in Key::every() {
        let alg = key.alg();
        for (protected, header) in [
            (json!({"alg": alg}), json!({"alg": alg})),
            (json!({"alg": alg}), json!({"alg": "none"})),
            (json!({"alg": alg, "kid": "1"}), json!({"kid": "1"})),
            (json!({"alg": alg, "note": 1}), json!({"note": 2})),
        ] {
            let document = flattened(&key, Some(&protected.to_string()), Some(header));
            let rejection = rejection_of(key.verifier().verify_json(&document.to_string()));
            assert_eq!(rejection, Rejection::DuplicateMember(Part::Header));
            let opted_in = jeton::danger::allow_unprotected_alg(key.verifier());
            let rejection = rejection_of(opted_in.verify_json(&document.to_string()));
            assert_eq!(rejection, Rejection::DuplicateMember(Part::Header));
        }
        // A name with an escape is the same name.
        let protected = format!("{{\"alg\":\"{alg}\",\"note\":1}}");
        let document = flattened(&key, Some(&protected), Some(json!({"note": 1}))).to_string();
        let document = document.replace("\"note\"", "\"n\\u006fte\"");
        let rejection = rejection_of(key.verifier().verify_json(&document));
        assert_eq!(rejection, Rejection::DuplicateMember(Part::Header));
    }
}

#[test]
fn verify_private_key_in_a_header_is_rejected() {
    for key in Key::every() {
        let alg = key.alg();
        let verifier = key.verifier();
        let public = match &key {
            Key::Pair(pair) => pair.verifying_key().to_jwk(),
            Key::Mac(_) => json!({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}).to_string(),
        };
        let own = format!("{{\"alg\":\"{alg}\",\"jwk\":{public}}}");
        assert!(verifier.verify(&key.sign_under(&own, b"{}")).is_ok());
        let mut keys: Vec<String> = Vec::new();
        for private in [
            "d",
            "p",
            "q",
            "dp",
            "dq",
            "qi",
            "oth",
            "k",
            "priv",
            "\\u0064",
            "p\\u0072iv",
        ] {
            for value in ["\"AQ\"", "[]", "null"] {
                keys.push(public.replacen('{', &format!("{{\"{private}\":{value},"), 1));
            }
        }
        if let Key::Pair(pair) = &key {
            keys.push(private_jwk(pair));
        }
        for jwk in keys {
            for name in ["jwk", "j\\u0077k"] {
                let header = format!("{{\"alg\":\"{alg}\",\"{name}\":{jwk}}}");
                let rejection = rejection_of(verifier.verify(&key.sign_under(&header, b"{}")));
                assert_eq!(rejection, Rejection::PrivateKeyInHeader, "{header}");
                let document = flattened(&key, Some(&header), None).to_string();
                let rejection = rejection_of(verifier.verify_json(&document));
                assert_eq!(rejection, Rejection::PrivateKeyInHeader, "{header}");
            }
            let protected = format!("{{\"alg\":\"{alg}\"}}");
            let document = flattened(&key, Some(&protected), Some(json!({"jwk": 0}))).to_string();
            let document = document.replace("\"jwk\":0", &format!("\"jwk\":{jwk}"));
            let rejection = rejection_of(verifier.verify_json(&document));
            assert_eq!(rejection, Rejection::PrivateKeyInHeader, "{document}");
        }
        for jwk in ["\"x\"", "[]", "null", "7"] {
            let header = format!("{{\"alg\":\"{alg}\",\"jwk\":{jwk}}}");
            let rejection = rejection_of(verifier.verify(&key.sign_under(&header, b"{}")));
            assert_eq!(rejection, Rejection::Malformed(Part::Header), "{header}");
        }
    }
}

fn private_jwk(pair: &SigningKey) -> String {
    pair.to_jwk().unwrap().to_string()
}
