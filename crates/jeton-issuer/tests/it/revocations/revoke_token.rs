//! Tests revoking a complete token, for every reason of rejection.

use std::sync::Arc;
use std::time::Duration;

use jeton::error::{Claim, ClaimForm, FoundForm, JsonType, Part, Rejection, TokenKind};

use jeton::key::{MacAlg, MacKey};
use jeton_issuer::{
    Error, IssuerSettings, Node, Options, Request, Revoke, StalePolicy, limits, verify_audit,
};
use jeton_store::{Revision, Store, block_on};

use crate::manual_clock::START;
use crate::members::{Elsewhere, ISS, Member, caught_up, members};

fn rejection(answer: Result<Revision, Error>) -> Rejection {
    match answer {
        Err(Error::Token(error)) => error.rejection().unwrap().clone(),
        other => panic!("{other:?}"),
    }
}

/// Builds a token with that header and payload.
fn with_header(header: &str) -> String {
    format!("{}.e30.AAAA", base64url(header.as_bytes()))
}

fn base64url(bytes: &[u8]) -> String {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let token = jeton::jws::JwsSigner::new(&key).sign(bytes).unwrap();
    token.split('.').nth(1).unwrap().to_owned()
}

#[test]
fn revoke_invalid_token_is_rejected_without_store() {
    let (store, [member]) = members([0]);
    let elsewhere = Elsewhere::begin(&member);
    let claims = |iss: &str, exp: &str| {
        elsewhere.sign(&format!(
            r#"{{"iss":"{iss}","aud":"api","jti":"1","sub":"s"{exp}}}"#
        ))
    };
    let typed = |typ: &'static str| {
        let signer = jeton::jws::JwsSigner::new(&elsewhere.key).typ(typ);
        signer.sign(b"{}").unwrap()
    };
    let over = START - limits::LEEWAY_SECONDS - 2 * limits::CLOCK_SKEW_SECONDS;
    let deep = format!(
        r#"{{"alg":"HS256","x":{}{}}}"#,
        "[".repeat(100),
        "]".repeat(100)
    );
    let written = block_on(verify_audit(&*store)).unwrap();
    member.store_hook.be_away(true);
    for (token, expected) in [
        ("no token".to_owned(), Rejection::Malformed(Part::Token)),
        (with_header("{}"), Rejection::Malformed(Part::Header)),
        (
            with_header(r#"{"alg":"HS256","alg":"HS256"}"#),
            Rejection::DuplicateMember(Part::Header),
        ),
        (
            with_header(r#"{"alg":"HS256","crit":["x"],"x":1}"#),
            Rejection::CriticalExtension,
        ),
        (
            with_header(r#"{"alg":"ES256","jwk":{"kty":"EC","d":"AAAA"}}"#),
            Rejection::PrivateKeyInHeader,
        ),
        (typed("secevent+jwt"), Rejection::TypeMismatch),
        // A type that a profile can have.
        (typed("at+jwt"), Rejection::ClaimMissing(Claim::Expiry)),
        (claims(ISS, ""), Rejection::ClaimMissing(Claim::Expiry)),
        (
            claims(ISS, r#","exp":"soon""#),
            Rejection::ClaimType {
                claim: Claim::Expiry,
                found: FoundForm::Value(JsonType::String),
                expected: ClaimForm::Seconds,
            },
        ),
        (
            claims(ISS, r#","exp":-1"#),
            Rejection::ClaimRange {
                claim: Claim::Expiry,
                unit: None,
            },
        ),
        (
            claims(ISS, r#","exp":1,"exp":1"#),
            Rejection::DuplicateMember(Part::Payload),
        ),
        (
            claims(
                "https://other.example",
                &format!(r#","exp":{}"#, START + 60),
            ),
            Rejection::IssuerMismatch,
        ),
        // Expired by this clock, perhaps not by another, and invalid in any case.
        (
            claims(
                "https://other.example",
                &format!(r#","exp":{}"#, START - 60),
            ),
            Rejection::IssuerMismatch,
        ),
        (
            claims(ISS, &format!(r#","exp":{over}"#)),
            Rejection::Expired,
        ),
    ] {
        let shown = &token[..token.len().min(60)];
        assert_eq!(rejection(member.revoke_token(&token)), expected, "{shown}");
    }
    let huge = format!("a.{}.c", "b".repeat(limits::TOKEN_BYTES_MAX));
    for token in [huge, with_header(&deep)] {
        let rejection = rejection(member.revoke_token(&token));
        assert_eq!(rejection.code(), "TOKEN_TOO_LARGE");
    }
    let long = elsewhere.issue(&"x".repeat(limits::NAME_BYTES + 1), None);
    let refused = member.revoke_token(&long).unwrap_err();
    assert!(matches!(&refused, Error::Irrevocable(rule) if rule.field == "jti"));
    assert!(refused.is_rejection());
    assert_eq!(block_on(verify_audit(&*store)).unwrap(), written);
}

/// Profiles with these algorithms.
fn settings(algs: &[&str]) -> IssuerSettings {
    let profiles: Vec<_> = (algs.iter())
        .map(|alg| {
            format!(
                r#"{{"name":"{alg}","alg":"{alg}","lifetime_seconds":900,"audiences":["api"]}}"#
            )
        })
        .collect();
    let text = format!(r#"{{"iss":"{ISS}","profiles":[{}]}}"#, profiles.join(","));
    IssuerSettings::from_json(&text).unwrap()
}

/// Revokes a token on a lagging node, which then catches up.
fn revoke_while_it_lags(store: &Arc<dyn Store>, lagging: &Member, others: &Node, token: &str) {
    let answer = lagging.node.revoke_token("me", ISS, token);
    lagging.store_hook.catch_up();
    block_on(answer).unwrap();
    assert_eq!(
        lagging.node.verify(ISS, "api", token).unwrap_err(),
        Error::Revoked
    );
    let newest = block_on(store.status()).unwrap().revision;
    while others.revision() < newest {
        std::thread::yield_now();
    }
    assert_eq!(
        others.verify(ISS, "api", token).unwrap_err(),
        Error::Revoked
    );
}

#[test]
fn revoke_token_of_unknown_key_on_lagging_node() {
    for (alg, seen_as) in [
        ("HS256", Rejection::UnknownKey),
        ("ES256", Rejection::UnknownKey),
        (
            "v4.public",
            Rejection::WrongFormat {
                found: TokenKind::V4Public,
                expected: TokenKind::V4Local,
            },
        ),
        ("v4.local", Rejection::Decryption),
    ] {
        let (store, [member, lagging]) = members([0, 0]);
        let first = ["HS256", "v4.local"];
        let is_first = first.contains(&alg);
        member.node.set_issuer("me", &settings(&first)).unwrap();
        caught_up(&store, [&lagging]);
        lagging.store_hook.lag();
        if !is_first {
            let more = settings(&["HS256", "v4.local", alg]);
            member.node.set_issuer("me", &more).unwrap();
        }
        for member in [&member, &lagging] {
            member.clock.forward(limits::PUBLISH_BEFORE_USE_SECONDS);
        }
        if is_first {
            let kind = alg.parse().unwrap();
            let (_, keyring) = member.node.issuer(ISS).unwrap();
            let kid = keyring
                .signer(kind, member.clock.seconds())
                .unwrap()
                .kid
                .clone();
            member.node.compromised("me", ISS, &kid).unwrap();
        }
        let issued = member.node.issue(ISS, &Request::new(alg)).unwrap();
        let refused = lagging.node.verify(ISS, "api", &issued.token).unwrap_err();
        assert_eq!(refused, Error::Token(seen_as.into()), "{alg}");
        revoke_while_it_lags(&store, &lagging, &member.node, &issued.token);
    }
}

/// It has no key id, so all keys are tried.
#[test]
fn revoke_token_without_kid_on_lagging_node() {
    let (store, [member, lagging]) = members([0, 0]);
    lagging.store_hook.lag();
    let mut elsewhere = Elsewhere::begin(&member);
    let secret: serde_json::Value = serde_json::from_str(&elsewhere.key.to_jwk()).unwrap();
    let nameless = serde_json::json!({"kty": "oct", "alg": "HS256", "k": secret["k"]});
    elsewhere.key = MacKey::from_jwk_as(&nameless.to_string(), MacAlg::HS256).unwrap();
    let token = elsewhere.issue("1", Some(START));
    assert!(member.accepts(&token));
    revoke_while_it_lags(&store, &lagging, &member.node, &token);
}

#[test]
fn revoke_token_of_foreign_key_is_rejected() {
    let (store, [member]) = members([0]);
    let written = block_on(verify_audit(&*store)).unwrap();
    let (_, [other]) = members([0]);
    let unknown = other.issue("s").token;
    let mut forged = member.issue("s").token.into_bytes();
    let last = forged.len() - 2;
    forged[last] = if forged[last] == b'A' { b'B' } else { b'A' };
    let forged = String::from_utf8(forged).unwrap();
    let paseto = format!("v4.public.{}", "A".repeat(120));
    for (token, expected) in [
        (&unknown, Rejection::UnknownKey),
        (&forged, Rejection::Signature),
        (&paseto, Rejection::UnknownKey),
    ] {
        assert_eq!(rejection(member.revoke_token(token)), expected);
        // The store may have another key.
        member.store_hook.be_away(true);
        let refused = member.revoke_token(token).unwrap_err();
        assert!(
            matches!(refused, Error::Store(jeton_store::Error::Io(..))),
            "{refused:?}"
        );
        assert!(!refused.is_rejection());
        member.store_hook.be_away(false);
    }
    assert_eq!(block_on(verify_audit(&*store)).unwrap(), written);
}

#[test]
fn revoke_with_stale_view_does_not_reject() {
    let (store, [member]) = members([0]);
    // One node waits for the news until it gives up, and the other one until another thread has applied them.
    let [brief, lagging] = [1, 60].map(|seconds| {
        let bound = Duration::from_secs(seconds);
        let freshness = |options: Options| options.freshness(bound, StalePolicy::Verify);
        let lagging = Member::start_with(&store, 0, freshness);
        lagging.store_hook.lag();
        lagging
    });
    let kid = member.node.issuer(ISS).unwrap().1.keys()[0].kid.clone();
    member.node.compromised("me", ISS, &kid).unwrap();
    let issued = member.issue("s");
    assert_eq!(brief.revoke_token(&issued.token).unwrap_err(), Error::Stale);
    revoke_while_it_lags(&store, &lagging, &member.node, &issued.token);
}

#[test]
fn revoke_token_expired_by_one_clock() {
    let allowed = limits::LEEWAY_SECONDS + 2 * limits::CLOCK_SKEW_SECONDS;
    for (since, is_revoked) in [
        (limits::LEEWAY_SECONDS, true),
        (allowed - 1, true),
        (allowed, false),
    ] {
        let (store, [member, ahead]) = members([0, 0]);
        let issued = member.issue("s");
        ahead.clock.forward(issued.expires_at - START + since);
        let answer = ahead.revoke_token(&issued.token);
        caught_up(&store, [&member]);
        assert_eq!(!member.accepts(&issued.token), is_revoked, "{since}");
        if !is_revoked {
            assert_eq!(rejection(answer), Rejection::Expired);
        }
    }
}

#[test]
fn revoke_token_not_yet_valid_by_one_clock() {
    for behind in [limits::LEEWAY_SECONDS + 1, 24 * 3600] {
        let (store, [member, other]) = members([0, -behind]);
        let issued = member.issue("s");
        other.revoke_token(&issued.token).unwrap();
        caught_up(&store, [&member]);
        assert!(!member.accepts(&issued.token));
    }
    let (_, [member]) = members([0]);
    let elsewhere = Elsewhere::begin(&member);
    let (from, until) = (START + 3600, START + 7200);
    let token = elsewhere.sign(&format!(
        r#"{{"iss":"{ISS}","aud":"api","jti":"1","nbf":{from},"exp":{until}}}"#
    ));
    member.revoke_token(&token).unwrap();
    member.clock.forward(3600);
    assert!(!member.accepts(&token));
}

#[test]
fn revoke_token_longer_than_own_limit() {
    let (store, [member]) = members([0]);
    let short = |options: Options| options.token_bytes(limits::TOKEN_BYTES_MIN);
    let other = Member::start_with(&store, 0, short);
    let long = "x".repeat(limits::TOKEN_BYTES_MIN);
    let issued = member.issue(&long);
    assert!(matches!(
        other.node.verify(ISS, "api", &issued.token).unwrap_err(),
        Error::TokenTooLarge { .. }
    ));
    other.revoke_token(&issued.token).unwrap();
    caught_up(&store, [&member]);
    assert!(!member.accepts(&issued.token));
    // Repeating it is harmless.
    other.revoke_token(&issued.token).unwrap();
}

#[test]
fn revoke_token_without_jti_is_unsupported() {
    let (_, [member]) = members([0]);
    let elsewhere = Elsewhere::begin(&member);
    let until = START + 60;
    let nameless = elsewhere.sign(&format!(r#"{{"iss":"{ISS}","aud":"api","exp":{until}}}"#));
    for (token, said) in [(&*nameless, "`jti`"), ("a.b.c.d.e", "`token_id`")] {
        let refused = member.revoke_token(token).unwrap_err();
        assert!(matches!(&refused, Error::Unsupported(rule) if rule.rule.contains(said)));
        assert!(!refused.is_rejection());
    }
    let unknown = block_on(member.node.revoke_token("me", "other", &nameless));
    assert_eq!(unknown.unwrap_err(), Error::UnknownIssuer);
}

/// A caller knows the id of a token, and computed its expiry.
#[test]
fn revoked_id_with_a_wrong_expiry_is_found() {
    let (_, [member]) = members([0]);
    let hour = limits::CLAIMED_EXPIRY_SECONDS;
    for off in [-hour, -61, -60, 60, 61, hour] {
        let issued = member.issue("s");
        let revoke = Revoke::token(&issued.token_id, issued.expires_at + off);
        match block_on(member.node.revoke("me", ISS, revoke)) {
            Ok(_) => {
                let verified = member.node.verify(ISS, "api", &issued.token);
                assert_eq!(verified.unwrap_err(), Error::Revoked, "{off}");
            }
            Err(other) => panic!("{off}: {other:?}"),
        }
    }
}
