//! Storage of the database. It can be reopened without releasing the file, and records failed flushes.

use std::fmt;
use std::io;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::{BackendError, StorageBackend};

/// Storage that outlives the database on it. Clones share it.
#[derive(Clone)]
pub(super) struct Medium(Arc<Storage>);

struct Storage {
    backend: Box<dyn StorageBackend>,
    /// After a failed flush it is unknown which readable bytes are on the disk: the system treats them as
    /// written (fsync(2)).
    flush_failed: AtomicBool,
}

impl Medium {
    pub(super) fn new(backend: impl StorageBackend) -> Medium {
        Medium(Arc::new(Storage {
            backend: Box::new(backend),
            flush_failed: AtomicBool::new(false),
        }))
    }

    pub(super) fn has_failed_to_flush(&self) -> bool {
        self.0.flush_failed.load(Ordering::Acquire)
    }
}

impl fmt::Debug for Medium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.backend.fmt(f)
    }
}

impl StorageBackend for Medium {
    fn len(&self) -> io::Result<u64> {
        self.0.backend.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.backend.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.backend.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        let flushed = self.0.backend.sync_data();
        if flushed.is_err() {
            self.0.flush_failed.store(true, Ordering::Release);
        }
        flushed
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.backend.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.backend.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.backend.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.0.backend.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.backend.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.backend.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.backend.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.backend.query_lock_range(start, end)
    }
}
