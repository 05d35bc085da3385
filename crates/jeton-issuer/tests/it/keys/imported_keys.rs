//! Tests that every node can read, use and delete imported keys with any id.

use std::sync::Arc;
use std::thread;

use jeton::key::{SigAlg, SigningKey};
use jeton_issuer::{
    Error, IssuerSettings, KeyEncryptionKey, KeyKind, Node, Options, Request, Revoke, Subject,
    check_records, limits,
};
use jeton_store::{MemoryStore, Store, block_on};

use crate::manual_clock::ManualClock;

const ISS: &str = "https://id.example";
const ALG: SigAlg = SigAlg::ES256;

/// Key ids of other systems, and unusual ones.
const ODD_IDS: [&str; 14] = [
    "=",
    "==",
    "=a",
    "==a",
    "a=",
    "_set",
    "=_set",
    "/",
    "../_set",
    "%3D",
    "https://id.example/keys/1?a=b",
    " ",
    "\"\\",
    "clé-🔑",
];

fn kek(digits: &str) -> KeyEncryptionKey {
    KeyEncryptionKey::from_hex(&digits.repeat(32)).unwrap()
}

fn start(store: &Arc<dyn Store>, clock: &ManualClock) -> Result<Node, Error> {
    let options = Options::new(kek("17"));
    Node::start(store.clone(), options, Arc::new(clock.clone()))
}

fn issuer() -> IssuerSettings {
    let text = format!(
        r#"{{"iss":"{ISS}","profiles":[
            {{"name":"p","alg":"ES256","lifetime_seconds":900,"audiences":["api"]}}]}}"#
    );
    IssuerSettings::from_json(&text).unwrap()
}

fn key(id: &str) -> String {
    let key = SigningKey::generate(ALG).unwrap();
    let key = key.with_key_id(id).unwrap();
    key.to_jwk().unwrap().to_string()
}

fn follows(node: &Node, store: &Arc<dyn Store>) {
    let newest = block_on(store.status()).unwrap().revision;
    while node.status().revision < newest {
        assert_eq!(node.status().fault, None);
        thread::yield_now();
    }
}

#[test]
fn import_unusual_kid_is_read_by_every_node() {
    for id in ODD_IDS {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let clock = ManualClock::new();
        let node = start(&store, &clock).unwrap();
        node.create_issuer("setup", issuer()).unwrap();
        let beside = start(&store, &clock).unwrap();
        node.import("me", ISS, KeyKind::Jws(ALG), &key(id))
            .unwrap_or_else(|error| panic!("{id:?}: {error}"));
        follows(&beside, &store);
        clock.forward(limits::PUBLISH_BEFORE_USE_SECONDS);
        let issued = beside.issue(ISS, &Request::new("p")).unwrap();
        let again = start(&store, &clock).unwrap_or_else(|error| panic!("{id:?}: {error}"));
        for node in [&node, &beside, &again] {
            let verified = node.verify(ISS, "api", &issued.token).unwrap();
            assert_eq!(verified.key_id(), Some(id));
        }
        // The same under a new key-encryption key.
        let options = Options::new(kek("28")).also_reads(kek("17"));
        let sealing = Node::start(store.clone(), options, Arc::new(clock.clone())).unwrap();
        assert_eq!(sealing.reseal("me").unwrap(), 2, "{id:?}");
        let options = Options::new(kek("28"));
        let again = Node::start(store.clone(), options, Arc::new(clock.clone())).unwrap();
        assert!(again.verify(ISS, "api", &issued.token).is_ok(), "{id:?}");
        assert!(block_on(check_records(&*store)).unwrap() > 0);
        // It is deleted like every key.
        let all = Revoke::all(Subject::Key(id.to_owned()));
        block_on(again.revoke("me", ISS, all)).unwrap();
        assert!(again.verify(ISS, "api", &issued.token).is_err(), "{id:?}");
        again.compromised("me", ISS, id).unwrap();
        let (_, keyring) = again.issuer(ISS).unwrap();
        assert!(keyring.keys().iter().all(|key| key.kid != id), "{id:?}");
        assert!(again.issue(ISS, &Request::new("p")).is_ok(), "{id:?}");
    }
}

/// The same key under two ids is harmless, and a third node reads both.
#[test]
fn import_same_key_under_two_ids_is_read_by_every_node() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let clock = ManualClock::new();
    let node = start(&store, &clock).unwrap();
    node.create_issuer("setup", issuer()).unwrap();
    let key = SigningKey::generate(ALG).unwrap();
    for id in ["one", "two"] {
        let named = SigningKey::from_jwk_as(&key.to_jwk().unwrap(), ALG).unwrap();
        let jwk = named.with_key_id(id).unwrap().to_jwk().unwrap();
        node.import("me", ISS, KeyKind::Jws(ALG), &jwk).unwrap();
        clock.forward(limits::PUBLISH_BEFORE_USE_SECONDS);
        let issued = node.issue(ISS, &Request::new("p")).unwrap();
        let again = start(&store, &clock).unwrap();
        let verified = again.verify(ISS, "api", &issued.token).unwrap();
        assert_eq!(verified.key_id(), Some(id));
    }
}
