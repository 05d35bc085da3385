//! Counts allocations: custom claims are signed from the given text, and revocation rules allocate nothing.
#![allow(clippy::unwrap_used)]

#[path = "it/manual_clock.rs"]
#[allow(dead_code)]
mod manual_clock;

use std::sync::Arc;

use jeton_issuer::{
    CustomClaims, IssuerSettings, KeyEncryptionKey, Node, Options, Request, Revoke, Subject, limits,
};
use jeton_store::{MemoryStore, block_on};
use jeton_testkit::{CountingAlloc, count};
use manual_clock::ManualClock;

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

const ISS: &str = "https://id.example";

#[test]
fn batch_token_with_custom_claims_allocates_nothing() {
    let settings = r#"{"iss":"https://id.example","profiles":[
        {"name":"p","alg":"HS256","lifetime_seconds":900,"audiences":["api"]}]}"#;
    let options = Options::new(KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap());
    let node = Node::start(
        Arc::new(MemoryStore::new()),
        options,
        Arc::new(ManualClock::new()),
    )
    .unwrap();
    node.create_issuer("setup", IssuerSettings::from_json(settings).unwrap())
        .unwrap();
    let claims = r#"{"client_id":"web","roles":["admin",{"exact":18446744073709551617}],"n":1.10}"#;
    let counts = node.with_profile_issuer(ISS, "p", None, |profile_issuer| {
        let mut batch = profile_issuer.batch().unwrap();
        let mut issue = || {
            let claims = CustomClaims::from_json(claims, limits::TOKEN_BYTES).unwrap();
            batch.issue(Some("user-7"), &claims).unwrap().token.len()
        };
        let warm = issue();
        let (counts, bytes) = count(issue);
        assert_eq!(warm, bytes);
        counts
    });
    assert_eq!(counts.unwrap().allocations, 0);
}

/// The stamp uses preallocated space.
#[test]
fn verify_with_seen_rule_allocates_nothing() {
    let settings = r#"{"iss":"https://id.example","profiles":[
        {"name":"p","alg":"HS256","lifetime_seconds":900,"audiences":["api"]}]}"#;
    let options = Options::new(KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap());
    let node = Node::start(
        Arc::new(MemoryStore::new()),
        options,
        Arc::new(ManualClock::new()),
    )
    .unwrap();
    node.create_issuer("setup", IssuerSettings::from_json(settings).unwrap())
        .unwrap();
    let request = Request::new("p").subject("user-7");
    let counts = |subject: &str| {
        let revoke = Revoke::all(Subject::Subject(subject.to_owned()));
        block_on(node.revoke("me", ISS, revoke)).unwrap();
        let token = node.issue(ISS, &request).unwrap().token;
        let (issued, _) = count(|| node.issue(ISS, &request).unwrap());
        let (verified, _) = count(|| node.verify(ISS, "api", &token).unwrap());
        (issued.allocations, verified.allocations)
    };
    let beside = counts("another");
    assert_eq!(counts("user-7"), beside);
    assert!(beside.0 <= 2, "a token and its id: {}", beside.0);
}
