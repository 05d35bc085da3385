//! Issuing onto a string of the caller: the same token, nothing allocated, and a bound that is known before.

use std::time::Duration;

use jeton::error::RemoteError;
use jeton::jwt::{self, BatchIssuer, JwtIssuer, TokenClaims};
use jeton::key::{ContentEnc, ContentKey, MacAlg, MacKey, SigAlg, SigningKey};
use jeton::paseto::{BoundIssuer, TokenContext, v3, v4};
use jeton::remote::RemoteKey;
use jeton::{Claims, Error, FixedClock, Issue, JsonClaims, Timestamp};
use jeton_testkit::count;

fn clock() -> FixedClock {
    FixedClock(Timestamp::from_unix_seconds(1_700_000_000).unwrap())
}

/// Claims as text with every registered claim, with methods that need escapes, and with none.
fn all_claims() -> Vec<Claims<'static, JsonClaims<'static>>> {
    let at = |seconds| Timestamp::from_unix_seconds(seconds).unwrap();
    let read = |text| Claims::from_json(text).unwrap();
    vec![
        read("{}").without_expiry().without_issued_at(),
        read(r#"{"sub":"user-7","roles":["a","b"],"n":1.10}"#).expires_in(Duration::from_secs(9)),
        read(r#"{"a":1}"#)
            .issuer("https://id.example")
            .subject("\u{1}\u{2}\u{3}\"\\")
            .audience("api")
            .token_id("0123456789abcdef")
            .not_before(at(0))
            .issued_at(Timestamp::MAX)
            .expires_at(Timestamp::MAX),
    ]
}

/// Every kind of issuer that writes onto the string.
fn with_each_issuer(mut check: impl FnMut(&dyn Issue)) {
    let mac = MacKey::generate(MacAlg::HS256)
        .unwrap()
        .with_key_id("k")
        .unwrap();
    let signing = SigningKey::generate(SigAlg::EdDSA).unwrap();
    let local = v4::LocalKey::generate().unwrap();
    let secret = v3::SecretKey::generate().unwrap();
    check(&mac);
    check(&signing);
    check(&JwtIssuer::builder(&mac).typ("at+jwt").build().unwrap());
    check(&local);
    check(&secret);
    check(&BoundIssuer::new(&local, TokenContext::new().footer("f")));
    let content = ContentKey::generate(ContentEnc::A128Gcm).unwrap();
    check(&jwt::EncryptedIssuer::new(&content, ContentEnc::A128Gcm));
    check(&Box::new(&mac));
}

#[test]
fn token_is_appended_and_has_the_length_of_issue() {
    with_each_issuer(|issuer| {
        for claims in all_claims() {
            let alone = issuer.issue_with_clock(&claims, &clock()).unwrap();
            let mut text = String::from("before ");
            issuer
                .issue_onto_with_clock(&claims, &clock(), &mut text)
                .unwrap();
            let token = text.strip_prefix("before ").unwrap();
            // ECDSA and encryption are not deterministic, but their length is.
            assert_eq!(token.len(), alone.len());
            let header = alone.split('.').next().unwrap();
            assert_eq!(token.split('.').next(), Some(header));
        }
    });
}

#[test]
fn string_is_unchanged_after_an_error() {
    let invalid = Claims::from_json("{}").unwrap();
    with_each_issuer(|issuer| {
        let mut text = String::from("before");
        assert!(issuer.issue_onto(&invalid, &mut text).is_err());
        assert_eq!(text, "before");
    });
    let public = SigningKey::generate(SigAlg::ES256).unwrap().verifying_key();
    let remote = RemoteKey::new(public)
        .with_signer(|_: &jeton::remote::SigningInput<'_>| Err(RemoteError::SignatureForm.into()));
    let mut text = String::from("before");
    let failed = remote.issue_onto(&invalid.without_expiry(), &mut text);
    assert_eq!(failed, Err(Error::Remote(RemoteError::SignatureForm)));
    assert_eq!(text, "before");
}

/// Bounds are not less than the length, and not much more for text without escapes.
#[test]
fn length_bound_holds_and_is_close() {
    let check = |bound: usize, length: usize, claims: &Claims<'_, JsonClaims<'_>>| {
        assert!(bound >= length, "{bound} < {length}: {claims:?}");
        let slack = if format!("{claims:?}").contains("\\u{1}") {
            100
        } else {
            40
        };
        assert!(bound - length <= slack, "{bound} > {length}: {claims:?}");
    };
    for claims in all_claims() {
        for &alg in MacAlg::ALL {
            let key = MacKey::generate(alg).unwrap().with_key_id("id").unwrap();
            let token = key.issue_with_clock(&claims, &clock()).unwrap();
            check(key.issued_length_bound(&claims), token.len(), &claims);
            let issuer = JwtIssuer::builder(&key).typ("at+jwt").build().unwrap();
            let token = issuer.issue_with_clock(&claims, &clock()).unwrap();
            check(issuer.issued_length_bound(&claims), token.len(), &claims);
        }
        for alg in [SigAlg::ES256, SigAlg::EdDSA, SigAlg::MlDsa44] {
            let key = SigningKey::generate(alg).unwrap();
            let token = key.issue_with_clock(&claims, &clock()).unwrap();
            check(key.issued_length_bound(&claims), token.len(), &claims);
        }
        for footer in ["", "f", "{\"kid\":\"k4.lid\"}"] {
            let context = TokenContext::new().footer(footer);
            let key = v4::LocalKey::generate().unwrap();
            let token = key.issue_with(&claims, context).unwrap();
            check(
                key.issued_length_bound(&claims, context),
                token.len(),
                &claims,
            );
            let key = v3::SecretKey::generate().unwrap();
            let token = key.issue_with(&claims, context).unwrap();
            check(
                key.issued_length_bound(&claims, context),
                token.len(),
                &claims,
            );
        }
    }
    let key = MacKey::generate(MacAlg::HS512).unwrap();
    for issuer in ["", "i", "is", "iss"] {
        let shared = Claims::new(()).issuer(issuer).without_expiry();
        let issuer = BatchIssuer::new(&key, &shared).unwrap();
        for own in [
            TokenClaims::from_json("{}").unwrap(),
            TokenClaims::from_json(r#"{"a":1}"#).unwrap().subject("\"s"),
            TokenClaims::from_json(r#"{"sub":"s"}"#)
                .unwrap()
                .token_id("7"),
        ] {
            let token = issuer.issue(&own).unwrap();
            let bound = issuer.issued_length_bound(&own);
            assert!(bound >= token.len() && bound - token.len() <= 24);
        }
    }
}

#[test]
fn issuing_text_with_capacity_allocates_nothing() {
    let text = r#"{"iss":"https://id.example","sub":"user-7","aud":["api"],"roles":["a"],"n":1.1}"#;
    let mut token = String::with_capacity(2_000);
    for &alg in MacAlg::ALL {
        let key = MacKey::generate(alg).unwrap();
        let (counts, ()) = count(|| {
            token.clear();
            let claims = Claims::from_json(text).unwrap();
            let claims = claims.expires_in(Duration::from_secs(9));
            key.issue_onto(&claims, &mut token).unwrap();
        });
        assert_eq!(counts.allocations, 0, "{alg}");
    }
    let text = r#"{"iss":"https://id.example","sub":"user-7","aud":"api","roles":["a"],"n":1.1}"#;
    let key = v4::LocalKey::generate().unwrap();
    let (counts, ()) = count(|| {
        token.clear();
        let claims = Claims::from_json(text).unwrap();
        let claims = claims.expires_in(Duration::from_secs(9));
        key.issue_onto(&claims, TokenContext::new(), &mut token)
            .unwrap();
    });
    assert_eq!(counts.allocations, 0);
}

#[test]
fn appending_many_tokens_reallocates_seldom() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let claims = Claims::from_json("{}").unwrap().without_expiry();
    let mut tokens = String::new();
    let (counts, ()) = count(|| {
        for _ in 0..1_000 {
            key.issue_onto(&claims, &mut tokens).unwrap();
        }
    });
    assert!(counts.allocations <= 12, "{counts:?}");
}
