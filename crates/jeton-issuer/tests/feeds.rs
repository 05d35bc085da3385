//! Feeds of revocations: what they cost the store, and what becomes of a reader that does not read.
#![allow(clippy::unwrap_used, clippy::panic)]

mod hand;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hand::{Hand, START};
use jeton_issuer::{IssuerSettings, KeyEncryptionKey, Node, Options, Revoke, Subject};
use jeton_store::{
    Key, MemoryStore, Outcome, Pages, Pending, Prefix, Read, RedbStore, Revision, Status, Store,
    Txn, Watch, block_on,
};

const ISS: &str = "https://id.example";

fn start(store: Arc<dyn Store>) -> Node {
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    let node = Node::start(store, Options::new(kek), Arc::new(Hand::new())).unwrap();
    for iss in [ISS, "other"] {
        let settings = format!(
            r#"{{"iss":"{iss}","profiles":
                [{{"name":"p","alg":"HS256","lifetime_seconds":900,"audiences":["a"]}}]}}"#
        );
        let settings = IssuerSettings::from_json(&settings).unwrap();
        node.create_issuer("setup", settings).unwrap();
    }
    node
}

fn revoke(node: &Node, iss: &str, number: usize) {
    let revoke = Revoke::token(&format!("token-{number}"), START + 900);
    block_on(node.revoke("me", iss, revoke)).unwrap();
}

/// What a store is asked.
#[derive(Debug)]
struct Counting {
    store: MemoryStore,
    watches: AtomicUsize,
    scans: AtomicUsize,
}

impl Store for Counting {
    fn read(&self, keys: &[Key]) -> Pending<'_, Read> {
        self.store.read(keys)
    }

    fn scan(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>> {
        self.scans.fetch_add(1, Ordering::SeqCst);
        self.store.scan(prefix)
    }

    fn commit(&self, txn: Txn) -> Pending<'_, Outcome> {
        self.store.commit(txn)
    }

    fn watch(&self, prefix: &Prefix, after: Revision) -> Pending<'_, Box<dyn Watch>> {
        self.watches.fetch_add(1, Ordering::SeqCst);
        self.store.watch(prefix, after)
    }

    fn status(&self) -> Pending<'_, Status> {
        self.store.status()
    }
}

#[test]
fn feeds_many_watch_and_scan_the_store_no_more_than_none() {
    let store = Arc::new(Counting {
        store: MemoryStore::new(),
        watches: AtomicUsize::new(0),
        scans: AtomicUsize::new(0),
    });
    let node = start(store.clone());
    revoke(&node, ISS, 1);
    let asked = || {
        let count = |count: &AtomicUsize| count.load(Ordering::SeqCst);
        (count(&store.watches), count(&store.scans))
    };
    let before = asked();
    let mut feeds: Vec<_> = (0..3).map(|_| node.revocations(ISS).unwrap()).collect();
    revoke(&node, ISS, 2);
    for feed in &mut feeds {
        let mut tokens = 0;
        while tokens < 2 {
            tokens += block_on(feed.next()).unwrap().tokens.len();
        }
    }
    assert_eq!(asked(), before);
}

/// The most that the store's file grows to while that many transactions change the same few entries.
fn file_bytes(folder: &Path, holds_a_feed: bool) -> u64 {
    let node = start(Arc::new(RedbStore::open(folder).unwrap()));
    for number in 0..2000 {
        let revoke = Revoke::all(Subject::Subject(format!("{number}")));
        drop(node.revoke("me", ISS, revoke));
    }
    revoke(&node, ISS, 0);
    let mut feed = holds_a_feed.then(|| node.revocations(ISS).unwrap());
    let first = feed.as_mut().map(|feed| block_on(feed.next()).unwrap());
    assert!(first.is_none_or(|first| first.is_snapshot));
    for _ in 0..600 {
        revoke(&node, ISS, 0);
    }
    fs::metadata(folder.join("store.redb")).unwrap().len()
}

#[test]
fn feed_nobody_reads_does_not_make_the_store_grow() {
    let folder = tempfile::tempdir().unwrap();
    let without = file_bytes(&folder.path().join("without"), false);
    let with = file_bytes(&folder.path().join("with"), true);
    assert!(
        with <= without * 5 / 4,
        "{with} bytes, and {without} without a feed"
    );
}
