//! Members that the caller adds to the header of a token.

use std::sync::Arc;
use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use jeton::danger::RawHeaderSigner;
use jeton::error::InvalidUse;
use jeton::jwe::{Decrypter, Encrypter};
use jeton::jws::{GeneralJws, JwsSigner, JwsVerifier};
use jeton::jwt::{
    EncryptedIssuer, EncryptedVerifier, JwtIssuer, JwtVerifier, NestedIssuer, NestedVerifier,
    TokenClaims,
};
use jeton::key::{
    ContentEnc, ContentKey, DecryptionKey, KeyManagementAlg, MacAlg, MacKey, SigAlg, SigningKey,
};
use jeton::{Claims, Error, Policy, Verify as _};
use serde_json::{Value, json};

/// The registered names that the library decides.
const DECIDED: [&str; 15] = [
    "alg", "crit", "b64", "enc", "zip", "epk", "iv", "tag", "p2s", "p2c", "apu", "apv", "kid",
    "typ", "cty",
];

/// Names and values as other issuers write them.
fn members() -> Vec<(&'static str, Value)> {
    vec![
        ("x5t", json!("dGhlIHRodW1icHJpbnQgaGVyZQ")),
        (
            "x5t#S256",
            json!("bhEUzb5mUb1gCKKcSOF0VwFGT3wkLPV5Mc6hTpvzyrk"),
        ),
        ("x5c", json!(["MIIBszCCAVmgAwIBAgIU"])),
        ("x5u", json!("https://id.example/cert.pem")),
        ("jku", json!("https://id.example/jwks.json")),
        (
            "jwk",
            json!({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}),
        ),
        ("nonce", json!("8IBTHwOdqNKAWeKl7plt8g")),
        ("url", json!("https://acme.example/new-order")),
        ("ppt", json!("shaken")),
        ("tenant \"7\"", json!({"a": [1, null]})),
    ]
}

fn header_of(token: &str) -> Value {
    let header = token.split('.').next().unwrap();
    serde_json::from_slice(&Base64UrlUnpadded::decode_vec(header).unwrap()).unwrap()
}

fn policy() -> Policy {
    Policy::new("i", "a")
}

fn claims() -> Claims<'static, ()> {
    let claims = Claims::new(()).issuer("i").audience("a");
    claims.expires_in(Duration::from_secs(60))
}

fn assert_has_all(header: &Value) {
    for (name, value) in members() {
        assert_eq!(header[name], value, "{name}");
    }
}

fn invalid_use<T: std::fmt::Debug>(result: Result<T, Error>) -> InvalidUse {
    match result.unwrap_err() {
        Error::InvalidUse(invalid) => invalid,
        error => panic!("{error}"),
    }
}

#[test]
fn every_issuer_adds_members_and_its_verifier_reads_the_token() {
    let key = SigningKey::generate(SigAlg::ES256).unwrap();
    let key = Arc::new(key.with_key_id("k").unwrap());
    let all = members();
    let mut builder = JwtIssuer::builder(key.clone()).typ("at+jwt");
    let mut signer = JwsSigner::new(&*key);
    for (name, value) in &all {
        builder = builder.header(*name, value);
        signer = signer.header(*name, value);
    }
    let issuer = builder.build().unwrap();
    let token = issuer.issue(&claims()).unwrap();
    let header = header_of(&token);
    assert_has_all(&header);
    assert_eq!(
        (&header["alg"], &header["kid"], &header["typ"]),
        (&json!("ES256"), &json!("k"), &json!("at+jwt"))
    );
    let verifier = JwtVerifier::new(key.verifying_key(), policy().typ("at+jwt"));
    verifier.verify_raw(&token).unwrap();
    // One more for a single token.
    let once = issuer.with_header("deployment", 7).unwrap();
    let token = once.issue(&claims()).unwrap();
    assert_has_all(&header_of(&token));
    assert_eq!(header_of(&token)["deployment"], 7);
    verifier.verify_raw(&token).unwrap();
    assert!(
        header_of(&issuer.issue(&claims()).unwrap())
            .get("deployment")
            .is_none()
    );
    let shared = JwtIssuer::builder(key.clone()).header("x5t", "AA");
    let shared = shared.lifetime(Duration::from_secs(60)).build().unwrap();
    let token = shared
        .batch()
        .unwrap()
        .issue(&TokenClaims::new(()))
        .unwrap();
    assert_eq!(header_of(&token)["x5t"], "AA");

    let verifier = JwsVerifier::new(key.verifying_key());
    let token = signer.sign(b"x").unwrap();
    assert_has_all(&header_of(&token));
    verifier.verify(&token).unwrap();
    verifier
        .verify_json(&signer.sign_flattened(b"x").unwrap())
        .unwrap();
    verifier
        .verify_detached(&signer.sign_detached(b"x").unwrap(), b"x")
        .unwrap();
    let general = GeneralJws::new().signer(signer).sign(b"x").unwrap();
    verifier.verify_json(&general).unwrap();
}

