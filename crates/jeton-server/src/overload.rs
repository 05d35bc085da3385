//! Sheds calls when there are more than the workers can answer.
//!
//! A worker answers a call in microseconds, so calls do not wait inside it but in front of it: in
//! sockets, where nobody can see how long. What can be seen is how late the worker comes to a task
//! that is due: everything that is ready before it is answered first. A worker that is later than the
//! bound several times in a row refuses the calls it comes to, which costs a fraction of answering
//! them, until it is on time again. Once is not enough: a machine may stand still for a moment.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// How often a worker looks whether it is on time.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// How often in a row it must have been late.
const LATE_CHECKS: u32 = 3;

/// How late the workers are.
#[derive(Debug, Default)]
pub(crate) struct Load {
    /// The latest that any worker was when it last looked, for the metrics.
    pub(crate) lag_milliseconds: AtomicU64,
}

thread_local! {
    static LATE: Cell<bool> = const { Cell::new(false) };
}

impl Load {
    /// Whether this worker should refuse what it is asked.
    pub(crate) fn is_late() -> bool {
        LATE.get()
    }

    /// Looks again and again how late this worker is. Runs as long as the worker.
    pub(crate) async fn watch(&self, bound: Duration) {
        let mut in_a_row = 0;
        let mut due = Instant::now() + CHECK_INTERVAL;
        loop {
            tokio::time::sleep_until(due).await;
            let now = Instant::now();
            let late = now.saturating_duration_since(due);
            let milliseconds = u64::try_from(late.as_millis()).unwrap_or(u64::MAX);
            self.lag_milliseconds.store(milliseconds, Ordering::Relaxed);
            in_a_row = if late > bound { in_a_row + 1 } else { 0 };
            LATE.set(in_a_row >= LATE_CHECKS);
            due = now + CHECK_INTERVAL;
        }
    }
}
