//! Tests a node that starts while others write, on a store with a short history.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use jeton_issuer::{
    Error, IssuerSettings, KeyEncryptionKey, Node, Options, Request, Revoke, Subject,
};
use jeton_store::{
    Entry, Key, MemoryStore, Outcome, Pages, Pending, Prefix, Read, Revision, Status, Store, Txn,
    Watch, block_on, limits,
};

use crate::manual_clock::{ManualClock, START};

const ISS: &str = "https://id.example";

/// Generous timeout for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Called before each page, from 0.
type Before = Box<dyn FnMut(usize) + Send>;

/// Compacts its history during each page.
#[derive(Clone)]
struct Forgetful {
    store: MemoryStore,
    before: Arc<Mutex<Before>>,
}

struct Forgotten {
    store: Forgetful,
    prefix: Prefix,
    is_pinned: bool,
    revision: Revision,
    last: Option<Key>,
    read: usize,
}

impl fmt::Debug for Forgetful {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forgetful").finish_non_exhaustive()
    }
}

impl Forgetful {
    fn pages(&self, prefix: &Prefix, is_pinned: bool) -> Pending<'_, Box<dyn Pages>> {
        let prefix = prefix.clone();
        Box::pin(async move {
            Ok(Box::new(Forgotten {
                store: self.clone(),
                revision: self.store.status().await?.revision,
                prefix,
                is_pinned,
                last: None,
                read: 0,
            }) as Box<dyn Pages>)
        })
    }
}

impl Pages for Forgotten {
    fn revision(&self) -> Revision {
        self.revision
    }

    fn next(&mut self) -> Pending<'_, Option<Vec<Entry>>> {
        Box::pin(async move {
            (self.store.before.lock().unwrap())(self.read);
            let mut pages = self.store.store.scan(&self.prefix).await?;
            let newest = pages.revision();
            if self.is_pinned && newest > self.revision {
                return Err(jeton_store::Error::Compacted { oldest: newest });
            }
            self.revision = newest;
            self.read += 1;
            let mut behind = Vec::new();
            while let Some(page) = pages.next().await? {
                behind.extend(
                    page.into_iter()
                        .filter(|entry| self.last.as_ref().is_none_or(|last| entry.key > *last)),
                );
            }
            behind.truncate(limits::PAGE_ENTRIES);
            self.last = behind
                .last()
                .map(|entry| entry.key.clone())
                .or(self.last.take());
            Ok((!behind.is_empty()).then_some(behind))
        })
    }
}

impl Store for Forgetful {
    fn read(&self, keys: &[Key]) -> Pending<'_, Read> {
        self.store.read(keys)
    }

    fn scan(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>> {
        self.pages(prefix, true)
    }

    fn scan_unpinned(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>> {
        self.pages(prefix, false)
    }

    fn commit(&self, txn: Txn) -> Pending<'_, Outcome> {
        self.store.commit(txn)
    }

    fn watch(&self, prefix: &Prefix, after: Revision) -> Pending<'_, Box<dyn Watch>> {
        self.store.watch(prefix, after)
    }

    fn status(&self) -> Pending<'_, Status> {
        self.store.status()
    }
}

fn start(store: Arc<dyn Store>, clock: &ManualClock) -> Result<Node, Error> {
    let kek = KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap();
    Node::start(store, Options::new(kek), Arc::new(clock.clone()))
}

#[test]
fn node_starting_during_writes_is_complete() {
    let (store, clock) = (MemoryStore::new(), ManualClock::new());
    let other = start(Arc::new(store.clone()), &clock).unwrap();
    let settings = format!(
        r#"{{"iss":"{ISS}","profiles":[{{"name":"p","alg":"ES256","lifetime_seconds":900,"audiences":["a"]}}]}}"#
    );
    let settings = IssuerSettings::from_json(&settings).unwrap();
    other.create_issuer("setup", settings).unwrap();
    let mut waiting = Vec::new();
    for i in 0..3 * limits::PAGE_ENTRIES {
        let revoke = Revoke::token(&format!("old-{i}"), START + 30 * 24 * 3600);
        waiting.push(other.revoke("me", ISS, revoke));
    }
    for pending in waiting {
        block_on(pending).unwrap();
    }
    let issue = |subject| {
        let request = Request::new("p").subject(subject);
        other.issue(ISS, &request).unwrap()
    };
    // Revocations before each page: their records, rules, audit entries and keyring are in pages already
    // read and in later ones.
    let tokens: Vec<_> = (0..40).map(|_| issue("token")).collect();
    let (subject, kept) = (issue("subject"), issue("kept"));
    let mut left = tokens.clone();
    let before = {
        let other = other.clone();
        move |page: usize| {
            for token in left.drain(..left.len().min(8)) {
                let revoke = Revoke::token(&token.token_id, token.expires_at);
                block_on(other.revoke("me", ISS, revoke)).unwrap();
            }
            if page == 2 {
                let revoke = Revoke::all(Subject::Subject("subject".into()));
                block_on(other.revoke("me", ISS, revoke)).unwrap();
                other.rotate("me", ISS, "ES256".parse().unwrap()).unwrap();
            }
        }
    };
    let forgetful = Forgetful {
        store: store.clone(),
        before: Arc::new(Mutex::new(Box::new(before))),
    };
    let node = start(Arc::new(forgetful), &clock).unwrap();
    for token in &tokens[..24] {
        let verified = node.verify(ISS, "a", &token.token);
        assert_eq!(verified.unwrap_err(), Error::Revoked);
    }
    let verified = node.verify(ISS, "a", &subject.token);
    assert_eq!(verified.unwrap_err(), Error::Revoked);
    assert!(node.verify(ISS, "a", &kept.token).is_ok());
    assert_eq!(node.issuer(ISS).unwrap(), other.issuer(ISS).unwrap());
    assert_eq!(node.status().revocations, other.status().revocations);
    // It continues from there.
    let revoke = Revoke::token(&kept.token_id, kept.expires_at);
    block_on(other.revoke("me", ISS, revoke)).unwrap();
    let begun = Instant::now();
    while node.verify(ISS, "a", &kept.token).is_ok() {
        assert!(begun.elapsed() < TIMEOUT, "what came later is never known");
        thread::sleep(Duration::from_millis(5));
    }
}
