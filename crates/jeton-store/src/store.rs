//! The trait that every engine implements.

use crate::entry::{Entry, Event, Revision};
use crate::key::{Key, Prefix};
use crate::moment::Moment;
use crate::pending::{Pending, ready};
use crate::txn::Txn;

/// A store: keys in order, transactions over several of them, revisions, and a way to follow.
///
/// What an engine promises, and the conformance suite looks for:
///
/// - **Durable.** A commit that is acknowledged is there after the process is killed and the power is
///   cut. It is acknowledged after it is durable, never before.
/// - **Linearizable.** A read or scan sees every commit that was acknowledged before it began. A
///   transaction's conditions are looked at and its changes made in one step.
/// - **All or nothing.** Nobody sees half a transaction: no read, no scan, no watch, no restart.
/// - **Followed without a gap.** A watch tells every transaction that touched its prefix, in order,
///   once, all its changes at once, and never says that it is [fresher](Update::as_of) than it is.
///
/// Transactions are [checked](Txn::check) alike by all engines. A [`Pending`] that is dropped is not
/// undone.
pub trait Store: Send + Sync + std::fmt::Debug {
    /// These keys' entries at one revision, in the order asked for. At most
    /// [`limits::READ_KEYS`](crate::limits::READ_KEYS).
    fn read(&self, keys: &[Key]) -> Pending<'_, Read>;

    /// All entries under a prefix at one revision, in the order of their keys, page by page. A scan
    /// of [everything](Prefix::all) also finds out whether anything is missing, as far as the engine
    /// can tell: whoever starts on a store scans it once.
    fn scan(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>>;

    /// As [`scan`](Store::scan), for who follows a watch beside it: each page shows the revision of the first or
    /// a newer one, and [`Pages::revision`] says how far they have come. So it ends however long it takes.
    ///
    /// Who applies everything that a watch tells, from the revision on that this begins with, up to the one that
    /// it ends with, has what the store held then: [`load`](crate::load) does that.
    ///
    /// An engine whose scans always end need not do anything else.
    fn scan_unpinned(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>> {
        self.scan(prefix)
    }

    /// Makes the changes if the conditions hold, and answers when that is durable.
    ///
    /// An error whose [`is_outcome_unknown`](crate::Error::is_outcome_unknown) is true may have
    /// happened nonetheless.
    fn commit(&self, txn: Txn) -> Pending<'_, Outcome>;

    /// Everything that happens under a prefix after that revision. A revision that is no longer in
    /// the history is [`Error::Compacted`](crate::Error::Compacted), here or from
    /// [`next`](Watch::next): [load](crate::load) everything again.
    fn watch(&self, prefix: &Prefix, after: Revision) -> Pending<'_, Box<dyn Watch>>;

    /// How the store is.
    fn status(&self) -> Pending<'_, Status>;

    /// Whether a commit can succeed, as far as the engine knows. Asked after one that failed, an engine
    /// also tries to write again: [`Error::Full`](crate::Error::Full) and
    /// [`Error::Failed`](crate::Error::Failed) say that it cannot yet. While nothing has failed it costs
    /// little, and an engine that never fails to write need not answer anything else.
    fn check_writable(&self) -> Pending<'_, ()> {
        ready(Ok(()))
    }
}

/// What a [`read`](Store::read) saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// When.
    pub revision: Revision,
    /// One for each key that was asked for, in that order.
    pub entries: Vec<Option<Entry>>,
}

/// The pages of a [`scan`](Store::scan). All show the same revision, however long the reader takes,
/// or [`Error::Compacted`](crate::Error::Compacted) if it took too long. Those of an
/// [unpinned](Store::scan_unpinned) one may show newer and newer ones.
pub trait Pages: Send {
    /// The revision that all pages show. Of an unpinned scan: no page is older than this says before the
    /// first is read, and none that has been read is newer than it says now.
    fn revision(&self) -> Revision;

    /// The next entries, at most [`limits::PAGE_ENTRIES`](crate::limits::PAGE_ENTRIES) and never
    /// none; `None` after the last.
    fn next(&mut self) -> Pending<'_, Option<Vec<Entry>>>;
}

/// How a commit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The changes are made and durable. They are the transaction of this revision; a transaction
    /// that found nothing to change names the revision at which it looked.
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

/// Follows a prefix: see [`Store::watch`].
pub trait Watch: Send {
    /// The next transaction that touched the prefix, or, after at most
    /// [`limits::PROGRESS_EVERY`](crate::limits::PROGRESS_EVERY) without one, how far the store is.
    /// At least that often, while the store is in reach and the follower keeps up, an update says
    /// [as of](Update::as_of) when. A call that is dropped before it answered loses nothing.
    ///
    /// [`Error::Io`](crate::Error::Io) is news too: the store is out of reach, and the watch goes on from
    /// where it was when it is back.
    fn next(&mut self) -> Pending<'_, Update>;
}

/// What a watch tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// Everything up to here has been told.
    pub revision: Revision,
    /// What the transaction of that revision changed under the prefix. Nothing: progress.
    pub events: Vec<Event>,
    /// Everything under the prefix that was acknowledged before that moment has been told, with this update
    /// or before it. The moment is when the store was asked, never when the update is received: whoever takes
    /// it late is told how old it is. None: more may be on its way, and this may be old.
    pub as_of: Option<Moment>,
}

/// How a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The engine's name.
    pub engine: &'static str,
    /// The newest transaction.
    pub revision: Revision,
    /// A watch from here on, or later, can be had.
    pub oldest: Revision,
    /// What the store takes on disk, bytes, as far as the engine knows.
    pub bytes: Option<u64>,
}
