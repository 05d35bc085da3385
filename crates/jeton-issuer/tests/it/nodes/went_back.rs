//! Tests of nodes on a store that goes back to an earlier revision, or to an earlier copy while no node runs.

use std::sync::Arc;
use std::time::Duration;

use jeton_issuer::{
    AuditFilter, Error, Issued, IssuerSettings, KeyEncryptionKey, Node, Options, Request, Revoke,
    Subject,
};
use jeton_store::{MemoryStore, Store, block_on};
use jeton_testkit::{until, until_some};

use crate::manual_clock::ManualClock;

const ISS: &str = "https://id.example";

fn start(store: &MemoryStore, clock: &ManualClock) -> Node {
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    let options = Options::new(kek).run_as("host", Duration::ZERO);
    let store: Arc<dyn Store> = Arc::new(store.clone());
    Node::start(store, options, Arc::new(clock.clone())).unwrap()
}

fn created(clock: &ManualClock) -> (MemoryStore, Node) {
    let store = MemoryStore::new();
    let node = start(&store, clock);
    let settings = format!(
        r#"{{"iss":"{ISS}","profiles":[
            {{"name":"p","alg":"ES256","lifetime_seconds":7200,"audiences":["api"]}}]}}"#
    );
    let settings = IssuerSettings::from_json(&settings).unwrap();
    node.create_issuer("setup", settings).unwrap();
    (store, node)
}

fn issue(node: &Node, subject: &str) -> Issued {
    node.issue(ISS, &Request::new("p").subject(subject))
        .unwrap()
}

fn revoke(node: &Node, subject: &str) -> Result<(), Error> {
    let rule = Revoke::all(Subject::Subject(subject.to_owned()));
    block_on(node.revoke("me", ISS, rule)).map(drop)
}

/// As a caller: the server may load everything again just then.
fn revoke_in_the_end(node: &Node, subject: &str) {
    until("it revokes", || match revoke(node, subject) {
        Ok(()) => true,
        Err(Error::StoreWentBack { .. } | Error::Contended | Error::Stale) => false,
        Err(other) => panic!("{other:?}"),
    });
}

fn accepts(node: &Node, issued: &Issued) -> bool {
    match node.verify(ISS, "api", &issued.token) {
        Ok(_) => true,
        Err(Error::Revoked) => false,
        Err(other) => panic!("{other:?}"),
    }
}

fn loses_history(store: &MemoryStore, copy: &MemoryStore, nodes: &[&Node]) {
    store.go_back_to(copy);
    for node in nodes {
        until("it has recovered", || {
            let status = node.status();
            status.store_went_back > 0 && status.is_ready()
        });
    }
}

#[test]
fn revocation_after_store_went_back_has_effect() {
    let clock = ManualClock::new();
    let (store, node) = created(&clock);
    let other = start(&store, &clock);
    revoke(&node, "first").unwrap();
    let copy = store.copy();
    // A history that is lost: later tokens have stamps that no later rule of the same epoch reaches.
    for number in 0..20 {
        revoke(&node, &format!("lost-{number}")).unwrap();
    }
    // Its time tells that it is younger than the lost rules.
    clock.forward(300);
    let old = issue(&node, "user-7");
    let known = issue(&node, "lost-3");
    loses_history(&store, &copy, &[&node, &other]);
    revoke_in_the_end(&node, "user-7");
    until("both reject the token", || {
        !accepts(&node, &old) && !accepts(&other, &old)
    });
    // A login after the loss, of a person whom the nodes still remember as revoked.
    assert!(accepts(&node, &issue(&node, "lost-3")));
    assert!(accepts(&other, &issue(&other, "user-7")));
    // Issued after its lost rule, which this node remembers.
    assert!(accepts(&node, &known));
    let warning = node.status().warning.unwrap();
    assert!(warning.contains("the store went back"), "{warning}");
    let mut epochs = Vec::new();
    node.audit(&AuditFilter::default(), &mut |entry| {
        epochs.extend((entry.act == "store.epoch").then_some(entry.about));
        true
    })
    .unwrap();
    assert!(!epochs.is_empty());
    assert!(node.check_store().is_ok());
}

