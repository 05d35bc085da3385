//! Long responses that clients have not read yet.
//!
//! HTTP/2 flow control lets a client stop reading a response and still answer pings without limit. So a
//! long response is sent in pieces. A connection that reads no piece for too long is closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::limits::{LONG_RESPONSE_BYTES, UNREAD_RESPONSE_BYTES};

/// Unread bytes of all connections.
#[derive(Debug, Default)]
pub(crate) struct AllUnreadResponses(AtomicUsize);

impl AllUnreadResponses {
    /// Whether the limit is exceeded, so that no further batches are accepted.
    pub(crate) fn is_over_limit(&self) -> bool {
        self.0.load(Ordering::Relaxed) > UNREAD_RESPONSE_BYTES
    }
}

/// Unread long responses of one connection.
#[derive(Debug)]
pub(crate) struct UnreadResponses {
    all: Arc<AllUnreadResponses>,
    responses: AtomicUsize,
    began: Instant,
    /// When a piece was last read, or the first response was added: milliseconds since `began`.
    last_read: AtomicU64,
    added: Notify,
}

impl UnreadResponses {
    pub(crate) fn new(all: &Arc<AllUnreadResponses>) -> UnreadResponses {
        UnreadResponses {
            all: all.clone(),
            responses: AtomicUsize::new(0),
            began: Instant::now(),
            last_read: AtomicU64::new(0),
            added: Notify::new(),
        }
    }

    /// Waits until the client has read nothing for this long although a response was pending.
    pub(crate) async fn stalled(&self, stall: Duration) {
        loop {
            if self.responses.load(Ordering::Acquire) == 0 {
                self.added.notified().await;
                continue;
            }
            let last_read = Duration::from_millis(self.last_read.load(Ordering::Relaxed));
            match stall.checked_sub(self.began.elapsed().saturating_sub(last_read)) {
                None | Some(Duration::ZERO) => return,
                Some(left) => sleep(left).await,
            }
        }
    }

    fn touch(&self) {
        let milliseconds = self.began.elapsed().as_millis();
        let milliseconds = u64::try_from(milliseconds).unwrap_or(u64::MAX);
        self.last_read.store(milliseconds, Ordering::Relaxed);
    }
}

/// The unread rest of a long response.
pub(crate) struct LongResponse {
    rest: Bytes,
    bytes: usize,
    connection: Arc<UnreadResponses>,
}

impl LongResponse {
    /// Whether a response of this length is sent in pieces.
    pub(crate) fn is_long(bytes: usize) -> bool {
        bytes > LONG_RESPONSE_BYTES
    }

    pub(crate) fn new(response: Bytes, connection: &Arc<UnreadResponses>) -> LongResponse {
        let bytes = response.len();
        connection.all.0.fetch_add(bytes, Ordering::Relaxed);
        if connection.responses.fetch_add(1, Ordering::AcqRel) == 0 {
            connection.touch();
            connection.added.notify_one();
        }
        LongResponse {
            rest: response,
            bytes,
            connection: connection.clone(),
        }
    }

    /// Returns the next piece, or `None` at the end.
    ///
    /// hyper calls this when the client has room in its window, and once more after the last piece.
    pub(crate) fn next(&mut self) -> Option<Bytes> {
        self.connection.touch();
        let piece = self.rest.split_to(self.rest.len().min(LONG_RESPONSE_BYTES));
        // Copied, so that a queued piece does not keep the whole response in memory.
        (!piece.is_empty()).then(|| Bytes::copy_from_slice(&piece))
    }
}

impl Drop for LongResponse {
    fn drop(&mut self) {
        self.connection
            .all
            .0
            .fetch_sub(self.bytes, Ordering::Relaxed);
        self.connection.responses.fetch_sub(1, Ordering::AcqRel);
    }
}
