//! Types of the caller that have registered claims as fields.

use std::collections::BTreeMap;
use std::time::Duration;

use jeton::error::{Claim, FoundForm, InvalidUse, JsonType, TimeUnit};
use jeton::jwt::{BatchIssuer, JwtVerifier, TokenClaims};
use jeton::key::{MacAlg, MacKey};
use jeton::paseto::PasetoVerifier;
use jeton::paseto::v4;
use jeton::{
    Claims, CustomClaims, Error, FixedClock, Issue, Policy, Timestamp, Verified, Verify,
    WithRegistered,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

const NOW: i64 = 1_700_000_000;

/// A type as users of other libraries have it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Session {
    iss: String,
    sub: Option<String>,
    aud: Vec<String>,
    exp: Option<u64>,
    nbf: Option<i64>,
    iat: Option<f64>,
    jti: Option<String>,
    role: String,
}

fn session() -> Session {
    Session {
        iss: "i".into(),
        aud: vec!["a".into(), "b".into()],
        exp: Some(1_700_000_060),
        role: "admin".into(),
        ..Session::default()
    }
}

fn clock() -> FixedClock {
    FixedClock(Timestamp::from_unix_seconds(NOW).unwrap())
}

fn key() -> MacKey {
    MacKey::new(MacAlg::HS256, &[7; 32]).unwrap()
}

fn verifier() -> JwtVerifier {
    let policy = Policy::new("i", "a").any_issuer().any_audience();
    JwtVerifier::new(key(), policy.without_expiry()).clock(clock())
}

/// The JSON of the claims in an issued JWT.
fn issued<T: CustomClaims>(claims: &Claims<'_, T>) -> Result<String, Error> {
    let token = key().issue_with_clock(claims, &clock())?;
    Ok(verifier().verify_raw(&token)?.json().to_owned())
}

fn invalid_use(invalid_use: InvalidUse) -> Result<String, Error> {
    Err(invalid_use.into())
}

#[test]
fn session_is_issued_and_verified() {
    let claims = Claims::new(WithRegistered(session()));
    let token = key().issue_with_clock(&claims, &clock()).unwrap();
    let policy = Policy::new("i", "b");
    let verifier = JwtVerifier::new(key(), policy).clock(clock());
    let expected = Session {
        iat: Some(NOW as f64),
        ..session()
    };
    let plain: Verified<Session> = verifier.verify(&token).unwrap();
    assert_eq!(plain.claims(), &expected);
    let wrapped: Verified<WithRegistered<Session>> = verifier.verify(&token).unwrap();
    assert_eq!(wrapped.claims().0, expected);
    assert_eq!(wrapped.issuer(), Some("i"));
    assert_eq!(wrapped.expires_at().unwrap().unix_seconds(), NOW + 60);
}

