//! Tests a node with a failing store or without contact to it.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jeton_issuer::{
    Error, IssuerSettings, KeyEncryptionKey, Node, Options, Request, Revoke, StalePolicy,
};
use jeton_store::{MemoryStore, Store, block_on};
use jeton_testkit::until;

use crate::failing_store::{FailingStore, Trouble};
use crate::manual_clock::ManualClock;

const ISS: &str = "https://id.example";

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
    Node::start(Arc::new(store), options, Arc::new(ManualClock::new())).unwrap()
}

/// Returns a healthy node that has created the issuer, and one whose store the test can make fail.
fn two(options: Options) -> (Node, Node, Trouble) {
    let store = MemoryStore::new();
    let trouble = Trouble::default();
    let node = start(store.clone(), self::options());
    node.create_issuer("setup", settings()).unwrap();
    let failing_store = start(FailingStore(store, trouble.clone()), options);
    until("it issues", || {
        failing_store.issue(ISS, &Request::new("p")).is_ok()
    });
    (node, failing_store, trouble)
}

#[test]
fn create_existing_issuer_waits_for_view() {
    let store = MemoryStore::new();
    let trouble = Trouble::default();
    let late = start(FailingStore(store.clone(), trouble.clone()), options());
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
fn follower_fault_lasts_until_reload() {
    let (node, failing_store, trouble) = two(options());
    trouble.scans_fail(true);
    trouble.watch_fails_once();
    until("there is a fault", || {
        failing_store.status().fault.is_some()
    });
    // Another update, which can be applied.
    let issued = node.issue(ISS, &Request::new("p")).unwrap();
    let revoke = Revoke::token(&issued.token_id, issued.expires_at);
    block_on(node.revoke("me", ISS, revoke)).unwrap();
    for _ in 0..30 {
        let status = failing_store.status();
        assert!(!status.is_ready());
        let fault = status.fault.unwrap();
        assert!(
            fault.contains("of the scan") || fault.contains("as asked for"),
            "{fault}"
        );
        thread::sleep(Duration::from_millis(100));
    }
    trouble.scans_fail(false);
    until("the fault is over", || {
        failing_store.status().fault.is_none()
    });
    until("it has read what it missed", || {
        matches!(
            failing_store.verify(ISS, "api", &issued.token),
            Err(Error::Revoked)
        )
    });
    assert!(failing_store.status().is_ready());
}

#[test]
fn ended_follower_is_a_fault() {
    let (_node, failing_store, trouble) = two(options());
    trouble.watch_panics();
    until("there is a fault", || {
        failing_store.status().fault.is_some()
    });
    let status = failing_store.status();
    assert!(!status.is_ready());
    assert!(status.fault.unwrap().contains("jeton-follower"));
}

#[test]
fn disconnected_node_stops_issuing_at_limit() {
    let limit = Duration::from_millis(1500);
    let bounds = options()
        .freshness(Duration::from_millis(500), StalePolicy::Verify)
        .issue_without_store(limit);
    let (_node, failing_store, trouble) = two(bounds);
    let issue = || failing_store.issue(ISS, &Request::new("p"));
    // A busy machine may be without contact for longer than the limit, until the next update.
    let mut issued = None;
    until("it issues", || {
        issued = issue().ok();
        issued.is_some()
    });
    let issued = issued.unwrap();
    trouble.hold(true);
    until("its key sets may not be cached", || {
        !failing_store.key_sets_may_be_cached()
    });
    until("it issues no more", || issue().is_err());
    let refused = issue().unwrap_err();
    assert!(
        matches!(refused, Error::StoreUnreachable { heard, limit: bound } if heard > bound && bound == limit)
    );
    let said = refused.to_string();
    assert!(said.starts_with("no contact to the store for "), "{said}");
    assert!(said.ends_with(" s, the limit for issuing is 1 s"), "{said}");
    let pair = failing_store.issue_and_verify(ISS, &Request::new("p"));
    assert!(matches!(pair, Err(Error::StoreUnreachable { .. })));
    let batch = failing_store.with_profile_issuer(ISS, "p", None, |_| ());
    assert!(matches!(batch, Err(Error::StoreUnreachable { .. })));
    // Configured to continue verifying.
    assert!(failing_store.verify(ISS, "api", &issued.token).is_ok());
    trouble.hold(false);
    until("it issues again", || issue().is_ok());
    until("its key sets may be cached", || {
        failing_store.key_sets_may_be_cached()
    });
}
