//! The state that the calls and the threads of a node share.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use jeton::Clock;
use jeton_store::{Moment, Outcome, Revision, Store, Txn};

use super::clock_guard::ClockGuard;
use super::comparison::Comparison;
use super::lock::lock;
use super::options::Options;
use super::other_clocks::OtherClocks;
use super::recent::Recent;
use super::working::Working;
use super::writes::Writes;
use crate::audit::{Act, OwnChain};
use crate::error::{Error, Result};
use crate::revocation::Rules;
use crate::snapshot::Snapshot;

/// Timeout for a node to see its own write.
const TIMEOUT: Duration = Duration::from_secs(30);

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
    pub(super) writes: Writes,
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
        let others = self.others();
        let newest = others.newest().unwrap_or(now);
        newest.max(now.saturating_add(others.behind_by(Moment::now())))
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
        Ok(self.writes.commit(&*self.store, txn)?)
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
        let behind = |working: &mut Working| working.snapshot.revision < revision;
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

    /// Records that the view is complete up to that moment.
    pub(super) fn hear(&self, as_of: Moment) {
        let after = as_of.duration_since(self.started);
        let after = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
        self.heard.fetch_max(after, Ordering::Release);
    }

    pub(super) fn is_stale(&self) -> bool {
        self.heard_ago() > self.options.freshness
    }
}
