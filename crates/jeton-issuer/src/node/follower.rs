//! Keeps the snapshot up to date with the store.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use jeton_store::{Event, Moment, Problem, Update, Watch, block_on};

use super::inner::Inner;
use super::working::Working;
use crate::audit;
use crate::error::{Error, Result};
use crate::revocation::{Stamp, is_of_lost_history};
use crate::snapshot::Snapshot;

/// Delay before a follower that lost its position loads everything again.
const REST: Duration = Duration::from_secs(1);

/// Runs the follower. `watch` reports everything after the loaded state.
pub(super) fn run(node: &Weak<Inner>, mut watch: Box<dyn Watch>) {
    loop {
        match follow(node, &mut *watch) {
            Err(error) if has_gone_back(&error) => tell(node),
            Ok(Ended::Dropped) => return,
            Ok(Ended::Incomplete) => {}
            Err(Error::Store(jeton_store::Error::Compacted { .. })) => {}
            Err(error) => rest(node, &error),
        }
        // Missed changes are in the store. Until they are loaded the node has no current view and becomes
        // stale after the freshness bound.
        watch = loop {
            let loaded = match node.upgrade() {
                Some(node) => node.load_again(),
                None => return,
            };
            match loaded {
                Ok(watch) => break watch,
                Err(error) => {
                    if has_gone_back(&error) {
                        tell(node);
                    }
                    rest(node, &error)
                }
            }
        };
    }
}

/// Why a watch is not followed any more.
enum Ended {
    /// The node was dropped.
    Dropped,
    /// A comparison has found that the view misses something.
    Incomplete,
}

/// Applies updates until the watch or the node ends.
fn follow(node: &Weak<Inner>, watch: &mut dyn Watch) -> Result<Ended> {
    loop {
        // No strong reference while waiting, so that the node can be dropped.
        let update = match block_on(watch.next()) {
            // The store is unreachable. The watch reports missed changes when it is back.
            Err(jeton_store::Error::Io(..)) if node.strong_count() > 0 => {
                thread::sleep(REST);
                continue;
            }
            update => update?,
        };
        let Some(node) = node.upgrade() else {
            return Ok(Ended::Dropped);
        };
        node.follow(&update)?;
        if node.comparison.has_difference() {
            return Ok(Ended::Incomplete);
        }
    }
}

/// Returns whether the store has not reached the revision of a watch.
fn has_gone_back(error: &Error) -> bool {
    let future = jeton_store::Error::Invalid(Problem::FutureRevision);
    *error == Error::Store(future)
}

/// Records that the store has gone back.
fn tell(node: &Weak<Inner>) {
    if let Some(node) = node.upgrade() {
        let known = node.snapshot.load().revision;
        node.went_back(&format!("it has not reached revision {known}"));
    }
}

/// Records the fault and waits, without a strong reference to the node.
fn rest(node: &Weak<Inner>, error: &Error) {
    if let Some(node) = node.upgrade() {
        node.working().fault = Some(error.to_string());
    }
    thread::sleep(REST);
}

impl Inner {
    fn follow(&self, update: &Update) -> Result<()> {
        self.hear_nodes(update, self.heard_ago());
        self.hear_clocks(update);
        let mut working = self.working();
        let known = working.snapshot.counter;
        working.apply(update, &self.options.keys, &self.clock)?;
        let Snapshot { counter, ended, .. } = &working.snapshot;
        // A store that went back and grew past its former revision.
        if is_of_lost_history(known, ended, *counter) {
            self.went_back("the counter of revocation rules has another history");
        }
        // Before publishing, so that the snapshot of a feed is never newer than its position.
        self.recent.add(update)?;
        self.publish(&working);
        if let Some(as_of) = update.as_of {
            self.hear(as_of);
        }
        Ok(())
    }

    /// Compares clocks: every audit entry has the time of its writer.
    fn hear_clocks(&self, update: &Update) {
        // It was written after the last update.
        let age = self.heard_ago();
        for event in &update.events {
            if let Event::Put(entry) = event
                && let Some(written) = audit::written_at(entry)
            {
                (self.others()).hear(written, age, self.now(), Moment::now());
            }
        }
    }

