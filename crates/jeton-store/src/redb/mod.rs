//! The embedded engine: redb in a folder, with a writer thread that lets many commits share a flush.

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

use crate::entry::Revision;
use crate::error::{Error, Result};
use crate::follow::{self, Followers};
use crate::key::{Key, Prefix};
use crate::pending::{Pending, completion, ready};
use crate::store::{Outcome, Pages, Read, Status, Store, Watch};
use crate::txn::Txn;
use failure::Failure;
use medium::Medium;
use writer::{Job, Queue};

/// Keeps everything in a folder of this machine.
///
/// A commit is acknowledged after it has been flushed (`fdatasync`). All commits that wait when the
/// writer is free share one flush. Reads look at the last flushed state and take what the disk takes:
/// they are not for a thread that must not wait.
///
/// One process has a folder at a time, and no other user can write it: see [`open`](RedbStore::open).
///
/// After a write that failed, for instance because the disk is full, the store can still be read, and
/// what had been acknowledged is there. Commits are refused with [`Error::Full`] or [`Error::Failed`] until
/// there is room again: the store looks by itself, when it is next written or
/// [asked](Store::check_writable). After a *flush* that failed it refuses commits until it is opened anew,
/// because the system may take for written what is not.
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
    /// Gone only while the store is being dropped.
    queue: Option<Queue>,
    writer: Option<JoinHandle<()>>,
    /// Held as long as the store is open: it is what keeps a second process out.
    _lock: Option<File>,
}

#[derive(Debug)]
struct Shared {
    /// None while it is opened anew after a failure, and if that is not possible.
    database: RwLock<Option<Database>>,
    medium: Medium,
    failure: Mutex<Option<Failure>>,
    /// The newest revision that is known to be flushed.
    newest: AtomicU64,
    /// None on storage of a test's own.
    file: Option<PathBuf>,
    followers: Followers,
}

impl RedbStore {
    /// The format that this version writes, and the newest that it reads.
    pub const FORMAT: u64 = tables::FORMAT_NUMBER;

    /// Opens the store in a folder, which is made if it is not there (mode 0700).
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

    /// Whether there is a store in that folder. Nothing is made and nothing is opened.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if that cannot be seen.
    pub fn is_in(folder: &Path) -> Result<bool> {
        Ok(folder::file(folder).try_exists()?)
    }

    /// Gives a folder that has no store the one of another folder on the same disk, at once and
    /// whole: whoever restores a backup builds it aside and moves it in when it is
    /// sound. Nobody may have either folder open.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyThere`] if the folder has a store, which is left as it is; [`Error::InUse`],
    /// [`Error::Io`].
    pub fn move_in(from: &Path, folder: &Path) -> Result<()> {
        folder::move_in(from, folder)
    }

    /// Opens the store on storage of one's own. Tests see there what is flushed and what is not.
    ///
    /// # Errors
    ///
    /// As [`open`](RedbStore::open).
    pub fn open_on(backend: impl StorageBackend) -> Result<RedbStore> {
        let medium = Medium::new(backend);
        let database = folder::open_on(&medium)?;
        RedbStore::start(medium, database, None)
    }

    /// Looks at every page and every value, and says what is wrong. It takes as long as reading the
    /// whole store.
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
    /// What was handed over is still written, then the folder is free.
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(writer) = self.writer.take() {
            // A writer that panicked has said so already.
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
