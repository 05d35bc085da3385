//! Sheds calls when a worker is overloaded.
//!
//! A worker handles a call in microseconds, so calls queue in sockets, where their waiting time cannot be
//! measured. The server measures scheduling delay instead: how late a worker runs a timer. A worker whose
//! delay exceeds the bound several times in a row answers calls with `RESOURCE_EXHAUSTED` until it is on
//! time again. That costs a fraction of handling them. A single delay is ignored: a machine may pause.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// Interval of the delay measurement.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// Consecutive late checks after which a worker sheds calls.
const LATE_CHECKS: u32 = 3;

/// The scheduling delay of the workers.
#[derive(Debug, Default)]
pub struct Load {
    /// The delay in the latest check of any worker, for the metrics.
    pub delay_milliseconds: AtomicU64,
}

thread_local! {
    static LATE: Cell<bool> = const { Cell::new(false) };
}

impl Load {
    /// Whether this worker should shed calls.
    pub fn is_late() -> bool {
        LATE.get()
    }

    /// Measures the delay of this worker periodically. Runs as long as the worker.
    pub(crate) async fn watch(&self, bound: Duration) {
        let mut late_checks = 0;
        let mut due = Instant::now() + CHECK_INTERVAL;
        loop {
            tokio::time::sleep_until(due).await;
            let now = Instant::now();
            let late = now.saturating_duration_since(due);
            let milliseconds = u64::try_from(late.as_millis()).unwrap_or(u64::MAX);
            self.delay_milliseconds
                .store(milliseconds, Ordering::Relaxed);
            late_checks = if late > bound { late_checks + 1 } else { 0 };
            LATE.set(late_checks >= LATE_CHECKS);
            due = now + CHECK_INTERVAL;
        }
    }
}
