//! Token exchange (RFC 8693) of tokens of this service.

use std::sync::Arc;

use jeton_proto::v1::IssueRequest;
use serde_json::{Value, json};

use super::{ACCESS_TOKEN, EXCHANGE, OAUTH_ISSUER, OAuth, access_token, assert_error, claims_of};
use crate::harness::TestServer;
use crate::raw_http::Response;

/// A token that is meant for the client `gateway`.
fn subject_token(oauth: &OAuth, scope: &str) -> String {
    let form = [("grant_type", "client_credentials"), ("scope", scope)];
    access_token(&oauth.post_as("issuer", &form))
}

pub(super) fn exchange(oauth: &OAuth, token: &str, more: &[(&str, &str)]) -> Response {
    let mut form = vec![
        ("grant_type", EXCHANGE),
        ("subject_token", token),
        ("subject_token_type", ACCESS_TOKEN),
    ];
    form.extend(more);
    oauth.post_as("gateway", &form)
}

#[test]
fn exchanged_token_names_the_actor_and_keeps_the_subject() {
    let oauth = OAuth::with("");
    let token = subject_token(&oauth, "read list");
    let answer = exchange(&oauth, &token, &[("audience", "api"), ("scope", "read")]);
    let exchanged = access_token(&answer);
    assert_eq!(answer.json()["issued_token_type"], ACCESS_TOKEN);
    let claims = claims_of(&exchanged);
    assert_eq!(claims["sub"], "issuer");
    assert_eq!(claims["client_id"], "gateway");
    assert_eq!(claims["aud"], "api");
    assert_eq!(claims["scope"], "read");
    assert_eq!(claims["act"], json!({"sub": "gateway"}));
    assert_eq!(oauth.introspect(&exchanged)["active"], true);
}

#[test]
fn exchanged_token_never_has_more_scope() {
    let oauth = OAuth::with("");
    let token = subject_token(&oauth, "read");
    let more = exchange(&oauth, &token, &[("scope", "read list")]);
    assert_error(&more, 400, "invalid_scope", "more scope");
    let default = claims_of(&access_token(&exchange(&oauth, &token, &[])));
    assert_eq!(default["scope"], "read");
}

#[test]
fn exchanged_token_never_lives_longer() {
    let oauth = OAuth::with("");
    let token = subject_token(&oauth, "read");
    let ends: Value = claims_of(&token)["exp"].clone();
    // The subject token of a day is near its end, and the profile would give 15 minutes.
    oauth.clock.forward(86_400 - 100);
    let exchanged = access_token(&exchange(&oauth, &token, &[]));
    assert_eq!(claims_of(&exchanged)["exp"], ends);
    oauth.clock.forward(200);
    let expired = exchange(&oauth, &token, &[]);
    assert_error(&expired, 400, "invalid_request", "expired");
}

#[test]
fn actors_are_nested() {
    let oauth = OAuth::with("");
    let token = subject_token(&oauth, "read");
    let mut current = token;
    // The profile `long` has the audience `gateway`, so the client may exchange its own result.
    for depth in 1..=8 {
        let answer = exchange(
            &oauth,
            &current,
            &[("audience", "gateway"), ("scope", "read")],
        );
        current = access_token(&answer);
        let mut act = &claims_of(&current)["act"];
        for _ in 1..depth {
            act = &act["act"];
        }
        assert_eq!(act, &json!({"sub": "gateway"}), "{depth}");
    }
    let deeper = exchange(
        &oauth,
        &current,
        &[("audience", "gateway"), ("scope", "read")],
    );
    assert_error(&deeper, 400, "invalid_request", "ninth actor");
}

#[test]
fn revoked_token_is_not_exchanged() {
    let oauth = OAuth::with("");
    let token = subject_token(&oauth, "read");
    access_token(&exchange(&oauth, &token, &[]));
    let header = super::basic("ci", &oauth.secret);
    let headers = [("authorization", header.as_str())];
    oauth.post_to("/tenant/revoke", &headers, &[("token", &token)]);
    let revoked = exchange(&oauth, &token, &[]);
    assert_error(&revoked, 400, "invalid_request", "revoked");
}

/// A token of the service for the client `gateway`, with a `cnf`. A server without clients issues it.
fn bound_token(oauth: &mut OAuth) -> String {
    oauth.restart();
    oauth.fixture.server.take().unwrap().stop();
    let (data, clock) = (oauth.path("data"), Arc::new(oauth.clock.clone()));
    let trial = TestServer::in_folder(OAUTH_ISSUER, &data, clock.clone());
    let request = IssueRequest {
        profile: "long".to_owned(),
        audience: "gateway".to_owned(),
        subject: "alice".to_owned(),
        claims_json: r#"{"cnf":{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}}"#.to_owned(),
        ..IssueRequest::default()
    };
    let mut tokens = trial.tokens();
    let issued = trial
        .runtime
        .block_on(tokens.issue(request))
        .unwrap()
        .into_inner();
    drop(trial);
    oauth.fixture = TestServer::in_folder(&oauth.config, &data, clock);
    issued.token
}

/// The request proves no key, and the new token would be bound to none.
#[test]
fn token_that_is_bound_to_a_key_is_not_exchanged() {
    let mut oauth = OAuth::with("");
    let bound = bound_token(&mut oauth);
    let refused = exchange(&oauth, &bound, &[]);
    assert_error(&refused, 400, "invalid_request", "bound");
    assert!(
        refused
            .body
            .contains("`subject_token`: is bound to a key (`cnf`)"),
        "{}",
        refused.body
    );
    let token = subject_token(&oauth, "read");
    let actor = [
        ("actor_token", bound.as_str()),
        ("actor_token_type", ACCESS_TOKEN),
    ];
    let refused = exchange(&oauth, &token, &actor);
    assert_error(&refused, 400, "invalid_request", "bound actor");
    access_token(&exchange(&oauth, &token, &[]));
}

/// Both are verified with a leeway.
#[test]
fn actor_token_that_has_expired_is_refused() {
    let oauth = OAuth::with("");
    let form = [("grant_type", "client_credentials"), ("scope", "read")];
    let old = access_token(&oauth.post_as("issuer", &form));
    oauth.clock.forward(86_400 + 10);
    let token = subject_token(&oauth, "read");
    let actor = [
        ("actor_token", old.as_str()),
        ("actor_token_type", ACCESS_TOKEN),
    ];
    let refused = exchange(&oauth, &token, &actor);
    assert_error(&refused, 400, "invalid_request", "expired");
    assert!(
        refused.body.contains("`actor_token`: has expired"),
        "{}",
        refused.body
    );
}
