//! Attacks with a header that does not match the key.

use jeton::danger::{Password, Pbes2Alg};
use jeton::error::{Part, Rejection};
use jeton::jwe::{Decrypter, Encrypter};
use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{
    ContentEnc, ContentKey, DecryptionKey, KeyManagementAlg, KeyWrapAlg, MacAlg, MacKey,
    WrappingKey,
};
use serde_json::json;

use super::support::{
    SECRET, direct, direct_token, encode, every_kind, header, parts, rejection, with_header,
};

#[test]
fn decrypt_alg_none_is_rejected() {
    for alg in [
        "none", "None", "NONE", "nOnE", "", "Dir", "DIR", "dir ", "direct",
    ] {
        let token = direct_token(&format!(r#"{{"alg":"{alg}","enc":"A256GCM"}}"#), b"x");
        assert_eq!(
            rejection(direct().decrypt(&token)),
            Rejection::AlgorithmMismatch,
            "{alg}"
        );
    }
}

#[test]
fn decrypt_unknown_or_disallowed_enc_is_rejected() {
    for enc in [
        "none",
        "a256gcm",
        "A256GCM ",
        "A256CBC-HS512",
        "A256KW",
        "A128GCM",
        "",
    ] {
        let token = direct_token(&format!(r#"{{"alg":"dir","enc":"{enc}"}}"#), b"x");
        assert_eq!(
            rejection(direct().decrypt(&token)),
            Rejection::EncryptionMismatch,
            "{enc}"
        );
    }
    let escaped = direct_token(r#"{"\u0061lg":"d\u0069r","enc":"A256GCM"}"#, b"x");
    assert!(direct().decrypt(&escaped).is_ok());
}

#[test]
fn decrypt_missing_or_mistyped_member_is_rejected() {
    for text in [
        r#"{"enc":"A256GCM"}"#,
        r#"{"alg":"dir"}"#,
        r#"{"alg":null,"enc":"A256GCM"}"#,
        r#"{"alg":["dir"],"enc":"A256GCM"}"#,
        r#"{"alg":"dir","enc":256}"#,
        r#"{"Alg":"dir","enc":"A256GCM"}"#,
        r#"{"alg":"dir","enc":"A256GCM","kid":7}"#,
        r#"{"alg":"dir","enc":"A256GCM","typ":7}"#,
        r#"{"alg":"dir","enc":"A256GCM","cty":null}"#,
        r#"{"alg":"dir","enc":"A256GCM","zip":true}"#,
        r#"{"alg":"dir","enc":"A256GCM","zip":"GZIP"}"#,
        r#"{"alg":"dir","enc":"A256GCM","epk":"{}"}"#,
        r#"{"alg":"dir","enc":"A256GCM","p2c":"1000"}"#,
        r#"{"alg":"dir","enc":"A256GCM"} "x""#,
        r#"["alg","dir"]"#,
        "",
        "{}",
    ] {
        let error = rejection(direct().decrypt(&direct_token(text, b"x")));
        assert_eq!(error, Rejection::Malformed(Part::Header), "{text}");
    }
}

#[test]
fn decrypt_duplicate_member_is_rejected() {
    for text in [
        r#"{"alg":"dir","alg":"dir","enc":"A256GCM"}"#,
        r#"{"alg":"dir","enc":"A256GCM","\u0061lg":"none"}"#,
        r#"{"alg":"dir","enc":"A256GCM","x":{"y":1,"y":2}}"#,
    ] {
        let error = rejection(direct().decrypt(&direct_token(text, b"x")));
        assert_eq!(error, Rejection::DuplicateMember(Part::Header), "{text}");
    }
    for (name, keys, token) in every_kind(ContentEnc::A256Gcm) {
        let text = header(&token).to_string();
        let mut parts = parts(&token);
        let decrypter = Decrypter::new(keys);
        for twice in [
            format!("{{\"alg\":\"none\",{}", &text[1..]),
            format!("{},\"alg\":\"none\"}}", &text[..text.len() - 1]),
        ] {
            parts[0] = encode(twice.as_bytes());
            let error = rejection(decrypter.decrypt(&parts.join(".")));
            assert_eq!(error, Rejection::DuplicateMember(Part::Header), "{name}");
        }
    }
}

#[test]
fn decrypt_crit_is_rejected() {
    for crit in [
        r#"["exp"]"#,
        "[]",
        r#"["b64"]"#,
        r#"["alg"]"#,
        "null",
        r#""exp""#,
    ] {
        let text = format!(r#"{{"alg":"dir","enc":"A256GCM","crit":{crit},"exp":1}}"#);
        let error = rejection(direct().decrypt(&direct_token(&text, b"x")));
        assert_eq!(error, Rejection::CriticalExtension, "{crit}");
    }
    for (name, keys, token) in every_kind(ContentEnc::A256Gcm) {
        let mut critical = header(&token);
        critical["crit"] = json!(["x-unknown"]);
        critical["x-unknown"] = json!(1);
        let error = rejection(Decrypter::new(keys).decrypt(&with_header(&token, &critical)));
        assert_eq!(error, Rejection::CriticalExtension, "{name}");
    }
}

#[test]
fn decrypt_ignores_keys_in_the_header() {
    let text = format!(
        r#"{{"alg":"dir","enc":"A256GCM","jku":"https://a.example/","x5u":"https://a.example/","jwk":{{"kty":"OKP","crv":"X25519","x":"{}"}},"x5c":["AAAA"]}}"#,
        "A".repeat(43)
    );
    assert!(direct().decrypt(&direct_token(&text, b"x")).is_ok());
    let other = ContentKey::new(ContentEnc::A256Gcm, &[1; 32]).unwrap();
    let error = rejection(Decrypter::new(other).decrypt(&direct_token(&text, b"x")));
    assert_eq!(error, Rejection::Decryption);
}

#[test]
fn decrypt_with_key_of_another_algorithm_is_rejected() {
    let all = every_kind(ContentEnc::A256Gcm);
    let tokens: Vec<_> = all
        .iter()
        .map(|(name, _, token)| (name.clone(), token.clone()))
        .collect();
    for (key_name, keys, _) in all {
        let decrypter = Decrypter::new(keys);
        for (token_name, token) in &tokens {
            let expected = match (key_name == *token_name, same_alg(&key_name, token_name)) {
                (true, _) => continue,
                (_, true) => Rejection::Decryption,
                _ => Rejection::AlgorithmMismatch,
            };
            let error = rejection(decrypter.decrypt(token));
            assert_eq!(error, expected, "{token_name} for {key_name}");
        }
    }
}

fn same_alg(one: &str, other: &str) -> bool {
    one.split(' ').next() == other.split(' ').next()
}

#[test]
fn decrypt_same_secret_with_another_algorithm_is_rejected() {
    // The header names the algorithm of the key, but the content was encrypted for another.
    let wrapping = |alg| WrappingKey::new(alg, &SECRET).unwrap();
    let kw = wrapping(KeyWrapAlg::A256Kw);
    let token = Encrypter::new(&kw, ContentEnc::A256Gcm)
        .encrypt(b"x")
        .unwrap();
    let mut renamed = header(&token);
    renamed["alg"] = "A256GCMKW".into();
    let decrypter = Decrypter::new(wrapping(KeyWrapAlg::A256GcmKw));
    let error = rejection(decrypter.decrypt(&with_header(&token, &renamed)));
    assert_eq!(error, Rejection::Decryption);
    renamed["alg"] = "dir".into();
    assert_eq!(
        rejection(direct().decrypt(&with_header(&token, &renamed))),
        Rejection::Decryption
    );
    // A JWK with one `alg` is not accepted for the other.
    let jwk = wrapping(KeyWrapAlg::A256Kw).to_jwk();
    assert!(WrappingKey::from_jwk_as(&jwk, KeyWrapAlg::A256GcmKw).is_err());
    assert!(ContentKey::from_jwk_as(&jwk, ContentEnc::A256Gcm).is_err());
    assert!(MacKey::from_jwk_as(&jwk, MacAlg::HS256).is_err());
}

#[test]
fn decrypt_ecdh_direct_as_wrapped_is_rejected() {
    let make = |alg| DecryptionKey::generate(alg).unwrap();
    let wrapped = make(KeyManagementAlg::EcdhEsA256Kw);
    let token = Encrypter::new(&wrapped.encryption_key(), ContentEnc::A256Gcm)
        .encrypt(b"x")
        .unwrap();
    let jwk = wrapped.to_jwk().unwrap();
    let plain = jwk.replace("ECDH-ES+A256KW", "ECDH-ES");
    let direct = Decrypter::new(DecryptionKey::from_jwk(&plain).unwrap());
    assert_eq!(
        rejection(direct.decrypt(&token)),
        Rejection::AlgorithmMismatch
    );
    let mut renamed = header(&token);
    renamed["alg"] = "ECDH-ES".into();
    assert_eq!(
        rejection(direct.decrypt(&with_header(&token, &renamed))),
        Rejection::Decryption
    );
}

#[test]
fn decrypt_jws_and_verify_jwe_are_rejected() {
    let mac = MacKey::new(MacAlg::HS256, &SECRET).unwrap();
    let signed = JwsSigner::new(&mac).sign(b"x").unwrap();
    assert_eq!(
        rejection(direct().decrypt(&signed)),
        Rejection::Malformed(Part::Token)
    );
    let encrypted = direct_token(r#"{"alg":"dir","enc":"A256GCM"}"#, b"x");
    assert!(JwsVerifier::new(&mac).verify(&encrypted).is_err());
    // HS256 as key management.
    let named = direct_token(r#"{"alg":"HS256","enc":"A256GCM"}"#, b"x");
    assert_eq!(
        rejection(direct().decrypt(&named)),
        Rejection::AlgorithmMismatch
    );
}

#[test]
fn public_key_as_password_and_reverse_is_rejected() {
    // A token that requires a password, for a reader with a private key.
    let key = DecryptionKey::generate(KeyManagementAlg::RsaOaep256).unwrap();
    let public = key.encryption_key().to_pem().unwrap();
    let rejected = Password::new(Pbes2Alg::Hs256A128Kw, &public.as_bytes()[..200]);
    assert!(rejected.is_err());
    let password = Password::new(Pbes2Alg::Hs256A128Kw, &public.as_bytes()[40..200]).unwrap();
    let password = password.rounds(1000).unwrap();
    let token = Encrypter::new(&password, ContentEnc::A256Gcm)
        .encrypt(b"x")
        .unwrap();
    assert_eq!(
        rejection(Decrypter::new(&key).decrypt(&token)),
        Rejection::AlgorithmMismatch
    );
}

#[test]
fn kid_selects_among_several_keys() {
    let one = WrappingKey::generate(KeyWrapAlg::A128Kw)
        .unwrap()
        .with_key_id("1")
        .unwrap();
    let two = WrappingKey::generate(KeyWrapAlg::A128Kw)
        .unwrap()
        .with_key_id("2")
        .unwrap();
    let token = Encrypter::new(&one, ContentEnc::A128Gcm)
        .encrypt(b"x")
        .unwrap();
    let both = || Decrypter::new(jeton::key::DecryptionKeys::from(&two).and(&one));
    assert_eq!(both().decrypt(&token).unwrap().key_id(), Some("1"));
    for kid in ["2", "3", "", "../1", "1\u{0}", "1'--"] {
        let mut renamed = header(&token);
        renamed["kid"] = json!(kid);
        let expected = if kid == "2" {
            Rejection::Decryption
        } else {
            Rejection::UnknownKey
        };
        assert_eq!(
            rejection(both().decrypt(&with_header(&token, &renamed))),
            expected,
            "{kid}"
        );
    }
}

#[test]
fn one_key_for_several_algorithms_matches_any_kid() {
    let pem = DecryptionKey::generate(KeyManagementAlg::EcdhEs)
        .unwrap()
        .to_pem()
        .unwrap();
    let algs = [
        KeyManagementAlg::EcdhEs,
        KeyManagementAlg::EcdhEsA128Kw,
        KeyManagementAlg::EcdhEsA256Kw,
    ];
    let keys = algs.map(|alg| DecryptionKey::from_pem_as(&pem, alg).unwrap());
    let [one, two, three] = &keys;
    let all = jeton::key::DecryptionKeys::from(one).and(two).and(three);
    let decrypter = Decrypter::new(all);
    for key in &keys {
        let public = key.encryption_key().with_key_id("elsewhere").unwrap();
        let token = Encrypter::new(&public, ContentEnc::A128Gcm)
            .encrypt(b"x")
            .unwrap();
        assert_eq!(decrypter.decrypt(&token).unwrap().plaintext(), b"x");
    }
    let other = DecryptionKey::from_pem_as(&pem, KeyManagementAlg::EcdhEsA192Kw).unwrap();
    let token = Encrypter::new(&other.encryption_key(), ContentEnc::A128Gcm)
        .encrypt(b"x")
        .unwrap();
    assert_eq!(
        rejection(decrypter.decrypt(&token)),
        Rejection::AlgorithmMismatch
    );
}
