//! Attacks with claims of authentic tokens, as another implementation could issue them, and invalid use when
//! issuing.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use jeton::error::{Claim, InvalidUse, JsonType, Part, Rejection, ShapeMismatch};
use jeton::paseto::TokenContext;
use jeton::{Claims, Error, FixedClock, Limits, Policy, limits};

use super::support::{Key, Visit, claims, now, rejection};

/// An authentic token with these claims next to valid ones.
fn token(key: &Key, members: &str) -> String {
    let text = format!(r#"{{"iss":"https://id.example","aud":"api",{members}"page":"/"}}"#);
    key.make(text.as_bytes(), TokenContext::new())
}

const GOOD: &str = r#""exp":"2030-01-01T00:00:00+00:00","#;

#[test]
fn verify_time_claim_of_wrong_type_is_rejected() {
    for key in Key::both() {
        let verifier = key.verifier_with(Policy::new("https://id.example", "api").without_expiry());
        assert!(verifier.verify::<Visit>(&token(&key, "")).is_ok());
        assert!(verifier.verify::<Visit>(&token(&key, GOOD)).is_ok());
        for (name, claim) in [
            ("exp", Claim::Expiry),
            ("nbf", Claim::NotBefore),
            ("iat", Claim::IssuedAt),
        ] {
            for wrong in [
                "1893456000",
                "0",
                "-1",
                "1.5",
                "null",
                "true",
                "[]",
                "{}",
                r#""""#,
                r#""never""#,
                r#""1893456000""#,
                r#""2030-01-01""#,
                r#""2030-01-01T00:00:00""#,
                r#""20300101T000000Z""#,
                r#""2030-13-01T00:00:00Z""#,
                r#""2030-02-30T00:00:00Z""#,
                r#""2030-01-01T25:00:00Z""#,
                r#""+002030-01-01T00:00:00Z""#,
                r#""2030-01-01T00:00:00Z ""#,
                r#"["2030-01-01T00:00:00Z"]"#,
            ] {
                let answer = rejection(&verifier, &token(&key, &format!("\"{name}\":{wrong},")));
                let message = match wrong.as_bytes()[0] {
                    b'"' => "not other text",
                    b'[' => "not a list",
                    b'{' => "not an object",
                    b'n' => "not null",
                    b't' | b'f' => "not a boolean",
                    _ => "not a number",
                };
                let expected = "must be RFC 3339 text with an offset";
                let message = format!("the claim `{claim}` {expected}, {message}");
                assert_eq!(answer.to_string(), message, "{name} {wrong}");
            }
            let before = format!(r#""{name}":"1969-12-31T23:59:59Z","#);
            assert_eq!(
                rejection(&verifier, &token(&key, &before)),
                Rejection::ClaimRange { claim, unit: None }
            );
        }
    }
}

#[test]
fn verify_times_are_exact_for_any_offset() {
    for key in Key::both() {
        // The current time is 2023-11-14T22:13:20Z.
        for (exp, good) in [
            ("2023-11-14T22:13:21Z", true),
            ("2023-11-14T22:13:20Z", false),
            ("2023-11-14T22:13:20.000001Z", true),
            ("2023-11-14T23:13:20+01:00", false),
            ("2023-11-14T23:13:21+01:00", true),
            ("2023-11-14T22:13:21-00:00", true),
            ("1970-01-01T00:00:00Z", false),
            ("9999-12-31T23:59:59Z", true),
        ] {
            let answer = key
                .verifier()
                .verify::<Visit>(&token(&key, &format!(r#""exp":"{exp}","#)));
            assert_eq!(answer.is_ok(), good, "{exp}");
        }
    }
}

#[test]
fn issue_uses_the_clock_of_the_issuer() {
    let [Key::Local(local), Key::Public(secret)] = Key::both() else {
        panic!("one of each");
    };
    let claims = Claims::new(()).expires_in(Duration::from_secs(1));
    let clock = FixedClock(now());
    let text = r#"{"exp":"2023-11-14T22:13:21Z","iat":"2023-11-14T22:13:20Z"}"#;
    let token = local
        .issue_with_clock(&claims, TokenContext::new(), &clock)
        .unwrap();
    assert_eq!(
        local.decrypt(&token, b"").unwrap().message(),
        text.as_bytes()
    );
    let token = secret
        .issue_with_clock(&claims, TokenContext::new(), &clock)
        .unwrap();
    let opened = secret.public_key().verify(&token, b"").unwrap();
    assert_eq!(opened.message(), text.as_bytes());
}

#[test]
fn verify_missing_exp_is_rejected_by_default() {
    for key in Key::both() {
        let none = token(&key, "");
        assert_eq!(
            rejection(&key.verifier(), &none),
            Rejection::ClaimMissing(Claim::Expiry)
        );
    }
}

#[test]
fn verify_forged_and_expired_token_reports_signature() {
    for key in Key::both() {
        let token = key.issue(TokenContext::new());
        let later = FixedClock(now().saturating_add(Duration::from_secs(3600)));
        let verifier = key.verifier().clock(later);
        assert_eq!(rejection(&verifier, &token), Rejection::Expired);
        let wrong = verifier.implicit_assertion("another");
        assert_eq!(rejection(&wrong, &token), key.forged());
    }
}

#[test]
fn verify_duplicate_member_is_rejected() {
    for key in Key::both() {
        for members in [
            r#""exp":"2030-01-01T00:00:00Z","exp":"2030-01-01T00:00:00Z","#,
            r#""exp":"2030-01-01T00:00:00Z","\u0065xp":"2031-01-01T00:00:00Z","#,
            r#""exp":"2030-01-01T00:00:00Z","page":"/a","#,
            r#""exp":"2030-01-01T00:00:00Z","x":{"a":1,"a":2},"#,
        ] {
            let answer = rejection(&key.verifier(), &token(&key, members));
            assert_eq!(
                answer,
                Rejection::DuplicateMember(Part::Payload),
                "{members}"
            );
        }
        // Names are case-sensitive: another case is another name, and is ignored.
        let other_case = token(&key, r#""EXP":"2030-01-01T00:00:00Z","#);
        let answer = rejection(&key.verifier(), &other_case);
        assert_eq!(answer, Rejection::ClaimMissing(Claim::Expiry));
    }
}

#[test]
fn verify_registered_claim_of_wrong_type_is_rejected() {
    for key in Key::both() {
        let verifier = key.verifier_with(Policy::new("", "").any_issuer().any_audience());
        for (name, claim) in [
            ("iss", Claim::Issuer),
            ("sub", Claim::Subject),
            ("aud", Claim::Audience),
            ("jti", Claim::TokenId),
        ] {
            for wrong in ["1", "null", "true", "{}", "[]", r#"["api"]"#] {
                let text = format!("{{{GOOD}\"{name}\":{wrong},\"page\":\"/\"}}");
                let answer = rejection(&verifier, &key.make(text.as_bytes(), TokenContext::new()));
                let message = format!("the claim `{claim}` must be a string, not ");
                assert!(answer.to_string().starts_with(&message), "{name} {wrong}");
            }
        }
    }
}

#[test]
fn verify_payload_that_is_not_an_object_is_malformed() {
    for key in Key::both() {
        let good =
            format!("{{{GOOD}\"iss\":\"https://id.example\",\"aud\":\"api\",\"page\":\"/\"}}");
        let ok = key.make(good.as_bytes(), TokenContext::new());
        assert!(key.verifier().verify::<Visit>(&ok).is_ok());
        for payload in [
            Vec::new(),
            b"[]".to_vec(),
            b"null".to_vec(),
            b"text".to_vec(),
            [good.as_bytes(), b"{}"].concat(),
            [good.as_bytes(), b"\0"].concat(),
            [b"\xef\xbb\xbf", good.as_bytes()].concat(),
            good.replace("\"/\"", "\"\u{1}\"").into_bytes(),
            good.replace("\"/\"", "\"\\ud800\"").into_bytes(),
            [&good.as_bytes()[..good.len() - 2], b"\xff\"}"].concat(),
        ] {
            let answer = rejection(&key.verifier(), &key.make(&payload, TokenContext::new()));
            assert_eq!(answer, Rejection::Malformed(Part::Payload), "{payload:?}");
        }
        let deep = |levels: usize| {
            let nest = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            token(&key, &format!("{GOOD}\"x\":{nest},"))
        };
        let most = Limits::default().json_depth as usize - 1;
        assert!(key.verifier().verify::<Visit>(&deep(most)).is_ok());
        for levels in [most + 1, 100_000] {
            let answer = rejection(&key.verifier(), &deep(levels));
            assert!(matches!(
                answer,
                Rejection::TooDeep {
                    part: Part::Payload,
                    ..
                }
            ));
        }
    }
}

#[test]
fn verify_issuer_and_audience_must_match_exactly() {
    for key in Key::both() {
        let token = token(&key, GOOD);
        for (issuer, audience, why) in [
            ("https://id.example/", "api", Rejection::IssuerMismatch),
            ("https://id", "api", Rejection::IssuerMismatch),
            ("https://id.example", "ap", Rejection::AudienceMismatch),
            ("https://id.example", "API", Rejection::AudienceMismatch),
        ] {
            let verifier = key.verifier_with(Policy::new(issuer, audience));
            assert_eq!(rejection(&verifier, &token), why);
        }
    }
}

#[test]
fn verify_claims_of_another_shape_are_rejected() {
    #[derive(Debug, serde::Deserialize)]
    struct Other {
        #[serde(rename = "page")]
        _page: u64,
    }
    for key in Key::both() {
        let answer = key
            .verifier()
            .verify::<Other>(&key.issue(TokenContext::new()));
        assert_eq!(
            answer.unwrap_err().rejection(),
            Some(&Rejection::ClaimsShape(ShapeMismatch::WrongType {
                field: "page",
                found: JsonType::String
            }))
        );
    }
}

#[test]
fn issue_invalid_claims_is_invalid_use() {
    let [Key::Local(local), Key::Public(secret)] = Key::both() else {
        panic!("one of each");
    };
    let list: Vec<Cow<'_, str>> = vec!["one".into(), "two".into()];
    let map = |name: &str| BTreeMap::from([(name.to_owned(), 1)]);
    let footer = vec![b'f'; limits::FOOTER_BYTES + 1];
    for (claims, invalid_use) in [
        (Claims::new(map("a")), InvalidUse::ExpiryNotChosen),
        (
            Claims::new(map("a")).audiences(list).without_expiry(),
            InvalidUse::AudienceList,
        ),
        (
            Claims::new(map("exp")).without_expiry(),
            InvalidUse::RegisteredName(Claim::Expiry),
        ),
        (
            Claims::new(map("iss")).without_expiry(),
            InvalidUse::RegisteredName(Claim::Issuer),
        ),
        (
            Claims::new(map("a")).expires_in(Duration::MAX),
            InvalidUse::TimeOutOfRange,
        ),
    ] {
        let rejected = Err(Error::InvalidUse(invalid_use));
        assert_eq!(local.issue(&claims), rejected);
        assert_eq!(secret.issue(&claims), rejected);
    }
    let context = TokenContext::new().footer(&footer);
    let rejected = Err(Error::InvalidUse(InvalidUse::FooterTooLarge {
        bytes: 8193,
        limit: 8192,
    }));
    assert_eq!(local.issue_with(&claims(), context), rejected);
    assert_eq!(secret.issue_with(&claims(), context), rejected);
    assert_eq!(local.encrypt(b"", context), rejected);
    assert_eq!(secret.sign(b"", context), rejected);
    let most = TokenContext::new().footer(&footer[1..]);
    assert!(
        local
            .decrypt(&local.issue_with(&claims(), most).unwrap(), b"")
            .is_ok()
    );
}
