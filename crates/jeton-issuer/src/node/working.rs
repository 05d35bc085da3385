//! The data from which the next snapshot is built.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use jeton::Clock;
use jeton_store::{
    Entry, Event, Key, Loaded, Moment, Revision, Store, Update, Watch, block_on, load_after,
};

use super::recent::Mark;
use crate::audit::LogState;
use crate::error::{Error, Result};
use crate::keyring::Keyring;
use crate::record::{self, IssuerRecord, SealedKey, audit_log};
use crate::remote_keys::KeyReader;
use crate::revocation::{Counter, RuleRecord, first_live_minute};
use crate::secret_key::SecretKey;
use crate::snapshot::{IssuerView, Snapshot};

/// The data for the next snapshot.
pub(super) struct Working {
    pub(super) snapshot: Snapshot,
    issuers: HashMap<String, Parts>,
    /// Minutes for which the store has revocations, with their issuers.
    pub(super) minutes: BTreeMap<u32, HashSet<String>>,
    /// Minutes for which the store has used ids, with their issuers.
    pub(super) used_minutes: BTreeMap<u32, HashSet<String>>,
    /// Rules in the store.
    pub(super) rules: BTreeMap<Key, Kept>,
    pub(super) fault: Option<String>,
    /// The heads of the audit log.
    pub(super) audit: LogState,
    /// The newest transaction with revocations.
    pub(super) newest: Mark,
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

impl Working {
    /// Loads everything. Returns the state, its moment, and a watch for later changes.
    pub(super) fn load(
        store: &dyn Store,
        reader: &KeyReader,
        clock: &Arc<dyn Clock>,
    ) -> Result<(Working, Moment, Box<dyn Watch>)> {
        let asked = Moment::now();
        let mut working = Working {
            snapshot: Snapshot::default(),
            issuers: HashMap::new(),
            minutes: BTreeMap::new(),
            used_minutes: BTreeMap::new(),
            rules: BTreeMap::new(),
            fault: None,
            audit: LogState::default(),
            newest: Mark::default(),
        };
        let mut changed = HashSet::new();
        let loaded = block_on(load_after(store, &audit_log()?, |page| {
            let mut collected = Collected::default();
            for entry in &page {
                working.put(entry, reader, &mut collected)?;
            }
            working.insert(&mut collected);
            changed.extend(collected.changed);
            Ok::<_, Error>(())
        }))?;
        let Loaded { changes, watch } = loaded;
        // The watch reports what changes afterwards.
        working.audit = LogState::load(store)?;
        let mut collected = Collected::default();
        working.take(&changes, reader, clock.now().unix_seconds(), &mut collected)?;
        changed.extend(collected.changed);
        // After all pages: they may have different revisions, and their keys may not match.
        working.prepare(changed, clock)?;
        Ok((working, changes.as_of.unwrap_or(asked), watch))
    }

    pub(super) fn apply(
        &mut self,
        update: &Update,
        reader: &KeyReader,
        clock: &Arc<dyn Clock>,
    ) -> Result<()> {
        let mut collected = Collected::default();
        self.take(update, reader, clock.now().unix_seconds(), &mut collected)?;
        self.prepare(collected.changed, clock)
    }

    fn take(
        &mut self,
        update: &Update,
        reader: &KeyReader,
        now: i64,
        collected: &mut Collected,
    ) -> Result<()> {
        for event in &update.events {
            match event {
                Event::Put(entry) => self.put(entry, reader, collected)?,
                Event::Deleted(key) => self.delete(key, now, collected),
                // Only expired minutes are deleted this way, and the index drops them by itself.
                Event::DeletedPrefix(_) => {}
            }
        }
        self.insert(collected);
        self.snapshot.revision = self.snapshot.revision.max(update.revision);
        Ok(())
    }

    fn put(&mut self, entry: &Entry, reader: &KeyReader, collected: &mut Collected) -> Result<()> {
        let parts: Vec<String> = entry.key.parts().collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        self.newest.see(entry);
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
                let secret = Arc::new(sealed.open(reader, iss, kid)?);
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
            ["u", iss, minute, _] => {
                let minute = minute.parse();
                let minute = minute.map_err(|_| Error::Record(entry.key.to_string()))?;
                let issuers = self.used_minutes.entry(minute).or_default();
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
                let Counter { stamp, ended } = record::read(entry)?;
                self.snapshot.stamp = stamp.into();
                self.snapshot.counter = stamp;
                self.snapshot.ended = ended.into();
            }
            ["a", ..] => self.audit.put(entry),
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
            ["a", ..] => self.audit.delete(key),
            _ => {}
        }
    }

    /// Keeps known rules that another node deleted before their end by this clock, or that were stronger in a history
    /// that the store has lost.
    pub(super) fn keep_rules(&mut self, before: &Working, now: i64) {
        for (key, kept) in before.rules.iter().filter(|(_, kept)| kept.until > now) {
            let parts: Vec<String> = key.parts().collect();
            if let [_, iss, kind, name] = parts.as_slice()
                && let Some(known) = before.snapshot.rules.get(iss, kind, name)
            {
                let there = self.snapshot.rules.get(iss, kind, name);
                let rule = there.map_or(known, |rule| rule.over_known(Some(known)));
                self.rules.entry(key.clone()).or_insert(*kept).until = rule.until;
                self.snapshot.rules.put(iss, kind, name, rule);
            }
        }
    }

    /// Keeps known revoked tokens whose minutes another node deleted too early by this clock.
    pub(super) fn keep_tokens(&mut self, before: &Working, now: i64) {
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

    /// Forgets a minute of revocations that the store no longer has.
    pub(super) fn forget(&mut self, minute: u32, iss: &str) {
        forget(&mut self.minutes, minute, iss);
    }

    /// Forgets a minute of used ids that the store no longer has.
    pub(super) fn forget_used(&mut self, minute: u32, iss: &str) {
        forget(&mut self.used_minutes, minute, iss);
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

fn forget(minutes: &mut BTreeMap<u32, HashSet<String>>, minute: u32, iss: &str) {
    if let Some(issuers) = minutes.get_mut(&minute) {
        issuers.remove(iss);
        if issuers.is_empty() {
            minutes.remove(&minute);
        }
    }
}
