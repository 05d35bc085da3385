//! The two listeners of a server.

use std::net::SocketAddr;
use std::sync::Arc;

use super::connection_limit::{ConnectionPermit, Connections};
use super::counters::ConnectionCounters;

/// The listener that accepted a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listener {
    Data,
    Admin,
}

/// The state of one listener.
pub(super) struct ListenerState {
    /// Whether the listener is bound to loopback.
    pub(super) is_loopback: bool,
    connections: Arc<Connections>,
}

impl ListenerState {
    pub(super) fn new(address: SocketAddr, limit: usize) -> ListenerState {
        ListenerState {
            is_loopback: address.ip().is_loopback(),
            connections: Connections::new(limit),
        }
    }

    /// The number of open connections.
    pub(super) fn connections(&self) -> usize {
        self.connections.count()
    }

    /// Acquires a permit for a connection. `None` if the connection must be closed.
    pub(super) fn permit(&self, counters: &ConnectionCounters) -> Option<ConnectionPermit> {
        let Ok((permit, has_evicted)) = self.connections.acquire() else {
            counters.rejected.add_one();
            return None;
        };
        counters.accepted.add_one();
        if has_evicted {
            counters.idle_closed.add_one();
        }
        Some(permit)
    }
}
