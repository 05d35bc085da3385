//! AES Key Wrap, AES-GCM key wrap, and the direct key.

use jeton::error::Rejection;
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::{ContentEnc, ContentKey, DecryptionKeys, KeyWrapAlg, WrappingKey};
use serde_json::json;

use super::support::{
    SECRET, decode, direct, direct_token, encode, header, parts, rejection, with_header,
};

#[test]
fn wrapped_key_of_wrong_length_is_rejected() {
    for &alg in KeyWrapAlg::ALL {
        let key = WrappingKey::generate(alg).unwrap();
        let decrypter = Decrypter::new(&key);
        for &enc in ContentEnc::ALL {
            let token = Encrypter::new(&key, enc).encrypt(b"x").unwrap();
            for &other in ContentEnc::ALL {
                if other == enc {
                    continue;
                }
                let mut renamed = header(&token);
                renamed["enc"] = other.name().into();
                let result = decrypter.decrypt(&with_header(&token, &renamed));
                assert_eq!(
                    rejection(result),
                    Rejection::Decryption,
                    "{alg} {enc} {other}"
                );
            }
        }
    }
}

#[test]
fn gcm_key_wrap_changed_iv_or_tag_is_rejected() {
    for alg in [
        KeyWrapAlg::A128GcmKw,
        KeyWrapAlg::A192GcmKw,
        KeyWrapAlg::A256GcmKw,
    ] {
        let key = WrappingKey::generate(alg).unwrap();
        let token = Encrypter::new(&key, ContentEnc::A256Gcm)
            .encrypt(b"x")
            .unwrap();
        let rejected = |changed: &serde_json::Value| {
            let error = rejection(Decrypter::new(&key).decrypt(&with_header(&token, changed)));
            assert_eq!(error, Rejection::Decryption, "{changed}");
        };
        for member in ["iv", "tag"] {
            let good = decode(header(&token)[member].as_str().unwrap());
            for length in 0..=good.len() + 1 {
                let mut bytes = good.clone();
                bytes.resize(length, 0);
                let mut changed = header(&token);
                changed[member] = encode(&bytes).into();
                rejected(&changed);
            }
            let mut changed = header(&token);
            changed[member] = json!("***");
            rejected(&changed);
            changed.as_object_mut().unwrap().remove(member);
            rejected(&changed);
        }
    }
}

#[test]
fn direct_key_with_encrypted_key_is_rejected() {
    let token = direct_token(r#"{"alg":"dir","enc":"A256GCM"}"#, b"x");
    for bytes in [&[0][..], &SECRET, &[0; 40]] {
        let mut changed = parts(&token);
        changed[1] = encode(bytes);
        assert_eq!(
            rejection(direct().decrypt(&changed.join("."))),
            Rejection::Decryption
        );
    }
}

#[test]
fn key_ops_restrict_the_key() {
    let jwk = |ops: &str, alg: &str| {
        format!(
            r#"{{"kty":"oct","alg":"{alg}","key_ops":{ops},"k":"{}"}}"#,
            encode(&SECRET)
        )
    };
    let both = WrappingKey::new(KeyWrapAlg::A256Kw, &SECRET).unwrap();
    let token = Encrypter::new(&both, ContentEnc::A256Gcm)
        .encrypt(b"x")
        .unwrap();
    let wrap = WrappingKey::from_jwk(&jwk(r#"["wrapKey"]"#, "A256KW")).unwrap();
    let unwrap = WrappingKey::from_jwk(&jwk(r#"["unwrapKey"]"#, "A256KW")).unwrap();
    assert!(
        Encrypter::new(&wrap, ContentEnc::A256Gcm)
            .encrypt(b"x")
            .is_ok()
    );
    assert!(
        Encrypter::new(&unwrap, ContentEnc::A256Gcm)
            .encrypt(b"x")
            .is_err()
    );
    assert_eq!(
        rejection(Decrypter::new(&wrap).decrypt(&token)),
        Rejection::Decryption
    );
    assert!(Decrypter::new(&unwrap).decrypt(&token).is_ok());
    let wrap = WrappingKey::from_jwk(&wrap.to_jwk()).unwrap();
    assert!(Decrypter::new(&wrap).decrypt(&token).is_err());

    let encrypt = ContentKey::from_jwk(&jwk(r#"["encrypt"]"#, "A256GCM")).unwrap();
    let decrypt = ContentKey::from_jwk(&jwk(r#"["decrypt"]"#, "A256GCM")).unwrap();
    let token = Encrypter::new(&encrypt, ContentEnc::A256Gcm)
        .encrypt(b"x")
        .unwrap();
    assert!(
        Encrypter::new(&decrypt, ContentEnc::A256Gcm)
            .encrypt(b"x")
            .is_err()
    );
    assert_eq!(
        rejection(Decrypter::new(&encrypt).decrypt(&token)),
        Rejection::Decryption
    );
    assert!(Decrypter::new(&decrypt).decrypt(&token).is_ok());
    let decrypt = ContentKey::from_jwk(&decrypt.to_jwk()).unwrap();
    let rejected = Encrypter::new(&decrypt, ContentEnc::A256Gcm).encrypt(b"x");
    assert!(rejected.is_err());
    for ops in [r#"["sign"]"#, "[]", r#""wrapKey""#, "[7]"] {
        assert!(WrappingKey::from_jwk(&jwk(ops, "A256KW")).is_err(), "{ops}");
        assert!(ContentKey::from_jwk(&jwk(ops, "A256GCM")).is_err(), "{ops}");
    }
}

#[test]
fn content_key_with_another_enc_is_an_error() {
    let key = ContentKey::generate(ContentEnc::A256Gcm).unwrap();
    for &enc in ContentEnc::ALL {
        let made = Encrypter::new(&key, enc).encrypt(b"x");
        assert_eq!(made.is_ok(), enc == ContentEnc::A256Gcm);
    }
}

#[test]
fn number_of_tried_keys_is_limited() {
    // The right key is after the limit, and the token has no `kid`.
    let right = WrappingKey::generate(KeyWrapAlg::A128Kw).unwrap();
    let token = Encrypter::new(&right, ContentEnc::A128Gcm)
        .encrypt(b"x")
        .unwrap();
    let with_others = |count: usize| {
        let mut keys: Option<DecryptionKeys> = None;
        for _ in 0..count {
            let other = WrappingKey::generate(KeyWrapAlg::A128Kw).unwrap();
            keys = Some(match keys {
                None => other.into(),
                Some(keys) => keys.and(other),
            });
        }
        Decrypter::new(keys.unwrap().and(&right))
    };
    let limit = jeton::limits::ENCRYPTED_KEYS_TRIED;
    assert!(with_others(limit - 1).decrypt(&token).is_ok());
    assert_eq!(
        rejection(with_others(limit).decrypt(&token)),
        Rejection::Decryption
    );
}
