//! Ends revocation rules before their time.

use std::collections::BTreeMap;

use jeton_store::{Key, Revision, Txn, block_on};

use super::Node;
use super::inner::Inner;
use crate::audit::{Act, Chain};
use crate::conflict;
use crate::error::{Error, Result};
use crate::limits;
use crate::record::{self, audit_head_key, rule_key};
use crate::revocation::{RuleRecord, Subject};
use crate::settings::name;

impl Node {
    /// Ends the rules about these, all of them or none. Tokens that nothing else rejects are accepted again: on this
    /// node when it returns, on others when they see it. A node that has been without contact to the store for more than
    /// an hour may keep a rule until its end.
    ///
    /// A rule about a key that was reported as compromised stays.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownRule`]; [`Error::Invalid`] for a compromised key, for a rule that was renewed at the same time,
    /// and for no or too many names; [`Error::UnknownIssuer`], [`Error::Store`], [`Error::Contended`].
    /// [`Error::Stale`]: they are ended, and this node does not see it yet.
    pub fn end_rules(&self, actor: &str, iss: &str, rules: &[Subject]) -> Result<Revision> {
        name("actor", actor)?;
        if !self.inner.snapshot.load().issuers.contains_key(iss) {
            return Err(Error::UnknownIssuer);
        }
        let revision = self.inner.end_rules(actor, iss, rules)?;
        self.inner.wait_for(revision)?;
        Ok(revision)
    }
}

impl Inner {
    fn end_rules(&self, actor: &str, iss: &str, rules: &[Subject]) -> Result<Revision> {
        let keys = keys(iss, rules)?;
        let mut names = vec![audit_head_key()?];
        names.extend(keys.keys().cloned());
        let mut decided = None;
        for attempt in 0..limits::ATTEMPTS {
            conflict::pause(attempt);
            let now = self.now();
            let read = block_on(self.store.read(&names))?;
            let [head, found @ ..] = read.entries.as_slice() else {
                return Err(Error::Contended);
            };
            let (mut txn, mut stamps) = (Txn::new(), Vec::new());
            for ((key, is_key), entry) in keys.iter().zip(found) {
                let rule = entry.as_ref().map(record::read::<RuleRecord>).transpose()?;
                let rule = rule.filter(|rule| !rule.is_ended && rule.until > now);
                let rule = rule.ok_or(Error::UnknownRule)?;
                if *is_key && rule.is_endless() {
                    let what =
                        "names a key that was reported as compromised: its tokens stay rejected";
                    return Err(Error::rule("names", what));
                }
                stamps.push(rule.stamp);
                let ended = rule.ended(self.not_behind(now));
                txn = txn.put(key.clone(), record::write(&ended));
            }
            // The caller has not decided about a rule that was made after the first look.
            if *decided.get_or_insert_with(|| stamps.clone()) != stamps {
                let what = "names a revocation that was made again at the same time: list them, and decide again";
                return Err(Error::rule("names", what));
            }
            let act = Act {
                at: now,
                actor,
                act: "revoke.end",
                iss,
                about: keys.keys().map(Key::to_string).collect(),
            };
            let txn = Chain::read(head.as_ref())?.append(txn, act)?;
            if let Some(revision) = self.try_commit(txn)? {
                return Ok(revision);
            }
        }
        Err(Error::Contended)
    }
}

/// Returns the keys of the rules, and whether each is about a key.
fn keys(iss: &str, rules: &[Subject]) -> Result<BTreeMap<Key, bool>> {
    let (most, count) = (limits::REVOCATIONS_PER_TXN, rules.len());
    if !(1..=most).contains(&count) {
        let what = format!("must have 1 to {most} names, and has {count}");
        return Err(Error::rule("names", what));
    }
    let mut keys = BTreeMap::new();
    let mut bytes = 0;
    for rule in rules {
        rule.check(iss)?;
        let (kind, name) = rule.rule();
        let key = rule_key(iss, kind, name)?;
        bytes += key.as_str().len();
        keys.insert(key, kind == "key");
    }
    // One audit entry lists them.
    let limit = limits::NAMES_PER_TXN_BYTES;
    if bytes > limit {
        let what = format!(
            "have {bytes} bytes in their records, the limit is {limit}: name fewer at once"
        );
        return Err(Error::rule("names", what));
    }
    Ok(keys)
}
