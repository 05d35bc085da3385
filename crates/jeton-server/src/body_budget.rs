//! What has arrived of requests that are not whole yet, and of long ones that are being answered, of all
//! connections together.
//!
//! Each limit by itself is harmless: a message of so many bytes, so many streams, so many connections.
//! Multiplied they are more memory than a machine has, and a client that begins many messages and ends
//! none costs itself little. So the beginnings are counted together, and when they are too much, the
//! one that adds to them is refused.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};
use tonic::Status;

use crate::body_drain::DrainedBody;
use crate::limits::{BODY_BUDGET_BYTES, receive_timeout};
use crate::listen::ActiveCall;
use crate::route::Peer;
use crate::unread_responses::UnreadResponses;

/// Before each message: whether it is compressed, and its length.
const FRAME_HEADER: usize = 5;

/// How much it is now.
#[derive(Debug)]
pub(crate) struct BodyBudget {
    bytes: AtomicUsize,
    /// How long a message that has begun is waited for, beside the time that its length takes.
    stall: Duration,
}

/// A gRPC request's body, counted as it comes.
pub(crate) struct MeteredBody {
    body: DrainedBody,
    body_budget: Arc<BodyBudget>,
    message: Message,
    held: usize,
    is_single_message: bool,
    unread: Arc<UnreadResponses>,
    /// As long as its call.
    _active: ActiveCall,
    /// While a message has begun and is not whole.
    over: Option<Pin<Box<Sleep>>>,
}

/// How much there is of a message that is not whole: five bytes with its length, then so many.
#[derive(Debug, Default)]
struct Message {
    head: [u8; FRAME_HEADER],
    head_bytes: usize,
    rest: usize,
    body_bytes: usize,
}

impl BodyBudget {
    pub(crate) fn new(stall: Duration) -> BodyBudget {
        BodyBudget {
            bytes: AtomicUsize::new(0),
            stall,
        }
    }
}

impl MeteredBody {
    pub(crate) fn new(body: DrainedBody, body_budget: &Arc<BodyBudget>, peer: &Peer) -> MeteredBody {
        MeteredBody {
            body,
            body_budget: body_budget.clone(),
            message: Message::default(),
            held: 0,
            is_single_message: false,
            unread: peer.unread.clone(),
            _active: peer.activity.answer(),
            over: None,
        }
    }

    /// It has one message, which is held until it is answered: it counts so long, and must end.
    pub(crate) fn single_message(mut self) -> MeteredBody {
        self.is_single_message = true;
        self
    }

    /// Of the answers on its connection.
    pub(crate) fn unread(&self) -> &Arc<UnreadResponses> {
        &self.unread
    }

    /// A message that has begun must become whole: what there is of it is held for it, and all clients
    /// together may have only so much of that.
    fn wait(&mut self) {
        if self.held == 0 || self.body.is_end_stream() {
            self.over = None;
        } else if self.over.is_none() && self.message.head_bytes == FRAME_HEADER {
            let whole = self.message.rest + self.message.body_bytes;
            self.over = Some(Box::pin(sleep(receive_timeout(self.body_budget.stall, whole))));
        } else if self.over.is_none() {
            self.over = Some(Box::pin(sleep(self.body_budget.stall)));
        }
    }

    fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        let over = self.over.as_mut();
        over.is_some_and(|over| over.as_mut().poll(context).is_ready())
    }

    fn hold(&mut self, bytes: usize) -> Result<(), Status> {
        let counter = &self.body_budget.bytes;
        let all = match bytes >= self.held {
            true => {
                let more = bytes - self.held;
                counter.fetch_add(more, Ordering::Relaxed) + more
            }
            false => {
                counter.fetch_sub(self.held - bytes, Ordering::Relaxed);
                0
            }
        };
        self.held = bytes;
        match all > BODY_BUDGET_BYTES {
            true => Err(Status::resource_exhausted(
                "too many requests have begun and not ended: try again later",
            )),
            false => Ok(()),
        }
    }
}

impl Drop for MeteredBody {
    fn drop(&mut self) {
        self.body_budget.bytes.fetch_sub(self.held, Ordering::Relaxed);
    }
}

impl Body for MeteredBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        let frame = match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Pending if this.is_over(context) => {
                let late =
                    Status::deadline_exceeded("the request's message did not arrive in time");
                return Poll::Ready(Some(Err(late)));
            }
            Poll::Pending => return Poll::Pending,
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Ready(Some(Err(_))) => {
                let cut = Status::cancelled("the request was cut off");
                return Poll::Ready(Some(Err(cut)));
            }
            Poll::Ready(Some(Ok(frame))) => frame,
        };
        if let Some(data) = frame.data_ref() {
            let begun = this.message.take(data);
            let held = match this.is_single_message {
                // Nearly always all has come with the first piece.
                true if this.held == 0 && this.body.is_end_stream() => 0,
                true => this.held + data.len(),
                false => begun,
            };
            if held != this.held
                && let Err(refused) = this.hold(held)
            {
                return Poll::Ready(Some(Err(refused)));
            }
            this.wait();
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Message {
    /// Takes in what has arrived, and says how much there is now of what is not whole.
    fn take(&mut self, mut data: &[u8]) -> usize {
        while !data.is_empty() {
            if self.head_bytes < FRAME_HEADER {
                let now = data.len().min(FRAME_HEADER - self.head_bytes);
                self.head[self.head_bytes..self.head_bytes + now].copy_from_slice(&data[..now]);
                self.head_bytes += now;
                data = &data[now..];
                if self.head_bytes == FRAME_HEADER {
                    let [_, length @ ..] = self.head;
                    self.rest = u32::from_be_bytes(length) as usize;
                }
            } else {
                let now = data.len().min(self.rest);
                self.rest -= now;
                self.body_bytes += now;
                data = &data[now..];
            }
            if self.head_bytes == FRAME_HEADER && self.rest == 0 {
                *self = Message::default();
            }
        }
        self.head_bytes + self.body_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_whole_counts() {
        let whole = [0, 0, 0, 0, 2, 1, 1];
        let mut message = Message::default();
        assert_eq!(message.take(&whole), 0);
        assert_eq!(message.take(&whole[..3]), 3);
        assert_eq!(message.take(&whole[3..6]), 6);
        assert_eq!(message.take(&whole[6..]), 0);
        assert_eq!(message.take(&[whole, whole].concat()), 0);
        assert_eq!(message.take(&[0, 0, 0, 0, 0]), 0);
        assert_eq!(message.take(&[0, 255, 255, 255, 255, 9]), 6);
    }
}
