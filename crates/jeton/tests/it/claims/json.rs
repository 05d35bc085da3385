//! Claims from JSON text: strict, unchanged, and issued in every format.

use std::time::Duration;

use jeton::error::{Claim, InvalidUse};
use jeton::jwt::{BatchIssuer, JwtVerifier, TokenClaims};
use jeton::key::{MacAlg, MacKey};
use jeton::paseto::PasetoVerifier;
use jeton::paseto::v4;
use jeton::{Claims, Error, FixedClock, Issue, JsonClaims, Limits, Policy, Timestamp, Verify};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const NOW: i64 = 1_700_000_000;

fn clock() -> FixedClock {
    FixedClock(Timestamp::from_unix_seconds(NOW).unwrap())
}

fn policy() -> Policy {
    Policy::new("", "")
        .any_issuer()
        .any_audience()
        .without_expiry()
}

fn mac_key() -> MacKey {
    MacKey::new(MacAlg::HS256, &[7; 32]).unwrap()
}

/// The JSON of the claims in an issued JWT.
fn in_jwt(claims: &Claims<'_, JsonClaims<'_>>) -> Result<String, Error> {
    let key = mac_key();
    let token = key.issue_with_clock(claims, &clock())?;
    let verifier = JwtVerifier::new(&key, policy()).clock(clock());
    Ok(verifier.verify_raw(&token)?.json().to_owned())
}

/// The JSON of the claims in an issued PASETO.
fn in_paseto(claims: &Claims<'_, JsonClaims<'_>>) -> Result<String, Error> {
    let key = v4::LocalKey::generate()?;
    let token = Issue::issue_with_clock(&key, claims, &clock())?;
    let verifier = PasetoVerifier::new(&key, policy()).clock(clock());
    Ok(verifier.verify_raw(&token)?.json().to_owned())
}

fn invalid_use(invalid_use: InvalidUse) -> Result<String, Error> {
    Err(invalid_use.into())
}

#[test]
fn text_is_issued_unchanged() {
    for (text, expected) in [
        ("{}", "{}"),
        (" { } ", "{}"),
        (
            " { \"z\" : 1e-999 ,\n\"a\":18446744073709551617 } ",
            "{\"z\" : 1e-999 ,\n\"a\":18446744073709551617}",
        ),
        (
            r#"{"b":1.10,"sub":"caf\u00e9","a":[ 1 , {"x":-0}],"jti":"7"}"#,
            r#"{"b":1.10,"sub":"caf\u00e9","a":[ 1 , {"x":-0}],"jti":"7"}"#,
        ),
    ] {
        let claims = Claims::from_json(text)
            .unwrap()
            .without_expiry()
            .without_issued_at();
        assert_eq!(in_jwt(&claims).as_deref(), Ok(expected));
        assert_eq!(in_paseto(&claims).as_deref(), Ok(expected));
    }
}

