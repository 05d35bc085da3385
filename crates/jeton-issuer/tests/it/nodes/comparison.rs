//! A node whose watch loses an event: the comparison with the store finds and repairs it.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jeton_issuer::{
    Error, IssuerSettings, KeyEncryptionKey, KeyKind, Node, Options, Request, Revoke, Subject,
};
use jeton_store::{Key, MemoryStore, Outcome, Prefix, Store, Txn, block_on};
use jeton_testkit::until;

use crate::intercepted_store::InterceptedStore;
use crate::manual_clock::{ManualClock, START};

const ISS: &str = "https://id.example";

fn start(store: Arc<dyn Store>, compare_every: Option<Duration>) -> Node {
    let options = Options::new(KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap());
    let options = match compare_every {
        Some(interval) => options.compare_every(interval),
        None => options,
    };
    Node::start(store, options, Arc::new(ManualClock::new())).unwrap()
}

fn settings(lifetime: u32) -> IssuerSettings {
    let settings = format!(
        r#"{{"iss": "{ISS}", "profiles":
            [{{"name": "p", "alg": "ES256", "lifetime_seconds": {lifetime}, "audiences": ["api"]}}]}}"#
    );
    IssuerSettings::from_json(&settings).unwrap()
}

/// A node whose updates a test can lose, and another one on the same store.
fn two(compare_every: Option<Duration>) -> (InterceptedStore, [Node; 2]) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let intercepted = InterceptedStore::new(&store);
    let other = start(store, None);
    other.create_issuer("setup", settings(900)).unwrap();
    let node = start(intercepted.store(), compare_every);
    (intercepted, [node, other])
}

/// Makes a change at the other node, of which the node learns nothing.
fn lose(
    intercepted: &InterceptedStore,
    under: &'static str,
    nodes: &[Node; 2],
    act: impl Fn(&Node),
) {
    let [node, other] = nodes;
    until("the node is up to date", || {
        node.revision() >= other.revision()
    });
    intercepted.lose(Some(under));
    act(other);
    until("the node believes to be up to date", || {
        node.revision() >= other.revision()
    });
    intercepted.lose(None);
}

fn revoke(node: &Node, what: Revoke) {
    block_on(node.revoke("me", ISS, what)).unwrap();
}

#[test]
fn lost_revocation_is_found_and_repaired() {
    // The negative control is a node that does not compare.
    for compare_every in [Some(Duration::from_millis(20)), None] {
        let (intercepted, nodes) = two(compare_every);
        let [node, other] = &nodes;
        let issued = other.issue(ISS, &Request::new("p").subject("s")).unwrap();
        lose(&intercepted, "/r/", &nodes, |other| {
            revoke(other, Revoke::token(&issued.token_id, issued.expires_at));
        });
        let verified = || node.verify(ISS, "api", &issued.token);
        if compare_every.is_none() {
            thread::sleep(Duration::from_millis(500));
            assert!(verified().is_ok());
            let status = node.status();
            assert_eq!((status.comparisons, status.differences), (0, 0));
            continue;
        }
        until("it rejects the token", || {
            verified().err() == Some(Error::Revoked)
        });
        let status = node.status();
        let told = status.last_difference.as_deref();
        assert_eq!(
            (status.differences, told),
            (1, Some("revoked tokens missing: 1"))
        );
        // It is repaired, and the node is as before.
        until("it compares again", || {
            node.status().comparisons >= status.comparisons + 3
        });
        let status = node.status();
        assert!(status.is_ready());
        assert_eq!((status.differences, status.fault), (1, None));
    }
}

