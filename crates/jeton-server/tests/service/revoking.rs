//! A token that is sent whole to be revoked, by a clock that the test moves.

use std::sync::Arc;

use jeton_proto::v1::{
    IssueResponse, RevokeRequest, TokenId, WatchRevocationsRequest, revoke_request,
};
use tonic::{Code, Status};

use crate::http1::{Answer, post_form};
use crate::manual_clock::ManualClock;
use crate::world::{ISSUER, World, reason};

fn world() -> (World, ManualClock) {
    let clock = ManualClock::new();
    let world = World::at(ISSUER, Arc::new(clock.clone())).unwrap();
    (world, clock)
}

fn post(world: &World, token: &str) -> Answer {
    post_form(world.address(), "/tenant/revoke", &format!("token={token}"))
}

fn call(world: &World, what: revoke_request::What) -> Result<u64, Status> {
    let request = RevokeRequest {
        what: Some(what),
        ..RevokeRequest::default()
    };
    let mut tokens = world.tokens();
    let revoked = world.runtime.block_on(tokens.revoke(request));
    revoked.map(|answer| answer.into_inner().revision)
}

fn call_with_token(world: &World, token: &str) -> Result<u64, Status> {
    call(world, revoke_request::What::Token(token.to_owned()))
}

fn is_revoked(world: &World, issued: &IssueResponse) -> bool {
    match world.verify(&issued.token) {
        Ok(_) => false,
        Err(status) => {
            assert_eq!(reason(&status), "TOKEN_REVOKED");
            true
        }
    }
}

#[test]
fn a_token_that_has_expired_by_this_clock_alone_is_revoked() {
    for by_form in [true, false] {
        let (world, clock) = world();
        let issued = world.issue("access", "alice");
        let lifetime = issued.expires_at - clock.seconds();
        clock.forward(lifetime + jeton_issuer::limits::LEEWAY_SECONDS);
        let status = world.verify(&issued.token).unwrap_err();
        assert_eq!(reason(&status), "TOKEN_EXPIRED");
        match by_form {
            true => assert_eq!(post(&world, &issued.token).status, 200),
            false => assert!(call_with_token(&world, &issued.token).is_ok()),
        }
        // What another clock says.
        clock.forward(-lifetime);
        assert!(is_revoked(&world, &issued));
    }
}

#[test]
fn a_token_of_a_clock_that_is_ahead_is_revoked() {
    for by_form in [true, false] {
        let (world, clock) = world();
        let issued = world.issue("mac", "alice");
        clock.forward(-3000);
        match by_form {
            true => assert_eq!(post(&world, &issued.token).status, 200),
            false => assert!(call_with_token(&world, &issued.token).is_ok()),
        }
        clock.forward(3000);
        assert!(is_revoked(&world, &issued));
    }
}

#[test]
fn a_token_that_no_server_accepts_is_told_to_be_of_no_use() {
    let (world, clock) = world();
    let (other, _) = self::world();
    let of_another = other.issue("access", "alice").token;
    let over = world.issue("access", "alice").token;
    clock.forward(100_000);
    for (token, said) in [
        ("no-token", "TOKEN_MALFORMED"),
        (&*of_another, "TOKEN_OF_UNKNOWN_KEY"),
        (&*over, "TOKEN_EXPIRED"),
    ] {
        assert_eq!(post(&world, token).status, 200);
        let status = call_with_token(&world, token).unwrap_err();
        assert_eq!(status.code(), Code::FailedPrecondition);
        assert_eq!(reason(&status), said);
    }
}

#[test]
fn a_token_that_is_encrypted_for_its_reader_is_told_to_be_unsupported() {
    let (world, _) = world();
    let answer = post(&world, "a.b.c.d.e");
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json()["error"], "unsupported_token_type");
    let status = call_with_token(&world, "a.b.c.d.e").unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().starts_with("`token`: "), "{status:?}");
}

#[test]
fn an_expiry_that_no_token_has_is_refused() {
    let (world, _) = world();
    let id = |expires_at| {
        revoke_request::What::TokenId(TokenId {
            id: "id".to_owned(),
            expires_at,
        })
    };
    let status = call(&world, id(i64::MAX)).unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(status.message().contains("`expires_at`"), "{status:?}");
    assert!(call(&world, id(0)).is_ok());
}

/// What a follower needs to tell which tokens a rule is about.
#[test]
fn a_follower_is_told_the_stamp_that_later_tokens_have() {
    let (world, clock) = world();
    let before = world.issue("access", "alice").token_id;
    let subject = revoke_request::What::Subject("alice".to_owned());
    call(&world, subject).unwrap();
    let after = world.issue("access", "alice").token_id;
    let mut tokens = world.tokens();
    let rule = world.runtime.block_on(async {
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
