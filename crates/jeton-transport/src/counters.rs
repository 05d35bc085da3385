//! What happened to connections, for the metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of a server since its start.
#[derive(Debug, Default)]
pub struct ConnectionCounters {
    /// Accepted.
    pub accepted: ConnectionCounter,
    /// Rejected at the limit of connections or of memory.
    pub rejected: ConnectionCounter,
    /// Closed because the TLS handshake failed or took too long.
    pub tls_handshakes_failed: ConnectionCounter,
    /// Closed because the client stopped reading or sending.
    pub stalled: ConnectionCounter,
    /// Calls that ended because the client did not read the response.
    pub streams_stalled: ConnectionCounter,
    /// Closed at the connection limit because they were idle.
    pub idle_closed: ConnectionCounter,
}

/// A counter that only grows.
#[derive(Debug, Default)]
pub struct ConnectionCounter(AtomicU64);

impl ConnectionCounter {
    pub(crate) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
