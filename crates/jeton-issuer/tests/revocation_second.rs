//! What docs/service.md says of revocations that name a subject, a client or a key: they go by whole
//! seconds, by the clocks of those who issue and revoke.
#![allow(clippy::unwrap_used)]

mod hand;

use std::sync::Arc;

use hand::Hand;
use jeton_issuer::{
    CustomClaims, IssuerSettings, KeyEncryptionKey, Node, Options, Request, Revoke, Subject,
};
use jeton_store::{MemoryStore, Store, block_on};

fn node(store: &Arc<dyn Store>, clock: &Hand) -> Node {
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    Node::start(store.clone(), Options::new(kek), Arc::new(clock.clone())).unwrap()
}

fn issue(node: &Node) -> String {
    let claims = CustomClaims::from_json(r#"{"client_id":"c"}"#, 4096).unwrap();
    let request = Request::new("p").subject("s").claims(claims);
    node.issue("i", &request).unwrap().token
}

/// Two nodes, the second with a clock that is so far ahead.
fn nodes(ahead: i64) -> [(Hand, Node); 2] {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let clocks = [Hand::new(), Hand::new()];
    clocks[1].forward(ahead);
    let nodes = clocks.map(|clock| {
        let node = node(&store, &clock);
        (clock, node)
    });
    let settings = r#"{"iss": "i", "profiles":
        [{"name": "p", "alg": "ES256", "lifetime_seconds": 900, "audiences": ["a"]}]}"#;
    let settings = IssuerSettings::from_json(settings).unwrap();
    nodes[0].1.create_issuer("me", settings).unwrap();
    nodes
}

fn wait(nodes: &[(Hand, Node)]) {
    let newest = nodes.iter().map(|(_, node)| node.revision()).max().unwrap();
    while nodes.iter().any(|(_, node)| node.revision() < newest) {
        std::thread::yield_now();
    }
}

fn all_that_name_a_token() -> [fn(&Node) -> Subject; 3] {
    [
        |_| Subject::Subject("s".to_owned()),
        |_| Subject::Client("c".to_owned()),
        |node| Subject::Key(node.issuer("i").unwrap().1.keys()[0].kid.clone()),
    ]
}

#[test]
fn token_issued_later_in_the_second_of_a_revocation_is_rejected() {
    for subject in all_that_name_a_token() {
        let [(clock, node), _] = nodes(0);
        let before = issue(&node);
        block_on(node.revoke("me", "i", Revoke::all(subject(&node)))).unwrap();
        let after = issue(&node);
        clock.forward(1);
        let next = issue(&node);
        let verifies = |token: &str| node.verify("i", "a", token).is_ok();
        assert_eq!(
            [&before, &after, &next].map(|token| verifies(token)),
            [false, false, true]
        );
    }
}

#[test]
fn token_of_a_node_whose_clock_is_ahead_is_rejected_when_its_second_is_revoked() {
    for subject in all_that_name_a_token() {
        let all = nodes(60);
        let [(clock, node), (_, ahead)] = &all;
        wait(&all);
        let token = issue(ahead);
        let revoke = || block_on(node.revoke("me", "i", Revoke::all(subject(node)))).unwrap();
        revoke();
        clock.forward(59);
        revoke();
        assert!(node.verify("i", "a", &token).is_ok(), "its iat is later");
        clock.forward(1);
        revoke();
        assert!(node.verify("i", "a", &token).is_err());
    }
}

#[test]
fn token_of_a_node_whose_clock_is_behind_is_rejected_until_it_has_passed() {
    let all = nodes(60);
    let [(clock, behind), (_, node)] = &all;
    wait(&all);
    let subject = Subject::Subject("s".to_owned());
    block_on(node.revoke("me", "i", Revoke::all(subject))).unwrap();
    wait(&all);
    clock.forward(60);
    assert!(behind.verify("i", "a", &issue(behind)).is_err());
    clock.forward(1);
    assert!(behind.verify("i", "a", &issue(behind)).is_ok());
}
