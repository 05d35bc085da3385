//! The limits and time limits of the server: those of the transport, and those of the service.

use std::time::Duration;

pub use crate::transport::limits::*;

/// Minimum for `limits.message_bytes`: a short token and the longest names fit.
pub const MESSAGE_BYTES_MIN: usize = 4096;
/// Bytes of a gRPC request reserved for the issuer and audience names and for all field headers.
pub const NAMES_BYTES: usize = 2 * jeton_issuer::limits::NAME_BYTES + 32;
/// Bytes that a form body may have in addition to a token, for parameter names and ignored parameters.
pub const FORM_OVERHEAD_BYTES: usize = 16 * 1024;
/// Maximum number of tokens in a batch.
pub const BATCH_ITEMS: usize = 4096;
/// Maximum number of clients that follow revocations.
pub const REVOCATION_WATCHERS: usize = 64;
/// Messages queued for each client that follows revocations.
pub const WATCHER_MESSAGES: usize = 4;
/// Maximum length of a health or reflection request, bytes.
pub const NAME_MESSAGE_BYTES: usize = 4096;
/// Maximum for `store_outage_issuing_seconds`.
pub const STORE_OUTAGE_ISSUING_SECONDS_MAX: u64 =
    jeton_issuer::limits::ISSUE_WITHOUT_STORE_MAX.as_secs();
/// How long a verified bearer token is accepted from the cache.
pub const BEARER_CACHE_DURATION: Duration = Duration::from_millis(500);
/// Maximum number of bearer tokens in the cache of a worker.
pub const BEARER_CACHE_TOKENS: usize = 1024;
/// Maximum number of clients in the configuration.
pub const CLIENTS: usize = 10_000;
/// Maximum number of names in `hosts`.
pub const HOSTS: usize = 1000;
/// Maximum length of a configuration file, bytes.
pub const CONFIG_BYTES: u64 = 4 * 1024 * 1024;

// Clients that verify tokens themselves must use the same bounds as the nodes.
const _: () = assert!(jeton_proto::CLOCK_SKEW_SECONDS == jeton_issuer::limits::CLOCK_SKEW_SECONDS);
const _: () = assert!(jeton_proto::LEEWAY_SECONDS == jeton_issuer::limits::LEEWAY_SECONDS);
