//! Access tokens (RFC 9068): each requirement of sections 2 and 4 that a library can check.

use std::time::Duration;

use jeton::error::{Claim, FoundForm, InvalidUse, JsonType, Rejection};
use jeton::jwt::{JwtIssuer, JwtVerifier};
use jeton::key::{SigAlg, SigningKey};
use jeton::{Claims, Error, FixedClock, Policy, Result, Timestamp, jws::JwsSigner};
use serde_json::{Value, json};

const NOW: i64 = 1_700_000_000;

fn clock() -> FixedClock {
    FixedClock(Timestamp::from_unix_seconds(NOW).unwrap())
}

fn key() -> SigningKey {
    SigningKey::generate(SigAlg::ES256).unwrap()
}

fn complete() -> Value {
    json!({
        "iss": "https://id.example", "exp": NOW + 60, "aud": "https://api.example", "sub": "u",
        "client_id": "web", "iat": NOW, "jti": "1",
    })
}

/// The complete claims with another value, or without the claim if it is null.
fn with(name: &str, value: Value) -> Value {
    let mut claims = complete();
    match value {
        Value::Null => claims.as_object_mut().unwrap().remove(name),
        value => claims
            .as_object_mut()
            .unwrap()
            .insert(name.to_owned(), value),
    };
    claims
}

fn verify_with(key: &SigningKey, typ: Option<&str>, claims: &Value) -> Result<()> {
    let mut signer = JwsSigner::new(key);
    if let Some(typ) = typ {
        signer = signer.typ(typ.to_owned());
    }
    let token = signer.sign(claims.to_string().as_bytes()).unwrap();
    let policy = Policy::access_token("https://id.example", "https://api.example");
    let verifier = JwtVerifier::new(key.verifying_key(), policy).clock(clock());
    verifier.verify::<Value>(&token).map(|_| ())
}

fn rejection(typ: Option<&str>, claims: &Value) -> Option<Rejection> {
    let error = verify_with(&key(), typ, claims).err()?;
    error.rejection().cloned()
}

fn issue(claims: &Value) -> Result<String> {
    let key = key();
    let issuer = JwtIssuer::builder(key).access_tokens().build().unwrap();
    let text = claims.to_string();
    issuer.issue_with_clock(&Claims::from_json(&text).unwrap(), &clock())
}

/// Sections 2.1 and 4, first step.
#[test]
fn verify_type_must_be_at_jwt() {
    for typ in ["at+jwt", "application/at+jwt", "AT+JWT"] {
        assert_eq!(rejection(Some(typ), &complete()), None, "{typ}");
    }
    let mismatch = Some(Rejection::TypeMismatch);
    for typ in [
        None,
        Some("JWT"),
        Some("at"),
        Some("id+jwt"),
        Some("x/at+jwt"),
    ] {
        assert_eq!(rejection(typ, &complete()), mismatch, "{typ:?}");
    }
}

/// Section 2.2.
#[test]
fn verify_every_required_claim_must_be_there() {
    for (name, claim) in [
        ("iss", Claim::Issuer),
        ("exp", Claim::Expiry),
        ("aud", Claim::Audience),
        ("sub", Claim::Subject),
        ("iat", Claim::IssuedAt),
        ("jti", Claim::TokenId),
    ] {
        let found = rejection(Some("at+jwt"), &with(name, Value::Null));
        assert_eq!(found, Some(Rejection::ClaimMissing(claim)), "{name}");
    }
    let found = rejection(Some("at+jwt"), &with("client_id", Value::Null));
    assert_eq!(
        found,
        Some(Rejection::CustomClaimMissing("client_id".into()))
    );
}

/// RFC 7519, section 4.1, and RFC 8693, section 4.3.
#[test]
fn verify_required_claim_of_another_type_is_rejected() {
    for (name, claim) in [
        ("iss", Claim::Issuer),
        ("exp", Claim::Expiry),
        ("aud", Claim::Audience),
        ("sub", Claim::Subject),
        ("iat", Claim::IssuedAt),
        ("jti", Claim::TokenId),
    ] {
        let found = rejection(Some("at+jwt"), &with(name, json!({})));
        let is_wrong_type = matches!(
            found,
            Some(Rejection::ClaimType { claim: wrong, found: FoundForm::Value(JsonType::Object), .. })
                if wrong == claim
        );
        assert!(is_wrong_type, "{name}");
    }
    for (value, found) in [
        (json!(7), JsonType::Number),
        (json!(["web"]), JsonType::Array),
        (json!({}), JsonType::Object),
        (json!(true), JsonType::Bool),
    ] {
        let name = "client_id".into();
        let wrong_type = Rejection::CustomClaimType { name, found };
        let message = format!("the claim `client_id` must be a string, not {found}");
        assert_eq!(wrong_type.to_string(), message);
        let rejected = rejection(Some("at+jwt"), &with("client_id", value));
        assert_eq!(rejected, Some(wrong_type));
    }
    let mut null = complete();
    null["client_id"] = Value::Null;
    let missing = Some(Rejection::CustomClaimMissing("client_id".into()));
    assert_eq!(rejection(Some("at+jwt"), &null), missing);
}

