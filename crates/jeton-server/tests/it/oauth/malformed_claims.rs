//! The log line of a token whose claims do not parse: it names the client or the trust entry.

use jeton::jws::JwsSigner;
use jeton::key::SigningKey;
use serde_json::{Value, json};

use super::federation::{bearer, exchange_outside, github_claims};
use super::outside_issuer::OutsideIssuer;
use super::refusals::{Signer, rule_and_name, trust};
use super::{OAuth, assert_error, merge};
use crate::harness::ISS;
use crate::log_lines::refusals_of;

/// Changes that make claims malformed, with the rule and the claim of the log line.
fn malformed_claims(now: i64) -> [(Value, &'static str, &'static str); 4] {
    let milliseconds = (now + 60) * 1000;
    [
        (json!({"exp": milliseconds}), "TOKEN_INVALID_CLAIMS", "exp"),
        (json!({"exp": "tomorrow"}), "TOKEN_INVALID_CLAIMS", "exp"),
        (json!({"sub": 7}), "TOKEN_INVALID_CLAIMS", "sub"),
        (json!({"aud": 5}), "TOKEN_INVALID_CLAIMS", "aud"),
    ]
}

/// Signs any text. `sign` refuses malformed claims.
fn sign_text(key: &SigningKey, claims: &str) -> String {
    JwsSigner::new(key).sign(claims.as_bytes()).unwrap()
}

/// Adds a second `jti` to the text of claims.
fn with_duplicate(claims: &Value) -> String {
    claims.to_string().replacen('{', r#"{"jti":"again","#, 1)
}

#[test]
fn malformed_assertion_is_logged_with_its_client() {
    let signer = Signer::new("malformed-signer", "");
    let oauth = &signer.oauth;
    let control = oauth.post_as("nobody", &[("grant_type", "client_credentials")]);
    let mut cases: Vec<_> = malformed_claims(oauth.now())
        .into_iter()
        .map(|(changes, rule, name)| (signer.claims(&changes).to_string(), rule, Some(name)))
        .collect();
    let duplicate = with_duplicate(&signer.claims(&json!({})));
    cases.push((duplicate, "TOKEN_DUPLICATE_MEMBER", None));
    for (claims, rule, name) in cases {
        let before = refusals_of(signer.name).len();
        let refused = oauth.post_assertion(&sign_text(&signer.key, &claims), &[]);
        assert_error(&refused, 401, "invalid_client", rule);
        assert_eq!(refused.body, control.body, "{rule} {name:?}");
        let lines = refusals_of(signer.name);
        assert_eq!(lines.len(), before + 1, "{rule} {name:?}: {lines:?}");
        let expected = (rule.to_owned(), name.map(str::to_owned));
        assert_eq!(rule_and_name(&lines[before]), expected);
        assert_eq!(lines[before]["issuer"], ISS, "{lines:?}");
    }
}

#[test]
fn malformed_outside_token_is_logged_with_its_trust_entry() {
    let outside = OutsideIssuer::start();
    let entry = |name: &str| trust(name, &outside.iss(), "repo:acme/*:ref:refs/heads/main");
    let oauth = OAuth::with(&format!("{}{}", entry("gh-malformed"), entry("gh-second")));
    let claims = |changes: &Value| {
        let mut claims = github_claims(&oauth, &json!({"iss": outside.iss()}));
        merge(&mut claims, changes);
        claims
    };
    let mut cases: Vec<_> = malformed_claims(oauth.now())
        .into_iter()
        .map(|(changes, rule, name)| (claims(&changes).to_string(), rule, Some(name)))
        .collect();
    let duplicate = with_duplicate(&claims(&json!({})));
    cases.push((duplicate, "TOKEN_DUPLICATE_MEMBER", None));
    for (claims, rule, name) in cases {
        let token = sign_text(&outside.key, &claims);
        for (answer, code) in [
            (bearer(&oauth, &token, &[]), "invalid_grant"),
            (exchange_outside(&oauth, &token, &[]), "invalid_request"),
        ] {
            assert_error(&answer, 400, code, rule);
            let lines = refusals_of("gh-malformed");
            let expected = (rule.to_owned(), name.map(str::to_owned));
            let last = lines.last().unwrap_or(&Value::Null);
            assert_eq!(rule_and_name(last), expected, "{claims}");
        }
    }
    assert_eq!(refusals_of("gh-malformed").len(), 10);
    assert_eq!(refusals_of("gh-second").len(), 0);
    // The caller learns no more than of an unknown issuer.
    let token = |iss: &str| {
        sign_text(
            &outside.key,
            &claims(&json!({"iss": iss, "sub": 7})).to_string(),
        )
    };
    let unknown = bearer(&oauth, &token("https://unknown.example"), &[]);
    let known = bearer(&oauth, &token(&outside.iss()), &[]);
    assert_eq!((known.status, known.body), (unknown.status, unknown.body));
}
