//! What the page "Migrate from josekit" of jeton's guide shows and says of josekit is true.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::time::{Duration, SystemTime};

use jeton_driver_harness::page;
use josekit::JoseError;
use josekit::jwe::{self, Dir, JweHeader};
use josekit::jwk::alg::ec::EcCurve;
use josekit::jwk::{Jwk, JwkSet};
use josekit::jws::{ES256, EdDSA, HS256, JwsHeader, JwsVerifier, RS256};
use josekit::jwt::{self, JwtPayload, JwtPayloadValidator};
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../../../crates/jeton/src/guide/from_josekit.md");

const PRIVATE: &[u8] = b"-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIH4dDSHto5QS5pANu3iuHF+dconce1JMvbtDexm3jjeF
-----END PRIVATE KEY-----
";

const PUBLIC: &[u8] = b"-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGICFS56hVG4gF4+PrFLf7DG4WnAiKkO5iuBkoEDEQL4=
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
fn example(pem: &[u8], public_pem: &[u8]) -> Result<(), JoseError> {
    let signer = EdDSA.signer_from_pem(pem)?;
    let mut header = JwsHeader::new();
    header.set_token_type("JWT");
    let mut payload = JwtPayload::new();
    payload.set_issuer("https://id.example");
    payload.set_audience(vec!["api"]);
    payload.set_expires_at(&(SystemTime::now() + Duration::from_secs(900)));
    payload.set_claim("admin", Some(json!(true)))?;
    let token = jwt::encode_with_signer(&payload, &header, &signer)?;

    let verifier = EdDSA.verifier_from_pem(public_pem)?;
    let (payload, _header) = jwt::decode_with_verifier(&token, &verifier)?;
    let mut validator = JwtPayloadValidator::new();
    validator.set_issuer("https://id.example");
    validator.set_audience("api");
    validator.validate(&payload)?;
    assert_eq!(payload.claim("admin").and_then(Value::as_bool), Some(true));
    Ok(())
}

/// The left sides of the tables. It is only compiled.
#[allow(dead_code, clippy::too_many_arguments, reason = "it is only compiled")]
fn left_sides(
    pem: &[u8],
    jwk: Jwk,
    secret: &[u8],
    text: &[u8],
    token: &str,
    moment: SystemTime,
    plaintext: &[u8],
    select: fn(&Jwk) -> Result<Option<&dyn JwsVerifier>, JoseError>,
) -> Result<(), JoseError> {
    let mut signer = ES256.signer_from_pem(pem)?;
    let _ = RS256.signer_from_pem(pem)?;
    let verifier = EdDSA.verifier_from_pem(pem)?;
    let _ = RS256.verifier_from_jwk(&jwk)?;
    let _ = HS256.signer_from_bytes(secret)?;
    let _ = Jwk::generate_ec_key(EcCurve::P256)?;
    let mut set = JwkSet::from_bytes(text)?;
    set.push_key(jwk);

    let mut header = JwsHeader::new();
    header.set_token_type("JWT");
    signer.set_key_id("2026-11");
    let mut payload = JwtPayload::new();
    payload.set_issuer("https://id.example");
    payload.set_audience(vec!["api"]);
    payload.set_expires_at(&moment);
    payload.set_claim("admin", Some(json!(true)))?;
    let _ = jwt::encode_with_signer(&payload, &header, &signer)?;

    let _ = jwt::decode_with_verifier(token, &verifier)?;
    let mut validator = JwtPayloadValidator::new();
    validator.set_issuer("https://id.example");
    validator.set_audience("api");
    validator.set_base_time(moment);
    validator.set_min_issued_time(moment);
    validator.validate(&payload)?;
    let _ = jwt::decode_with_verifier_in_jwk_set(token, &set, select)?;
    let _ = jwt::decode_header(token)?;
    let _ = payload.claim("admin").and_then(Value::as_bool);
    let _ = jwt::decode_unsecured(token)?;

    let encrypter = Dir.encrypter_from_bytes(secret)?;
    let decrypter = Dir.decrypter_from_bytes(secret)?;
    let mut header = JweHeader::new();
    header.set_content_encryption("A256GCM");
    let _ = jwt::encode_with_encrypter(&payload, &header, &encrypter)?;
    let _ = jwe::serialize_compact(plaintext, &header, &encrypter)?;
    let _ = jwe::deserialize_compact(token, &decrypter)?;
    let _ = jwt::encode_unsecured(&payload, &JwsHeader::new())?;
    Ok(())
}

#[test]
fn differences_that_the_page_lists_hold() {
    let signer = EdDSA.signer_from_pem(PRIVATE).unwrap();
    let verifier = EdDSA.verifier_from_pem(PUBLIC).unwrap();
    let mut header = JwsHeader::new();
    header.set_token_type("logout+jwt");

    // Without `exp` and `aud`, and with any type.
    let mut payload = JwtPayload::new();
    payload.set_issuer("https://id.example");
    let token = jwt::encode_with_signer(&payload, &header, &signer).unwrap();
    let (payload, _) = jwt::decode_with_verifier(&token, &verifier).unwrap();
    let mut validator = JwtPayloadValidator::new();
    validator.set_issuer("https://id.example");
    validator.set_audience("api");
    validator.validate(&payload).unwrap();

    // The last of duplicate members counts.
    let text = br#"{"sub":"a","sub":"b"}"#;
    let token = josekit::jws::serialize_compact(text, &header, &signer).unwrap();
    let (payload, _) = jwt::decode_with_verifier(&token, &verifier).unwrap();
    assert_eq!(payload.subject(), Some("b"));
}
