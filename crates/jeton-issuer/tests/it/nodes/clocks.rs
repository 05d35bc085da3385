//! Tests of nodes on a shared store with different clocks: behind, ahead, or jumping.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jeton_issuer::keyring::State;
use jeton_issuer::{
    Error, IssuerSettings, KeyEncryptionKey, KeyKind, Node, Options, Request, Revoke, Subject,
    limits,
};
use jeton_store::{Key, MemoryStore, Store, Txn, block_on};
use jeton_testkit::until;

use crate::manual_clock::{ManualClock, START};

const ISS: &str = "https://id.example";
const YEAR: i64 = 365 * 24 * 3600;

/// Long enough for a few maintenance runs, one per second.
const LOOKS: Duration = Duration::from_millis(3500);

fn settings() -> IssuerSettings {
    let text = format!(
        r#"{{"iss":"{ISS}","profiles":[
            {{"name":"p","alg":"ES256","lifetime_seconds":900,"audiences":["api"]}}]}}"#
    );
    IssuerSettings::from_json(&text).unwrap()
}

fn kind() -> KeyKind {
    "ES256".parse().unwrap()
}

fn start(store: &Arc<dyn Store>, clock: &ManualClock) -> Node {
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    Node::start(store.clone(), Options::new(kek), Arc::new(clock.clone())).unwrap()
}

/// Returns a node that has created the issuer, and another on the same store, each with its clock.
fn two() -> (Arc<dyn Store>, [Node; 2], [ManualClock; 2]) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let clocks = [ManualClock::new(), ManualClock::new()];
    let nodes = clocks.each_ref().map(|clock| start(&store, clock));
    nodes[0].create_issuer("setup", settings()).unwrap();
    until("the other has heard of the issuer", || {
        nodes[1].issuer(ISS).is_ok()
    });
    (store, nodes, clocks)
}

/// Returns publication and signing time of the published key.
fn next_key(node: &Node, now: i64) -> Option<(i64, i64)> {
    let (_, keyring) = node.issuer(ISS).unwrap();
    let keys = keyring.keys().iter();
    let mut next = keys.filter(|key| key.state(now) == State::Published);
    next.next().map(|key| (key.published_at, key.signs_from))
}

#[test]
fn verify_token_within_clock_skew_succeeds() {
    let (_, [ahead, behind], [clock, _]) = two();
    clock.forward(limits::CLOCK_SKEW_SECONDS);
    let early = ahead.issue(ISS, &Request::new("p")).unwrap();
    let verified = behind.verify(ISS, "api", &early.token);
    assert!(verified.is_ok(), "issued ahead: {:?}", verified.err());
    let late = behind.issue(ISS, &Request::new("p")).unwrap();
    clock.forward(899);
    let verified = ahead.verify(ISS, "api", &late.token);
    assert!(verified.is_ok(), "still good: {:?}", verified.err());
    clock.forward(1);
    assert!(ahead.verify(ISS, "api", &late.token).is_err());
}

#[test]
fn clock_jump_publishes_no_key() {
    let (_, [node, _], [clock, _]) = two();
    clock.forward(YEAR);
    let warns = || {
        let warning = node.status().warning;
        warning.is_some_and(|said| said.contains("jumped"))
    };
    until("it warns of the jump", warns);
    clock.forward(-YEAR);
    thread::sleep(LOOKS);
    assert_eq!(next_key(&node, START), None);
    until("it is ready", || node.status().is_ready());
    // Nothing is postponed any more: keys are created once the clock has run without a jump.
    clock.forward(limits::STEADY_SECONDS / 2);
    until("it warns of nothing", || node.status().warning.is_none());
}

#[test]
fn rotate_reschedules_key_published_in_future() {
    let (_, [ahead, right], [clock, _]) = two();
    clock.forward(YEAR);
    ahead.rotate("me", ISS, kind()).unwrap();
    until("the other has heard of the key", || {
        next_key(&right, START).is_some()
    });
    right.rotate("me", ISS, kind()).unwrap();
    let publish_before_use = limits::PUBLISH_BEFORE_USE_SECONDS;
    assert_eq!(
        next_key(&right, START),
        Some((START, START + publish_before_use))
    );
    let (_, keyring) = right.issuer(ISS).unwrap();
    assert_eq!(
        keyring.keys()[0].signs_until,
        Some(START + publish_before_use)
    );
    assert_eq!(keyring.keys().len(), 2);
}

#[test]
fn rule_deleted_early_still_rejects() {
    let (store, [node, beside], _) = two();
    let issued = node
        .issue(ISS, &Request::new("p").subject("user-7"))
        .unwrap();
    let rule = Revoke::all(Subject::Subject("user-7".to_owned()));
    let revision = block_on(node.revoke("me", ISS, rule)).unwrap();
    until("both have heard of the rule", || {
        beside.status().revision >= revision
    });
    // Like a node whose clock is hours ahead.
    let key = Key::of(["rule", ISS, "subject", "user-7"]).unwrap();
    block_on(store.commit(Txn::new().delete(key))).unwrap();
    let newest = block_on(store.status()).unwrap().revision;
    for node in [&node, &beside] {
        until("it has heard of the deletion", || {
            node.status().revision >= newest
        });
        let verified = node.verify(ISS, "api", &issued.token);
        assert_eq!(verified.unwrap_err(), Error::Revoked);
    }
}

/// Five minutes are more than the allowed difference.
#[test]
fn clocks_five_minutes_apart_lose_no_revocation_and_warn() {
    let (_, [ahead, behind], [clock, _]) = two();
    clock.forward(300);
    let issue = |node: &Node, subject: &str| {
        let request = Request::new("p").subject(subject);
        node.issue(ISS, &request).unwrap()
    };
    // Each revokes, by id and by subject, tokens that either has issued.
    for (number, [revoking, issuing]) in [
        [&ahead, &ahead],
        [&ahead, &behind],
        [&behind, &ahead],
        [&behind, &behind],
    ]
    .into_iter()
    .enumerate()
    {
        let subject = format!("user-{number}");
        let (by_id, by_subject) = (issue(issuing, "other"), issue(issuing, &subject));
        let id = Revoke::token(&by_id.token_id, by_id.expires_at);
        block_on(revoking.revoke("me", ISS, id)).unwrap();
        let rule = Revoke::all(Subject::Subject(subject));
        let revision = block_on(revoking.revoke("me", ISS, rule)).unwrap();
        for node in [&ahead, &behind] {
            until("it has heard of the rule", || {
                node.status().revision >= revision
            });
            for token in [&by_id.token, &by_subject.token] {
                // Or it is not valid yet, by a clock that is behind.
                assert!(node.verify(ISS, "api", token).is_err(), "{number}");
            }
        }
    }
    // Maintenance by the clock that is ahead deletes nothing that the other one still needs.
    thread::sleep(LOOKS);
    for node in [&ahead, &behind] {
        let status = node.status();
        assert_eq!((status.revocations, status.rules), (4, 4));
    }
    for (node, words) in [(&ahead, "ahead of"), (&behind, "behind")] {
        until("it warns", || {
            let warning = node.status().warning.unwrap_or_default();
            warning.contains(words)
        });
    }
    assert!(behind.status().is_ready());
}