    fn load_again(&self) -> Result<Box<dyn Watch>> {
        let load = || Working::load(&*self.store, &self.options.keys, &self.clock);
        let mut all = load()?;
        let proof = self.proof_of_loss(all.0.snapshot.revision);
        if let Some(proof) = &proof {
            self.begin_epoch(proof, Stamp::default())?;
            // With the new epoch.
            all = load()?;
        }
        let (loaded, as_of, watch) = all;
        self.load_nodes()?;
        let mut working = self.working();
        let before = std::mem::replace(&mut *working, loaded);
        let now = self.now();
        working.keep_rules(&before, now);
        working.keep_tokens(&before, now);
        self.recent
            .restart(working.snapshot.revision, as_of, working.newest);
        self.comparison.restart();
        self.publish(&working);
        if let Some(proof) = &proof {
            self.history.recovered(proof);
            self.applied.notify_all();
        }
        self.comparison.loaded();
        self.hear(as_of);
        Ok(watch)
    }

    pub(super) fn publish(&self, working: &Working) {
        let view = Arc::new(working.snapshot.clone());
        self.comparison.see(&view);
        self.snapshot.store(view);
        self.applied.notify_all();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::{AtomicI64, Ordering};

    use jeton::{Clock, Timestamp};
    use jeton_store::{MemoryStore, Store, Txn};

    use super::*;
    use crate::record::{revocations_of_minute, rule_key};
    use crate::revocation::minute;
    use crate::{IssuerSettings, KeyEncryptionKey, Node, Options, Request, Revoke, Subject};

    struct ManualClock(AtomicI64);

    impl Clock for ManualClock {
        fn now(&self) -> Timestamp {
            Timestamp::from_unix_seconds(self.0.load(Ordering::SeqCst)).unwrap()
        }
    }

    /// Another node, whose clock is ahead, deleted them, and this node lost its position in the watch.
    #[test]
    fn reload_keeps_revocations_deleted_early() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let clock = Arc::new(ManualClock(AtomicI64::new(1_800_000_000)));
        let options = Options::new(KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap());
        let node = Node::start(store.clone(), options, clock.clone()).unwrap();
        let settings = r#"{"iss": "i", "profiles":
            [{"name": "p", "alg": "HS256", "lifetime_seconds": 900, "audiences": ["a"]}]}"#;
        let settings = IssuerSettings::from_json(settings).unwrap();
        node.create_issuer("me", settings).unwrap();
        let issue = || node.issue("i", &Request::new("p").subject("s")).unwrap();
        let (by_id, by_subject) = (issue(), issue());
        let revoke = Revoke::token(&by_id.token_id, by_id.expires_at);
        block_on(node.revoke("me", "i", revoke)).unwrap();
        let subject = Revoke::all(Subject::Subject("s".into()));
        block_on(node.revoke("me", "i", subject)).unwrap();
        let txn = Txn::new()
            .delete(rule_key("i", "subject", "s").unwrap())
            .delete_prefix(revocations_of_minute("i", minute(by_id.expires_at)).unwrap());
        block_on(store.commit(txn)).unwrap();
        let newest = block_on(store.status()).unwrap().revision;
        node.inner.wait_for(newest).unwrap();
        for _ in 0..2 {
            drop(node.inner.load_again().unwrap());
            let status = node.status();
            assert_eq!((status.revocations, status.rules), (1, 1));
            for issued in [&by_id, &by_subject] {
                let verified = node.verify("i", "a", &issued.token);
                assert_eq!(verified.unwrap_err(), Error::Revoked);
            }
        }
        // A node that starts knows what is in the store.
        let options = Options::new(KeyEncryptionKey::from_hex(&"17".repeat(32)).unwrap());
        let begun = Node::start(store, options, clock.clone()).unwrap();
        assert!(begun.verify("i", "a", &by_subject.token).is_ok());
        // What has ended by this clock is not kept.
        clock.0.fetch_add(24 * 3600, Ordering::SeqCst);
        drop(node.inner.load_again().unwrap());
        let status = node.status();
        assert_eq!((status.revocations, status.rules), (0, 0));
    }
}