#[test]
fn claims_of_methods_come_before_the_text() {
    let claims = Claims::from_json(r#"{"page":"/","aud":"a"}"#)
        .unwrap()
        .issuer("i")
        .expires_in(Duration::from_secs(60));
    assert_eq!(
        in_jwt(&claims).as_deref(),
        Ok(r#"{"iss":"i","exp":1700000060,"iat":1700000000,"page":"/","aud":"a"}"#)
    );
    assert_eq!(
        in_paseto(&claims).as_deref(),
        Ok(
            r#"{"iss":"i","exp":"2023-11-14T22:14:20Z","iat":"2023-11-14T22:13:20Z","page":"/","aud":"a"}"#
        )
    );
}

#[test]
fn expiry_is_required() {
    let claims = Claims::from_json("{\"a\":1}").unwrap();
    assert_eq!(in_jwt(&claims), invalid_use(InvalidUse::ExpiryNotChosen));
    let claims = claims.without_expiry();
    assert_eq!(
        in_jwt(&claims).as_deref(),
        Ok("{\"iat\":1700000000,\"a\":1}")
    );
    let claims = Claims::from_json(r#"{"exp":1700000009}"#).unwrap();
    assert_eq!(
        in_jwt(&claims).as_deref(),
        Ok(r#"{"iat":1700000000,"exp":1700000009}"#)
    );
}

#[test]
fn iat_in_the_text_replaces_the_current_time() {
    let issue = |text, seconds| {
        let claims = Claims::from_json(text).unwrap();
        in_jwt(&claims.expires_in(Duration::from_secs(seconds)))
    };
    assert_eq!(
        issue(r#"{"iat":1600000000}"#, 900_000_000).as_deref(),
        Ok(r#"{"exp":2500000000,"iat":1600000000}"#)
    );
    // The lifetime is never longer than requested.
    assert_eq!(
        issue(r#"{"iat":1600000000.5}"#, 900_000_000).as_deref(),
        Ok(r#"{"exp":2500000000,"iat":1600000000.5}"#)
    );
    assert_eq!(
        issue(r#"{"iat":253402300799}"#, 1),
        invalid_use(InvalidUse::TimeOutOfRange)
    );
}

#[test]
fn claim_set_by_text_and_method_is_an_error() {
    let at = Timestamp::from_unix_seconds(NOW).unwrap();
    let text = r#"{"iss":"i","sub":"s","aud":"a","exp":1900000000,"nbf":1,"iat":1,"jti":"j"}"#;
    let claims = Claims::from_json(text).unwrap();
    assert_eq!(in_jwt(&claims).as_deref(), Ok(text));
    let set = |change: fn(_, Timestamp) -> Claims<'static, JsonClaims<'static>>, claim| {
        let changed = change(claims.clone(), at);
        assert_eq!(
            in_jwt(&changed),
            invalid_use(InvalidUse::ClaimSetTwice(claim))
        );
        assert!(in_paseto(&changed).is_err());
    };
    set(|claims, _| claims.issuer("i"), Claim::Issuer);
    set(|claims, _| claims.subject("s"), Claim::Subject);
    set(|claims, _| claims.audience("a"), Claim::Audience);
    set(|claims, _| claims.audiences(["a"]), Claim::Audience);
    set(|claims, at| claims.expires_at(at), Claim::Expiry);
    set(|claims, _| claims.expires_in(Duration::ZERO), Claim::Expiry);
    set(|claims, _| claims.without_expiry(), Claim::Expiry);
    set(|claims, at| claims.not_before(at), Claim::NotBefore);
    set(|claims, at| claims.issued_at(at), Claim::IssuedAt);
    set(|claims, _| claims.without_issued_at(), Claim::IssuedAt);
    set(|claims, _| claims.token_id("j"), Claim::TokenId);
    let error = Error::from(InvalidUse::ClaimSetTwice(Claim::Expiry)).to_string();
    assert!(error.contains("`exp`"), "{error}");
}

#[test]
fn registered_claim_of_wrong_type_or_range_is_an_error() {
    let read = |text: &str| Claims::from_json(text).err();
    for (claim, values) in [
        (Claim::Issuer, &["1", "null", "[\"a\"]"][..]),
        (Claim::Subject, &["null", "{}"]),
        (Claim::TokenId, &["7", "true"]),
        (Claim::Audience, &["1", "null", "{}", "[1]", "[\"a\",null]"]),
        (
            Claim::Expiry,
            &["null", "true", "[]", "\"soon\"", "\"1700000000\"", "\"\""],
        ),
        (Claim::NotBefore, &["{}", "\"2023-11-14\""]),
        (Claim::IssuedAt, &["false", "\"2023-11-14T22:13:20\""]),
    ] {
        for value in values {
            let text = format!("{{\"a\":1,\"{}\":{value}}}", claim.name());
            let error = read(&text);
            let is_type = |error: &InvalidUse| matches!(error, InvalidUse::ClaimType { claim: wrong, .. } if *wrong == claim);
            let is_named = matches!(&error, Some(Error::InvalidUse(error)) if is_type(error));
            assert!(is_named, "{text}");
        }
    }
    for value in [
        "-1",
        "-0.5",
        "253402300800",
        "1e300",
        "99999999999999999999999",
        "\"1969-12-31T23:59:59Z\"",
        "\"9999-12-31T23:59:59.5Z\"",
    ] {
        let text = format!("{{\"exp\":{value}}}");
        let error = read(&text).map(|error| error.code());
        assert_eq!(error, Some("CLAIM_RANGE"), "{text}");
    }
    // The name counts, not its spelling.
    let escaped = read(r#"{"\u0065xp":"x"}"#);
    let escaped = escaped.map(|error| error.to_string());
    let other_text = "the claim `exp` must be a number of seconds since 1970 in a JWT, and RFC 3339 text in a PASETO, not other text";
    assert_eq!(escaped.as_deref(), Some(other_text));
    let message = |text| read(text).map(|error| error.to_string());
    let number = "the claim `sub` must be a string, not a number";
    assert_eq!(message(r#"{"sub":7}"#).as_deref(), Some(number));
    let list = "the claim `aud` must be a string or a list of strings, not a list with null";
    assert_eq!(message(r#"{"aud":["a",null]}"#).as_deref(), Some(list));
    let milliseconds =
        "the claim `exp` is outside the years 1970 to 9999: milliseconds? It must be in seconds";
    assert_eq!(
        message(r#"{"exp":1800000000000}"#).as_deref(),
        Some(milliseconds)
    );
    assert_eq!(read(r#"{"EXP":"x","nested":{"exp":"x"}}"#), None);
}

#[test]
fn text_that_is_not_one_object_is_an_error_with_position() {
    let read = |text: &str| Claims::from_json(text).unwrap_err();
    for text in ["[]", "1", "null", "\"{}\"", "true"] {
        assert_eq!(read(text), InvalidUse::ClaimsNotAnObject.into(), "{text}");
    }
    for (text, line, column) in [
        ("", 1, 1),
        ("{", 1, 1),
        ("{\"a\":1,}", 1, 7),
        ("{\"a\":1}\n x", 2, 1),
        ("{\"a\":\"\\ud800\"}", 1, 12),
    ] {
        let expected = InvalidUse::ClaimsSyntax { line, column };
        assert_eq!(read(text), expected.into(), "{text}");
    }
    for (text, line, column) in [
        ("{\"a\":1,\n \"a\":2}", 2, 4),
        ("{\"exp\":1,\"\\u0065xp\":2}", 1, 19),
        ("{\"x\":[{\"b\":1,\"b\":1}]}", 1, 16),
    ] {
        let expected = InvalidUse::ClaimsDuplicate { line, column };
        assert_eq!(read(text), expected.into(), "{text}");
    }
    // The message has no byte of the text.
    let secret = read(r#"{"hunter2":1,"hunter2":2}"#).to_string();
    assert!(!secret.contains("hunter2"), "{secret}");
}

#[test]
fn nesting_above_limit_is_an_error_with_both_numbers() {
    let nested = |depth: usize| {
        let inner = depth - 1;
        format!("{{\"a\":{}{}}}", "[".repeat(inner), "]".repeat(inner))
    };
    assert!(Claims::from_json(&nested(32)).is_ok());
    for depth in [33, 100_000] {
        let error = Claims::from_json(&nested(depth)).unwrap_err();
        let expected = InvalidUse::ClaimsTooDeep {
            depth: u32::try_from(depth).unwrap(),
            limit: 32,
        };
        assert_eq!(error, expected.into());
    }
    let limits = Limits::default().json_depth(33);
    assert!(Claims::from_json_with_limits(&nested(33), &limits).is_ok());
    assert!(Claims::from_json_with_limits(&nested(34), &limits).is_err());
}

#[test]
fn times_and_audiences_must_have_the_form_of_the_format() {
    let both = |text: &str| {
        let claims = Claims::from_json(text).unwrap().issued_at(clock().0);
        (in_jwt(&claims), in_paseto(&claims))
    };
    let (jwt, paseto) = both(r#"{"exp":1900000000}"#);
    assert!(jwt.is_ok());
    assert_eq!(paseto, invalid_use(InvalidUse::DateForm(Claim::Expiry)));
    let (jwt, paseto) = both(r#"{"exp":"2040-01-01T00:00:00+01:00"}"#);
    assert_eq!(jwt, invalid_use(InvalidUse::DateForm(Claim::Expiry)));
    assert_eq!(
        paseto.as_deref(),
        Ok(r#"{"iat":"2023-11-14T22:13:20Z","exp":"2040-01-01T00:00:00+01:00"}"#)
    );
    let (jwt, paseto) = both(r#"{"exp":1900000000,"nbf":"2020-01-01T00:00:00Z"}"#);
    assert_eq!(jwt, invalid_use(InvalidUse::DateForm(Claim::NotBefore)));
    assert_eq!(paseto, invalid_use(InvalidUse::DateForm(Claim::Expiry)));
    for aud in [r#"["a"]"#, r#"["a","b"]"#, "[]"] {
        let claims = Claims::from_json("{}").unwrap().without_expiry();
        let text = format!("{{\"aud\":{aud}}}");
        let listed = Claims::from_json(&text).unwrap().without_expiry();
        assert!(in_jwt(&listed).is_ok());
        assert_eq!(in_paseto(&listed), invalid_use(InvalidUse::AudienceList));
        assert!(in_paseto(&claims).is_ok());
    }
}

#[test]
fn batch_takes_claims_as_text() {
    let key = mac_key();
    let shared = Claims::new(())
        .issuer("i")
        .expires_in(Duration::from_secs(60));
    let issuer = BatchIssuer::new_with_clock(&key, &shared, &clock()).unwrap();
    let verifier = JwtVerifier::new(&key, policy()).clock(clock());
    let issue = |own: &TokenClaims<'_, JsonClaims<'_>>| -> Result<String, Error> {
        let token = issuer.issue(own)?;
        Ok(verifier.verify_raw(&token)?.json().to_owned())
    };
    let read = |text| TokenClaims::from_json(text).unwrap();
    assert_eq!(
        issue(&read(r#"{"n":1.0,"sub":"s","aud":["a"]}"#).token_id("7")).as_deref(),
        Ok(
            r#"{"iss":"i","exp":1700000060,"iat":1700000000,"jti":"7","n":1.0,"sub":"s","aud":["a"]}"#
        )
    );
    for (text, claim) in [
        (r#"{"iss":"j"}"#, Claim::Issuer),
        (r#"{"exp":1}"#, Claim::Expiry),
        (r#"{"iat":1}"#, Claim::IssuedAt),
    ] {
        assert_eq!(
            issue(&read(text)),
            invalid_use(InvalidUse::SetForAll(claim))
        );
    }
    assert_eq!(
        issue(&read(r#"{"sub":"s"}"#).subject("t")),
        invalid_use(InvalidUse::ClaimSetTwice(Claim::Subject))
    );
    assert_eq!(
        issue(&read(r#"{"nbf":"2020-01-01T00:00:00Z"}"#)),
        invalid_use(InvalidUse::DateForm(Claim::NotBefore))
    );
}

#[test]
fn claims_with_a_raw_value_are_not_an_object() {
    // serde_json represents a raw value as a struct with an internal name.
    let raw = serde_json::value::RawValue::from_string("{\"a\":1}".to_owned()).unwrap();
    let claims = Claims::new(raw).without_expiry();
    assert_eq!(
        mac_key().issue(&claims),
        invalid_use(InvalidUse::ClaimsNotAnObject)
    );
}

/// Values of every JSON type, without floating-point numbers, which serde_json may change.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    proptest::collection::btree_map("[a-z\"\\\\é]{0,4}", value(), 0..20).prop_map(|members| {
        let custom = members.into_iter();
        custom
            .filter(|(name, _)| Claim::from_name(name).is_none())
            .collect()
    })
}

proptest! {
    /// Text is issued and verified with the same members, compact or not, in every format.
    #[test]
    fn text_round_trips(members in object(), pretty: bool, subject: Option<String>) {
        let mut value = Value::Object(members);
        if let Some(subject) = subject {
            value["sub"] = Value::from(subject);
        }
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let claims = Claims::from_json(&text).unwrap().issuer("i").without_expiry().without_issued_at();
        for json in [in_jwt(&claims).unwrap(), in_paseto(&claims).unwrap()] {
            let kept = format!("{}}}", text[1..text.len() - 1].trim());
            prop_assert!(json.ends_with(&kept), "{} in {}", kept, json);
            let mut expected = value.clone();
            expected["iss"] = json!("i");
            prop_assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), expected);
        }
    }

    /// Text gives the same claims as the typed value that it was written from.
    #[test]
    fn text_and_typed_claims_issue_the_same_token(members in object()) {
        let key = mac_key();
        let typed = Claims::new(&members).subject("s").expires_in(Duration::from_secs(9));
        let text = serde_json::to_string(&members).unwrap();
        let json = Claims::from_json(&text).unwrap().subject("s").expires_in(Duration::from_secs(9));
        prop_assert_eq!(
            key.issue_with_clock(&typed, &clock()).unwrap(),
            key.issue_with_clock(&json, &clock()).unwrap()
        );
    }

    /// No text makes the reader panic, and what it accepts is one JSON object that a verifier accepts.
    #[test]
    fn accepted_text_is_verifiable(text in "[{}\\[\\]\":,a-e0-9. \\\\nixpud-]{0,40}") {
        if let Ok(claims) = Claims::from_json(&text) {
            let parsed: Value = serde_json::from_str(&text).unwrap();
            prop_assert!(parsed.is_object());
            if let Ok(json) = in_jwt(&claims.without_expiry().without_issued_at()) {
                prop_assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), parsed);
            }
        }
    }
}
