//! Nested tokens must be signed and then encrypted.

use std::time::Duration;

use jeton::error::Rejection;
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::{ContentEnc, ContentKey, MacAlg, MacKey, SigAlg, SigningKey};
use jeton::{
    Claims, Policy,
    jws::JwsSigner,
    jwt::{self, JwtVerifier},
};
use serde_json::{Value, json};

use super::support::{SECRET, direct, direct_token, rejection};

fn content_key() -> ContentKey {
    ContentKey::new(ContentEnc::A256Gcm, &SECRET).unwrap()
}

fn claims() -> Claims<'static, Value> {
    Claims::new(json!({"page": "/"}))
        .issuer("i")
        .audience("a")
        .expires_in(Duration::from_secs(60))
}

fn verifier(author: &SigningKey) -> jwt::NestedVerifier {
    let verifier = JwtVerifier::new(author.verifying_key(), Policy::new("i", "a"));
    jwt::NestedVerifier::new(direct(), verifier)
}

fn rejected(author: &SigningKey, token: &str) -> Rejection {
    rejection(verifier(author).verify::<Value>(token))
}

#[test]
fn nested_verify_single_layer_is_rejected() {
    let author = SigningKey::generate(SigAlg::ES256).unwrap();
    let key = content_key();
    let encrypter = || Encrypter::new(&key, ContentEnc::A256Gcm);
    let good = jwt::NestedIssuer::new(&author, encrypter())
        .issue(&claims())
        .unwrap();
    assert_eq!(
        verifier(&author).verify::<Value>(&good).unwrap().claims()["page"],
        "/"
    );
    // Only signed.
    let signed = author.issue(&claims()).unwrap();
    assert!(verifier(&author).verify::<Value>(&signed).is_err());
    // Only encrypted: anyone with the public key could have written it.
    let text = json!({"iss":"i","aud":"a","exp":9_999_999_999_u64,"page":"/"}).to_string();
    let encrypted = encrypter()
        .content_type("JWT")
        .encrypt(text.as_bytes())
        .unwrap();
    assert!(verifier(&author).verify::<Value>(&encrypted).is_err());
    // Encrypted, then signed.
    let inside_out = JwsSigner::new(&author)
        .content_type("JWT")
        .sign(encrypter().encrypt(b"{}").unwrap().as_bytes())
        .unwrap();
    assert!(verifier(&author).verify::<Value>(&inside_out).is_err());
    // Twice encrypted.
    let twice = encrypter()
        .content_type("JWT")
        .encrypt(good.as_bytes())
        .unwrap();
    assert!(verifier(&author).verify::<Value>(&twice).is_err());
}

#[test]
fn nested_verify_invalid_inner_token_is_rejected() {
    let [author, other_key] = [(), ()].map(|()| SigningKey::generate(SigAlg::ES256).unwrap());
    let key = content_key();
    let encrypter = || Encrypter::new(&key, ContentEnc::A256Gcm);
    let by_stranger = jwt::NestedIssuer::new(&other_key, encrypter())
        .issue(&claims())
        .unwrap();
    assert_eq!(rejected(&author, &by_stranger), Rejection::Signature);
    let elsewhere = claims().audience("other");
    let elsewhere = jwt::NestedIssuer::new(&author, encrypter())
        .issue(&elsewhere)
        .unwrap();
    assert_eq!(rejected(&author, &elsewhere), Rejection::AudienceMismatch);
    let mac = MacKey::generate(MacAlg::HS256).unwrap();
    let by_mac = jwt::NestedIssuer::new(&mac, encrypter())
        .issue(&claims())
        .unwrap();
    assert_eq!(rejected(&author, &by_mac), Rejection::AlgorithmMismatch);
    let other = ContentKey::generate(ContentEnc::A256Gcm).unwrap();
    let for_another = Encrypter::new(&other, ContentEnc::A256Gcm);
    let for_another = jwt::NestedIssuer::new(&author, for_another)
        .issue(&claims())
        .unwrap();
    assert_eq!(rejected(&author, &for_another), Rejection::Decryption);
}

#[test]
fn nested_verify_requires_cty_jwt() {
    let author = SigningKey::generate(SigAlg::ES256).unwrap();
    let signed = author.issue(&claims()).unwrap();
    let with = |cty: &str| {
        let header = format!(r#"{{"alg":"dir","enc":"A256GCM"{cty}}}"#);
        direct_token(&header, signed.as_bytes())
    };
    for good in [
        r#","cty":"JWT""#,
        r#","cty":"jwt""#,
        r#","cty":"application/jwt""#,
    ] {
        assert!(
            verifier(&author).verify::<Value>(&with(good)).is_ok(),
            "{good}"
        );
    }
    for bad in [
        "",
        r#","cty":"""#,
        r#","cty":"text/plain""#,
        r#","cty":"JWS""#,
        r#","typ":"JWT""#,
    ] {
        assert_eq!(
            rejected(&author, &with(bad)),
            Rejection::TypeMismatch,
            "{bad}"
        );
    }
    let garbage = direct_token(r#"{"alg":"dir","enc":"A256GCM","cty":"JWT"}"#, &[0xff; 40]);
    assert!(verifier(&author).verify::<Value>(&garbage).is_err());
    assert!(Decrypter::new(content_key()).decrypt(&garbage).is_ok());
}
