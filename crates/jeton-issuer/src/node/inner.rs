//! The state that the calls and the threads of a node share.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use jeton::Clock;
use jeton_store::{Moment, Operation, Outcome, Revision, Store, Txn};

use super::cause::Since;
use super::clock_agreement::Agreement;
use super::clock_guard::ClockGuard;
use super::comparison::Comparison;
use super::history::History;
use super::lock::lock;
use super::options::Options;
use super::other_clocks::OtherClocks;
use super::peers::Peers;
use super::protection::Protection;
use super::recent::Recent;
use super::working::Working;
use super::writes::Writes;
use crate::audit::{Act, OwnChain};
use crate::error::{Error, Result};
use crate::limits::{self, CLOCK_SKEW_SECONDS, LEEWAY_SECONDS, LIFETIME_SECONDS};
use crate::record::schema_written;
use crate::revocation::Rules;
use crate::snapshot::Snapshot;

/// Timeout for a node to see its own write.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What a node knows of the history of the store.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// How often the store went back.
    losses: u64,
    pub(super) revision: Revision,
}

pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) options: Options,
    pub(super) snapshot: ArcSwap<Snapshot>,
    pub(super) working: Mutex<Working>,
    pub(super) applied: Condvar,
    /// Recent revocations for feeds.
    pub(super) recent: Arc<Recent>,
    /// Counts suspension, so that the view is old afterwards.
    pub(super) started: Moment,
    /// Milliseconds after `started`.
    pub(super) heard: AtomicI64,
    pub(super) stale_answers: AtomicU64,
    pub(super) clock_guard: Mutex<ClockGuard>,
    pub(super) others: Mutex<OtherClocks>,
    /// The other nodes that run.
    pub(super) peers: Mutex<Peers>,
    pub(super) history: History,
    pub(super) writes: Writes,
    /// Since when the node cannot do something.
    pub(super) since: Since,
    /// The chain of this node in the audit log.
    pub(super) own_chain: Mutex<OwnChain>,
    /// Fault of the last maintenance.
    pub(super) due_fault: Mutex<Option<String>>,
    /// Work that the last maintenance postponed.
    pub(super) held: Mutex<Option<String>>,
    /// A remote key that is due for rotation.
    pub(super) rotation: Mutex<Option<String>>,
    /// A thread of the node that ended unexpectedly.
    pub(super) ended: Mutex<Option<String>>,
    pub(super) comparison: Comparison,
    /// Dropping it ends the thread that compares.
    pub(super) _comparing: SyncSender<()>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.recent.close();
    }
}

impl Inner {
    pub(crate) fn now(&self) -> i64 {
        self.clock.now().unix_seconds()
    }

    /// Returns that time, or the time by the clocks of other nodes if it is later. So a clock that is
    /// behind does not end revocations early.
    pub(crate) fn not_behind(&self, now: i64) -> i64 {
        let moment = Moment::now();
        match self.agreement(moment) {
            Agreement::WithMajority { latest } => return now.saturating_add(latest),
            Agreement::Apart { ahead, .. } if ahead < 0 => {
                return now.saturating_sub(ahead).saturating_add(CLOCK_SKEW_SECONDS);
            }
            _ => {}
        }
        let others = self.others();
        let newest = others.newest().unwrap_or(now);
        let latest = newest.max(now.saturating_add(others.behind_by(moment)));
        // Nobody knows whether this clock is behind by years or another was ahead. No token lives longer than this.
        latest.min(now.saturating_add(LIFETIME_SECONDS))
    }

    /// Compares the clock of this node with those of the others.
    pub(super) fn agreement(&self, now: Moment) -> Agreement {
        if self.options.protections.has(Protection::Clocks) {
            lock(&self.peers).agreement(now)
        } else {
            Agreement::Alone
        }
    }

    /// Returns the rules, and the number of issuers.
    pub(crate) fn rules_now(&self) -> (Rules, usize) {
        let snapshot = self.snapshot.load();
        (snapshot.rules.clone(), snapshot.issuers.len())
    }

    pub(crate) fn rules_per_client(&self) -> usize {
        self.options.rules_per_client
    }

    /// Commits a transaction with an entry in the chain of this node. None: a conflict, which no other node
    /// causes unless it has sealed the chain.
    pub(crate) fn append(&self, txn: Txn, act: Act<'_>) -> Result<Option<Revision>> {
        let commit = |txn| self.commit(txn);
        lock(&self.own_chain).append(&*self.store, txn, act, commit)
    }

