//! Tokens of several issuers: the keys and the policy of the named issuer count, and nothing else.

use std::time::Duration;

use jeton::error::{Claim, ClaimForm, FoundForm, InvalidUse, JsonType, Part, Rejection};
use jeton::jwt::{JwtIssuer, JwtVerifier, MultiIssuerVerifier};
use jeton::key::{ContentEnc, ContentKey, MacAlg, MacKey, SigAlg, SigningKey};
use jeton::{
    Cached, Claims, FixedClock, Limits, Policy, Scratch, Timestamp, Verify, jws::JwsSigner, jwt,
};
use serde::de::IgnoredAny;

const A: &str = "https://a.example";
const B: &str = "https://b.example";

fn at(seconds: i64) -> FixedClock {
    FixedClock(Timestamp::from_unix_seconds(1_700_000_000 + seconds).unwrap())
}

fn policy(issuer: &'static str) -> Policy {
    Policy::new(issuer, "api")
}

fn claims(issuer: &str) -> Claims<'_, ()> {
    Claims::registered()
        .issuer(issuer)
        .audience("api")
        .expires_in(Duration::from_secs(60))
}

/// Two issuers with a MAC each, so that only the key tells their tokens apart.
struct Two {
    a: MacKey,
    b: MacKey,
    verifier: MultiIssuerVerifier,
}

fn two() -> Two {
    let key = || MacKey::generate(MacAlg::HS256).unwrap();
    let (a, b) = (key(), key());
    let verifier = MultiIssuerVerifier::new()
        .issuer(&a, policy(A))
        .and_then(|verifier| verifier.issuer(&b, policy(B).typ("at+jwt")))
        .unwrap()
        .clock(at(0));
    Two { a, b, verifier }
}

/// Why both ways to verify reject a token; `None` if they accept it.
fn rejection(verifier: &MultiIssuerVerifier, token: &str) -> Option<Rejection> {
    let owned = verifier.verify::<IgnoredAny>(token).err();
    let mut scratch = Scratch::new();
    let borrowed = verifier.verify_in::<IgnoredAny>(token, &mut scratch).err();
    assert_eq!(owned, borrowed);
    owned.map(|error| error.rejection().unwrap().clone())
}

/// A token with this payload, as the holder of the key can sign it.
fn signed(key: &MacKey, payload: &str) -> String {
    JwsSigner::new(key).sign(payload.as_bytes()).unwrap()
}

#[test]
fn token_is_verified_with_keys_and_policy_of_its_issuer() {
    let Two { a, b, verifier } = two();
    let issue = |key: &MacKey, issuer, typ: &'static str| {
        let issuer_of_type = JwtIssuer::builder(key).typ(typ).build().unwrap();
        let claims = claims(issuer);
        issuer_of_type.issue_with_clock(&claims, &at(0)).unwrap()
    };
    for (key, issuer, typ, expected) in [
        (&a, A, "JWT", None),
        (&b, B, "at+jwt", None),
        (&a, A, "at+jwt", Some(Rejection::TypeMismatch)),
        (&b, B, "JWT", Some(Rejection::TypeMismatch)),
        // An issuer signs in the name of the other.
        (&a, B, "at+jwt", Some(Rejection::Signature)),
        (&b, A, "JWT", Some(Rejection::Signature)),
    ] {
        let token = issue(key, issuer, typ);
        assert_eq!(rejection(&verifier, &token), expected, "{issuer} {typ}");
    }
}

