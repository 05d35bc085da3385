//! Writes rules. They merge with stored ones, and each transaction has the next stamp.
//!
//! All inputs come from one [`read`](jeton_store::Store::read) at one revision: the counter, the settings
//! and keyring of the issuer, and the existing rules. The transaction commits only if the main audit
//! chain has not grown since. Every change of these inputs adds an entry to it, except the deletion of expired rules.

use std::collections::BTreeMap;

use jeton_store::{Entry, Key, Revision, Txn};

use super::{Counter, RuleRecord, Stamp, actor_hash};
use crate::error::Result;
use crate::keyring::Keyring;
use crate::limits;
use crate::record::{self, IssuerRecord, rule_counter_key};

/// Rules to be written in one transaction.
#[derive(Default)]
pub(crate) struct NewRules {
    rules: BTreeMap<Key, Extent>,
    /// The hash of the client whose budget they count to.
    by: Option<u64>,
}

/// Which tokens a rule affects.
#[derive(Clone, Copy)]
pub(crate) enum Extent {
    /// Tokens of nodes that had not seen the rule.
    Before,
    /// Every token, regardless of its issue time.
    All,
}

/// Creation time and end of rules.
#[derive(Clone, Copy)]
pub(crate) struct Term {
    pub(crate) now: i64,
    pub(crate) until: i64,
}

impl NewRules {
    /// Rules that count to the budget of this client.
    pub(crate) fn by(actor: &str) -> NewRules {
        NewRules {
            by: Some(actor_hash(actor)),
            ..NewRules::default()
        }
    }

    pub(crate) fn add(&mut self, rule: Key, extent: Extent) {
        self.rules.insert(rule, extent);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key> {
        self.rules.keys()
    }

    /// Returns the keys whose entries [`put`](NewRules::put) needs, read together. Empty without rules.
    pub(crate) fn reads(&self) -> Result<Vec<Key>> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let counter = [rule_counter_key()?];
        Ok(counter.into_iter().chain(self.keys().cloned()).collect())
    }

    /// Adds the rules to a transaction, given the entries at that revision. `begins_epoch`: the history of the store
    /// before this may have been lost.
    pub(crate) fn put(
        &self,
        mut txn: Txn,
        found: &[Option<Entry>],
        at: Revision,
        term: Term,
        begins_epoch: bool,
    ) -> Result<Txn> {
        let Some((counter, rules)) = found.split_first() else {
            return Ok(txn);
        };
        let counter = counter.as_ref().map(record::read::<Counter>).transpose()?;
        let counter = match counter {
            None => Counter::begin(term.now),
            Some(counter) if begins_epoch => counter.new_epoch(term.now, Stamp::default()),
            Some(counter) => counter,
        };
        let counter = counter.next(at);
        let stamp = counter.stamp;
        txn = txn.put(rule_counter_key()?, record::write(&counter));
        for ((key, extent), there) in self.rules.iter().zip(rules) {
            let there = there.as_ref().map(record::read::<RuleRecord>).transpose()?;
            let rule = RuleRecord {
                not_before: match extent {
                    Extent::Before => term.now,
                    Extent::All => i64::MAX,
                },
                until: term.until,
                stamp: Some(stamp),
                by: self.by,
                is_ended: false,
                known: None,
            };
            txn = txn.put(key.clone(), record::write_rule(&rule.over(there)));
        }
        Ok(txn)
    }
}

impl Term {
    /// Returns a term from now until every token issued by now has expired, given the settings and keyring
    /// of the issuer. The end counts from the time of the newest audit entry if that is later: the clock of
    /// this node may be behind.
    pub(crate) fn of_tokens(
        now: i64,
        newest: i64,
        settings: Option<&Entry>,
        keyring: Option<&Entry>,
    ) -> Result<Term> {
        let settings = settings.map(IssuerRecord::read).transpose()?;
        let keyring = keyring.map(record::read::<Keyring>).transpose()?;
        let profiles = settings
            .iter()
            .flat_map(|issuer| issuer.settings.profiles());
        let profiles = profiles.map(|profile| profile.lifetime_seconds);
        let keys = keyring.iter().flat_map(Keyring::keys);
        let keys = keys.map(|key| key.longest_lifetime);
        let longest = profiles
            .chain(keys)
            .max()
            .unwrap_or(limits::LIFETIME_SECONDS);
        let after = longest + limits::RULE_AFTER_SECONDS;
        Ok(Term {
            now,
            until: newest.max(now).saturating_add(after),
        })
    }
}
