//! The JSON serializations: recipients and the positions of members.

use jeton::error::{Part, Rejection};
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::{ContentEnc, KeyWrapAlg, WrappingKey};
use jeton::limits;
use serde_json::{Value, json};

use super::support::{SECRET, direct, encode, rejection, seal};

/// A flattened token for the direct key, to be modified.
fn flattened() -> Value {
    let protected = encode(br#"{"alg":"dir","enc":"A256GCM"}"#);
    let (iv, ciphertext, tag) = seal(&SECRET, &format!("{protected}.{}", encode(b"aad")), b"x");
    json!({
        "protected": protected, "aad": encode(b"aad"),
        "iv": iv, "ciphertext": ciphertext, "tag": tag,
    })
}

fn rejection_of(text: &Value) -> Rejection {
    rejection(direct().decrypt_json(&text.to_string()))
}

fn general(recipients: usize) -> (Vec<WrappingKey>, Value) {
    let keys: Vec<WrappingKey> = (0..recipients)
        .map(|_| WrappingKey::generate(KeyWrapAlg::A128Kw).unwrap())
        .collect();
    let mut encrypter = Encrypter::new(&keys[0], ContentEnc::A128Gcm);
    for key in &keys[1..] {
        encrypter = encrypter.recipient(key);
    }
    let text = encrypter.encrypt_general(b"x").unwrap();
    (keys, serde_json::from_str(&text).unwrap())
}

#[test]
fn decrypt_changed_aad_is_rejected() {
    let good = direct().decrypt_json(&flattened().to_string()).unwrap();
    assert_eq!(good.aad(), Some(&b"aad"[..]));
    let mut other = flattened();
    other["aad"] = json!(encode(b"aae"));
    assert_eq!(rejection_of(&other), Rejection::Decryption);
    let mut without = flattened();
    without.as_object_mut().unwrap().remove("aad");
    assert_eq!(rejection_of(&without), Rejection::Decryption);
    let mut not_base64 = flattened();
    not_base64["aad"] = json!("***");
    assert_eq!(rejection_of(&not_base64), Rejection::Malformed(Part::Token));
}

#[test]
fn decrypt_json_missing_or_mistyped_member_is_rejected() {
    for member in ["iv", "ciphertext", "tag"] {
        let mut without = flattened();
        without.as_object_mut().unwrap().remove(member);
        assert_eq!(
            rejection_of(&without),
            Rejection::Malformed(Part::Token),
            "{member}"
        );
    }
    for member in [
        "protected",
        "iv",
        "ciphertext",
        "tag",
        "aad",
        "encrypted_key",
        "unprotected",
        "header",
    ] {
        for wrong in [json!(7), json!(null), json!(["AAAA"])] {
            let mut changed = flattened();
            changed[member] = wrong;
            assert_eq!(
                rejection_of(&changed),
                Rejection::Malformed(Part::Token),
                "{member}"
            );
        }
    }
    // Members that would be empty must be absent (RFC 7516, section 7.2.1).
    for member in ["protected", "iv", "tag", "aad", "encrypted_key"] {
        let mut changed = flattened();
        changed[member] = json!("");
        assert_eq!(
            rejection_of(&changed),
            Rejection::Malformed(Part::Token),
            "{member}"
        );
    }
    for text in ["", "[]", "{}", "null", "{\"iv\":\"AAAA\"}"] {
        assert!(direct().decrypt_json(text).is_err());
    }
}

#[test]
fn decrypt_name_in_two_headers_is_rejected() {
    for place in ["unprotected", "header"] {
        for header in [json!({"alg":"dir"}), json!({"enc":"A256GCM"})] {
            let mut changed = flattened();
            changed[place] = header;
            assert_eq!(
                rejection_of(&changed),
                Rejection::DuplicateMember(Part::Header)
            );
        }
        let mut critical = flattened();
        critical[place] = json!({"crit":["exp"],"exp":1});
        assert_eq!(rejection_of(&critical), Rejection::CriticalExtension);
    }
    let mut both = flattened();
    both["unprotected"] = json!({"note":1});
    both["header"] = json!({"note":1});
    assert_eq!(
        rejection_of(&both),
        Rejection::DuplicateMember(Part::Header)
    );
    let text = flattened()
        .to_string()
        .replacen('{', "{\"tag\":\"AAAA\",", 1);
    let error = rejection(direct().decrypt_json(&text));
    assert_eq!(error, Rejection::DuplicateMember(Part::Token));
}

#[test]
fn decrypt_ignores_unprotected_typ_and_cty() {
    let mut changed = flattened();
    changed["unprotected"] = json!({"typ":"JWT","cty":"JWT"});
    let decrypted = direct().decrypt_json(&changed.to_string()).unwrap();
    assert_eq!((decrypted.typ(), decrypted.content_type()), (None, None));
}

#[test]
fn decrypt_mixed_general_and_flattened_is_rejected() {
    let (keys, good) = general(2);
    let decrypter = Decrypter::new(&keys[1]);
    assert_eq!(
        decrypter
            .decrypt_json(&good.to_string())
            .unwrap()
            .recipient_index(),
        1
    );
    for (member, value) in [
        ("header", json!({"note": 1})),
        ("header", json!({})),
        ("encrypted_key", json!("AAAA")),
    ] {
        let mut mixed = good.clone();
        mixed[member] = value;
        let error = rejection(decrypter.decrypt_json(&mixed.to_string()));
        assert_eq!(error, Rejection::Malformed(Part::Token));
    }
    for recipients in [json!([]), json!({}), json!([7]), json!("x")] {
        let mut changed = good.clone();
        changed["recipients"] = recipients;
        let error = rejection(decrypter.decrypt_json(&changed.to_string()));
        assert_eq!(error, Rejection::Malformed(Part::Token));
    }
}

#[test]
fn decrypt_too_many_recipients_is_rejected() {
    let (keys, mut good) = general(limits::RECIPIENTS);
    let last = Decrypter::new(&keys[limits::RECIPIENTS - 1]);
    assert!(last.decrypt_json(&good.to_string()).is_ok());
    let one = good["recipients"][0].clone();
    good["recipients"].as_array_mut().unwrap().push(one);
    let error = rejection(last.decrypt_json(&good.to_string()));
    assert!(matches!(
        error,
        Rejection::TooLarge {
            part: Part::Token,
            ..
        }
    ));
    let many = WrappingKey::generate(KeyWrapAlg::A128Kw).unwrap();
    let mut encrypter = Encrypter::new(&many, ContentEnc::A128Gcm);
    for _ in 0..limits::RECIPIENTS {
        encrypter = encrypter.recipient(&many);
    }
    assert!(encrypter.encrypt_general(b"x").is_err());
}

#[test]
fn direct_key_with_other_recipients_is_rejected() {
    let (keys, good) = general(2);
    for alg in ["dir", "ECDH-ES"] {
        let mut changed = good.clone();
        changed["recipients"][0]["header"]["alg"] = alg.into();
        let error = rejection(Decrypter::new(&keys[1]).decrypt_json(&changed.to_string()));
        assert_eq!(error, Rejection::Malformed(Part::Token));
    }
}

#[test]
fn decrypt_different_enc_per_recipient_is_rejected() {
    let (keys, good) = general(2);
    let mut changed = good.clone();
    changed["protected"] = encode(b"{\"x\":1}").into();
    changed["recipients"][0]["header"]["enc"] = "A256GCM".into();
    changed["recipients"][1]["header"]["enc"] = "A128GCM".into();
    let error = rejection(Decrypter::new(&keys[1]).decrypt_json(&changed.to_string()));
    assert_eq!(error, Rejection::Malformed(Part::Header));
}

#[test]
fn decrypt_returns_the_recipient_index() {
    let (keys, good) = general(5);
    for (index, key) in keys.iter().enumerate() {
        let decrypted = Decrypter::new(key).decrypt_json(&good.to_string()).unwrap();
        assert_eq!(decrypted.recipient_index(), index);
    }
    // The encrypted keys of the recipients exchanged: no recipient can decrypt.
    let mut swapped = good.clone();
    for index in 0..5 {
        swapped["recipients"][index]["encrypted_key"] =
            good["recipients"][(index + 1) % 5]["encrypted_key"].clone();
    }
    let decrypted = Decrypter::new(&keys[0])
        .decrypt_json(&swapped.to_string())
        .unwrap();
    assert_eq!(decrypted.recipient_index(), 4);
    let other_key = WrappingKey::generate(KeyWrapAlg::A128Kw).unwrap();
    let error = rejection(Decrypter::new(&other_key).decrypt_json(&good.to_string()));
    assert_eq!(error, Rejection::Decryption);
}

#[test]
fn encrypt_reserved_unprotected_member_is_an_error() {
    let key = WrappingKey::generate(KeyWrapAlg::A128Kw).unwrap();
    let with = |name: &str| {
        Encrypter::new(&key, ContentEnc::A128Gcm)
            .unprotected(name, "x")
            .encrypt_flattened(b"x")
    };
    // RFC 7515, section 4.1; RFC 7516, 4.1; RFC 7518, 4.6 to 4.8; RFC 7797, 3; RFC 8225, 8.1; RFC 8555, 6.4
    // and 6.5; OpenID Federation 1.0, 4.3.
    for name in [
        "alg",
        "jku",
        "jwk",
        "kid",
        "x5u",
        "x5c",
        "x5t",
        "x5t#S256",
        "typ",
        "cty",
        "crit",
        "enc",
        "zip",
        "epk",
        "apu",
        "apv",
        "iv",
        "tag",
        "p2s",
        "p2c",
        "b64",
        "ppt",
        "url",
        "nonce",
        "trust_chain",
    ] {
        assert!(with(name).is_err(), "{name}");
        let mac = jeton::key::MacKey::generate(jeton::key::MacAlg::HS256).unwrap();
        let signer = jeton::jws::JwsSigner::new(&mac).unprotected(name, "x");
        assert!(signer.sign_flattened(b"x").is_err(), "{name}");
    }
    assert!(with("note").is_ok());
    let twice = Encrypter::new(&key, ContentEnc::A128Gcm)
        .unprotected("note", "x")
        .unprotected("note", "y");
    assert!(twice.encrypt_flattened(b"x").is_err());
    // The compact serialization has no unprotected header.
    assert!(twice.encrypt(b"x").is_err());
    let aad = Encrypter::new(&key, ContentEnc::A128Gcm).aad(b"aad");
    assert!(aad.encrypt(b"x").is_err());
}

/// An empty AAD is absent (RFC 7516, section 7.2.1).
#[test]
fn encrypt_empty_aad_is_omitted() {
    let key = WrappingKey::generate(KeyWrapAlg::A128Kw).unwrap();
    let encrypter = || Encrypter::new(&key, ContentEnc::A128Gcm).aad(b"");
    for token in [
        encrypter().encrypt_flattened(b"x").unwrap(),
        encrypter().encrypt_general(b"x").unwrap(),
    ] {
        let document: Value = serde_json::from_str(&token).unwrap();
        assert_eq!(document.get("aad"), None);
        let decrypted = Decrypter::new(&key).decrypt_json(&token).unwrap();
        assert_eq!(decrypted.aad(), None);
    }
    // So the compact serialization allows it, and it replaces an earlier value.
    assert!(encrypter().encrypt(b"x").is_ok());
    assert!(
        Encrypter::new(&key, ContentEnc::A128Gcm)
            .aad(b"a")
            .aad(b"")
            .encrypt(b"x")
            .is_ok()
    );
}
