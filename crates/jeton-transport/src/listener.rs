//! The two listeners of a server.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use crate::account::Charge;
use crate::connection_limit::{ConnectionPermit, Connections, ListenerFull};
use crate::limits::CONNECTION_BYTES;
use crate::shared::Shared;

/// The listener that accepted a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listener {
    /// For applications and verifiers.
    Data,
    /// For administrators.
    Admin,
}

/// The state of one listener.
pub(crate) struct ListenerState {
    /// Whether the listener is bound to loopback.
    pub(crate) is_loopback: bool,
    connections: Arc<Connections>,
}

impl ListenerState {
    pub(crate) fn new(address: SocketAddr, limit: usize) -> ListenerState {
        ListenerState {
            is_loopback: address.ip().is_loopback(),
            connections: Connections::new(limit),
        }
    }

    /// The number of open connections.
    pub(crate) fn connections(&self) -> usize {
        self.connections.count()
    }

    /// Acquires a permit for a connection from that address. `None` if the connection must be closed.
    pub(crate) fn permit(&self, shared: &Shared, address: IpAddr) -> Option<ConnectionPermit> {
        let counters = &shared.counters;
        let share = shared.share_of(address);
        let acquired = match Charge::new(&share, CONNECTION_BYTES) {
            Ok(charge) => self.connections.acquire(charge),
            Err(refused) => {
                // Room for the next one.
                if refused.is_total() && self.connections.evict_idle().is_ok() {
                    counters.idle_closed.add_one();
                }
                Err(ListenerFull)
            }
        };
        let Ok((permit, has_evicted)) = acquired else {
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
