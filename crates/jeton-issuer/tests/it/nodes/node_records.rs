//! Tests of nodes that know each other by their records: clocks, versions, leases.

use std::sync::Arc;
use std::time::Duration;

use jeton_issuer::keyring::State;
use jeton_issuer::{
    Error, IssuerSettings, KeyEncryptionKey, KeyKind, Node, Options, RECORD_SCHEMA, Request,
    Revoke, Subject, limits,
};
use jeton_store::{MemoryStore, Prefix, Store, block_on};
use jeton_testkit::until;

use crate::manual_clock::{ManualClock, START};

const ISS: &str = "https://id.example";
const LIFETIME: i64 = 900;

fn settings() -> IssuerSettings {
    let text = format!(
        r#"{{"iss":"{ISS}","profiles":[
            {{"name":"p","alg":"ES256","lifetime_seconds":{LIFETIME},"audiences":["api"]}}]}}"#
    );
    IssuerSettings::from_json(&text).unwrap()
}

fn options() -> Options {
    Options::new(KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap())
}

fn start_with(store: &Arc<dyn Store>, clock: &ManualClock, options: Options) -> Node {
    Node::start(store.clone(), options, Arc::new(clock.clone())).unwrap()
}

fn start(store: &Arc<dyn Store>, clock: &ManualClock, name: &str) -> Node {
    start_with(store, clock, options().run_as(name, Duration::ZERO))
}

/// Nodes with these clocks, that know each other.
fn nodes<const N: usize>(clocks: [i64; N]) -> (Arc<dyn Store>, [Node; N], [ManualClock; N]) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let right = start_with(&store, &ManualClock::new(), options());
    right.create_issuer("setup", settings()).unwrap();
    let clocks = clocks.map(ManualClock::ahead);
    let nodes: [Node; N] =
        std::array::from_fn(|at| start(&store, &clocks[at], &format!("host-{at}")));
    for node in &nodes {
        until("it knows the clocks of all", || {
            let known = node.running_nodes();
            known.len() == N && known.iter().all(|node| node.ahead.is_some())
        });
    }
    (store, nodes, clocks)
}

fn kind() -> KeyKind {
    "ES256".parse().unwrap()
}

fn warns(node: &Node, words: &str) {
    until(words, || {
        let warning = node.status().warning;
        warning.is_some_and(|warning| warning.contains(words))
    });
}

#[test]
fn node_five_minutes_ahead_of_majority_is_not_ready() {
    let (_, [ahead, right, other], [clock, ..]) = nodes([300, 0, 20]);
    until("it is not ready", || !ahead.status().is_ready());
    let ready = ahead.status().ready;
    assert!(!ready.issue && !ready.verify && ready.revoke, "{ready:?}");
    warns(&ahead, "280 s ahead of the clocks of 2 of 3 nodes");
    for node in [&right, &other] {
        assert!(node.status().is_ready());
    }
    assert!(matches!(
        ahead.rotate("me", ISS, kind()),
        Err(Error::ClockApart {
            majority: 2,
            nodes: 3,
            ..
        })
    ));
    right.rotate("me", ISS, kind()).unwrap();
    // The key is published by the latest clock of the majority.
    let (_, keyring) = right.issuer(ISS).unwrap();
    let next = keyring
        .keys()
        .iter()
        .find(|key| key.state(START) == State::Published);
    assert_eq!(next.map(|key| key.published_at), Some(START + 20));
    // The operator sets the clock.
    clock.forward(-300);
    until("it is ready", || ahead.status().is_ready());
}

#[test]
fn two_nodes_that_disagree_stay_ready_and_rotate_no_key() {
    let (_, [one, other], _) = nodes([0, -7200]);
    for node in [&one, &other] {
        warns(node, "the clocks of 2 nodes do not agree");
        assert!(node.status().is_ready() || node.status().ready.verify);
        let refused = node.rotate("me", ISS, kind()).unwrap_err();
        assert!(
            matches!(refused, Error::ClocksDisagree { nodes: 2, .. }),
            "{refused}"
        );
        assert!(refused.to_string().contains("7200 s"), "{refused}");
    }
    // A compromised key is replaced, whatever the clocks say.
    let kid = one.issuer(ISS).unwrap().1.keys()[0].kid.clone();
    one.compromised("me", ISS, &kid).unwrap();
}

#[test]
fn majority_with_a_wrong_clock_is_named() {
    let (_, [right, ..], _) = nodes([0, -300, -310]);
    warns(&right, "300 s ahead of the clocks of 2 of 3 nodes");
    assert!(!right.status().is_ready());
}

