//! What the page "Migrate from jsonwebtoken" of jeton's guide shows and says of jsonwebtoken is true.

#![allow(clippy::unwrap_used, reason = "a test")]

use jeton_driver_harness::page;
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::jwk::{Jwk, JwkSet};
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey, Header, TokenData, Validation, dangerous, decode,
    decode_header, encode, get_current_timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../../../crates/jeton/src/guide/from_jsonwebtoken.md");

const PRIVATE: &[u8] = b"-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgbDhC6prnOB367BG3
ID12TfJCcXFanENwAgx1j2rox1KhRANCAASD/mQsmf/wpyc/Hq4ERYAnSdWD/usA
rufzoK/oeoq/Uq11YzoJnwFTVtOIVZNgS3s1MyuYLxe7JdaarpSu9sCw
-----END PRIVATE KEY-----
";

const PUBLIC: &[u8] = b"-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEg/5kLJn/8KcnPx6uBEWAJ0nVg/7r
AK7n86Cv6HqKv1KtdWM6CZ8BU1bTiFWTYEt7NTMrmC8XuyXWmq6UrvbAsA==
-----END PUBLIC KEY-----
";

#[test]
fn page_shows_only_code_of_this_test() {
    page::check(PAGE, "text", include_str!("migration_page.rs")).unwrap();
}

#[test]
fn example_before_migration_runs() {
    example(PRIVATE, PUBLIC).unwrap();
}

#[rustfmt::skip]
fn example(pem: &[u8], public_pem: &[u8]) -> Result<()> {
    #[derive(Serialize, Deserialize)]
    struct Session { iss: String, aud: String, sub: String, exp: u64, admin: bool }

    let session = Session {
        iss: "https://id.example".to_owned(),
        aud: "api".to_owned(),
        sub: "user-7".to_owned(),
        exp: get_current_timestamp() + 900,
        admin: true,
    };
    let token = encode(&Header::new(Algorithm::ES256), &session, &EncodingKey::from_ec_pem(pem)?)?;

    let mut validation = Validation::new(Algorithm::ES256);
    validation.set_issuer(&["https://id.example"]);
    validation.set_audience(&["api"]);
    let data = decode::<Session>(&token, &DecodingKey::from_ec_pem(public_pem)?, &validation)?;
    assert!(data.claims.admin);
    Ok(())
}

/// The left sides of the tables. It is only compiled.
#[allow(dead_code, clippy::too_many_arguments, reason = "it is only compiled")]
fn left_sides(
    pem: &[u8],
    secret: &[u8],
    jwk: &Jwk,
    (n, e): (&str, &str),
    text: &str,
    (kid, id): (&str, String),
    token: &str,
    key: (EncodingKey, DecodingKey),
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    type Session = Value;
    let _ = EncodingKey::from_ec_pem(pem)?;
    let _ = EncodingKey::from_rsa_pem(pem)?;
    let _ = EncodingKey::from_secret(secret)?;
    let _ = DecodingKey::from_ec_pem(pem)?;
    let _ = DecodingKey::from_jwk(&jwk.clone())?;
    let jwk = jwk.clone();
    let _ = DecodingKey::from_jwk(&jwk)?;
    let _ = DecodingKey::from_rsa_components(n, e)?;
    let set = serde_json::from_str::<JwkSet>(text)?;
    let _ = set.find(kid);

    let mut header = Header {
        kid: Some(id),
        ..Header::new(Algorithm::ES256)
    };
    header.typ = Some("at+jwt".to_owned());
    let claims = json!({ "exp": get_current_timestamp() + 900 });
    let (key, decoding) = key;
    let _ = encode(&Header::new(Algorithm::ES256), &claims, &key)?;

    let key = decoding;
    let mut validation = Validation::new(Algorithm::ES256);
    validation.set_issuer(&["https://id.example"]);
    validation.set_audience(&["api"]);
    validation.leeway = 0;
    validation.set_required_spec_claims(&["exp", "sub"]);
    validation.validate_nbf = true;
    validation.validate_exp = false;
    let TokenData { header, claims, .. } = decode::<Session>(token, &key, &validation)?;
    let _ = (header, claims);
    let _ = decode_header(token)?;
    let _ = dangerous::insecure_decode::<Session>(token)?;
    let _ = ErrorKind::ExpiredSignature;
    Ok(())
}

#[test]
fn differences_that_the_page_lists_hold() {
    let key = EncodingKey::from_secret(b"short").unwrap();
    let verify = DecodingKey::from_secret(b"short").unwrap();
    let validation = Validation::new(Algorithm::HS256);
    let accepted = |header: &Header, claims: &Value| {
        let token = encode(header, claims, &key).unwrap();
        decode::<Value>(&token, &verify, &validation).is_ok()
    };
    let now = get_current_timestamp();
    let header = Header::new(Algorithm::HS256);

    // Leeway, nbf, missing issuer and audience.
    assert!(accepted(&header, &json!({ "exp": now - 30 })));
    assert!(accepted(
        &header,
        &json!({ "exp": now + 60, "nbf": now + 3600 })
    ));
    let mut strict = validation.clone();
    strict.set_issuer(&["https://id.example"]);
    strict.set_audience(&["api"]);
    let token = encode(&header, &json!({ "exp": now + 60 }), &key).unwrap();
    assert!(decode::<Value>(&token, &verify, &strict).is_ok());

    let typed = Header {
        typ: Some("logout+jwt".into()),
        ..header
    };
    assert!(accepted(&typed, &json!({ "exp": now + 60 })));
}
