//! What the configuration decides about the transport.

use std::time::Duration;

/// The limits that an operator can set. [`limits`](super::limits) has the defaults and the fixed limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Maximum number of connections of the data listener.
    pub(crate) connections: usize,
    /// Maximum number of concurrent calls on a connection.
    pub(crate) calls_per_connection: u32,
    /// Maximum length of all headers of a request, bytes.
    pub(crate) header_bytes: u32,
    /// How long a client may stop reading or sending.
    pub(crate) client_stall_timeout: Duration,
    /// Scheduling delay beyond which a worker sheds calls.
    pub(crate) worker_delay: Duration,
}
