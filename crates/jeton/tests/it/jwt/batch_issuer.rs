//! Batches of JWTs: each token has the same claims as one issued by the key, in another order.

use std::time::Duration;

use jeton::error::{Claim, InvalidUse};
use jeton::jwt::{BatchIssuer, JwtVerifier, TokenClaims};
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey, SigningKeyRef};
use jeton::{Claims, Error, FixedClock, Policy, Timestamp};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

const ISSUER: &str = "https://issuer.example";

fn shared() -> Claims<'static, ()> {
    Claims::new(())
        .issuer(ISSUER)
        .audience("api")
        .expires_in(Duration::from_secs(900))
}

fn clock() -> FixedClock {
    FixedClock(Timestamp::from_unix_seconds(1_700_000_000).unwrap())
}

fn claims_of(token: &str, verifier: &JwtVerifier) -> Value {
    let verified = verifier.verify::<IgnoredAny>(token).unwrap();
    serde_json::from_str(verified.json()).unwrap()
}

/// All lengths of the shared claims over one group of base64url, so that the boundary is inside, before and
/// after a group.
#[test]
fn batch_issuer_token_has_shared_and_own_claims() {
    for &alg in MacAlg::ALL {
        let key = MacKey::generate(alg).unwrap();
        let verifier = JwtVerifier::new(&key, Policy::new(ISSUER, "api")).clock(clock());
        for extra in 0..7 {
            let audience = "x".repeat(extra);
            let shared = Claims::new(())
                .issuer(ISSUER)
                .audiences(["api", &audience])
                .expires_in(Duration::from_secs(900));
            let issuer = BatchIssuer::new_with_clock(&key, &shared, &clock()).unwrap();
            for number in 0..4 {
                let name = "\"".repeat(number);
                let own = TokenClaims::new(json!({ "number": number }))
                    .subject(&name)
                    .token_id("id");
                let token = issuer.issue(&own).unwrap();
                let expected = json!({
                    "iss": ISSUER, "aud": ["api", audience], "exp": 1_700_000_900,
                    "iat": 1_700_000_000, "sub": name, "jti": "id", "number": number,
                });
                assert_eq!(claims_of(&token, &verifier), expected, "{alg}");
            }
        }
    }
}

#[test]
fn batch_issuer_works_with_a_signing_key() {
    for alg in [SigAlg::ES256, SigAlg::EdDSA, SigAlg::MlDsa44] {
        let key = SigningKey::generate(alg).unwrap();
        let verifier = JwtVerifier::new(key.verifying_key(), Policy::new(ISSUER, "api"));
        let issuer = BatchIssuer::new(&key, &shared()).unwrap();
        let token = issuer
            .issue(&TokenClaims::new(()).subject("alice"))
            .unwrap();
        assert_eq!(claims_of(&token, &verifier)["sub"], "alice", "{alg}");
    }
}

/// The algorithm is deterministic, so the tokens are equal if the claims have the same order.
#[test]
fn batch_issuer_token_equals_token_of_the_key() {
    let key = MacKey::generate(MacAlg::HS256)
        .unwrap()
        .with_key_id("k1")
        .unwrap();
    let issuer = BatchIssuer::new_with_clock(&key, &shared(), &clock()).unwrap();
    let own = TokenClaims::new(json!({ "page": "/" }));
    let claims = Claims::new(json!({ "page": "/" }))
        .issuer(ISSUER)
        .audience("api")
        .expires_in(Duration::from_secs(900));
    assert_eq!(
        issuer.issue(&own).unwrap(),
        key.issue_with_clock(&claims, &clock()).unwrap()
    );
}

#[test]
fn batch_issuer_without_claims_gives_an_empty_object() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let nothing = Claims::new(()).without_expiry().without_issued_at();
    let issuer = BatchIssuer::new(&key, &nothing).unwrap();
    let policy = Policy::new(ISSUER, "api").any_issuer().any_audience();
    let verifier = JwtVerifier::new(&key, policy.without_expiry());
    for (own, expected) in [(json!({}), json!({})), (json!({"a": 1}), json!({"a": 1}))] {
        let token = issuer.issue(&TokenClaims::new(own)).unwrap();
        assert_eq!(claims_of(&token, &verifier), expected);
    }
}

#[test]
fn issue_onto_appends_and_restores_after_an_error() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let issuer = BatchIssuer::new(&key, &shared()).unwrap();
    let mut text = String::from("before ");
    let rejected = issuer.issue_onto(&TokenClaims::new(json!({ "exp": 1 })), &mut text);
    assert!(matches!(
        rejected,
        Err(Error::InvalidUse(InvalidUse::RegisteredName(Claim::Expiry)))
    ));
    assert_eq!(text, "before ");
    issuer.issue_onto(&TokenClaims::new(()), &mut text).unwrap();
    let verifier = JwtVerifier::new(&key, Policy::new(ISSUER, "api"));
    assert_eq!(
        claims_of(&text["before ".len()..], &verifier)["iss"],
        ISSUER
    );
}

#[test]
fn batch_issuer_claim_set_twice_is_an_error() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let issuer = BatchIssuer::new(&key, &shared().subject("all").token_id("all")).unwrap();
    for (own, claim) in [
        (TokenClaims::new(()).subject("own"), Claim::Subject),
        (TokenClaims::new(()).token_id("own"), Claim::TokenId),
    ] {
        let rejected = issuer.issue(&own);
        assert!(
            matches!(rejected, Err(Error::InvalidUse(InvalidUse::SetForAll(c))) if c == claim),
            "{rejected:?}"
        );
    }
    assert!(issuer.issue(&TokenClaims::new(())).is_ok());
}

#[test]
fn batch_issuer_with_verify_only_key_is_an_error() {
    let jwk = r#"{"kty":"oct","alg":"HS256","key_ops":["verify"],
        "k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}"#;
    let key = MacKey::from_jwk(jwk).unwrap();
    let rejected = BatchIssuer::new(SigningKeyRef::from(&key), &shared());
    assert!(matches!(rejected, Err(Error::Key(_))), "{rejected:?}");
    let unchosen = Claims::new(());
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let rejected = BatchIssuer::new(&key, &unchosen);
    assert!(matches!(
        rejected,
        Err(Error::InvalidUse(InvalidUse::ExpiryNotChosen))
    ));
}
