//! A node whose store is troubled, or that hears of nothing: what it does, and what it says.
#![allow(clippy::unwrap_used, clippy::panic)]

mod hand;
mod troubled;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use hand::Hand;
use jeton_issuer::{
    Error, IssuerSettings, KeyEncryptionKey, Node, Options, Request, Revoke, Stale,
};
use jeton_store::{MemoryStore, Store, block_on};
use troubled::{Trouble, Troubled};

const ISS: &str = "https://id.example";

/// How long something may take that is awaited, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

fn settings() -> IssuerSettings {
    let text = format!(
        r#"{{"iss":"{ISS}","profiles":[
            {{"name":"p","alg":"ES256","lifetime_seconds":900,"audiences":["api"]}}]}}"#
    );
    IssuerSettings::from_json(&text).unwrap()
}

fn options() -> Options {
    Options::new(KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap())
}

fn start(store: impl Store + 'static, options: Options) -> Node {
    Node::start(Arc::new(store), options, Arc::new(Hand::new())).unwrap()
}

/// A node without trouble that has made the issuer, and one whose trouble the test makes.
fn two(options: Options) -> (Node, Node, Trouble) {
    let store = MemoryStore::new();
    let trouble = Trouble::default();
    let node = start(store.clone(), self::options());
    node.create_issuer("setup", settings()).unwrap();
    let troubled = start(Troubled(store, trouble.clone()), options);
    assert!(troubled.issue(ISS, &Request::new("p")).is_ok());
    (node, troubled, trouble)
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn create_issuer_that_another_node_made_returns_when_it_is_known() {
    let store = MemoryStore::new();
    let trouble = Trouble::default();
    let late = start(Troubled(store.clone(), trouble.clone()), options());
    trouble.hold(true);
    start(store, options())
        .create_issuer("setup", settings())
        .unwrap();
    thread::scope(|scope| {
        let created = scope.spawn(|| {
            let created = late.create_issuer("setup", settings());
            (created, late.status().issuers)
        });
        // It must not return before, however long that takes.
        thread::sleep(Duration::from_millis(500));
        trouble.hold(false);
        let (created, issuers) = created.join().unwrap();
        assert_eq!(created, Err(Error::IssuerExists));
        assert_eq!(issuers, [ISS]);
    });
}

#[test]
fn fault_of_a_follower_lasts_until_everything_has_been_read_again() {
    let (node, troubled, trouble) = two(options());
    trouble.scans_fail(true);
    trouble.watch_fails_once();
    until("there is a fault", || troubled.status().fault.is_some());
    // Another update, which could be followed.
    let issued = node.issue(ISS, &Request::new("p")).unwrap();
    let revoke = Revoke::token(&issued.token_id, issued.expires_at);
    block_on(node.revoke("me", ISS, revoke)).unwrap();
    for _ in 0..30 {
        let status = troubled.status();
        let fault = status.fault.unwrap();
        assert!(
            fault.contains("of the scan") || fault.contains("as asked for"),
            "{fault}"
        );
        assert!(!status.is_ready);
        thread::sleep(Duration::from_millis(100));
    }
    trouble.scans_fail(false);
    until("the fault is over", || troubled.status().fault.is_none());
    until("it has read what it missed", || {
        matches!(
            troubled.verify(ISS, "api", &issued.token),
            Err(Error::Revoked)
        )
    });
    assert!(troubled.status().is_ready);
}

#[test]
fn follower_that_ends_is_a_fault() {
    let (_node, troubled, trouble) = two(options());
    trouble.watch_panics();
    until("there is a fault", || troubled.status().fault.is_some());
    let status = troubled.status();
    assert!(status.fault.unwrap().contains("jeton-follower"));
    assert!(!status.is_ready);
}

#[test]
fn node_that_is_cut_off_issues_no_longer_than_it_may() {
    let limit = Duration::from_millis(1500);
    let bounds = options()
        .freshness(Duration::from_millis(500), Stale::Answer)
        .issue_without_store(limit);
    let (_node, troubled, trouble) = two(bounds);
    let issue = || troubled.issue(ISS, &Request::new("p"));
    let issued = issue().unwrap();
    trouble.hold(true);
    until("its key sets may not be cached", || {
        !troubled.key_sets_may_be_cached()
    });
    until("it issues no more", || issue().is_err());
    let refused = issue().unwrap_err();
    assert!(
        matches!(refused, Error::CutOff { heard, limit: bound } if heard > bound && bound == limit)
    );
    let said = refused.to_string();
    assert!(
        said.starts_with("nothing was heard from the store for "),
        "{said}"
    );
    assert!(said.ends_with(" s, the limit for issuing is 1 s"), "{said}");
    let pair = troubled.issue_and_verify(ISS, &Request::new("p"));
    assert!(matches!(pair, Err(Error::CutOff { .. })));
    let batch = troubled.with_desk(ISS, "p", None, |_| ());
    assert!(matches!(batch, Err(Error::CutOff { .. })));
    // It was told to go on verifying.
    assert!(troubled.verify(ISS, "api", &issued.token).is_ok());
    trouble.hold(false);
    until("it issues again", || issue().is_ok());
    assert!(troubled.key_sets_may_be_cached());
}
