//! Long answers that clients have not taken yet.
//!
//! HTTP/2 lets a client take as little of an answer as it likes, and the connection is not idle by that: it
//! may answer pings for ever. So an answer that is long is handed over piece by piece, and a connection that
//! takes no piece of any for too long is closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::limits::{LONG_RESPONSE_BYTES, UNREAD_RESPONSE_BYTES};

/// How much it is of all connections together, bytes.
#[derive(Debug, Default)]
pub(crate) struct AllUnreadResponses(AtomicUsize);

impl AllUnreadResponses {
    /// Whether it is so much that no more long answers should be made.
    pub(crate) fn is_too_much(&self) -> bool {
        self.0.load(Ordering::Relaxed) > UNREAD_RESPONSE_BYTES
    }
}

/// Those of one connection.
#[derive(Debug)]
pub(crate) struct UnreadResponses {
    all: Arc<AllUnreadResponses>,
    answers: AtomicUsize,
    began: Instant,
    /// When a piece was last taken, or an answer added to none: milliseconds since the beginning.
    taken: AtomicU64,
    added: Notify,
}

impl UnreadResponses {
    pub(crate) fn new(all: &Arc<AllUnreadResponses>) -> UnreadResponses {
        UnreadResponses {
            all: all.clone(),
            answers: AtomicUsize::new(0),
            began: Instant::now(),
            taken: AtomicU64::new(0),
            added: Notify::new(),
        }
    }

    /// Waits until nothing has been taken for that long, though there was something to take.
    pub(crate) async fn stalled(&self, stall: Duration) {
        loop {
            if self.answers.load(Ordering::Acquire) == 0 {
                self.added.notified().await;
                continue;
            }
            let taken = Duration::from_millis(self.taken.load(Ordering::Relaxed));
            match stall.checked_sub(self.began.elapsed().saturating_sub(taken)) {
                None | Some(Duration::ZERO) => return,
                Some(left) => sleep(left).await,
            }
        }
    }

    fn touch(&self) {
        let milliseconds = self.began.elapsed().as_millis();
        let milliseconds = u64::try_from(milliseconds).unwrap_or(u64::MAX);
        self.taken.store(milliseconds, Ordering::Relaxed);
    }
}

/// A long answer, as far as it has not been taken.
pub(crate) struct LongResponse {
    rest: Bytes,
    bytes: usize,
    of: Arc<UnreadResponses>,
}

impl LongResponse {
    /// Whether an answer of so many bytes is one.
    pub(crate) fn is_one(bytes: usize) -> bool {
        bytes > LONG_RESPONSE_BYTES
    }

    pub(crate) fn new(answer: Bytes, of: &Arc<UnreadResponses>) -> LongResponse {
        let bytes = answer.len();
        of.all.0.fetch_add(bytes, Ordering::Relaxed);
        if of.answers.fetch_add(1, Ordering::AcqRel) == 0 {
            of.touch();
            of.added.notify_one();
        }
        LongResponse {
            rest: answer,
            bytes,
            of: of.clone(),
        }
    }

    /// The next piece, when the client has room for some of it; none at the end. It is asked for once more
    /// when the last piece has been taken.
    pub(crate) fn next(&mut self) -> Option<Bytes> {
        self.of.touch();
        let piece = self.rest.split_to(self.rest.len().min(LONG_RESPONSE_BYTES));
        // Copied: a piece that waits must not keep the whole.
        (!piece.is_empty()).then(|| Bytes::copy_from_slice(&piece))
    }
}

impl Drop for LongResponse {
    fn drop(&mut self) {
        self.of.all.0.fetch_sub(self.bytes, Ordering::Relaxed);
        self.of.answers.fetch_sub(1, Ordering::AcqRel);
    }
}