#[test]
fn every_kind_of_record_is_compared() {
    type Act = Box<dyn Fn(&Node)>;
    let subject = || Revoke::all(Subject::Subject("s".into()));
    let kind: KeyKind = "ES256".parse().unwrap();
    let acts: [(&'static str, Act, &str); 5] = [
        (
            "/rule/",
            Box::new(move |node| revoke(node, subject())),
            "revocation rules missing or older: 1",
        ),
        (
            "/c/",
            Box::new(move |node| revoke(node, subject())),
            "the counter of revocation rules differs",
        ),
        (
            "/i/",
            Box::new(|node| node.set_issuer("me", &settings(600)).unwrap()),
            "issuers that differ: 1 (https://id.example)",
        ),
        (
            "/k/",
            Box::new(move |node| node.rotate("me", ISS, kind).unwrap()),
            "issuers that differ: 1 (https://id.example)",
        ),
        (
            "/i/",
            Box::new(|node| {
                let other = r#"{"iss": "other", "profiles":
                    [{"name": "p", "alg": "HS256", "lifetime_seconds": 60, "audiences": ["a"]}]}"#;
                let other = IssuerSettings::from_json(other).unwrap();
                node.create_issuer("me", other).unwrap();
            }),
            "issuers that differ: 1 (other)",
        ),
    ];
    for (under, act, told) in acts {
        let (intercepted, nodes) = two(Some(Duration::from_millis(50)));
        let [node, other] = &nodes;
        lose(&intercepted, under, &nodes, act);
        until("it is found", || node.status().differences == 1);
        assert_eq!(node.status().last_difference.as_deref(), Some(told));
        until("it is repaired", || {
            let seen = |node: &Node| {
                let issuers = node.status().issuers;
                let issuers: Vec<_> = issuers.iter().map(|iss| node.issuer(iss)).collect();
                (issuers, node.status().rules)
            };
            node.status().fault.is_none() && seen(node) == seen(other)
        });
        let before = node.status().comparisons;
        until("it compares again", || {
            node.status().comparisons > before + 1
        });
        assert_eq!(node.status().differences, 1, "{under}");
    }
}

/// Another program or a newer version wrote it, and the watch lost the event.
#[test]
fn unreadable_record_that_the_watch_lost_is_a_fault() {
    // The negative control is a node that does not compare.
    for compare_every in [Some(Duration::from_millis(20)), None] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let intercepted = InterceptedStore::new(&store);
        start(store.clone(), None)
            .create_issuer("setup", settings(900))
            .unwrap();
        let node = start(intercepted.store(), compare_every);
        let key = Key::of(["i", ISS]).unwrap();
        let read = block_on(store.read(std::slice::from_ref(&key))).unwrap();
        let before = read.entries[0].clone().unwrap().value;
        intercepted.lose(Some("/i/"));
        let put = |value: &[u8]| {
            let committed = block_on(store.commit(Txn::new().put(key.clone(), value))).unwrap();
            let Outcome::Committed(at) = committed else {
                panic!("without conditions");
            };
            at
        };
        let at = put(b"{}");
        until("the node believes to be up to date", || {
            node.revision() >= at
        });
        intercepted.lose(None);
        if compare_every.is_none() {
            thread::sleep(Duration::from_millis(500));
            assert_eq!(node.status().fault, None);
            continue;
        }
        until("the record is named", || {
            let fault = node.status().fault;
            fault.is_some_and(|fault| fault.contains(key.as_str()))
        });
        let status = node.status();
        assert!(!status.is_ready());
        assert!(status.incomplete_comparisons > 0);
        put(&before);
        until("it is ready again", || node.status().is_ready());
        let before = node.status().comparisons;
        until("it compares again", || {
            node.status().comparisons > before + 1
        });
        assert_eq!(node.status().differences, 0);
    }
}

/// No difference: changes while it compares, and what a node keeps longer than the store.
#[test]
fn working_service_has_no_difference() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let other = start(store.clone(), None);
    other.create_issuer("setup", settings(900)).unwrap();
    let node = start(store.clone(), Some(Duration::from_millis(1)));
    for number in 0..1500 {
        let id = format!("id-{number}");
        revoke(&other, Revoke::token(&id, START + 600));
        if number % 100 == 0 {
            revoke(&other, Revoke::all(Subject::Subject(id)));
        }
    }
    // Another node, whose clock is ahead, deletes them.
    let deleted = Txn::new()
        .delete_prefix(Prefix::of(["r", ISS]).unwrap())
        .delete(Key::of(["rule", ISS, "subject", "id-0"]).unwrap());
    block_on(store.commit(deleted)).unwrap();
    // What has ended by the clock of the node.
    let ended = Txn::new()
        .put(
            Key::of(["r", ISS, "0000000001", &"0".repeat(32)]).unwrap(),
            r#"{"schema":1,"record":1}"#,
        )
        .put(
            Key::of(["rule", ISS, "subject", "old"]).unwrap(),
            r#"{"schema":1,"record":{"not_before":1,"until":2}}"#,
        );
    block_on(store.commit(ended)).unwrap();
    let before = node.status().comparisons;
    until("it compares", || node.status().comparisons > before + 20);
    let status = node.status();
    assert_eq!((status.differences, status.fault), (0, None));
    assert!(status.revocations >= 1500);
}
