//! Tests limits of a node, and records that it cannot read.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use jeton_issuer::{
    Error, IssuerSettings, KeyEncryptionKey, Node, Options, Request, Revoke, StalePolicy, Subject,
    limits,
};
use jeton_store::{Key, MemoryStore, Store, Txn, block_on};

use crate::manual_clock::{ManualClock, START};

const ISS: &str = "https://id.example";

fn settings(iss: &str) -> IssuerSettings {
    let text = format!(
        r#"{{"iss":"{iss}","profiles":[{{"name":"p","alg":"HS256","lifetime_seconds":900,"audiences":["api"]}}]}}"#
    );
    IssuerSettings::from_json(&text).unwrap()
}

fn start(store: &Arc<dyn Store>, options: impl FnOnce(Options) -> Options) -> Node {
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    let options = options(Options::new(kek));
    Node::start(store.clone(), options, Arc::new(ManualClock::new())).unwrap()
}

#[test]
fn rules_beyond_limit_are_rejected() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let node = start(&store, |options| options);
    node.create_issuer("setup", settings(ISS)).unwrap();
    drop(node);
    let rule = format!(
        r#"{{"schema":1,"record":{{"not_before":{START},"until":{}}}}}"#,
        START + 2000
    );
    let names: Vec<usize> = (0..limits::RULES - 1).collect();
    for batch in names.chunks(100) {
        let txn = batch.iter().fold(Txn::new(), |txn, name| {
            let key = Key::of(["rule", ISS, "subject", &name.to_string()]).unwrap();
            txn.put(key, rule.as_bytes())
        });
        block_on(store.commit(txn)).unwrap();
    }
    let node = start(&store, |options| options);
    let revoke = |what| block_on(node.revoke("me", ISS, what));
    let subject = |name: &str| Revoke::all(Subject::Subject(name.to_owned()));
    revoke(subject("the last")).unwrap();
    let refused = revoke(subject("one more")).unwrap_err();
    let full = Error::RulesFull {
        used: limits::RULES,
        limit: limits::RULES / 2,
        all: limits::RULES,
    };
    assert_eq!(refused, full);
    assert!(revoke(Revoke::all(Subject::Token("id".into()))).is_err());
    // Renewed rules and single tokens, of which there may be millions.
    revoke(subject("7")).unwrap();
    revoke(Revoke::token("id", START + 60)).unwrap();
    let status = node.status();
    assert_eq!((status.rules, status.revocations), (limits::RULES, 1));
    // Another issuer has room, and the first one still has none.
    let other = "https://other.example";
    node.create_issuer("setup", settings(other)).unwrap();
    block_on(node.revoke("me", other, subject("first"))).unwrap();
    let refused = block_on(node.revoke("me", ISS, subject("one more"))).unwrap_err();
    let full = Error::RulesFull {
        used: limits::RULES,
        limit: limits::RULES / 4,
        all: limits::RULES + 1,
    };
    assert_eq!(refused, full);
}

#[test]
fn rules_of_one_client_have_a_limit() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let limited = |options: Options| options.rules_per_client(2);
    let node = start(&store, limited);
    node.create_issuer("setup", settings(ISS)).unwrap();
    let revoke = |node: &Node, who: &str, name: &str| {
        let subject = Subject::Subject(name.to_owned());
        block_on(node.revoke(who, ISS, Revoke::all(subject))).map(drop)
    };
    let full = Err(Error::ClientRulesFull { used: 2, limit: 2 });
    for name in ["a", "b", "a"] {
        revoke(&node, "me", name).unwrap();
    }
    assert_eq!(revoke(&node, "me", "c"), full);
    // A renewed rule counts to the budget of who made it first.
    revoke(&node, "you", "a").unwrap();
    revoke(&node, "you", "c").unwrap();
    revoke(&node, "you", "d").unwrap();
    assert_eq!(
        revoke(&node, "you", "e"),
        Err(Error::ClientRulesFull { used: 2, limit: 2 })
    );
    // The store knows who made a rule, and an ended one makes room.
    let again = start(&store, limited);
    assert_eq!(revoke(&again, "me", "e"), full);
    let subject = Subject::Subject("b".to_owned());
    again.end_rules("admin", ISS, &[subject]).unwrap();
    revoke(&again, "me", "e").unwrap();
    assert_eq!(revoke(&again, "me", "f"), full);
    // A compromised key counts to no budget.
    let kid = again.issuer(ISS).unwrap().1.keys()[0].kid.clone();
    again.compromised("you", ISS, &kid).unwrap();
    assert_eq!(again.status().rules, 5);
}

/// A newer record may be a revocation: a node that cannot read it must not skip it or answer for long
/// without it.
#[test]
fn unreadable_record_stops_node_until_fixed() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let fresh = Duration::from_millis(300);
    let node = start(&store, |options| {
        options.freshness(fresh, StalePolicy::Refuse)
    });
    node.create_issuer("setup", settings(ISS)).unwrap();
    let issued = node.issue(ISS, &Request::new("p")).unwrap();
    let key = Key::of(["rule", ISS, "subject", "s"]).unwrap();
    let newer = Txn::new().put(key.clone(), r#"{"schema":4,"record":{}}"#);
    block_on(store.commit(newer)).unwrap();
    let until = |what: &str, holds: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !holds() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
            thread::sleep(Duration::from_millis(5));
        }
    };
    until("it says what is wrong", &|| {
        let fault = node.status().fault;
        fault.is_some_and(|fault| fault.contains("a newer version of jeton wrote"))
    });
    // A later change does not replace the first one.
    let beside = Key::of(["rule", ISS, "subject", "t"]).unwrap();
    let rule = format!(r#"{{"schema":1,"record":{{"not_before":{START},"until":{START}}}}}"#);
    block_on(store.commit(Txn::new().put(beside, rule))).unwrap();
    until("it refuses", &|| {
        node.verify(ISS, "api", &issued.token).err() == Some(Error::Stale)
    });
    thread::sleep(Duration::from_millis(1500));
    assert_eq!(
        node.verify(ISS, "api", &issued.token).unwrap_err(),
        Error::Stale
    );
    assert!(!node.status().is_ready() && node.status().fault.is_some());

    block_on(store.commit(Txn::new().delete(key))).unwrap();
    until("it goes on", &|| {
        node.verify(ISS, "api", &issued.token).is_ok() && node.status().fault.is_none()
    });
    assert_eq!(node.status().rules, 1);
}