    /// Commits a transaction. All writes of this node use this.
    pub(crate) fn commit(&self, txn: Txn) -> Result<Outcome> {
        let seen = self.seen();
        let is_put = |operation: &Operation| matches!(operation, Operation::Put(..));
        let has_put = txn.operations().iter().any(is_put);
        self.check_cluster_version(&txn)?;
        let outcome = self.writes.commit(&*self.store, txn)?;
        let (found, is_new) = match outcome {
            Outcome::Committed(revision) => (revision, has_put),
            Outcome::Conflict(revision) => (revision, false),
        };
        self.look_back(seen, found, is_new);
        Ok(outcome)
    }

    /// Returns what this node knows of the history now.
    pub(super) fn seen(&self) -> Seen {
        // First: a view that is newer than the number proves nothing.
        let losses = self.history.times();
        Seen {
            losses,
            revision: self.snapshot.load().revision,
        }
    }

    /// Compares a revision that the store has returned with what was seen before the call. `is_new`: the store gave it
    /// to a transaction of this call. Returns whether the store went back.
    pub(super) fn look_back(&self, seen: Seen, found: Revision, is_new: bool) -> bool {
        let known = seen.revision;
        // A new revision is above all that were seen, unless the store has lost some.
        let is_back = found < known || is_new && found == known;
        let is_back = is_back && self.options.protections.has(Protection::History);
        if is_back && seen.losses == self.history.times() {
            self.went_back(&format!("it was at revision {known} and is at {found}"));
        }
        is_back
    }

    /// Records a proof that the store went back. The follower loads everything again.
    pub(super) fn went_back(&self, proof: &str) {
        if self.options.protections.has(Protection::History) {
            self.history.went_back(proof);
            self.comparison.load_again();
        }
    }

    /// Checks that every node that runs reads the records of a transaction: one that does not would stop.
    fn check_cluster_version(&self, txn: &Txn) -> Result<()> {
        let schema = |operation: &Operation| match operation {
            Operation::Put(_, value) => schema_written(value),
            Operation::Delete(_) | Operation::DeletePrefix(_) => 0,
        };
        let schema = txn.operations().iter().map(schema).max().unwrap_or(0);
        let (reads, node) = lock(&self.peers).reads(Moment::now());
        match node {
            Some(node) if schema > reads && self.options.protections.has(Protection::Versions) => {
                Err(Error::OlderNode {
                    schema,
                    reads,
                    node,
                })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn due_fault(&self) -> MutexGuard<'_, Option<String>> {
        lock(&self.due_fault)
    }

    pub(super) fn held(&self) -> MutexGuard<'_, Option<String>> {
        lock(&self.held)
    }

    pub(super) fn clock_guard(&self) -> MutexGuard<'_, ClockGuard> {
        lock(&self.clock_guard)
    }

    pub(super) fn others(&self) -> MutexGuard<'_, OtherClocks> {
        lock(&self.others)
    }

    /// Waits until the snapshot shows that revision.
    pub(crate) fn wait_for(&self, revision: Revision) -> Result<()> {
        self.wait_at_most(revision, TIMEOUT)
    }

    pub(super) fn wait_at_most(&self, revision: Revision, timeout: Duration) -> Result<()> {
        let working = self.working();
        // The view of a history that was lost has any revision.
        let behind = |working: &mut Working| {
            working.snapshot.revision < revision || self.history.proof().is_some()
        };
        let (_working, waited) = self
            .applied
            .wait_timeout_while(working, timeout, behind)
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return Err(Error::Stale);
        }
        Ok(())
    }

    pub(super) fn working(&self) -> MutexGuard<'_, Working> {
        lock(&self.working)
    }

    pub(super) fn heard_ago(&self) -> Duration {
        let heard = Duration::from_millis(self.heard.load(Ordering::Acquire).unsigned_abs());
        self.started.elapsed().saturating_sub(heard)
    }

    /// Returns the second up to which the view is complete, by every clock that is allowed.
    pub(super) fn view_as_of(&self) -> i64 {
        if !self.options.protections.has(Protection::History) {
            return i64::MIN;
        }
        let ago = i64::try_from(self.heard_ago().as_secs()).unwrap_or(i64::MAX);
        let now = self.now().saturating_sub(ago);
        now.saturating_sub(CLOCK_SKEW_SECONDS + LEEWAY_SECONDS)
    }

    /// Records that the view is complete up to that moment.
    pub(super) fn hear(&self, as_of: Moment) {
        let after = as_of.duration_since(self.started);
        let after = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
        self.heard.fetch_max(after, Ordering::Release);
    }

    /// Whether the store has missed its heartbeats, or longer than the freshness bound.
    pub(super) fn is_silent(&self) -> bool {
        self.heard_ago() > self.options.freshness.min(limits::STORE_SILENT)
    }

    pub(super) fn is_stale(&self) -> bool {
        self.heard_ago() > self.options.freshness
    }
}
