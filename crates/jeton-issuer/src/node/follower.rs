//! Keeps the snapshot up to date with the store.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use jeton::Clock;
use jeton_store::{
    Entry, Event, Key, Loaded, Moment, Prefix, Revision, Store, Update, Watch, block_on, load,
};

use super::Inner;
use crate::audit;
use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::record::{self, IssuerRecord, SealedKey};
use crate::revocation::{RuleRecord, Stamp, first_live_minute};
use crate::seal::KeyEncryptionKey;
use crate::secret_key::SecretKey;
use crate::snapshot::{IssuerView, Snapshot};

/// The data for the next snapshot.
pub(super) struct Working {
    pub(super) snapshot: Snapshot,
    issuers: HashMap<String, Parts>,
    /// Minutes for which the store has revocations, with their issuers.
    pub(super) minutes: BTreeMap<u32, HashSet<String>>,
    /// Rules in the store.
    pub(super) rules: BTreeMap<Key, Kept>,
    pub(super) fault: Option<String>,
}

/// A rule and when it was last written.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    /// The second at which it ends.
    pub(super) until: i64,
    pub(super) changed: Revision,
}

#[derive(Default)]
struct Parts {
    issuer: Option<IssuerRecord>,
    keyring: Option<Keyring>,
    secrets: HashMap<String, Arc<SecretKey>>,
}

/// Changes that are collected before the snapshot is replaced.
#[derive(Default)]
struct Collected {
    changed: HashSet<String>,
    /// Hashes of revoked tokens, by issuer and minute.
    hashes: HashMap<String, BTreeMap<u32, Vec<u128>>>,
}

/// Delay before a follower that lost its position loads everything again.
const REST: Duration = Duration::from_secs(1);

/// Runs the follower. `watch` reports everything after the loaded state.
pub(super) fn run(node: &Weak<Inner>, mut watch: Box<dyn Watch>) {
    loop {
        match follow(node, &mut *watch) {
            Ok(()) => return,
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
                Err(error) => rest(node, &error),
            }
        };
    }
}

/// Applies updates until the watch or the node ends.
fn follow(node: &Weak<Inner>, watch: &mut dyn Watch) -> Result<()> {
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
            return Ok(());
        };
        node.follow(&update)?;
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
        self.hear_clocks(update);
        let mut working = self.working();
        working.apply(update, &self.options.keks, &self.clock)?;
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
        let (loaded, as_of, watch) = Working::load(&*self.store, &self.options.keks, &self.clock)?;
        let mut working = self.working();
        let before = std::mem::replace(&mut *working, loaded);
        let now = self.now();
        working.keep_rules(&before, now);
        working.keep_tokens(&before, now);
        self.recent.restart(working.snapshot.revision, as_of);
        self.publish(&working);
        self.hear(as_of);
        Ok(watch)
    }

    pub(super) fn publish(&self, working: &Working) {
        self.snapshot.store(Arc::new(working.snapshot.clone()));
        self.applied.notify_all();
    }
}

impl Working {
    /// Loads everything. Returns the state, its moment, and a watch for later changes.
    pub(super) fn load(
        store: &dyn Store,
        keks: &[KeyEncryptionKey],
        clock: &Arc<dyn Clock>,
    ) -> Result<(Working, Moment, Box<dyn Watch>)> {
        let asked = Moment::now();
        let mut working = Working {
            snapshot: Snapshot::default(),
            issuers: HashMap::new(),
            minutes: BTreeMap::new(),
            rules: BTreeMap::new(),
            fault: None,
        };
        let mut changed = HashSet::new();
        let loaded = block_on(load(store, &Prefix::all(), |page| {
            let mut collected = Collected::default();
            for entry in &page {
                working.put(entry, keks, &mut collected)?;
            }
            working.insert(&mut collected);
            changed.extend(collected.changed);
            Ok::<_, Error>(())
        }))?;
        let Loaded { changes, watch } = loaded;
        let mut collected = Collected::default();
        working.take(&changes, keks, clock.now().unix_seconds(), &mut collected)?;
        changed.extend(collected.changed);
        // After all pages: they may have different revisions, and their keys may not match.
        working.prepare(changed, clock)?;
        Ok((working, changes.as_of.unwrap_or(asked), watch))
    }