#[test]
fn encrypted_tokens_have_members_in_their_layer() {
    let reader = DecryptionKey::generate(KeyManagementAlg::EcdhEs).unwrap();
    let public = reader.encryption_key();
    let encrypter = || {
        let encrypter = Encrypter::new(&public, ContentEnc::A256Gcm);
        members()
            .into_iter()
            .fold(encrypter, |all, (name, value)| all.header(name, value))
    };
    let decrypter = Decrypter::new(&reader);
    let token = encrypter().encrypt(b"x").unwrap();
    assert_has_all(&header_of(&token));
    decrypter.decrypt(&token).unwrap();
    decrypter
        .decrypt_json(&encrypter().encrypt_flattened(b"x").unwrap())
        .unwrap();
    decrypter
        .decrypt_json(&encrypter().encrypt_general(b"x").unwrap())
        .unwrap();

    let shared = ContentKey::generate(ContentEnc::A256Gcm).unwrap();
    let issuer = EncryptedIssuer::new(&shared, ContentEnc::A256Gcm).header("x5t", "AA");
    let token = issuer.issue(&claims()).unwrap();
    assert_eq!(header_of(&token)["x5t"], "AA");
    EncryptedVerifier::new(&shared, policy())
        .verify_raw(&token)
        .unwrap();

    let author = SigningKey::generate(SigAlg::ES256).unwrap();
    let issuer = NestedIssuer::new(&author, encrypter()).header("x5t", "inner");
    let token = issuer.issue(&claims()).unwrap();
    assert_has_all(&header_of(&token));
    let inner = decrypter.decrypt(&token).unwrap();
    let inner = std::str::from_utf8(inner.plaintext()).unwrap().to_owned();
    assert_eq!(header_of(&inner)["x5t"], "inner");
    let verifier = JwtVerifier::new(author.verifying_key(), policy());
    NestedVerifier::new(Decrypter::new(&reader), verifier)
        .verify_raw(&token)
        .unwrap();
}

#[test]
fn member_that_the_library_decides_is_refused_with_the_reason() {
    let mac = MacKey::generate(MacAlg::HS256).unwrap();
    let reader = DecryptionKey::generate(KeyManagementAlg::EcdhEs).unwrap();
    let public = reader.encryption_key();
    for name in DECIDED {
        let encrypter = Encrypter::new(&public, ContentEnc::A256Gcm);
        for invalid in [
            invalid_use(JwtIssuer::builder(&mac).header(name, "x").build().map(drop)),
            invalid_use(JwsSigner::new(&mac).header(name, "x").sign(b"x")),
            invalid_use(encrypter.header(name, "x").encrypt(b"x")),
        ] {
            let InvalidUse::DecidedHeaderMember { name: found, by } = invalid else {
                panic!("{name}: {invalid}");
            };
            assert_eq!(found, name);
            let message = invalid.to_string();
            assert!(
                message.contains(&format!("`{name}`")) && message.contains(by),
                "{message}"
            );
            assert_eq!(invalid.code(), "INVALID_HEADER_MEMBER");
        }
    }
}