#[test]
fn members_come_first_and_none_is_absent() {
    let claims = Claims::new(WithRegistered(session())).token_id("7");
    assert_eq!(
        issued(&claims).as_deref(),
        Ok(
            r#"{"iss":"i","aud":["a","b"],"exp":1700000060,"role":"admin","iat":1700000000,"jti":"7"}"#
        )
    );
    #[derive(Serialize)]
    struct Nothing {
        exp: Option<u64>,
        sub: Option<&'static str>,
    }
    let nothing = Nothing {
        exp: None,
        sub: None,
    };
    let claims = Claims::new(WithRegistered(nothing)).without_expiry();
    assert_eq!(issued(&claims).as_deref(), Ok(r#"{"iat":1700000000}"#));
    assert_eq!(issued(&claims.without_issued_at()).as_deref(), Ok("{}"));
}

#[test]
fn without_the_wrapper_the_error_names_it() {
    let error = issued(&Claims::new(session())).unwrap_err();
    assert_eq!(error, InvalidUse::RegisteredName(Claim::Issuer).into());
    let text = error.to_string();
    assert!(
        text.contains("`iss`") && text.contains("WithRegistered"),
        "{text}"
    );
}

#[test]
fn expiry_and_double_claims_follow_the_rules_of_text() {
    let without = Session {
        exp: None,
        ..session()
    };
    let claims = Claims::new(WithRegistered(without));
    assert_eq!(issued(&claims), invalid_use(InvalidUse::ExpiryNotChosen));
    assert!(issued(&claims.clone().expires_in(Duration::from_secs(1))).is_ok());
    assert!(issued(&claims.clone().without_expiry()).is_ok());
    let claims = Claims::new(WithRegistered(session()));
    for (claims, claim) in [
        (claims.clone().issuer("j"), Claim::Issuer),
        (claims.clone().audience("j"), Claim::Audience),
        (claims.clone().expires_in(Duration::ZERO), Claim::Expiry),
        (claims.clone().without_expiry(), Claim::Expiry),
    ] {
        assert_eq!(
            issued(&claims),
            invalid_use(InvalidUse::ClaimSetTwice(claim))
        );
    }
    let issued_at = Session {
        iat: Some(1_600_000_000.5),
        exp: None,
        ..session()
    };
    let lifetime = Duration::from_secs(100_000_001);
    let json = issued(&Claims::new(WithRegistered(issued_at)).expires_in(lifetime)).unwrap();
    assert!(
        json.ends_with(r#""role":"admin","exp":1700000001}"#),
        "{json}"
    );
}

#[test]
fn registered_field_of_wrong_type_or_range_is_an_error() {
    let with = |name: &str, value: Value| {
        let members: Map<String, Value> = [(name.to_owned(), value)].into_iter().collect();
        issued(&Claims::new(WithRegistered(members)).issuer("i"))
    };
    let value = FoundForm::Value;
    for (claim, given, found) in [
        (Claim::Subject, json!(7), value(JsonType::Number)),
        (Claim::TokenId, json!({}), value(JsonType::Object)),
        (
            Claim::Audience,
            json!([1]),
            FoundForm::ListWith(JsonType::Number),
        ),
        (Claim::Audience, json!([["a"]]), value(JsonType::Array)),
        (Claim::Expiry, json!("soon"), FoundForm::OtherText),
        (Claim::NotBefore, json!([[[]]]), value(JsonType::Array)),
        (Claim::IssuedAt, json!(true), value(JsonType::Bool)),
    ] {
        let error = with(claim.name(), given);
        assert_eq!(error, invalid_use(InvalidUse::ClaimType { claim, found }));
    }
    let range = |unit| {
        let claim = Claim::Expiry;
        invalid_use(InvalidUse::ClaimRange { claim, unit })
    };
    assert_eq!(with("exp", json!(-1)), range(None));
    assert_eq!(with("exp", json!(1e18)), range(Some(TimeUnit::Nanoseconds)));
    let text = json!("2040-01-01T00:00:00Z");
    assert_eq!(
        with("exp", text),
        invalid_use(InvalidUse::DateForm(Claim::Expiry))
    );
}

#[test]
fn name_that_is_written_twice_is_an_error() {
    #[derive(Serialize)]
    struct Flat {
        exp: u64,
        #[serde(flatten)]
        others: BTreeMap<&'static str, u64>,
    }
    let flat = |name| Flat {
        exp: 1_700_000_060,
        others: BTreeMap::from([(name, 1)]),
    };
    assert_eq!(
        issued(&Claims::new(WithRegistered(flat("exp")))),
        invalid_use(InvalidUse::ClaimSetTwice(Claim::Expiry))
    );
    assert_eq!(
        issued(&Claims::new(WithRegistered(flat("a")))).as_deref(),
        Ok(r#"{"exp":1700000060,"a":1,"iat":1700000000}"#)
    );
}

#[test]
fn paseto_needs_its_own_forms() {
    let key = v4::SecretKey::generate().unwrap();
    let paseto = |claims: Value| {
        let claims = Claims::new(WithRegistered(claims));
        Issue::issue_with_clock(&key, &claims, &clock())
    };
    let token = paseto(json!({"aud": "a", "exp": "2040-01-01T00:00:00Z"})).unwrap();
    let policy = Policy::new("i", "a").any_issuer();
    let verifier = PasetoVerifier::new(key.public_key(), policy).clock(clock());
    let verified = verifier.verify_raw(&token).unwrap();
    assert_eq!(verified.expires_at().unwrap().unix_seconds(), 2_208_988_800);
    assert_eq!(
        paseto(json!({"exp": 2_208_988_800_u64})),
        invalid_use(InvalidUse::DateForm(Claim::Expiry))
    );
    let list = json!({"aud": ["a"], "exp": "2040-01-01T00:00:00Z"});
    assert_eq!(paseto(list), invalid_use(InvalidUse::AudienceList));
}

#[test]
fn batch_takes_registered_fields() {
    let shared = Claims::new(())
        .issuer("i")
        .expires_in(Duration::from_secs(9));
    let key = key();
    let issuer = BatchIssuer::new_with_clock(&key, &shared, &clock()).unwrap();
    let issue = |members| {
        let own = TokenClaims::new(WithRegistered(members)).token_id("7");
        let token = issuer.issue(&own)?;
        Ok::<_, Error>(verifier().verify_raw(&token)?.json().to_owned())
    };
    assert_eq!(
        issue(json!({"sub": "s"})).as_deref(),
        Ok(r#"{"iss":"i","exp":1700000009,"iat":1700000000,"sub":"s","jti":"7"}"#)
    );
    let twice = issue(json!({"exp": 1}));
    assert_eq!(twice, invalid_use(InvalidUse::SetForAll(Claim::Expiry)));
    let twice = issue(json!({"jti": "8"}));
    assert_eq!(
        twice,
        invalid_use(InvalidUse::ClaimSetTwice(Claim::TokenId))
    );
}