/// The store has the same revision again before the node looks.
#[test]
fn store_that_went_back_and_grew_is_noticed() {
    let clock = ManualClock::new();
    let (store, node) = created(&clock);
    revoke(&node, "first").unwrap();
    let copy = store.copy();
    revoke(&node, "lost").unwrap();
    let old = issue(&node, "user-7");
    // Another node has the same past and a longer future.
    let other_future = copy.copy();
    let other = start(&other_future, &clock);
    while block_on(other_future.status()).unwrap().revision
        < block_on(store.status()).unwrap().revision
    {
        revoke(&other, "other").unwrap();
    }
    for number in 0..20 {
        revoke(&other, &format!("other-{number}")).unwrap();
    }
    drop(other);
    store.go_back_to(&other_future);
    until("it notices", || node.status().store_went_back > 0);
    revoke_in_the_end(&node, "user-7");
    assert!(!accepts(&node, &old));
    // It knows what the other node had revoked.
    assert!(
        node.rules(ISS)
            .unwrap()
            .iter()
            .any(|rule| rule.name == "other-7")
    );
    assert!(node.status().rules >= 22);
}

/// A revocation is acknowledged when this node rejects the token, also in a history that it does not know yet.
#[test]
fn acknowledged_revocation_of_token_survives_the_reload() {
    let clock = ManualClock::new();
    let (store, node) = created(&clock);
    let copy = store.copy();
    for number in 0..20 {
        revoke(&node, &format!("lost-{number}")).unwrap();
    }
    let issued = issue(&node, "user-7");
    store.go_back_to(&copy);
    let by_id = Revoke::token(&issued.token_id, issued.expires_at);
    let answer = block_on(node.revoke("me", ISS, by_id));
    assert!(answer.is_ok(), "{answer:?}");
    assert!(!accepts(&node, &issued));
    until("it is ready", || node.status().is_ready());
    assert!(!accepts(&node, &issued));
}

/// The store is restored while no node runs. Tokens of the lost history are the only proof.
#[test]
fn revocation_on_restored_store_rejects_tokens_of_lost_history() {
    let clock = ManualClock::new();
    let (store, node) = created(&clock);
    revoke(&node, "first").unwrap();
    let copy = store.copy();
    for number in 0..20 {
        revoke(&node, &format!("lost-{number}")).unwrap();
    }
    let (lost, other) = (issue(&node, "user-7"), issue(&node, "user-8"));
    drop(node);
    store.go_back_to(&copy);
    clock.forward(300);
    let node = start(&store, &clock);
    revoke(&node, "user-7").unwrap();
    assert!(!accepts(&node, &lost));
    assert!(accepts(&node, &issue(&node, "user-7")));
    // The operator is told: what was revoked in the lost history must be revoked again.
    assert!(accepts(&node, &other));
    let status = until_some("it counts the token", || {
        let status = node.status();
        (status.lost_history_tokens > 0).then_some(status)
    });
    assert!(
        status
            .warning
            .unwrap()
            .contains("a history that the store has lost")
    );
    assert!(status.ready.verify);
}

/// Without a rule of its own, the node begins an epoch by the token.
#[test]
fn token_of_lost_history_begins_epoch() {
    let clock = ManualClock::new();
    let (store, node) = created(&clock);
    revoke(&node, "first").unwrap();
    let copy = store.copy();
    for number in 0..20 {
        revoke(&node, &format!("lost-{number}")).unwrap();
    }
    let lost = issue(&node, "user-7");
    drop(node);
    store.go_back_to(&copy);
    clock.forward(300);
    let node = start(&store, &clock);
    assert!(accepts(&node, &lost));
    until("an epoch begins", || {
        let mut has_begun = false;
        node.audit(&AuditFilter::default(), &mut |entry| {
            has_begun |= entry.act == "store.epoch";
            true
        })
        .unwrap();
        has_begun
    });
    // A token of a node that is only ahead of the view proves nothing.
    let fresh = issue(&node, "user-8");
    assert!(accepts(&node, &fresh));
    assert_eq!(node.status().lost_history_tokens, 1);
}
