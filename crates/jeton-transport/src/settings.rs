//! What the configuration decides about the transport.

use std::net::IpAddr;
use std::time::Duration;

/// The limits that an operator can set. [`limits`](crate::limits) has the defaults and the fixed limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Maximum number of connections of the data listener.
    pub connections: usize,
    /// Maximum number of concurrent calls on a connection.
    pub calls_per_connection: u32,
    /// Maximum length of all headers of a request, bytes.
    pub header_bytes: u32,
    /// Maximum memory that all clients may make the server hold, bytes.
    pub memory_bytes: usize,
    /// Maximum of one address, and of one client.
    pub memory_share_bytes: usize,
    /// Proxies: many clients have the address of one.
    pub proxies: Vec<IpAddr>,
    /// How long a client may stop reading or sending.
    pub client_stall_timeout: Duration,
    /// Scheduling delay beyond which a worker sheds calls.
    pub worker_delay: Duration,
}

#[cfg(test)]
impl Settings {
    /// The defaults.
    pub(crate) fn of_tests() -> Settings {
        use super::limits;
        Settings {
            connections: limits::CONNECTIONS,
            calls_per_connection: limits::CALLS_PER_CONNECTION,
            header_bytes: limits::HEADER_BYTES,
            memory_bytes: limits::MEMORY_BYTES,
            memory_share_bytes: limits::MEMORY_SHARE_BYTES,
            proxies: Vec::new(),
            client_stall_timeout: limits::CLIENT_STALL_TIMEOUT,
            worker_delay: Duration::from_millis(limits::WORKER_DELAY_MILLISECONDS),
        }
    }
}