/// Section 4: the issuer matches exactly.
#[test]
fn verify_issuer_must_match_exactly() {
    for issuer in ["https://id.example/", "https://ID.example", "id.example"] {
        let found = rejection(Some("at+jwt"), &with("iss", json!(issuer)));
        assert_eq!(found, Some(Rejection::IssuerMismatch), "{issuer}");
    }
}

/// Section 4: the audience contains the resource server.
#[test]
fn verify_audience_must_contain_the_resource_server() {
    let others = json!(["https://other.example", "https://api.example"]);
    assert_eq!(rejection(Some("at+jwt"), &with("aud", others)), None);
    for audience in [json!("https://other.example"), json!([])] {
        let found = rejection(Some("at+jwt"), &with("aud", audience));
        assert_eq!(found, Some(Rejection::AudienceMismatch));
    }
}

/// Section 4: the signature is checked with the keys of the issuer, and `none` does not exist.
#[test]
fn verify_signature_is_of_a_key_of_the_issuer() {
    let (own, other) = (key(), key());
    let token = JwsSigner::new(&other).typ("at+jwt");
    let token = token.sign(complete().to_string().as_bytes()).unwrap();
    let policy = || Policy::access_token("https://id.example", "https://api.example");
    let verifier = JwtVerifier::new(own.verifying_key(), policy()).clock(clock());
    let error = verifier.verify::<Value>(&token).unwrap_err();
    assert_eq!(error.rejection(), Some(&Rejection::Signature));
    let encode = |text: &str| base64_simd::URL_SAFE_NO_PAD.encode_to_string(text);
    let none = encode(r#"{"alg":"none","typ":"at+jwt"}"#);
    let token = format!("{none}.{}.", encode(&complete().to_string()));
    let error = verifier.verify::<Value>(&token).unwrap_err();
    assert_eq!(error.rejection(), Some(&Rejection::AlgorithmMismatch));
}

/// Section 4: the current time is before `exp`.
#[test]
fn verify_time_must_be_before_expiry() {
    for (exp, expected) in [
        (NOW + 1, None),
        (NOW, Some(Rejection::Expired)),
        (NOW - 1, Some(Rejection::Expired)),
    ] {
        let found = rejection(Some("at+jwt"), &with("exp", json!(exp)));
        assert_eq!(found, expected, "{exp}");
    }
}

/// Section 2.2.
#[test]
fn issue_every_required_claim_must_be_there() {
    assert!(issue(&complete()).is_ok());
    for name in ["iss", "aud", "sub", "client_id", "jti"] {
        let error = issue(&with(name, Value::Null));
        let missing = InvalidUse::AccessTokenClaim(name);
        assert_eq!(error, Err(Error::from(missing)), "{name}");
    }
    let error = issue(&with("exp", Value::Null));
    assert_eq!(error, Err(InvalidUse::ExpiryNotChosen.into()));
    // The issuer adds `iat`.
    assert!(issue(&with("iat", Value::Null)).is_ok());
}

#[test]
fn issue_client_id_must_be_a_string() {
    let missing = || Err(Error::from(InvalidUse::AccessTokenClaim("client_id")));
    for value in [json!(7), json!(["web"]), json!({})] {
        assert_eq!(issue(&with("client_id", value)), missing());
    }
    let mut null = complete();
    null["client_id"] = Value::Null;
    assert_eq!(issue(&null), missing());
}

/// Section 2.1.
#[test]
fn issue_has_the_type_at_jwt() {
    let key = key();
    let verifying = key.verifying_key();
    let issuer = JwtIssuer::builder(key)
        .access_tokens()
        .issuer("https://id.example")
        .audience("https://api.example")
        .lifetime(Duration::from_secs(60))
        .build()
        .unwrap();
    let claims = Claims::new(json!({"client_id": "web"}));
    let claims = claims.subject("u").token_id("1");
    let token = issuer.issue_with_clock(&claims, &clock()).unwrap();
    let policy = Policy::access_token("https://id.example", "https://api.example");
    let verifier = JwtVerifier::new(verifying, policy).clock(clock());
    let verified = verifier.verify::<Value>(&token).unwrap();
    assert_eq!(verified.header().typ(), Some("at+jwt"));
}

#[test]
fn issuer_of_access_tokens_with_another_type_is_an_error() {
    let builder = || JwtIssuer::builder(key());
    let another = builder().access_tokens().typ("JWT").build();
    let error = another.map(drop).unwrap_err();
    assert_eq!(error, InvalidUse::AccessTokenType.into());
    let full = builder().access_tokens().typ("application/at+jwt").build();
    assert!(full.is_ok());
    assert!(builder().typ("JWT").access_tokens().build().is_ok());
}