#[test]
fn unknown_or_missing_issuer_is_rejected_before_the_signature() {
    let Two { a, verifier, .. } = two();
    let rest = r#""aud":"api","exp":1700000060"#;
    let valid = signed(&a, &format!(r#"{{"iss":"{A}",{rest}}}"#));
    assert_eq!(rejection(&verifier, &valid), None);
    for issuer in [
        "https://a.example/",
        "https://A.example",
        "HTTPS://a.example",
        "https://a.example:443",
        "https://a.example\\u0000",
        " https://a.example",
        "https://a.example\\u200b",
        "https://c.example",
        "",
    ] {
        let token = signed(&a, &format!(r#"{{"iss":"{issuer}",{rest}}}"#));
        let expected = Some(Rejection::IssuerMismatch);
        assert_eq!(rejection(&verifier, &token), expected, "{issuer}");
        // The signature is not read.
        let (unsigned, _) = token.rsplit_once('.').unwrap();
        let forged = format!("{unsigned}.AAAA");
        assert_eq!(rejection(&verifier, &forged), expected, "{issuer}");
    }
    let missing = signed(&a, &format!("{{{rest}}}"));
    let expected = Some(Rejection::ClaimMissing(Claim::Issuer));
    assert_eq!(rejection(&verifier, &missing), expected);
    let none = MultiIssuerVerifier::default();
    assert_eq!(rejection(&none, &valid), Some(Rejection::IssuerMismatch));
}

#[test]
fn ambiguous_issuer_is_rejected() {
    let Two { a, verifier, .. } = two();
    let rest = r#""aud":"api","exp":1700000060"#;
    let duplicate = || Some(Rejection::DuplicateMember(Part::Payload));
    let wrong_type = |found| {
        Some(Rejection::ClaimType {
            claim: Claim::Issuer,
            found: FoundForm::Value(found),
            expected: ClaimForm::String,
        })
    };
    for (payload, expected) in [
        (
            format!(r#"{{"iss":"{A}","iss":"{B}",{rest}}}"#),
            duplicate(),
        ),
        (
            format!(r#"{{"iss":"{A}",{rest},"\u0069ss":"{A}"}}"#),
            duplicate(),
        ),
        (
            format!(r#"{{"iss":["{A}"],{rest}}}"#),
            wrong_type(JsonType::Array),
        ),
        (
            format!(r#"{{"iss":null,{rest}}}"#),
            wrong_type(JsonType::Null),
        ),
        // JSON has one meaning for these.
        (
            format!(r#"{{"\u0069ss":"https:\/\/a.example",{rest}}}"#),
            None,
        ),
        (format!(r#"{{"Iss":"{B}","iss":"{A}",{rest}}}"#), None),
        (
            format!(r#"{{"x":{{"iss":"{B}"}},"iss":"{A}",{rest}}}"#),
            None,
        ),
        (
            format!(r#"{{"iss":"{A}",{rest}}} "#).replace("} ", "}x"),
            Some(Rejection::Malformed(Part::Payload)),
        ),
    ] {
        let token = signed(&a, &payload);
        assert_eq!(rejection(&verifier, &token), expected, "{payload}");
    }
}

#[test]
fn encrypted_token_is_rejected() {
    let Two { verifier, .. } = two();
    let key = ContentKey::generate(ContentEnc::A256Gcm).unwrap();
    let issuer = jwt::EncryptedIssuer::new(&key, ContentEnc::A256Gcm);
    let token = issuer.issue_with_clock(&claims(A), &at(0)).unwrap();
    let expected = Some(Rejection::Malformed(Part::Token));
    assert_eq!(rejection(&verifier, &token), expected);
}

#[test]
fn limits_are_checked_before_the_token_is_read() {
    let Two { a, verifier, .. } = two();
    let deep = format!(r#"{{"x":[[[1]]],"iss":"{A}","aud":"api","exp":1700000060}}"#);
    let token = signed(&a, &deep);
    assert_eq!(rejection(&verifier, &token), None);
    let verifier = verifier.limits(Limits::default().token_bytes(token.len() - 1));
    let (bytes, limit) = (token.len(), token.len() - 1);
    let expected = format!("the token has {bytes} bytes, limit {limit}");
    assert_eq!(rejection(&verifier, &token).unwrap().to_string(), expected);
    let verifier = verifier.limits(Limits::default().json_depth(3));
    let expected = "the payload is nested more than 3 levels";
    assert_eq!(rejection(&verifier, &token).unwrap().to_string(), expected);
}

#[test]
fn signature_is_checked_before_times() {
    let Two { a, verifier, .. } = two();
    let token = a.issue_with_clock(&claims(A), &at(-100)).unwrap();
    assert_eq!(rejection(&verifier, &token), Some(Rejection::Expired));
    let (unsigned, _) = token.rsplit_once('.').unwrap();
    let forged = format!("{unsigned}.{}", "A".repeat(43));
    assert_eq!(rejection(&verifier, &forged), Some(Rejection::Signature));
}

#[test]
fn issuer_twice_or_without_name_is_an_error() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let with = |policies: &[Policy]| {
        let empty = Ok(MultiIssuerVerifier::new());
        let add = |verifier: jeton::Result<MultiIssuerVerifier>, policy: &Policy| {
            verifier?.issuer(&key, policy.clone())
        };
        policies.iter().fold(empty, add).map(drop)
    };
    let both = policy(A).issuers_with_shared_keys([A, B]);
    assert_eq!(with(&[policy(A), policy(B)]), Ok(()));
    for twice in [[policy(A), policy(A)], [policy(B), both.clone()]] {
        assert_eq!(with(&twice), Err(InvalidUse::IssuerTwice.into()));
    }
    for unnamed in [
        policy(A).any_issuer(),
        policy(A).issuers_with_shared_keys([""; 0]),
    ] {
        assert_eq!(with(&[unnamed]), Err(InvalidUse::IssuerNotChosen.into()));
    }
}

#[test]
fn issuer_with_two_names_has_one_set_of_keys() {
    let key = SigningKey::generate(SigAlg::EdDSA).unwrap();
    let verifier = MultiIssuerVerifier::new()
        .issuer(
            key.verifying_key(),
            policy(A).issuers_with_shared_keys([A, B]),
        )
        .unwrap();
    for issuer in [A, B] {
        let token = key.issue(&claims(issuer)).unwrap();
        assert_eq!(rejection(&verifier, &token), None);
    }
}

#[test]
fn cached_tokens_are_checked_with_the_policy_of_their_issuer() {
    let Two { a, verifier, .. } = two();
    let token = a.issue_with_clock(&claims(A), &at(0)).unwrap();
    let cached = Cached::new(verifier, 16).unwrap();
    for _ in 0..2 {
        let verified = cached.verify::<IgnoredAny>(&token).unwrap();
        assert_eq!(verified.issuer(), Some(A));
    }
    assert_eq!(cached.remembered(), 1);
    let single = JwtVerifier::new(&a, policy(A)).clock(at(0));
    let verified = single.verify_raw(&token).unwrap();
    assert!(cached.recheck(&verified).is_ok());
    // Claims of an issuer that this verifier does not have.
    let other = JwtVerifier::new(&a, policy("https://c.example")).clock(at(0));
    let token = a.issue_with_clock(&claims("https://c.example"), &at(0));
    let verified = other.verify_raw(&token.unwrap()).unwrap();
    let error = cached.recheck(&verified).unwrap_err();
    assert_eq!(error.rejection(), Some(&Rejection::IssuerMismatch));
}
