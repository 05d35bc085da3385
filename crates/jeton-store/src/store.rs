//! Defines the trait that every engine implements.

use crate::entry::{Entry, Event};
use crate::key::{Key, Prefix};
use crate::moment::Moment;
use crate::pending::{Pending, ready};
use crate::revision::Revision;
use crate::txn::Txn;

/// An ordered key-value store with transactions, revisions and watches.
///
/// Every engine guarantees the following, and the conformance suite tests it:
///
/// - **Durable.** An acknowledged commit survives a killed process and a power cut. It is acknowledged
///   after it is durable, never before.
/// - **Linearizable.** A read or scan sees every commit that was acknowledged before it began. A
///   transaction checks its conditions and makes its changes in one step.
/// - **Atomic.** No read, scan, watch or restart shows a part of a transaction.
/// - **Watched without gaps.** A watch reports every transaction that touched its prefix, in order, once,
///   with all its changes. It never claims to be [fresher](Update::as_of) than it is.
///
/// All engines [check](Txn::check) transactions in the same way. Dropping a [`Pending`] does not undo its
/// operation.
pub trait Store: Send + Sync + std::fmt::Debug {
    /// Reads the entries of these keys at one revision, in the given order. At most
    /// [`limits::READ_KEYS`](crate::limits::READ_KEYS) keys.
    fn read(&self, keys: &[Key]) -> Pending<'_, Read>;

    /// Scans all entries under a prefix at one revision, in key order, page by page. A scan of [all
    /// keys](Prefix::all) also checks that nothing is missing, as far as the engine can. Backups and
    /// verifications do this.
    fn scan(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>>;

    /// Scans as [`scan`](Store::scan) does, for callers that also run a watch. A page may show a newer
    /// revision than the page before, and [`Pages::revision`] returns the newest so far. So the scan ends
    /// however long it takes.
    ///
    /// A caller that applies every update of a watch, from the first revision of the scan to the last, has
    /// the state of the store at that last revision. [`load`](crate::load) does this.
    ///
    /// Engines whose scans always end need no other implementation.
    fn scan_unpinned(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>> {
        self.scan(prefix)
    }

    /// Scans all entries whose keys come after those of a prefix, as [`scan`](Store::scan) does, or as
    /// [`scan_unpinned`](Store::scan_unpinned). So a caller that needs no entry of the first prefix of a store
    /// does not read it. It does not check that nothing is missing.
    ///
    /// This implementation reads everything. Engines read only that range.
    fn scan_after(&self, prefix: &Prefix, is_pinned: bool) -> Pending<'_, Box<dyn Pages>> {
        let from = prefix.end();
        let all = if is_pinned {
            self.scan(&Prefix::all())
        } else {
            self.scan_unpinned(&Prefix::all())
        };
        Box::pin(async move {
            let pages = all.await?;
            Ok(Box::new(After { pages, from }) as Box<dyn Pages>)
        })
    }

    /// Makes the changes if the conditions hold. Completes when they are durable.
    ///
    /// If [`is_outcome_unknown`](crate::Error::is_outcome_unknown) is true for an error, the changes may
    /// have been made.
    fn commit(&self, txn: Txn) -> Pending<'_, Outcome>;

    /// Watches every change under a prefix after that revision. If the revision is no longer in the
    /// history, this call or [`next`](Watch::next) returns [`Error::Compacted`](crate::Error::Compacted):
    /// [load](crate::load) again.
    fn watch(&self, prefix: &Prefix, after: Revision) -> Pending<'_, Box<dyn Watch>>;

    /// Returns the status of the store.
    fn status(&self) -> Pending<'_, Status>;

    /// Checks whether a commit can succeed, as far as the engine knows. After a failed commit the engine
    /// also tries to write again: [`Error::Full`](crate::Error::Full) and
    /// [`Error::Failed`](crate::Error::Failed) mean that it still cannot. Without a failure the call is
    /// cheap. Engines that never fail to write return `Ok`.
    fn check_writable(&self) -> Pending<'_, ()> {
        ready(Ok(()))
    }
}

/// The result of a [`read`](Store::read).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// The revision that was read.
    pub revision: Revision,
    /// One entry per requested key, in that order.
    pub entries: Vec<Option<Entry>>,
}

/// The pages of a [`scan`](Store::scan). All show the same revision. If the reader takes too long, the
/// engine may return [`Error::Compacted`](crate::Error::Compacted). Pages of an
/// [unpinned](Store::scan_unpinned) scan may show newer revisions.
pub trait Pages: Send {
    /// Returns the revision that all pages show. For an unpinned scan: every page that was read is at most
    /// as new as this, and no page is older than its first value.
    fn revision(&self) -> Revision;

    /// Reads the next page: one to [`limits::PAGE_ENTRIES`](crate::limits::PAGE_ENTRIES) entries, `None`
    /// after the last page.
    fn next(&mut self) -> Pending<'_, Option<Vec<Entry>>>;
}

/// The entries from a key on.
struct After {
    pages: Box<dyn Pages>,
    from: String,
}

impl Pages for After {
    fn revision(&self) -> Revision {
        self.pages.revision()
    }

    fn next(&mut self) -> Pending<'_, Option<Vec<Entry>>> {
        Box::pin(async move {
            while let Some(mut page) = self.pages.next().await? {
                page.retain(|entry| entry.key.as_str() >= self.from.as_str());
                if !page.is_empty() {
                    return Ok(Some(page));
                }
            }
            Ok(None)
        })
    }
}

/// The outcome of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The changes are durable at this revision. If there was nothing to change, this is the revision that
    /// the transaction read.
    Committed(Revision),
    /// A condition did not hold at this revision. Nothing was changed.
    Conflict(Revision),
}

impl Outcome {
    pub(crate) fn revision(self) -> Revision {
        match self {
            Outcome::Committed(revision) | Outcome::Conflict(revision) => revision,
        }
    }
}

/// Watches a prefix. See [`Store::watch`].
pub trait Watch: Send {
    /// Waits for the next transaction that touched the prefix. Reports progress after at most
    /// [`limits::PROGRESS_EVERY`](crate::limits::PROGRESS_EVERY) without one. At least that often an update
    /// has [`as_of`](Update::as_of), while the store is reachable and the follower keeps up. Dropping the
    /// call before it completes loses nothing.
    ///
    /// After [`Error::Io`](crate::Error::Io) the store is unreachable. The watch continues from its
    /// position when the store is back.
    fn next(&mut self) -> Pending<'_, Update>;
}

/// An update of a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// Everything up to this revision has been reported.
    pub revision: Revision,
    /// The changes of that transaction under the prefix. Empty for a progress report.
    pub events: Vec<Event>,
    /// Everything under the prefix that was acknowledged before this moment has been reported, by this
    /// update or an earlier one. It is the moment at which the engine asked the store, not when the update
    /// is received, so a late receiver can tell its age. None: more updates may be on their way.
    pub as_of: Option<Moment>,
}

/// The status of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The name of the engine.
    pub engine: &'static str,
    /// The newest revision.
    pub revision: Revision,
    /// The oldest revision from which a watch can start.
    pub oldest: Revision,
    /// Size on disk in bytes, if the engine knows it.
    pub bytes: Option<u64>,
}
