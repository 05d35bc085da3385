//! The embedded engine: redb in a folder. One writer thread lets many commits share a flush.

mod failure;
mod folder;
mod medium;
mod read;
mod tables;
mod writer;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, RwLock};
use std::thread::JoinHandle;

use redb::Database;

pub use redb::StorageBackend;

use crate::error::{Error, Result};
use crate::follow::{self, Followers};
use crate::key::{Key, Prefix};
use crate::pending::{Pending, completion, ready};
use crate::revision::Revision;
use crate::store::{Outcome, Pages, Read, Status, Store, Watch};
use crate::txn::Txn;
use failure::Failure;
use medium::Medium;
use writer::{Job, Queue};

/// A store in a folder on this machine.
///
/// A commit is acknowledged after it has been flushed (`fdatasync`). All commits that wait when the writer
/// is free share one flush. Reads show the last flushed state and may wait for the disk: do not call them
/// on a thread that must not block.
///
/// Only one process has a folder open at a time, and no other user can write it. See
/// [`open`](RedbStore::open).
///
/// After a failed write, for example on a full disk, the store can still be read and has everything that
/// was acknowledged. Commits fail with [`Error::Full`] or [`Error::Failed`] until there is space again. The
/// store checks this at the next write or [`check_writable`](Store::check_writable). After a failed *flush*
/// commits fail until the store is opened again, because the system may report data as written that is not
/// on the disk.
///
/// ```
/// use jeton_store::{Error, RedbStore};
///
/// let folder = std::env::temp_dir().join(format!("jeton-store-doc-{}", std::process::id()));
/// let store = RedbStore::open(&folder)?;
/// assert_eq!(RedbStore::open(&folder).unwrap_err(), Error::InUse);
/// # drop(store);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct RedbStore {
    shared: Arc<Shared>,
    /// None only while the store is dropped.
    queue: Option<Queue>,
    writer: Option<JoinHandle<()>>,
    /// The lock that excludes a second process while the store is open.
    _lock: Option<File>,
}

#[derive(Debug)]
struct Shared {
    /// None while it is reopened after a failure, or if that fails.
    database: RwLock<Option<Database>>,
    medium: Medium,
    failure: Mutex<Option<Failure>>,
    /// The newest flushed revision.
    newest: AtomicU64,
    /// None on storage that a test provides.
    file: Option<PathBuf>,
    followers: Followers,
}

impl RedbStore {
    /// The format that this version writes, and the newest that it reads.
    pub const FORMAT: u64 = tables::FORMAT_NUMBER;

    /// Opens the store in a folder. Creates both if they are missing (mode 0700).
    ///
    /// # Errors
    ///
    /// [`Error::InUse`] if another process has it, [`Error::NotAStore`], [`Error::Newer`],
    /// [`Error::Damaged`]; [`Error::Unsafe`] if other users can write the folder or a file in it, or a file
    /// is a link; [`Error::Io`] if the folder cannot be used.
    pub fn open(folder: &Path) -> Result<RedbStore> {
        let (lock, medium, database) = folder::open(folder)?;
        RedbStore::start(medium, database, Some((folder::file(folder), lock)))
    }

    /// Returns whether the folder has a store. Creates and opens nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the folder cannot be read.
    pub fn is_in(folder: &Path) -> Result<bool> {
        Ok(folder::file(folder).try_exists()?)
    }

    /// Moves the store of one folder to another on the same disk, atomically. A restore builds the store
    /// aside and then moves it in. Neither folder may be open.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyThere`] if the target has a store, which is not changed; [`Error::InUse`],
    /// [`Error::Io`].
    pub fn move_in(from: &Path, folder: &Path) -> Result<()> {
        folder::move_in(from, folder)
    }

    /// Opens the store on given storage. Tests use this to see what is flushed.
    ///
    /// # Errors
    ///
    /// As [`open`](RedbStore::open).
    pub fn open_on(backend: impl StorageBackend) -> Result<RedbStore> {
        let medium = Medium::new(backend);
        let database = folder::open_on(&medium)?;
        RedbStore::start(medium, database, None)
    }

    /// Checks every page and every value. Takes as long as reading the whole store.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`], and as [`open`](RedbStore::open).
    pub fn verify(folder: &Path) -> Result<()> {
        folder::verify(folder)
    }

    fn start(
        medium: Medium,
        database: Database,
        folder: Option<(PathBuf, File)>,
    ) -> Result<RedbStore> {
        let (file, lock) = folder.unzip();
        let newest = read::status(&database, None)?.revision;
        let shared = Arc::new(Shared {
            database: RwLock::new(Some(database)),
            medium,
            failure: Mutex::new(None),
            newest: AtomicU64::new(newest.number()),
            file,
            followers: Followers::default(),
        });
        let (queue, writer) = writer::start(shared.clone())?;
        Ok(RedbStore {
            shared,
            queue: Some(queue),
            writer: Some(writer),
            _lock: lock,
        })
    }

    fn send(&self, job: Job) -> Result<()> {
        self.queue.as_ref().ok_or(Error::Closed)?.send(job)
    }
}

impl Drop for RedbStore {
    /// Writes what was accepted, then releases the folder.
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(writer) = self.writer.take() {
            // A panicked writer has already reported it.
            let _ = writer.join();
        }
        self.shared.followers.wake();
    }
}

impl Store for RedbStore {
    fn read(&self, keys: &[Key]) -> Pending<'_, Read> {
        ready(self.shared.with(|database| read::read(database, keys)))
    }

    fn scan(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>> {
        ready(self.shared.with(|database| read::scan(database, prefix)))
    }

    fn scan_after(&self, prefix: &Prefix, _is_pinned: bool) -> Pending<'_, Box<dyn Pages>> {
        ready(
            self.shared
                .with(|database| read::scan_after(database, prefix)),
        )
    }

    fn commit(&self, txn: Txn) -> Pending<'_, Outcome> {
        let (reply, pending) = completion();
        let sent = txn.check().and_then(|()| self.send(Job::Write(txn, reply)));
        match sent {
            Ok(()) => pending,
            Err(error) => ready(Err(error)),
        }
    }

    fn watch(&self, prefix: &Prefix, after: Revision) -> Pending<'_, Box<dyn Watch>> {
        ready(follow::watch(&self.shared, prefix, after))
    }

    fn status(&self) -> Pending<'_, Status> {
        let file = self.shared.file.as_deref();
        ready(self.shared.with(|database| read::status(database, file)))
    }

    fn check_writable(&self) -> Pending<'_, ()> {
        if self.shared.why_not().is_none() {
            return ready(Ok(()));
        }
        let (reply, pending) = completion();
        match self.send(Job::MakeWritable(reply)) {
            Ok(()) => pending,
            Err(error) => ready(Err(error)),
        }
    }
}
