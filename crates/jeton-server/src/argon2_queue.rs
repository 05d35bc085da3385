//! Runs slow comparisons of secrets, a few at a time.
//!
//! Argon2id takes megabytes and tens of milliseconds. Anyone can cause it, so its number is bounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;

use crate::limits::{ARGON2_AT_ONCE, ARGON2_WAITING};
use crate::service::Failure;

/// Permits for slow comparisons, for all workers.
#[derive(Debug)]
pub(crate) struct Argon2Queue {
    permits: Arc<Semaphore>,
    entered: AtomicUsize,
}

/// Counts a comparison that waits or runs.
struct Entered<'q>(&'q AtomicUsize);

impl Argon2Queue {
    pub(crate) fn new() -> Argon2Queue {
        Argon2Queue {
            permits: Arc::new(Semaphore::new(ARGON2_AT_ONCE)),
            entered: AtomicUsize::new(0),
        }
    }

    /// Runs a comparison on another thread.
    ///
    /// # Errors
    ///
    /// [`Failure::Overloaded`] if too many wait already.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        const BUSY: Failure = Failure::Overloaded("server overloaded, retry later");
        let before = self.entered.fetch_add(1, Ordering::Relaxed);
        let _entered = Entered(&self.entered);
        if before >= ARGON2_AT_ONCE + ARGON2_WAITING {
            return Err(BUSY);
        }
        // The permit goes with the work: a caller that goes away does not end it.
        let permit = self.permits.clone().acquire_owned().await;
        let permit = permit.map_err(|_| BUSY)?;
        let task = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(permit);
            done
        });
        task.await.map_err(|_| BUSY)
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
