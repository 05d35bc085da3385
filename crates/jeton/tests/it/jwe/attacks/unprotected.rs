//! Unprotected `enc`, a member in two headers, and a private key in a header.

use jeton::danger;
use jeton::error::{Part, Rejection};
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::{ContentEnc, DecryptionKey, KeyManagementAlg, KeyWrapAlg, WrappingKey};
use serde_json::{Value, json};

use super::support::{SECRET, direct, direct_token, encode, header, rejection, seal, with_header};

/// A correctly encrypted, flattened token for the direct key with these headers.
fn flattened(protected: Option<Value>, shared: Option<Value>, own: Option<Value>) -> Value {
    let protected = protected.map(|header| encode(header.to_string().as_bytes()));
    let aad = protected.clone().unwrap_or_default();
    let (iv, ciphertext, tag) = seal(&SECRET, &aad, b"x");
    let mut document = json!({"iv": iv, "ciphertext": ciphertext, "tag": tag});
    for (name, value) in [
        ("protected", protected.map(Value::from)),
        ("unprotected", shared),
        ("header", own),
    ] {
        if let Some(value) = value {
            document[name] = value;
        }
    }
    document
}

/// The same in the general serialization.
fn general(flattened: &Value) -> Value {
    let mut document = flattened.clone();
    let own = document.as_object_mut().unwrap().remove("header");
    let recipient = own.map_or(json!({}), |own| json!({"header": own}));
    document["recipients"] = json!([recipient]);
    document
}

fn both(document: &Value) -> [String; 2] {
    [document.to_string(), general(document).to_string()]
}

#[test]
fn decrypt_unprotected_enc_is_rejected() {
    let (alg, enc) = (json!({"alg": "dir"}), json!({"enc": "A256GCM"}));
    let all = json!({"alg": "dir", "enc": "A256GCM"});
    for document in [
        flattened(None, Some(all.clone()), None),
        flattened(None, None, Some(all.clone())),
        flattened(None, Some(enc.clone()), Some(alg.clone())),
        flattened(None, Some(alg.clone()), Some(enc.clone())),
        flattened(Some(alg.clone()), Some(enc.clone()), None),
        flattened(Some(alg.clone()), None, Some(enc.clone())),
    ] {
        for text in both(&document) {
            let error = rejection(direct().decrypt_json(&text));
            assert_eq!(error, Rejection::UnprotectedEnc, "{text}");
            let opted_in = danger::allow_unprotected_enc(direct());
            assert_eq!(opted_in.decrypt_json(&text).unwrap().plaintext(), b"x");
        }
    }
}

#[test]
fn decrypt_unprotected_alg_of_a_recipient_is_accepted() {
    let (alg, enc) = (json!({"alg": "dir"}), json!({"enc": "A256GCM"}));
    for document in [
        flattened(Some(enc.clone()), Some(alg.clone()), None),
        flattened(Some(enc.clone()), None, Some(alg.clone())),
    ] {
        for text in both(&document) {
            assert!(direct().decrypt_json(&text).is_ok(), "{text}");
        }
    }
}

#[test]
fn decrypt_member_in_two_headers_is_rejected() {
    let all = json!({"alg": "dir", "enc": "A256GCM", "kid": "1", "note": 1});
    for name in ["alg", "enc", "kid", "note"] {
        let second = json!({name: all[name]});
        let mut rest = all.clone();
        rest.as_object_mut().unwrap().remove(name);
        for document in [
            flattened(Some(all.clone()), Some(second.clone()), None),
            flattened(Some(all.clone()), None, Some(second.clone())),
            flattened(
                Some(rest.clone()),
                Some(second.clone()),
                Some(second.clone()),
            ),
        ] {
            for text in both(&document) {
                for decrypter in [direct(), danger::allow_unprotected_enc(direct())] {
                    let error = rejection(decrypter.decrypt_json(&text));
                    assert_eq!(error, Rejection::DuplicateMember(Part::Header), "{text}");
                }
            }
        }
    }
}

const PRIVATE: [&str; 11] = [
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
    "o\\u0074h",
];

#[test]
fn decrypt_private_key_in_a_header_is_rejected() {
    let public = r#"{"kty":"OKP","crv":"X25519","x":"AA"}"#;
    let with = |jwk: &str| format!(r#"{{"alg":"dir","enc":"A256GCM","jwk":{jwk}}}"#);
    assert!(direct().decrypt(&direct_token(&with(public), b"x")).is_ok());
    for private in PRIVATE {
        let jwk = public.replacen('{', &format!("{{\"{private}\":\"AQ\","), 1);
        let header = with(&jwk);
        let error = rejection(direct().decrypt(&direct_token(&header, b"x")));
        assert_eq!(error, Rejection::PrivateKeyInHeader, "{header}");
        let protected = json!({"alg": "dir", "enc": "A256GCM"});
        for place in ["unprotected", "header"] {
            let mut document = flattened(Some(protected.clone()), None, None);
            document[place] = json!({"jwk": 0});
            let text = document
                .to_string()
                .replace("\"jwk\":0", &format!("\"jwk\":{jwk}"));
            let error = rejection(direct().decrypt_json(&text));
            assert_eq!(error, Rejection::PrivateKeyInHeader, "{text}");
        }
    }
    for jwk in ["\"x\"", "[]", "null", "7"] {
        let error = rejection(direct().decrypt(&direct_token(&with(jwk), b"x")));
        assert_eq!(error, Rejection::Malformed(Part::Header), "{jwk}");
    }
}

#[test]
fn decrypt_private_ephemeral_key_is_rejected() {
    let key = DecryptionKey::generate_x25519(KeyManagementAlg::EcdhEsA256Kw).unwrap();
    let token = Encrypter::new(&key.encryption_key(), ContentEnc::A256Gcm)
        .encrypt(b"x")
        .unwrap();
    assert!(Decrypter::new(&key).decrypt(&token).is_ok());
    for private in ["d", "p", "k", "priv"] {
        let mut changed = header(&token);
        changed["epk"][private] = changed["epk"]["x"].clone();
        let error = rejection(Decrypter::new(&key).decrypt(&with_header(&token, &changed)));
        assert_eq!(error, Rejection::PrivateKeyInHeader);
    }
    // With a key for another recipient.
    let other = WrappingKey::generate(KeyWrapAlg::A128Kw).unwrap();
    let token = Encrypter::new(&other, ContentEnc::A256Gcm)
        .encrypt(b"x")
        .unwrap();
    let mut changed = header(&token);
    changed["epk"] = json!({"kty": "OKP", "crv": "X25519", "x": "AA", "d": "AA"});
    let error = rejection(Decrypter::new(&other).decrypt(&with_header(&token, &changed)));
    assert_eq!(error, Rejection::PrivateKeyInHeader);
}