/// The command of an operator, on another machine than the server. Its clock is two hours behind.
#[test]
fn command_with_a_clock_behind_publishes_no_key() {
    let (store, [server], [clock]) = nodes([0]);
    let behind = ManualClock::ahead(-7200);
    let command = start_with(&store, &behind, options().for_a_command());
    let refused = command.rotate("me", ISS, kind()).unwrap_err();
    assert!(matches!(refused, Error::ClockBehind { .. }), "{refused}");
    assert!(refused.to_string().contains(" s behind"), "{refused}");
    assert_eq!(server.issuer(ISS).unwrap().1.keys().len(), 1);
    // Also without a server: the audit log has the time of its last entry.
    server.leave().unwrap();
    drop((server, command));
    clock.forward(600);
    let begun = start_with(&store, &clock, options());
    block_on(begun.revoke("me", ISS, Revoke::all(Subject::Subject("s".to_owned())))).unwrap();
    let command = start_with(&store, &behind, options().for_a_command());
    let refused = command.rotate("me", ISS, kind()).unwrap_err();
    assert!(matches!(refused, Error::ClockBehind { .. }), "{refused}");
    assert!(refused.to_string().contains("audit log"), "{refused}");
    // The operator has checked the clock.
    let trusting = options().for_a_command().trust_clock();
    let command = start_with(&store, &behind, trusting);
    command.rotate("me", ISS, kind()).unwrap();
}

#[test]
fn node_that_cannot_sign_by_its_clock_is_not_ready_to_issue() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let clock = ManualClock::new();
    let node = start_with(&store, &clock, options());
    node.create_issuer("setup", settings()).unwrap();
    assert!(node.status().ready.issue);
    clock.forward(-3 * 3600);
    let issued = node.issue(ISS, &Request::new("p"));
    assert_eq!(issued.unwrap_err(), Error::NotReady);
    assert!(!node.status().ready.issue);
    clock.forward(3 * 3600);
    assert!(node.status().ready.issue);
}

fn until_of(node: &Node, subject: &str) -> i64 {
    let rule = Revoke::all(Subject::Subject(subject.to_owned()));
    block_on(node.revoke("me", ISS, rule)).unwrap();
    let rules = node.rules(ISS).unwrap();
    rules
        .iter()
        .find(|rule| rule.name == subject)
        .unwrap()
        .until
}

#[test]
fn rule_by_a_clock_ten_years_ahead_does_not_lengthen_later_rules() {
    const TEN_YEARS: i64 = 10 * 366 * 24 * 3600;
    let end = LIFETIME + limits::RULE_AFTER_SECONDS;
    // Without a majority, no clock is known to be wrong. No token lives longer than the longest lifetime.
    let (_, [ahead, right], _) = nodes([TEN_YEARS, 0]);
    until_of(&ahead, "first");
    until("the other has heard of it", || right.status().rules == 1);
    assert!(until_of(&right, "second") <= START + limits::LIFETIME_SECONDS + end);
    // The majority knows the time.
    let (_, [ahead, right, other], _) = nodes([TEN_YEARS, 0, 10]);
    until_of(&ahead, "first");
    until("the others have heard of it", || {
        right.status().rules == 1 && other.status().rules == 1
    });
    assert_eq!(until_of(&right, "second"), START + 10 + end);
    assert_eq!(until_of(&other, "third"), START + 10 + end);
}

#[test]
fn newer_record_is_not_written_while_an_older_node_runs() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let clock = ManualClock::new();
    let old = options()
        .run_as("old-host", Duration::ZERO)
        .reads_up_to(RECORD_SCHEMA - 1);
    let old = start_with(&store, &clock, old);
    let new = start(&store, &clock, "new-host");
    new.create_issuer("setup", settings()).unwrap();
    let issued = new.issue(ISS, &Request::new("p")).unwrap();
    let revoke = || {
        // The chain of a node in the audit log is of the newest schema.
        block_on(new.revoke(
            "me",
            ISS,
            Revoke::token(&issued.token_id, issued.expires_at),
        ))
    };
    let refused = revoke().unwrap_err();
    assert!(
        matches!(&refused, Error::OlderNode { node, .. } if node.contains("old-host")),
        "{refused}"
    );
    until("the older node is ready", || old.status().is_ready());
    old.leave().unwrap();
    until("it has left", || new.running_nodes().len() == 1);
    revoke().unwrap();
    assert!(new.verify(ISS, "api", &issued.token).is_err());
}

/// An older version writes no record. It ignores those of others.
#[test]
fn records_of_nodes_do_not_leave_the_store() {
    let (store, [one, two], _) = nodes([0, 0]);
    let count = || {
        let mut pages = block_on(store.scan(&Prefix::of(["n"]).unwrap())).unwrap();
        block_on(pages.next()).unwrap().map_or(0, |page| page.len())
    };
    assert_eq!(count(), 2);
    assert!(one.check_store().is_ok());
    let mut backup = Vec::new();
    one.back_up(&mut backup).unwrap();
    assert!(!String::from_utf8(backup).unwrap().contains("host-0"));
    let names: Vec<String> = one
        .running_nodes()
        .into_iter()
        .map(|node| node.name)
        .collect();
    assert_eq!(names, ["host-0", "host-1"]);
    two.leave().unwrap();
    until("it has left", || one.running_nodes().len() == 1);
    assert_eq!(count(), 1);
}
