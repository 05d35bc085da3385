//! The limits and time limits of the transport.
//!
//! Some are defaults that the configuration can change. `docs/reference/transport.md` lists all of them.

use std::time::Duration;

/// Maximum length of a gRPC request message, bytes.
pub const MESSAGE_BYTES: usize = 4 * 1024 * 1024;
/// Maximum memory that clients may make the server hold, bytes: connections, requests, unread responses.
pub const MEMORY_BYTES: usize = 512 * 1024 * 1024;
/// Maximum of one address, and of one client.
pub const MEMORY_SHARE_BYTES: usize = 64 * 1024 * 1024;
/// An address that holds at most this many bytes may use the last tenth of the memory.
pub const SMALL_HOLDER_BYTES: usize = 256 * 1024;
/// When clients hold this much less than before, free memory is returned to the system.
pub const RETURNED_BYTES: usize = 32 * 1024 * 1024;
/// Interval of that check.
pub const RETURN_MEMORY_INTERVAL: Duration = Duration::from_secs(2);
/// What a connection is charged: its state and its buffers, with TLS.
pub const CONNECTION_BYTES: usize = 48 * 1024;
/// What it is charged while a TLS handshake, an HTTP/2 frame or a header block is not complete.
pub const INCOMPLETE_BYTES: usize = 64 * 1024;
/// What it is charged until it ends for each stream of the most that it had at once: h2 keeps their places.
pub const KEPT_STREAM_BYTES: usize = 1024;
/// The same for each frame of the most that waited at once.
pub const KEPT_FRAME_BYTES: usize = 256;
/// So many of either are part of [`CONNECTION_BYTES`].
pub const KEPT_INCLUDED: usize = 16;
/// Maximum number of DATA frames that wait on a connection, by the small-frame budget of h2 for
/// [`RECEIVE_WINDOW_BYTES`].
pub const WAITING_FRAMES: usize = 2048;
/// What a connection is charged while its socket takes no bytes: buffered frames, and their TLS records.
pub const BLOCKED_CONNECTION_BYTES: usize = 192 * 1024;
/// What a request is charged besides its headers, its body and its response.
pub const STREAM_BYTES: usize = 8 * 1024;
/// A response of at most this many bytes is part of that charge. Those that wait to be written are part of
/// [`BLOCKED_CONNECTION_BYTES`].
pub const SHORT_RESPONSE_BYTES: usize = 512;
/// What a response without an end is charged besides its unread messages.
pub const UNENDED_STREAM_BYTES: usize = 16 * 1024;
/// What a header is charged besides its name and value.
pub const HEADER_FIELD_BYTES: usize = 160;
/// Bytes of requests that a connection buffers until a call reads them: the HTTP/2 window.
pub const RECEIVE_WINDOW_BYTES: u32 = 256 * 1024;
/// Maximum bytes that are read and discarded from an oversized form, or from a request whose response was
/// sent early. Beyond that, the HTTP/2 stream or the HTTP/1 connection is closed.
pub const DISCARDED_BYTES: usize = 8 * 1024 * 1024;
/// A longer response is sent in pieces of this many bytes.
pub const PIECE_BYTES: usize = 64 * 1024;
/// Maximum number of concurrent calls on a connection. Each is an HTTP/2 stream.
pub const CALLS_PER_CONNECTION: u32 = 256;
/// Maximum length of all headers of a request, bytes.
pub const HEADER_BYTES: u32 = 16 * 1024;
/// Maximum number of headers of an HTTP/1 request.
pub const HEADERS: usize = 64;
/// Maximum number of connections of the data listener.
pub const CONNECTIONS: usize = 10_000;
/// Maximum number of connections of the admin listener. This many file descriptors are reserved for them.
pub const ADMIN_CONNECTIONS: usize = 64;
/// File descriptors reserved for the store, the log and the listeners.
pub const OWN_DESCRIPTORS: u64 = 64;
/// File descriptors reserved for the runtime of each worker.
pub const WORKER_DESCRIPTORS: u64 = 4;
/// A listener at its connection limit closes a connection that was idle for this long when a new one comes.
pub const IDLE_BEFORE_EVICTION: Duration = Duration::from_secs(5);
/// Time limit for the TLS handshake, and for the first bytes of a new connection.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time limit to receive the headers of an HTTP/1 request, or a request body that is not a stream.
pub const RECEIVE_TIMEOUT: Duration = Duration::from_secs(10);
/// Minimum receive rate. A message has [`CLIENT_STALL_TIMEOUT`] plus one second for each of this many bytes.
pub const BYTES_PER_SECOND: usize = 64 * 1024;
/// How long a client may read nothing while data is pending for it.
pub const CLIENT_STALL_TIMEOUT: Duration = Duration::from_secs(20);
/// Interval of HTTP/2 pings on a connection without frames.
pub const PING_INTERVAL: Duration = Duration::from_secs(60);
/// Time limit for the response to a ping.
pub const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// HTTP/2 send buffer of each stream, bytes.
pub const SEND_BUFFER_BYTES: usize = 256 * 1024;
/// Bytes that a connection collects before it writes: four HTTP/2 frames with their headers.
pub const WRITE_BUFFER_BYTES: usize = 4 * (16 * 1024 + 9);
/// Maximum number of streams that a client has reset before the server accepted them (rapid reset).
pub const PENDING_RESETS: usize = 20;
/// Maximum number of streams that the server reset because of client errors.
pub const LOCAL_RESETS: usize = 256;
/// Time limit for running requests after the server was told to stop.
pub const DRAIN: Duration = Duration::from_secs(20);
/// How long a worker that ends waits for calls that block: of an HSM, or a comparison of a secret.
pub const BLOCKING_CALLS_AT_THE_END: Duration = Duration::from_secs(1);
/// Maximum length of a PEM file, bytes.
pub const PEM_BYTES: u64 = 1024 * 1024;
/// How long a worker handles calls of one connection inline. After that, calls become tasks.
pub const INLINE_BUDGET: Duration = Duration::from_millis(5);
/// Time slice of a long call. After each slice, the worker handles other calls first.
pub const TIME_SLICE: Duration = Duration::from_millis(2);
/// Task polls after which a worker checks its sockets and timers.
pub const EVENT_INTERVAL: u32 = 16;
/// Scheduling delay, in milliseconds, beyond which a worker sheds calls.
pub const WORKER_DELAY_MILLISECONDS: u64 = 200;

/// Time limit for a client to send a message of this length.
pub(crate) fn receive_timeout(stall: Duration, bytes: usize) -> Duration {
    stall + Duration::from_secs((bytes / BYTES_PER_SECOND) as u64)
}
