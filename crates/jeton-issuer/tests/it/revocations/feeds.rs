//! Tests feeds of revocations: their cost for the store, and readers that do not read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use jeton_issuer::{
    Error, IssuerSettings, KeyEncryptionKey, Node, Options, ResumeToken, RevocationFeed,
    RevocationRule, RevocationUpdate, Revoke, Subject, limits, token_hash,
};
use jeton_store::{
    Key, MemoryStore, Outcome, Pages, Pending, Prefix, Read, RedbStore, Revision, Status, Store,
    Txn, Update, Watch, block_on,
};

use crate::manual_clock::{ManualClock, START};

const ISS: &str = "https://id.example";

/// Issuers whose records are next to those of [`ISS`] in the store.
const OTHERS: [&str; 3] = [
    "https://id.example-2",
    "https://id.example/t",
    "https://id.exampl",
];

/// Generous timeout for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

fn start(store: Arc<dyn Store>) -> Node {
    start_at(store, &ManualClock::new())
}

fn start_at(store: Arc<dyn Store>, clock: &ManualClock) -> Node {
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    let node = Node::start(store, Options::new(kek), Arc::new(clock.clone())).unwrap();
    for iss in [&[ISS], &OTHERS[..]].concat() {
        let settings = format!(
            r#"{{"iss":"{iss}","profiles":
                [{{"name":"p","alg":"HS256","lifetime_seconds":900,"audiences":["a"]}}]}}"#
        );
        let settings = IssuerSettings::from_json(&settings).unwrap();
        node.create_issuer("setup", settings).unwrap();
    }
    node
}

/// Starts another node on the store.
fn follower_of(store: &Arc<dyn Store>) -> Node {
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    let clock = Arc::new(ManualClock::new());
    Node::start(store.clone(), Options::new(kek), clock).unwrap()
}

fn caught_up(store: &Arc<dyn Store>, node: &Node) {
    let newest = block_on(store.status()).unwrap().revision;
    while node.revision() < newest {
        thread::yield_now();
    }
}

fn revoke(node: &Node, iss: &str, number: usize) {
    let revoke = Revoke::token(&format!("token-{number}"), START + 900);
    block_on(node.revoke("me", iss, revoke)).unwrap();
}

fn revoke_subject(node: &Node, iss: &str, name: String) {
    block_on(node.revoke("me", iss, Revoke::all(Subject::Subject(name)))).unwrap();
}

/// State of a reader.
#[derive(Debug, Default, PartialEq)]
struct Known {
    tokens: BTreeSet<(u32, u128)>,
    rules: BTreeMap<(String, String), RevocationRule>,
}

impl Known {
    fn take(&mut self, news: RevocationUpdate) {
        let tokens = news.tokens.into_iter();
        self.tokens
            .extend(tokens.map(|(hash, minute)| (minute, hash)));
        for rule in news.rules {
            self.rules
                .insert((rule.kind.clone(), rule.name.clone()), rule);
        }
    }

    /// Reads the rest of the snapshot. Returns where a reader resumes after it.
    fn take_snapshot(&mut self, feed: &mut RevocationFeed) -> ResumeToken {
        loop {
            let news = block_on(feed.next()).unwrap();
            let after = news.resume_token;
            assert_eq!(after.is_none(), news.is_snapshot);
            self.take(news);
            if let Some(after) = after {
                return after;
            }
        }
    }
}

/// A store in memory that counts calls, and whose watches can fail.
#[derive(Debug, Default)]
struct Odd {
    store: MemoryStore,
    watches: AtomicUsize,
    scans: AtomicUsize,
    /// Its watches omit `as_of`.
    is_lagging: Arc<AtomicBool>,
    /// The next update is that the history was compacted.
    has_forgotten: Arc<AtomicBool>,
}

struct OddWatch {
    watch: Box<dyn Watch>,
    is_lagging: Arc<AtomicBool>,
    has_forgotten: Arc<AtomicBool>,
}

impl Watch for OddWatch {
    fn next(&mut self) -> Pending<'_, Update> {
        Box::pin(async {
            let mut update = self.watch.next().await?;
            if self.has_forgotten.swap(false, Ordering::SeqCst) {
                let oldest = update.revision;
                return Err(jeton_store::Error::Compacted { oldest });
            }
            if self.is_lagging.load(Ordering::SeqCst) {
                update.as_of = None;
            }
            Ok(update)
        })
    }
}