#[test]
fn header_text_has_the_members_that_a_signer_adds() {
    let mac = MacKey::generate(MacAlg::HS256).unwrap();
    let text = |name: &str, value: &Value| {
        let mut header = serde_json::Map::from_iter([("alg".to_owned(), json!("HS256"))]);
        header.insert(name.to_owned(), value.clone());
        Value::from(header).to_string()
    };
    for (name, value) in members() {
        let signer = RawHeaderSigner::new(&mac, &text(name, &value)).unwrap();
        let token = signer.sign(b"x").unwrap();
        assert_eq!(header_of(&token)[name], value, "{name}");
        JwsVerifier::new(&mac).verify(&token).unwrap();
    }
    let decided = DECIDED.iter().map(|name| (*name, json!(["x"])));
    for (name, value) in decided {
        let invalid = invalid_use(RawHeaderSigner::new(&mac, &text(name, &value)));
        assert!(
            matches!(invalid, InvalidUse::DecidedHeaderMember { name: found, .. } if found == name),
            "{name}: {invalid}"
        );
    }
    for (name, value, expected) in [
        (
            "jwk",
            json!({"kty": "oct", "k": "AA"}),
            InvalidUse::HeaderKey,
        ),
        ("jwk", json!("AA"), InvalidUse::HeaderKey),
        ("x5c", json!(["a".repeat(1 << 20)]), InvalidUse::HeaderValue),
    ] {
        let invalid = invalid_use(RawHeaderSigner::new(&mac, &text(name, &value)));
        assert_eq!(invalid, expected);
    }
    let twice = RawHeaderSigner::new(&mac, r#"{"alg":"HS256","x5t":"a","x5t":"a"}"#);
    assert_eq!(invalid_use(twice), InvalidUse::HeaderMember);
}

#[test]
fn header_that_no_verifier_reads_is_not_written() {
    let mac = MacKey::generate(MacAlg::HS256).unwrap();
    let sign = |members: &[(&str, Value)]| {
        let signer = members
            .iter()
            .fold(JwsSigner::new(&mac), |all, (name, value)| {
                all.header(*name, value)
            });
        signer.sign(b"x")
    };
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    for (members, expected) in [
        (
            vec![("x5t", json!("a")), ("x5t", json!("b"))],
            InvalidUse::HeaderMember,
        ),
        (
            vec![("x5c", json!(["a".repeat(1 << 20)]))],
            InvalidUse::HeaderValue,
        ),
        (vec![("deep", deep)], InvalidUse::HeaderValue),
        (
            vec![("jwk", json!({"kty": "oct", "k": "AA"}))],
            InvalidUse::HeaderKey,
        ),
        (vec![("jwk", json!("AA"))], InvalidUse::HeaderKey),
    ] {
        assert_eq!(invalid_use(sign(&members)), expected);
    }
    // What is as large as allowed is read by a verifier with the default limits.
    let limit = jeton::Limits::default().header_bytes;
    let largest = (0..).find_map(|less| sign(&[("x", json!("a".repeat(limit - less)))]).ok());
    JwsVerifier::new(&mac).verify(&largest.unwrap()).unwrap();
    // A name in both headers.
    let both = JwsSigner::new(&mac)
        .header("note", "a")
        .unprotected("note", "b");
    assert_eq!(
        invalid_use(both.sign_flattened(b"x")),
        InvalidUse::HeaderMember
    );
    let issuer = JwtIssuer::builder(mac).header("x5t", "a").build().unwrap();
    assert_eq!(
        invalid_use(issuer.with_header("x5t", "b").map(drop)),
        InvalidUse::HeaderMember
    );
}
