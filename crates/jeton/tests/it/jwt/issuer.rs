//! The issuer that owns its key.

use std::sync::Arc;
use std::time::Duration;

use jeton::error::{Claim, InvalidUse};
use jeton::jwt::{IssuerBuilder, JwtIssuer, JwtVerifier, TokenClaims};
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};
use jeton::{Claims, FixedClock, Issue, JsonClaims, Policy, Timestamp, Verified, WithRegistered};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

fn clock() -> FixedClock {
    FixedClock(Timestamp::from_unix_seconds(1_700_000_000).unwrap())
}

fn builder(key: &MacKey) -> IssuerBuilder {
    JwtIssuer::builder(key)
        .issuer("i")
        .audiences(["a", "b"])
        .lifetime(Duration::from_secs(60))
}

fn verified(key: &MacKey, token: &str) -> Verified<Value> {
    let verifier = JwtVerifier::new(key, Policy::new("i", "b")).clock(clock());
    verifier.verify(token).unwrap()
}

#[test]
fn token_has_the_claims_of_issuer_and_caller() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let issuer = builder(&key).build().unwrap();
    let custom = json!({"page": "/"});
    let token = issuer.issue_with_clock(&custom, &clock()).unwrap();
    let text = r#"{"iss":"i","aud":["a","b"],"exp":1700000060,"iat":1700000000,"page":"/"}"#;
    assert_eq!(verified(&key, &token).json(), text);

    let claims = Claims::new(&custom).subject("s").token_id("7");
    let token = issuer.issue_with_clock(&claims, &clock()).unwrap();
    let verified = verified(&key, &token);
    assert_eq!(
        (verified.subject(), verified.token_id()),
        (Some("s"), Some("7"))
    );

    // As through the trait, and onto a string.
    let all: &dyn Issue = &issuer;
    assert_eq!(all.issue_with_clock(&claims, &clock()).unwrap(), token);
    let mut text = String::from("x");
    issuer.issue_onto(&claims, &mut text).unwrap();
    assert!(text.starts_with("xey"));
}

#[test]
fn token_cannot_set_what_the_issuer_sets() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let issuer = builder(&key).build().unwrap();
    let set_for_all = |claim| Err(InvalidUse::SetForAll(claim).into());
    let none = Claims::registered;
    for (claims, claim) in [
        (none().issuer("x"), Claim::Issuer),
        (none().audience("x"), Claim::Audience),
        (none().audiences(["x"]), Claim::Audience),
        (none().expires_in(Duration::from_secs(9)), Claim::Expiry),
        (none().without_expiry(), Claim::Expiry),
    ] {
        assert_eq!(issuer.issue(&claims), set_for_all(claim));
    }
    for (text, claim) in [
        (r#"{"iss":"x"}"#, Claim::Issuer),
        (r#"{"aud":"x"}"#, Claim::Audience),
        (r#"{"exp":1800000000}"#, Claim::Expiry),
    ] {
        let json = JsonClaims::from_json(text).unwrap();
        assert_eq!(issuer.issue(&json), set_for_all(claim));
        let claims = Claims::from_json(text).unwrap();
        assert_eq!(issuer.issue(&claims), set_for_all(claim));
    }
    let fields = WithRegistered(json!({"iss": "x"}));
    assert_eq!(issuer.issue(&fields), set_for_all(Claim::Issuer));
    let own = WithRegistered(json!({"sub": "s"}));
    assert!(issuer.issue(&own).is_ok());
    let without = JwtIssuer::builder(&key).build().unwrap();
    let error = Err(InvalidUse::ExpiryNotChosen.into());
    assert_eq!(without.issue(&json!({"page": "/"})), error);
}

#[test]
fn issuer_in_shared_state_outlives_its_creator() {
    let key = Arc::new(SigningKey::generate(SigAlg::EdDSA).unwrap());
    let issuer = JwtIssuer::builder(Arc::clone(&key))
        .without_expiry()
        .build()
        .unwrap();
    let threads = [issuer.clone(), issuer]
        .map(|issuer| std::thread::spawn(move || issuer.issue(&json!({"n": 1})).unwrap()));
    let policy = Policy::new("i", "a").any_issuer().any_audience();
    let verifier = JwtVerifier::new(key.verifying_key(), policy.without_expiry());
    for thread in threads {
        let token = thread.join().unwrap();
        assert!(verifier.verify::<IgnoredAny>(&token).is_ok());
    }
}

#[test]
fn batch_of_an_issuer_has_its_settings() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let issuer = builder(&key).typ("x+jwt").build().unwrap();
    let batch = issuer.batch_with_clock(&clock()).unwrap();
    let token = batch.issue(&TokenClaims::new(()).subject("s")).unwrap();
    let policy = Policy::new("i", "a").typ("X+JWT");
    let verifier = JwtVerifier::new(&key, policy).clock(clock());
    let verified = verifier.verify::<IgnoredAny>(&token).unwrap();
    assert_eq!(verified.subject(), Some("s"));
    assert_eq!(verified.header().typ(), Some("X+JWT"));
}

#[test]
fn access_token_needs_every_claim_of_rfc_9068() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let issuer = builder(&key).access_tokens().build().unwrap();
    assert!(issuer.batch().is_err());
    let all = [("sub", "s"), ("jti", "1"), ("client_id", "c")];
    let with = |skipped: &str| {
        let members = all.iter().filter(|(name, _)| *name != skipped);
        let members: Vec<_> = members.map(|(n, v)| format!("\"{n}\":\"{v}\"")).collect();
        let text = format!("{{{}}}", members.join(","));
        let claims = Claims::from_json(&text).unwrap();
        issuer.issue_with_clock(&claims, &clock())
    };
    for (name, _) in all {
        assert_eq!(with(name), Err(InvalidUse::AccessTokenClaim(name).into()));
    }
    let verifier = JwtVerifier::new(&key, Policy::access_token("i", "a")).clock(clock());
    let token = with("nothing").unwrap();
    assert!(verifier.verify::<IgnoredAny>(&token).is_ok());
}

#[test]
fn issued_ago_moves_iat_and_exp() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let claims = Claims::registered()
        .issued_ago(Duration::from_secs(60))
        .expires_in(Duration::from_secs(600));
    let token = key.issue_with_clock(&claims, &clock()).unwrap();
    let policy = Policy::new("i", "a").any_issuer().any_audience();
    let verifier = JwtVerifier::new(&key, policy).clock(clock());
    let verified = verifier.verify::<IgnoredAny>(&token).unwrap();
    assert_eq!(verified.json(), r#"{"exp":1700000540,"iat":1699999940}"#);
}
