//! Handling of failed writes: the store still reads, rejects writes, and retries until it can write.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError, RwLockWriteGuard};
use std::time::{Duration, Instant};

use redb::{Database, TableDefinition};

use super::Shared;
use super::folder;
use super::tables::{error, guarded};
use crate::error::{Error, Result};
use crate::limits;
use crate::revision::Revision;

/// Filled and deleted to test for free space. Otherwise empty.
const ROOM: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("room");

/// Why writes are rejected, and when the next check is due.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    cause: Error,
    /// None: the store must be opened again.
    again: Option<Again>,
}

#[derive(Debug, Clone, Copy)]
struct Again {
    from: Instant,
    pause: Duration,
}

impl Shared {
    /// Runs work on the database at the latest flushed revision.
    pub(super) fn with<T>(&self, work: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        let slot = self.database.read().unwrap_or_else(PoisonError::into_inner);
        match &*slot {
            Some(database) => work(database),
            None => Err(self.why_not().unwrap_or(Error::Failed)),
        }
    }

    /// Returns why writes are rejected, if they are.
    pub(super) fn why_not(&self) -> Option<Error> {
        self.failure().as_ref().map(|failure| failure.cause.clone())
    }

    /// Records that everything up to that revision is on the disk.
    pub(super) fn has_flushed(&self, revision: Revision) {
        self.newest.fetch_max(revision.number(), Ordering::AcqRel);
    }

    pub(super) fn newest(&self) -> Revision {
        Revision::from_number(self.newest.load(Ordering::Acquire))
    }

    /// Records a failed write and reopens the file. redb reads nothing more after a failed write. The
    /// failed write leaves what a killed process would leave. After a failed flush the file may show data
    /// that is not on the disk: then redb keeps showing the last flushed commit from its page cache.
    pub(super) fn fail(&self, error: &Error) {
        self.note(error, limits::WRITABLE_AGAIN_FIRST);
        // If this fails, nothing can be read until a later attempt succeeds.
        let _ = self.open_again();
    }

    /// Checks whether the store can write again after a failure. It checks at most every
    /// [`limits::WRITABLE_AGAIN_FIRST`], and less and less often. Calls in between get the previous error.
    pub(super) fn make_writable(&self) -> Result<()> {
        let Some(failure) = self.failure().clone() else {
            return Ok(());
        };
        let due = failure.again.filter(|again| again.from <= Instant::now());
        let Some(again) = due else {
            return Err(failure.cause);
        };
        let tried = if self.is_open() {
            Ok(())
        } else {
            self.open_again()
        };
        let tried = tried.and_then(|()| self.with(|database| guarded(|| reserve_space(database))));
        if let Err(error) = tried {
            self.note(&error, limits::WRITABLE_AGAIN_LAST.min(2 * again.pause));
            let _ = self.open_again();
            return Err(self.why_not().unwrap_or(error));
        }
        *self.failure() = None;
        self.followers.wake();
        Ok(())
    }

    fn note(&self, error: &Error, pause: Duration) {
        let is_final = self.medium.has_failed_to_flush()
            || matches!(
                error,
                Error::Damaged(_) | Error::NotAStore | Error::Newer { .. }
            );
        *self.failure() = Some(Failure {
            cause: match error {
                Error::Full => Error::Full,
                _ => Error::Failed,
            },
            again: (!is_final).then(|| Again {
                from: Instant::now() + pause,
                pause,
            }),
        });
    }

    fn open_again(&self) -> Result<()> {
        if (self.failure().as_ref()).is_some_and(|failure| failure.again.is_none()) {
            return Err(Error::Failed);
        }
        let mut slot = self.slot();
        // Drops the old database first: it holds the lock of the file. It may panic again.
        let _ = guarded(|| {
            drop(slot.take());
            Ok(())
        });
        *slot = Some(folder::open_medium(&self.medium)?);
        Ok(())
    }

    fn is_open(&self) -> bool {
        self.database
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    }

    fn slot(&self) -> RwLockWriteGuard<'_, Option<Database>> {
        self.database
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn failure(&self) -> MutexGuard<'_, Option<Failure>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reserves space for the largest transaction and returns it to the file, where the next transactions find
/// it. A store that reports itself writable must not fail at the next revocation.
fn reserve_space(database: &Database) -> Result<()> {
    let write = database.begin_write().map_err(error)?;
    let room = vec![0; limits::ROOM_BYTES];
    write
        .open_table(ROOM)
        .map_err(error)?
        .insert(0, room.as_slice())
        .map_err(error)?;
    finish(write)?;
    let write = database.begin_write().map_err(error)?;
    write.delete_table(ROOM).map_err(error)?;
    finish(write)
}

fn finish(mut write: redb::WriteTransaction) -> Result<()> {
    write.set_quick_repair(true);
    write.commit().map_err(error)
}