impl Store for Odd {
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
        let (watch, is_lagging) = (self.store.watch(prefix, after), self.is_lagging.clone());
        let has_forgotten = self.has_forgotten.clone();
        Box::pin(async move {
            let watch = OddWatch {
                watch: watch.await?,
                is_lagging,
                has_forgotten,
            };
            Ok(Box::new(watch) as Box<dyn Watch>)
        })
    }

    fn status(&self) -> Pending<'_, Status> {
        self.store.status()
    }
}

#[test]
fn feeds_cause_no_store_access() {
    let store = Arc::new(Odd::default());
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

/// Returns the largest file size while this many transactions change the same few entries.
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
fn unread_feed_does_not_grow_store() {
    let folder = tempfile::tempdir().unwrap();
    let without = file_bytes(&folder.path().join("without"), false);
    let with = file_bytes(&folder.path().join("with"), true);
    // Grouping of the first transactions decides between one and two sizes. A held transaction would make
    // the file thirty times as large.
    assert!(
        with <= without * 4,
        "{with} bytes, and {without} without a feed"
    );
}

/// Reads an update after which everything is known: no old state may return.
fn take_newer(known: &mut Known, news: RevocationUpdate) -> Revision {
    let (before, revision) = (known.rules.clone(), news.revision);
    assert!(!news.is_snapshot);
    known.take(news);
    for (key, rule) in before {
        assert!(known.rules[&key].not_before >= rule.not_before);
    }
    revision
}

#[test]
fn feed_reports_all_revocations_of_its_issuer() {
    let clock = ManualClock::new();
    let node = start_at(Arc::new(MemoryStore::new()), &clock);
    let token = |number: usize| {
        let minute = u32::try_from(START + 900).unwrap() / 60;
        (minute, token_hash(ISS, &format!("token-{number}")))
    };
    // More than one message each.
    let tokens = 2 * limits::FEED_MESSAGE_BYTES / 32 + 100;
    for number in 0..tokens {
        let revoke = Revoke::token(&format!("token-{number}"), START + 900);
        drop(node.revoke("me", ISS, revoke));
    }
    let name = |number: usize| format!("{}{number:03}", "s".repeat(900));
    for number in 0..80 {
        drop(node.revoke("me", ISS, Revoke::all(Subject::Subject(name(number)))));
    }
    for iss in OTHERS {
        revoke_subject(&node, iss, name(0));
        revoke(&node, iss, 0);
    }
    let mut feed = node.revocations(ISS).unwrap();
    let mut known = Known::default();
    let mut pages = 0;
    loop {
        let news = block_on(feed.next()).unwrap();
        if !news.is_snapshot {
            assert!(take_newer(&mut known, news) > Revision::START);
            break;
        }
        pages += 1;
        known.take(news);
        // Before and after its position, in more than one message, and each rule differs from the previous
        // one.
        clock.forward(1);
        for number in (0..20).chain(60..80) {
            revoke_subject(&node, ISS, name(number));
        }
        revoke(&node, ISS, tokens + pages);
        revoke(&node, OTHERS[0], tokens + pages);
        revoke_subject(&node, OTHERS[2], name(pages));
    }
    while take_newer(&mut known, block_on(feed.next()).unwrap()) < node.revision() {}
    assert!(pages > 4, "{pages}");
    let mut expected = Known {
        tokens: (0..tokens)
            .chain(tokens + 1..=tokens + pages)
            .map(token)
            .collect(),
        rules: BTreeMap::new(),
    };
    for rule in node.rules(ISS).unwrap() {
        let key = (rule.kind.clone(), rule.name.clone());
        expected.rules.insert(key, rule);
    }
    assert_eq!(known, expected);
    // And continues from there.
    revoke_subject(&node, ISS, "later".to_owned());
    let news = block_on(feed.next()).unwrap();
    assert!(!news.is_snapshot && news.revision >= node.revision());
    assert_eq!(news.rules[0].name, "later");
}

#[test]
fn feed_that_falls_behind_fails_alone() {
    let node = start(Arc::new(MemoryStore::new()));
    let (mut unread, mut read) = (
        node.revocations(ISS).unwrap(),
        node.revocations(ISS).unwrap(),
    );
    let mut first = None;
    for feed in [&mut unread, &mut read] {
        first = Some(Known::default().take_snapshot(feed));
    }
    let name = |number: usize| format!("{}{number:05}", "s".repeat(1000));
    let count = limits::FEED_HISTORY_BYTES / 1000;
    let mut known = Known::default();
    for group in 0..count.div_ceil(500) {
        for number in 0..500 {
            let subject = Subject::Subject(name(500 * group + number));
            drop(node.revoke("me", ISS, Revoke::all(subject)));
        }
        revoke(&node, ISS, group);
        while known.tokens.len() <= group {
            known.take(block_on(read.next()).unwrap());
        }
    }
    assert!(known.rules.len() >= count, "{}", known.rules.len());
    let error = block_on(unread.next()).unwrap_err();
    let Error::FellBehind { bytes, limit } = error else {
        panic!("{error}");
    };
    assert!(bytes > limit as u64, "{error}");
    for number in [bytes, limit as u64] {
        assert!(error.to_string().contains(&number.to_string()), "{error}");
    }
    let mut again = Known::default();
    again.take_snapshot(&mut node.revocations(ISS).unwrap());
    assert_eq!(again, known);
    let error = node.resume_revocations(ISS, &first.unwrap()).unwrap_err();
    let Error::PositionLost { at, oldest, newest } = error else {
        panic!("{error}");
    };
    assert!(at < oldest && oldest < newest, "{error}");
    for number in [at, oldest, newest] {
        assert!(error.to_string().contains(&number.to_string()), "{error}");
    }
}

#[test]
fn feed_resumes_at_another_node_with_what_was_missed() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (first, second) = (start(store.clone()), follower_of(&store));
    let mut known = Known::default();
    for number in 0..10 {
        revoke(&first, ISS, number);
    }
    let mut feed = first.revocations(ISS).unwrap();
    let mut after = known.take_snapshot(&mut feed);
    // Nothing is missed, then a little, then more than one message.
    for missed in [0, 3, 2 * limits::FEED_MESSAGE_BYTES / 32 + 100] {
        drop(feed);
        let begun = known.tokens.len();
        let revoked = (begun..begun + missed).map(|number| {
            let revoke = Revoke::token(&format!("token-{number}"), START + 900);
            first.revoke("me", ISS, revoke)
        });
        for answer in revoked.collect::<Vec<_>>() {
            block_on(answer).unwrap();
        }
        revoke(&first, OTHERS[0], begun);
        caught_up(&store, &second);
        let (resumed, mut news) = (known.tokens.len(), Known::default());
        feed = second.resume_revocations(ISS, &after).unwrap();
        after = news.take_snapshot(&mut feed);
        assert_eq!(news.tokens.len(), missed);
        known.tokens.extend(news.tokens);
        assert_eq!(known.tokens.len(), resumed + missed);
    }
    let mut whole = Known::default();
    whole.take_snapshot(&mut first.revocations(ISS).unwrap());
    assert_eq!(known, whole);
    // And continues.
    revoke_subject(&first, ISS, "later".to_owned());
    while known.rules.is_empty() {
        known.take(block_on(feed.next()).unwrap());
    }
}

