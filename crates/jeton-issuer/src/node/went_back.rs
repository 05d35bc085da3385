//! What a node does when the store has gone back: see [`History`](super::history::History).

use jeton_store::{Outcome, Revision, Txn, block_on};

use super::inner::{Inner, Seen};
use super::protection::Protection;
use crate::audit::{Act, Chain};
use crate::conflict;
use crate::error::{Error, Result};
use crate::limits;
use crate::record::{self, audit_head_key, rule_counter_key};
use crate::revocation::{Counter, Stamp};

/// Tokens with a later epoch than this many seconds from now begin no epoch: no node can have issued them.
const PLAUSIBLE_SECONDS: u64 = limits::LIFETIME_SECONDS.unsigned_abs();

impl Inner {
    /// Checks the revision of a read, given what was seen before it.
    pub(super) fn check_history(&self, found: Revision, seen: Seen) -> Result<()> {
        if self.look_back(seen, found, false) {
            return Err(Error::StoreWentBack {
                known: seen.revision.number(),
                found: found.number(),
            });
        }
        Ok(())
    }

    /// Begins an epoch if a token has proved that history was lost.
    pub(super) fn begin_epoch_after_lost_token(&self, now: i64) -> Result<()> {
        let lost = self.history.take_lost();
        let lost = lost.filter(|_| self.options.protections.has(Protection::History));
        let latest = Stamp::begin(now).epoch.saturating_add(PLAUSIBLE_SECONDS);
        let view = self.snapshot.load();
        match lost {
            // A token of an epoch that has ended needs no other one.
            Some(stamp) if stamp > view.counter && stamp.epoch <= latest => {
                let why = "a token has a stamp that the store never had".to_owned();
                self.begin_epoch(&why, stamp)
            }
            _ => Ok(()),
        }
    }

    /// Returns whether the next rule of this node begins an epoch.
    pub(crate) fn begins_epoch(&self) -> bool {
        self.history.begins_epoch() && self.options.protections.has(Protection::History)
    }

    /// Begins an epoch of stamps above those that this node knows, unless another node has begun one.
    pub(super) fn begin_epoch(&self, why: &str, known: Stamp) -> Result<()> {
        let known = known.max(self.snapshot.load().counter);
        let names = [audit_head_key()?, rule_counter_key()?];
        for attempt in 0..limits::ATTEMPTS {
            conflict::pause(attempt);
            let now = self.now();
            let read = block_on(self.store.read(&names))?;
            let [head, counter] = read.entries.as_slice() else {
                return Err(Error::Contended);
            };
            let counter = counter.as_ref().map(record::read::<Counter>).transpose()?;
            let counter = counter.unwrap_or_default();
            if counter.stamp.epoch > known.epoch {
                return Ok(());
            }
            let counter = counter.new_epoch(now, known);
            let act = Act {
                at: now,
                actor: "jeton",
                act: "store.epoch",
                iss: "",
                about: vec![why.to_owned()],
            };
            let txn = Txn::new().put(rule_counter_key()?, record::write(&counter));
            let txn = Chain::read(head.as_ref())?.append(txn, act)?;
            // Not by `commit`, which compares with the view of the lost history.
            let ended = self.writes.commit(&*self.store, txn)?;
            if matches!(ended, Outcome::Committed(_)) {
                self.history.has_begun();
                return Ok(());
            }
        }
        Err(Error::Contended)
    }

    /// Returns the proof that the store went back, given the revision that was loaded.
    pub(super) fn proof_of_loss(&self, loaded: Revision) -> Option<String> {
        let known = self.snapshot.load().revision;
        if !self.options.protections.has(Protection::History) {
            return None;
        }
        let lower =
            || (loaded < known).then(|| format!("it was at revision {known} and is at {loaded}"));
        self.history.proof().or_else(lower)
    }
}
