//! What happened to connections, for the metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of a server since its start.
#[derive(Debug, Default)]
pub(crate) struct ConnectionCounters {
    pub(crate) accepted: ConnectionCounter,
    /// Rejected at the limit of connections or of memory.
    pub(crate) rejected: ConnectionCounter,
    pub(crate) tls_handshakes_failed: ConnectionCounter,
    /// Closed because the client stopped reading or sending.
    pub(crate) stalled: ConnectionCounter,
    /// Calls that ended because the client did not read the response.
    pub(crate) streams_stalled: ConnectionCounter,
    /// Closed at the connection limit because they were idle.
    pub(crate) idle_closed: ConnectionCounter,
}

/// A counter that only grows.
#[derive(Debug, Default)]
pub(crate) struct ConnectionCounter(AtomicU64);

impl ConnectionCounter {
    pub(super) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
