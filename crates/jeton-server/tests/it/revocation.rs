//! Revoking a token that is sent whole, with a manual clock.

use std::sync::Arc;

use jeton_proto::v1::{
    IssueResponse, RevokeRequest, TokenId, WatchRevocationsRequest, revoke_request,
};
use tonic::{Code, Status};

use crate::harness::{ISSUER, TestServer, reason};
use crate::manual_clock::ManualClock;
use crate::raw_http::{Response, post_form};

fn fixture() -> (TestServer, ManualClock) {
    let clock = ManualClock::new();
    let fixture = TestServer::with_clock(ISSUER, Arc::new(clock.clone())).unwrap();
    (fixture, clock)
}

fn post(fixture: &TestServer, token: &str) -> Response {
    post_form(
        fixture.address(),
        "/tenant/revoke",
        &format!("token={token}"),
    )
}

fn call(fixture: &TestServer, what: revoke_request::What) -> Result<u64, Status> {
    let request = RevokeRequest {
        what: Some(what),
        ..RevokeRequest::default()
    };
    let mut tokens = fixture.tokens();
    let revoked = fixture.runtime.block_on(tokens.revoke(request));
    revoked.map(|answer| answer.into_inner().revision)
}

fn call_with_token(fixture: &TestServer, token: &str) -> Result<u64, Status> {
    call(fixture, revoke_request::What::Token(token.to_owned()))
}

fn is_revoked(fixture: &TestServer, issued: &IssueResponse) -> bool {
    match fixture.verify(&issued.token) {
        Ok(_) => false,
        Err(status) => {
            assert_eq!(reason(&status), "TOKEN_REVOKED");
            true
        }
    }
}

#[test]
fn token_expired_by_the_local_clock_only_is_revoked() {
    for by_form in [true, false] {
        let (fixture, clock) = fixture();
        let issued = fixture.issue("access", "alice");
        let lifetime = issued.expires_at - clock.seconds();
        clock.forward(lifetime + jeton_issuer::limits::LEEWAY_SECONDS);
        let status = fixture.verify(&issued.token).unwrap_err();
        assert_eq!(reason(&status), "TOKEN_EXPIRED");
        if by_form {
            assert_eq!(post(&fixture, &issued.token).status, 200)
        } else {
            assert!(call_with_token(&fixture, &issued.token).is_ok())
        }
        // The time of another server.
        clock.forward(-lifetime);
        assert!(is_revoked(&fixture, &issued));
    }
}

#[test]
fn token_from_a_clock_ahead_is_revoked() {
    for by_form in [true, false] {
        let (fixture, clock) = fixture();
        let issued = fixture.issue("mac", "alice");
        clock.forward(-3000);
        if by_form {
            assert_eq!(post(&fixture, &issued.token).status, 200)
        } else {
            assert!(call_with_token(&fixture, &issued.token).is_ok())
        }
        clock.forward(3000);
        assert!(is_revoked(&fixture, &issued));
    }
}

#[test]
fn revoking_a_token_that_no_server_accepts_is_an_error() {
    let (fixture, clock) = fixture();
    let (other, _) = self::fixture();
    let of_another = other.issue("access", "alice").token;
    let over = fixture.issue("access", "alice").token;
    clock.forward(100_000);
    for (token, said) in [
        ("no-token", "TOKEN_MALFORMED"),
        (&*of_another, "TOKEN_UNKNOWN_KEY"),
        (&*over, "TOKEN_EXPIRED"),
    ] {
        assert_eq!(post(&fixture, token).status, 200);
        let status = call_with_token(&fixture, token).unwrap_err();
        assert_eq!(status.code(), Code::FailedPrecondition);
        assert_eq!(reason(&status), said);
    }
}

#[test]
fn revoking_an_encrypted_token_is_unsupported() {
    let (fixture, _) = fixture();
    let answer = post(&fixture, "a.b.c.d.e");
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["error"], "unsupported_token_type");
    let status = call_with_token(&fixture, "a.b.c.d.e").unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().starts_with("`token`: "), "{status:?}");
}

#[test]
fn revoking_with_an_impossible_expiry_is_invalid() {
    let (fixture, _) = fixture();
    let id = |expires_at| {
        revoke_request::What::TokenId(TokenId {
            id: "id".to_owned(),
            expires_at,
        })
    };
    let status = call(&fixture, id(i64::MAX)).unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().contains("`expires_at`"), "{status:?}");
    assert!(call(&fixture, id(0)).is_ok());
}

/// A follower compares the stamp of a rule with the stamps of tokens.
#[test]
fn rule_has_the_stamp_of_later_tokens() {
    let (fixture, clock) = fixture();
    let before = fixture.issue("access", "alice").token_id;
    let subject = revoke_request::What::Subject("alice".to_owned());
    call(&fixture, subject).unwrap();
    let after = fixture.issue("access", "alice").token_id;
    let mut tokens = fixture.tokens();
    let rule = fixture.runtime.block_on(async {
        let request = WatchRevocationsRequest::default();
        let updates = tokens.watch_revocations(request).await.unwrap();
        let mut updates = updates.into_inner();
        loop {
            let update = updates.message().await.unwrap().unwrap();
            if let Some(rule) = update.rules.into_iter().next() {
                break rule;
            }
        }
    });
    let stamp = format!("-{:x}-{:x}", rule.epoch, rule.number);
    assert!(after.ends_with(&stamp) && before.ends_with("-0-0"));
    let skew = jeton_issuer::limits::CLOCK_SKEW_SECONDS;
    assert_eq!(rule.not_before, clock.seconds() + skew);
}
