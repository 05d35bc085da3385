//! The limits and time limits of the server: those of the transport, and those of the service.

use std::time::Duration;

pub use jeton_transport::limits::*;

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
/// Maximum number of streams of one client that follow revocations.
pub const REVOCATION_WATCHERS_PER_CLIENT: usize = 16;
/// What such a stream is charged: the queued messages.
pub const WATCHER_BYTES: usize = 512 * 1024;
/// Maximum number of lists and backups of AdminService at the same time.
pub const ADMIN_STREAMS: usize = 16;
/// Maximum number of these of one client.
pub const ADMIN_STREAMS_PER_CLIENT: usize = 4;
/// Random bytes in an admin token. Its file holds twice as many hexadecimal digits.
pub const ADMIN_TOKEN_BYTES: usize = 32;
/// Maximum number of addresses of proxies.
pub const PROXIES: usize = 64;
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
/// How often the files with certificates are looked at.
pub const CERTIFICATES_EVERY: Duration = Duration::from_secs(10);
/// Clients with a label of their own in the metrics: the first in the configuration. The others share one.
pub const LABELLED_CLIENTS: usize = 256;
/// Maximum number of secrets of a client. Two are enough to replace one.
pub const CLIENT_SECRETS: usize = 4;
/// Maximum number of Argon2id comparisons of one attempt to authenticate. Clients with hashes of the same cost share
/// theirs.
pub const ARGON2_COMPARISONS: usize = 8;
/// Maximum number of kinds of tokens that a client may get.
pub const ALLOWED_TOKENS: usize = 64;
/// Maximum number of scopes of a kind of token.
pub const SCOPES: usize = 256;
/// Maximum length of a scope, bytes.
pub const SCOPE_BYTES: usize = 256;
/// Maximum number of outside issuers' trust entries.
pub const TRUST_ENTRIES: usize = 1000;
/// Maximum number of claim matchers, and of copied claims, of a trust entry.
pub const TRUST_CLAIMS: usize = 32;
/// Default requests per minute of a client at the token endpoint.
pub const REQUESTS_PER_MINUTE: u32 = 600;
/// Maximum of that setting.
pub const REQUESTS_PER_MINUTE_MAX: u32 = 1_000_000;
/// Maximum lifetime of the assertion by which a client authenticates, seconds. Its `jti` is stored for so long.
pub const CLIENT_ASSERTION_SECONDS: i64 = 3600;
/// How long an outside token of a trust entry with `single_use` may be valid, seconds. Its `jti` is stored for so long.
pub const SINGLE_USE_SECONDS: i64 = 86_400;
/// Default revocations per day of a client.
pub const REVOCATIONS_PER_DAY: u32 = 1_000_000;
/// Maximum of that setting.
pub const REVOCATIONS_PER_DAY_MAX: u32 = 1_000_000_000;
/// Log lines per minute about refusals of one client or trust entry, and of all callers that are neither. Further ones are
/// counted.
pub const LOGGED_REFUSALS_PER_MINUTE: u32 = 60;
/// Maximum length of a value in such a line, bytes. The rest is cut.
pub const LOGGED_VALUE_BYTES: usize = 256;
/// Maximum number of types (`typ`) of a trust entry.
pub const TRUST_TYPES: usize = 16;
/// Maximum number of actors in `act` (RFC 8693, section 4.1).
pub const ACTORS: usize = 8;
/// Maximum number of parameters of a form.
pub const FORM_PARAMETERS: usize = 32;
/// Argon2id computations at the same time.
pub const ARGON2_AT_ONCE: usize = 2;
/// Argon2id computations that wait for these. Further requests are refused.
pub const ARGON2_WAITING: usize = 16;
/// Minimum and maximum memory of an Argon2id hash, KiB.
pub const ARGON2_MEMORY_KIB: (u32, u32) = (1024, 65_536);
/// Minimum and maximum passes of an Argon2id hash.
pub const ARGON2_PASSES: (u32, u32) = (1, 10);
/// Minimum and maximum lanes of an Argon2id hash.
pub const ARGON2_LANES: (u32, u32) = (1, 4);
/// Default number of sessions with an HSM.
pub const HSM_SESSIONS: usize = 4;
/// Default number of calls that wait for a session with the HSM.
pub const HSM_QUEUE: usize = 256;
/// Default time limit for a signature of the HSM.
pub const HSM_TIMEOUT: Duration = Duration::from_secs(5);
/// Default share of requests without a parent span that are sampled.
pub const TRACE_SAMPLE_RATIO: f64 = 0.01;
/// Default number of requests per minute that are sampled because their parent is.
pub const SAMPLED_PARENTS_PER_MINUTE: u32 = 600;
/// Maximum length of the collector's URL, bytes.
pub const TRACE_ENDPOINT_BYTES: usize = 2048;
/// Maximum length of the service's name in traces, bytes.
pub const TRACE_SERVICE_NAME_BYTES: usize = 256;
/// Maximum length of the file with headers for the collector, bytes.
pub const TRACE_HEADERS_BYTES: u64 = 64 * 1024;
/// Maximum length of `tracestate`, bytes. A longer one is ignored.
pub const TRACE_STATE_BYTES: usize = 512;
/// Maximum number of spans that wait for the collector. Further ones are dropped.
pub const TRACE_QUEUE_SPANS: usize = 8192;
/// Maximum number of spans in a request to the collector.
pub const TRACE_BATCH_SPANS: usize = 512;
/// How long spans wait for a batch to fill.
pub const TRACE_EXPORT_INTERVAL: Duration = Duration::from_secs(5);
/// Time limit for a batch, with up to three repetitions.
pub const TRACE_EXPORT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a server that stops waits for the collector.
pub const TRACE_FLUSH_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum length of a response of the collector, bytes.
pub const TRACE_RESPONSE_BYTES: usize = 64 * 1024;
/// Maximum number of names in `hosts`.
pub const HOSTS: usize = 1000;
/// Maximum length of a configuration file, bytes.
pub const CONFIG_BYTES: u64 = 4 * 1024 * 1024;

// Clients that verify tokens themselves must use the same bounds as the nodes.
const _: () = assert!(jeton_proto::CLOCK_SKEW_SECONDS == jeton_issuer::limits::CLOCK_SKEW_SECONDS);
const _: () = assert!(jeton_proto::LEEWAY_SECONDS == jeton_issuer::limits::LEEWAY_SECONDS);
/// Default interval of comparisons of a server's view with its etcd, seconds.
pub const STORE_COMPARISON_SECONDS: u64 = 3600;
/// Minimum of that interval.
pub const STORE_COMPARISON_SECONDS_MIN: u64 = 10;
/// Maximum of that interval: a week.
pub const STORE_COMPARISON_SECONDS_MAX: u64 = 7 * 24 * 3600;
