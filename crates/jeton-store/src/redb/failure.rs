//! What becomes of a store after a write that failed: it goes on reading, refuses to write, and tries
//! again until it can.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError, RwLockWriteGuard};
use std::time::{Duration, Instant};

use redb::{Database, TableDefinition};

use super::Shared;
use super::folder;
use super::tables::{error, guarded};
use crate::entry::Revision;
use crate::error::{Error, Result};
use crate::limits;

/// Filled and dropped again to see whether there is room. Nothing else is ever in it.
const ROOM: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("room");

/// Why nothing is written, and when that is looked at again.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    cause: Error,
    /// None: only whoever opens the store anew can write again.
    again: Option<Again>,
}

#[derive(Debug, Clone, Copy)]
struct Again {
    from: Instant,
    pause: Duration,
}

impl Shared {
    /// Does something with the database: at the latest revision that is known to be on the disk.
    pub(super) fn with<T>(&self, work: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        let slot = self.database.read().unwrap_or_else(PoisonError::into_inner);
        match &*slot {
            Some(database) => work(database),
            None => Err(self.why_not().unwrap_or(Error::Failed)),
        }
    }

    /// Why nothing is written now, if nothing is.
    pub(super) fn why_not(&self) -> Option<Error> {
        self.failure().as_ref().map(|failure| failure.cause.clone())
    }

    /// Everything up to there is on the disk.
    pub(super) fn has_flushed(&self, revision: Revision) {
        self.newest.fetch_max(revision.number(), Ordering::AcqRel);
    }

    pub(super) fn newest(&self) -> Revision {
        Revision::from_number(self.newest.load(Ordering::Acquire))
    }

    /// A write failed. redb reads nothing more from its file after that, so the file is opened anew for
    /// those who read: what the failed write left behind is what a kill in its middle leaves. Not after a
    /// flush that failed, when the file may show what the disk does not have: then redb goes on to show the
    /// last commit that was flushed, for as long as it has its pages in memory.
    pub(super) fn fail(&self, error: &Error) {
        self.note(error, limits::WRITABLE_AGAIN_FIRST);
        // If that fails, nothing can be read until it succeeds: it is tried again with the next attempt.
        let _ = self.open_again();
    }

    /// Answers once something can be written. After a failure it looks whether it can, but not more often
    /// than every [`limits::WRITABLE_AGAIN_FIRST`], and less and less often: whoever asks in between is told
    /// the old error.
    pub(super) fn make_writable(&self) -> Result<()> {
        let Some(failure) = self.failure().clone() else {
            return Ok(());
        };
        let due = failure.again.filter(|again| again.from <= Instant::now());
        let Some(again) = due else {
            return Err(failure.cause);
        };
        let tried = match self.is_open() {
            true => Ok(()),
            false => self.open_again(),
        };
        let tried = tried.and_then(|()| self.with(|database| guarded(|| make_room(database))));
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
        // What there is of the old one is let go first: it has the file locked. It may have panicked before,
        // and then it does so again.
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

/// Takes room for the largest transaction and gives it back to the file, where the next ones find it: a
/// store that says that it can write must not stop at the next revocation.
fn make_room(database: &Database) -> Result<()> {
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