#[test]
fn feed_does_not_resume_without_what_was_missed() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let node = start(store.clone());
    revoke(&node, ISS, 1);
    let after = Known::default().take_snapshot(&mut node.revocations(ISS).unwrap());
    revoke(&node, ISS, 2);
    // Loaded after the second revocation.
    let later = follower_of(&store);
    let lost = later.resume_revocations(ISS, &after).unwrap_err();
    assert!(matches!(lost, Error::PositionLost { .. }), "{lost}");
    assert!(node.resume_revocations(ISS, &after).is_ok());
    assert_eq!(
        node.resume_revocations("nobody", &after).err(),
        Some(Error::UnknownIssuer)
    );
    // The same number of transactions, and another revocation.
    let other = start(Arc::new(MemoryStore::new()));
    for number in [3, 4] {
        revoke(&other, ISS, number);
    }
    let lost = other.resume_revocations(ISS, &after).unwrap_err();
    assert!(lost.to_string().contains("another history"), "{lost}");
    // A position that the store has not reached.
    let newest = Known::default().take_snapshot(&mut node.revocations(ISS).unwrap());
    let empty = start(Arc::new(MemoryStore::new()));
    assert!(empty.resume_revocations(ISS, &newest).is_err());
    assert_eq!(ResumeToken::from_bytes(&newest.to_bytes()), Ok(newest));
    for bytes in [&[][..], &[0; 23], &[0; 25]] {
        let wrong = ResumeToken::from_bytes(bytes).unwrap_err();
        assert!(wrong.to_string().contains("must have 24"), "{wrong}");
    }
}

