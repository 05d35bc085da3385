//! Every number of the service that a client or an operator could choose badly, by name.

use std::time::Duration;

/// A gRPC request, bytes: one token and what is asked about it, or a batch.
pub const MESSAGE_BYTES: usize = 4 * 1024 * 1024;
/// The least that a gRPC request may be limited to: a short token and the longest names fit.
pub const MESSAGE_BYTES_MIN: usize = 4096;
/// Of a gRPC request, what is left for the names beside a token: the issuer's and the audience's, each with
/// its head, and the token's.
pub const NAMES_BYTES: usize = 2 * jeton_issuer::limits::NAME_BYTES + 32;
/// What has arrived of gRPC messages that are not whole yet, of all clients together, bytes.
pub const BODY_BUDGET_BYTES: usize = 256 * 1024 * 1024;
/// The body of a form that is posted may be so much longer than a token, bytes: for its name, and for
/// parameters that are not looked at.
pub const FORM_OVERHEAD_BYTES: usize = 16 * 1024;
/// So much of a form that is too large, and of a request that was answered before its end, is read and
/// dropped, bytes; of a larger one the stream, or HTTP/1's connection, is closed.
pub const DISCARDED_BYTES: usize = 8 * 1024 * 1024;
/// An answer to a call that is longer is handed over in pieces of so many bytes.
pub const LONG_RESPONSE_BYTES: usize = 64 * 1024;
/// What clients have not taken of such answers, of all together, bytes. Beyond it batches are refused.
pub const UNREAD_RESPONSE_BYTES: usize = 256 * 1024 * 1024;
/// Tokens of one batch.
pub const BATCH_ITEMS: usize = 4096;
/// Streams, so calls in flight, on one connection.
pub const STREAMS: u32 = 256;
/// All headers of one request, bytes.
pub const HEADER_BYTES: u32 = 16 * 1024;
/// Headers of one HTTP/1 request.
pub const HEADERS: usize = 64;
/// Connections of the data listener.
pub const CONNECTIONS: usize = 10_000;
/// Connections of the admin listener. They are not among those of the data listener, and so many file
/// descriptors are kept for them.
pub const ADMIN_CONNECTIONS: usize = 64;
/// File descriptors for the store, the log, the listeners and other nodes; and for each worker.
pub const OWN_DESCRIPTORS: u64 = 64;
/// What a worker's runtime keeps open.
pub const WORKER_DESCRIPTORS: u64 = 4;
/// Where as many connections are open as a listener takes, one on which nothing has been sent or received
/// for so long makes room for a new one.
pub const IDLE_BEFORE_EVICTION: Duration = Duration::from_secs(5);
/// Clients that follow revocations.
pub const WATCHERS: usize = 64;
/// Messages that wait for a client that follows revocations.
pub const WATCHER_MESSAGES: usize = 4;
/// How long TLS may take to agree, and how long a new connection may take to say what it speaks.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an HTTP/1 request's headers, and any body that is not a stream, may take to arrive.
pub const RECEIVE_TIMEOUT: Duration = Duration::from_secs(10);
/// A message that has begun has [`STALL`] to arrive, and a second more for so many bytes of it.
pub const BYTES_PER_SECOND: usize = 64 * 1024;
/// A request to the services of others, health and reflection, bytes: a name.
pub const NAME_MESSAGE_BYTES: usize = 4096;
/// How long a client may take nothing of what it is sent.
pub const STALL: Duration = Duration::from_secs(20);
/// After so long without a frame a client is asked whether it is there.
pub const PING_INTERVAL: Duration = Duration::from_secs(60);
/// How long it may take to answer that.
pub const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// What is kept of answers that a client has not taken yet, bytes a stream.
pub const SEND_BUFFER_BYTES: usize = 256 * 1024;
/// What is collected of a connection's answers before it is sent, bytes: four frames of HTTP/2, each with
/// its head.
pub const WRITE_BUFFER_BYTES: usize = 4 * (16 * 1024 + 9);
/// Streams that a client opened and reset before they were looked at (rapid reset).
pub const PENDING_RESETS: usize = 20;
/// Streams that had to be reset because of what a client sent.
pub const LOCAL_RESETS: usize = 256;
/// For how long tokens may be issued at most while nothing is heard from the store, seconds.
pub const ISSUE_WITHOUT_STORE_SECONDS_MAX: u64 =
    jeton_issuer::limits::ISSUE_WITHOUT_STORE_MAX.as_secs();
/// How long requests that are being answered when the server is told to stop may take.
pub const DRAIN: Duration = Duration::from_secs(20);
/// A bearer token that was verified is taken without being verified again for so long.
pub const BEARER_CACHE_DURATION: Duration = Duration::from_millis(500);
/// Bearer tokens that a worker remembers.
pub const BEARER_CACHE_TOKENS: usize = 1024;
/// Clients in the configuration.
pub const CLIENTS: usize = 10_000;
/// Names in `hosts`.
pub const HOSTS: usize = 1000;
/// A configuration file, bytes.
pub const CONFIG_BYTES: u64 = 4 * 1024 * 1024;
/// A PEM file, bytes.
pub const PEM_BYTES: u64 = 1024 * 1024;
/// A connection's calls are answered one after the other so long, and then it is another's turn.
pub const INLINE_BUDGET: Duration = Duration::from_millis(5);
/// A long call does other calls' worth of work for so long, and then others go first.
pub const TIME_SLICE: Duration = Duration::from_millis(2);
/// A worker looks at its sockets and timers after so many turns of connections, if it has not paused.
pub const EVENT_INTERVAL: u32 = 16;
/// How late a worker may be, in milliseconds, before it refuses calls.
pub const LAG_MILLISECONDS: u64 = 200;

/// How long a client may take for a message of so many bytes.
pub(crate) fn receive_timeout(stall: Duration, bytes: usize) -> Duration {
    stall + Duration::from_secs((bytes / BYTES_PER_SECOND) as u64)
}

// What clients that verify by themselves are told of clocks, and what nodes go by.
const _: () = assert!(jeton_proto::CLOCK_SKEW_SECONDS == jeton_issuer::limits::CLOCK_SKEW_SECONDS);
const _: () = assert!(jeton_proto::LEEWAY_SECONDS == jeton_issuer::limits::LEEWAY_SECONDS);