    fn apply(
        &mut self,
        update: &Update,
        keks: &[KeyEncryptionKey],
        clock: &Arc<dyn Clock>,
    ) -> Result<()> {
        let mut collected = Collected::default();
        self.take(update, keks, clock.now().unix_seconds(), &mut collected)?;
        self.prepare(collected.changed, clock)
    }

    fn take(
        &mut self,
        update: &Update,
        keks: &[KeyEncryptionKey],
        now: i64,
        collected: &mut Collected,
    ) -> Result<()> {
        for event in &update.events {
            match event {
                Event::Put(entry) => self.put(entry, keks, collected)?,
                Event::Deleted(key) => self.delete(key, now, collected),
                // Only expired minutes are deleted this way, and the index drops them by itself.
                Event::DeletedPrefix(_) => {}
            }
        }
        self.insert(collected);
        self.snapshot.revision = self.snapshot.revision.max(update.revision);
        Ok(())
    }

    fn put(
        &mut self,
        entry: &Entry,
        keks: &[KeyEncryptionKey],
        collected: &mut Collected,
    ) -> Result<()> {
        let parts: Vec<String> = entry.key.parts().collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["i", iss] => {
                self.parts(iss, collected).issuer = Some(IssuerRecord::read(entry)?);
            }
            ["k", iss, "_set"] => {
                self.parts(iss, collected).keyring = Some(record::read(entry)?);
            }
            ["k", iss, named] => {
                let kid = record::kid_of(named);
                let kid = kid.ok_or_else(|| Error::Record(entry.key.to_string()))?;
                let sealed: SealedKey = record::read(entry)?;
                let secret = Arc::new(sealed.open(keks, iss, kid)?);
                self.parts(iss, collected)
                    .secrets
                    .insert(kid.to_owned(), secret);
            }
            ["r", iss, minute, hash] => {
                let (Ok(minute), Ok(hash)) = (minute.parse(), u128::from_str_radix(hash, 16))
                else {
                    return Err(Error::Record(entry.key.to_string()));
                };
                if !collected.hashes.contains_key(*iss) {
                    collected.hashes.insert((*iss).to_owned(), BTreeMap::new());
                }
                if let Some(minutes) = collected.hashes.get_mut(*iss) {
                    minutes.entry(minute).or_default().push(hash);
                }
                let issuers = self.minutes.entry(minute).or_default();
                if !issuers.contains(*iss) {
                    issuers.insert((*iss).to_owned());
                }
            }
            ["rule", iss, kind, name] => {
                let rule: RuleRecord = record::read(entry)?;
                let rule = rule.over_known(self.snapshot.rules.get(iss, kind, name));
                let kept = Kept {
                    until: rule.until,
                    changed: entry.changed,
                };
                self.rules.insert(entry.key.clone(), kept);
                self.snapshot.rules.put(iss, kind, name, rule);
            }
            ["c", "rules"] => {
                self.snapshot.stamp = record::read::<Stamp>(entry)?.into();
            }
            _ => {}
        }
        Ok(())
    }

    fn delete(&mut self, key: &Key, now: i64, collected: &mut Collected) {
        let parts: Vec<String> = key.parts().collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["i", iss] => self.parts(iss, collected).issuer = None,
            ["k", iss, "_set"] => self.parts(iss, collected).keyring = None,
            ["k", iss, named] => {
                if let Some(kid) = record::kid_of(named) {
                    self.parts(iss, collected).secrets.remove(kid);
                }
            }
            // A node whose clock is ahead may delete a rule too early. Here it remains until it ends by
            // this node's clock.
            ["rule", iss, kind, name]
                if self.rules.get(key).is_none_or(|kept| kept.until <= now) =>
            {
                self.rules.remove(key);
                self.snapshot.rules.remove(iss, kind, name);
            }
            _ => {}
        }
    }

    /// Keeps known rules that another node deleted before their end by this clock.
    fn keep_rules(&mut self, before: &Working, now: i64) {
        for (key, kept) in before.rules.iter().filter(|(_, kept)| kept.until > now) {
            let parts: Vec<String> = key.parts().collect();
            if !self.rules.contains_key(key)
                && let [_, iss, kind, name] = parts.as_slice()
                && let Some(rule) = before.snapshot.rules.get(iss, kind, name)
            {
                self.rules.insert(key.clone(), *kept);
                self.snapshot.rules.put(iss, kind, name, rule);
            }
        }
    }

    /// Keeps known revoked tokens whose minutes another node deleted too early by this clock.
    fn keep_tokens(&mut self, before: &Working, now: i64) {
        let first = first_live_minute(now);
        (self.snapshot.revocations).add_from(&before.snapshot.revocations, first);
    }

    /// Forgets rules that have ended. Returns how many.
    pub(super) fn drop_rules(&mut self, over: i64) -> usize {
        let mut dropped = 0;
        for (key, _) in self.rules.iter().filter(|(_, kept)| kept.until <= over) {
            let parts: Vec<String> = key.parts().collect();
            if let [_, iss, kind, name] = parts.as_slice()
                && self.snapshot.rules.has(iss, kind, name)
            {
                self.snapshot.rules.remove(iss, kind, name);
                dropped += 1;
            }
        }
        dropped
    }

    /// Forgets rules that the store no longer has, unless they were renewed.
    pub(super) fn forget_rules(&mut self, keys: &[Key], over: i64) {
        for key in keys {
            if self.rules.get(key).is_some_and(|kept| kept.until <= over) {
                self.rules.remove(key);
            }
        }
    }

    fn parts(&mut self, iss: &str, collected: &mut Collected) -> &mut Parts {
        collected.changed.insert(iss.to_owned());
        self.issuers.entry(iss.to_owned()).or_default()
    }

    /// Forgets a minute that the store no longer has.
    pub(super) fn forget(&mut self, minute: u32, iss: &str) {
        if let Some(issuers) = self.minutes.get_mut(&minute) {
            issuers.remove(iss);
            if issuers.is_empty() {
                self.minutes.remove(&minute);
            }
        }
    }

    fn insert(&mut self, collected: &mut Collected) {
        for (iss, minutes) in &mut collected.hashes {
            for (minute, hashes) in minutes {
                self.snapshot.revocations.insert(iss, *minute, hashes);
            }
        }
    }

    /// Rebuilds the views of changed issuers.
    fn prepare(&mut self, changed: HashSet<String>, clock: &Arc<dyn Clock>) -> Result<()> {
        for iss in changed {
            let parts = self.issuers.get(&iss);
            let whole = parts
                .and_then(|p| Some((p.issuer.clone()?, p.keyring.clone()?, p.secrets.clone())));
            match whole {
                Some((issuer, keyring, secrets)) => {
                    let view = IssuerView::new(issuer, keyring, secrets, clock)?;
                    self.snapshot.issuers.insert(iss.into(), Arc::new(view));
                }
                None => {
                    self.snapshot.issuers.remove(&*iss);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::{AtomicI64, Ordering};

    use jeton::Timestamp;
    use jeton_store::{MemoryStore, Txn};

    use super::*;
    use crate::record::{revocations_of_minute, rule_key};
    use crate::revocation::minute;
    use crate::{IssuerSettings, Node, Options, Request, Revoke, Subject};

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
        // What has ended by this clock is not kept.
        clock.0.fetch_add(24 * 3600, Ordering::SeqCst);
        drop(node.inner.load_again().unwrap());
        let status = node.status();
        assert_eq!((status.revocations, status.rules), (0, 0));
    }
}
