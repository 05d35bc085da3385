//! A recipient of a token forges another one with the same content key.

use std::time::Duration;

use aws_lc_rs::key_wrap::{AES_256, AesKek, KeyWrap};
use jeton::danger::IssuerWrappingKey;
use jeton::error::Rejection;
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::{ContentEnc, ContentKey, KeyWrapAlg, WrappingKey};
use jeton::{Claims, Policy, Verified, jwt};
use serde_json::{Value, json};

use super::support::{SECRET, decode, encode, header, parts, rejection, seal, with_header};

const HOUR: Duration = Duration::from_secs(3600);

/// A compact token that the second recipient forges from a token it may read: its own claims, encrypted with the
/// content key, next to the encrypted key of the first recipient.
fn forged(token: &str, claims: &str) -> String {
    let token: Value = serde_json::from_str(token).unwrap();
    let [first, own] = token["recipients"].as_array().unwrap().as_slice() else {
        panic!("two recipients");
    };
    let wrapped = decode(own["encrypted_key"].as_str().unwrap());
    let mut content_key = [0; 32];
    AesKek::new(&AES_256, &SECRET)
        .unwrap()
        .unwrap(&wrapped, &mut content_key)
        .unwrap();
    let mut header = first["header"].clone();
    header["enc"] = "A256GCM".into();
    header["typ"] = "JWT".into();
    let protected = encode(header.to_string().as_bytes());
    let (iv, ciphertext, tag) = seal(&content_key, &protected, claims.as_bytes());
    let encrypted_key = first["encrypted_key"].as_str().unwrap();
    format!("{protected}.{encrypted_key}.{iv}.{ciphertext}.{tag}")
}

/// A wrapping key shares its content keys with other recipients. The key of an issuer is the content key itself,
/// so another recipient cannot forge anything, even if one secret is used for both.
#[test]
fn verify_token_forged_by_a_co_recipient_is_rejected() {
    const CLAIMS: &str = r#"{"iss":"i","aud":"a","exp":9999999999,"admin":true}"#;
    for &alg in KeyWrapAlg::ALL {
        let secret = &[0xa7; 32][..alg.key_bytes()];
        let key = WrappingKey::new(alg, secret).unwrap();
        let other = WrappingKey::new(KeyWrapAlg::A256Kw, &SECRET).unwrap();
        let for_both = Encrypter::new(&key, ContentEnc::A256Gcm)
            .recipient(&other)
            .encrypt_general(b"for two")
            .unwrap();
        let forged = forged(&for_both, CLAIMS);
        // The bytes decrypt, which does not prove who wrote them.
        assert!(Decrypter::new(&key).decrypt(&forged).is_ok(), "{alg}");
        let mut direct = header(&forged);
        direct["alg"] = "dir".into();
        let direct = with_header(&forged, &direct);
        let mut empty = parts(&direct);
        empty[1].clear();
        let encs = ContentEnc::ALL.iter().copied();
        for enc in encs.filter(|enc| enc.key_bytes() == secret.len()) {
            let key = ContentKey::new(enc, secret).unwrap();
            let verifier = jwt::EncryptedVerifier::new(&key, Policy::new("i", "a"));
            let own = jwt::EncryptedIssuer::new(&key, enc)
                .issue(
                    &Claims::new(json!({}))
                        .issuer("i")
                        .audience("a")
                        .expires_in(HOUR),
                )
                .unwrap();
            assert!(verifier.verify::<Value>(&own).is_ok());
            for token in [&forged, &direct, &empty.join(".")] {
                let claims: jeton::Result<Verified<Value>> = verifier.verify(token);
                assert!(claims.is_err(), "{alg} {enc}");
            }
        }
    }
}

/// The weaker key type works if it is used explicitly.
#[test]
fn issuer_wrapping_key_verifies_what_it_issued() {
    for &alg in KeyWrapAlg::ALL {
        let key = IssuerWrappingKey::new(WrappingKey::generate(alg).unwrap());
        let token = jwt::EncryptedIssuer::new(&key, ContentEnc::A256Gcm)
            .issue(
                &Claims::new(json!({}))
                    .issuer("i")
                    .audience("a")
                    .expires_in(HOUR),
            )
            .unwrap();
        let verifier = jwt::EncryptedVerifier::new(&key, Policy::new("i", "a"));
        assert!(verifier.verify::<Value>(&token).is_ok(), "{alg}");
        let other_key = IssuerWrappingKey::new(WrappingKey::generate(alg).unwrap());
        let verifier = jwt::EncryptedVerifier::new(&other_key, Policy::new("i", "a"));
        let rejection = rejection(verifier.verify::<Value>(&token));
        assert_eq!(rejection, Rejection::Decryption, "{alg}");
    }
}