#[test]
fn feed_reports_an_ended_rule_once() {
    let node = start(Arc::new(MemoryStore::new()));
    let mut feed = node.revocations(ISS).unwrap();
    let mut known = Known::default();
    known.take_snapshot(&mut feed);
    revoke_subject(&node, ISS, "s".to_owned());
    node.end_rules("me", ISS, &[Subject::Subject("s".to_owned())])
        .unwrap();
    let ended = |known: &Known| known.rules.values().any(|rule| rule.is_ended);
    while !ended(&known) {
        known.take(block_on(feed.next()).unwrap());
    }
    let mut again = Known::default();
    again.take_snapshot(&mut node.revocations(ISS).unwrap());
    assert_eq!(again, Known::default());
}

#[test]
fn feed_ends_when_node_missed_changes() {
    let store = Arc::new(Odd::default());
    let node = start(store.clone());
    let mut feed = node.revocations(ISS).unwrap();
    Known::default().take_snapshot(&mut feed);
    store.has_forgotten.store(true, Ordering::SeqCst);
    // It is acknowledged after the reload.
    revoke(&node, ISS, 1);
    let ended = block_on(feed.next());
    let gone = |error: &jeton_store::Error| matches!(error, jeton_store::Error::Compacted { .. });
    assert!(
        matches!(&ended, Err(Error::Store(error)) if gone(error)),
        "{ended:?}"
    );
    let mut again = Known::default();
    again.take_snapshot(&mut node.revocations(ISS).unwrap());
    assert_eq!(again.tokens.len(), 1);
}

#[test]
fn feed_ends_with_its_node() {
    let node = start(Arc::new(MemoryStore::new()));
    let mut feed = node.revocations(ISS).unwrap();
    Known::default().take_snapshot(&mut feed);
    let ended = thread::spawn(move || {
        block_on(async {
            loop {
                feed.next().await?;
            }
        })
    });
    drop(node);
    let begun = Instant::now();
    while !ended.is_finished() {
        assert!(
            begun.elapsed() < TIMEOUT,
            "it waits for a node that is gone"
        );
        thread::sleep(Duration::from_millis(10));
    }
    let ended: Result<(), Error> = ended.join().unwrap();
    assert_eq!(ended, Err(Error::Store(jeton_store::Error::Closed)));
}

#[test]
fn update_age_is_age_of_view() {
    for is_lagging in [false, true] {
        let store = Arc::new(Odd::default());
        let node = start(store.clone());
        store.is_lagging.store(is_lagging, Ordering::SeqCst);
        let mut feed = node.revocations(ISS).unwrap();
        // Earlier updates may not have lagged.
        revoke(&node, ISS, 1);
        thread::sleep(Duration::from_millis(10));
        let before = Instant::now();
        thread::sleep(Duration::from_millis(10));
        revoke(&node, ISS, 2);
        let mut known = Known::default();
        known.take_snapshot(&mut feed);
        while known.tokens.len() < 2 {
            known.take(block_on(feed.next()).unwrap());
        }
        // It is known, but a lagging store may have more.
        let since = before.elapsed();
        let age = feed.progress().age();
        if is_lagging {
            assert!(age > since, "{age:?}")
        } else {
            assert!(age < before.elapsed(), "{age:?}")
        }
    }
}

#[test]
fn feed_of_unknown_issuer_is_rejected() {
    let node = start(Arc::new(MemoryStore::new()));
    assert_eq!(node.revocations("nobody").err(), Some(Error::UnknownIssuer));
}

#[test]
fn dropped_feed_leaves_no_waker() {
    struct Counted;

    impl Wake for Counted {
        fn wake(self: Arc<Self>) {}
    }

    let store = Arc::new(Odd::default());
    let node = start(store.clone());
    // Its heartbeat contains nothing new.
    store.is_lagging.store(true, Ordering::SeqCst);
    let mut feed = node.revocations(ISS).unwrap();
    Known::default().take_snapshot(&mut feed);
    let counted = Arc::new(Counted);
    let waker = Waker::from(counted.clone());
    {
        let mut next = pin!(feed.next());
        let mut context = Context::from_waker(&waker);
        assert!(next.as_mut().poll(&mut context).is_pending());
    }
    drop(feed);
    // Nothing is reported meanwhile: a store may be unreachable for long.
    assert_eq!(Arc::strong_count(&counted), 2);
}
