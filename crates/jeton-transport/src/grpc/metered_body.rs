//! gRPC request bodies, charged as their bytes arrive.
//!
//! A message that is not complete is memory that the client makes the server hold, for as long as the client likes. So
//! it is charged to the account, and has a time limit.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep};
use tonic::Status;

use super::frame::FRAME_HEADER;
use crate::body_drain::DrainedBody;
use crate::held_response::Stream;
use crate::limits::receive_timeout;

/// A gRPC request body whose incomplete messages are charged to the account.
pub struct MeteredBody {
    body: DrainedBody,
    /// Time limit to complete a message, in addition to the time for its length.
    stall: Duration,
    message: Message,
    held: usize,
    is_single_message: bool,
    /// Whether the timer has time for the length of the message.
    knows_length: bool,
    /// Runs while a message is incomplete.
    timer: Option<Pin<Box<Sleep>>>,
}

/// Progress of the current message: a frame header of five bytes, then the announced length.
#[derive(Debug, Default)]
struct Message {
    head: [u8; FRAME_HEADER],
    head_bytes: usize,
    rest: usize,
    body_bytes: usize,
}

impl MeteredBody {
    /// Charges the body as it arrives. `stall`: the time limit for a message, besides that for its length.
    pub fn new(body: DrainedBody, stall: Duration) -> MeteredBody {
        MeteredBody {
            body,
            stall,
            message: Message::default(),
            held: 0,
            is_single_message: false,
            knows_length: false,
            timer: None,
        }
    }

    /// Treats the body as a single message, which is charged until the response is read. It has a time limit, also
    /// before its first byte.
    pub fn single_message(mut self) -> MeteredBody {
        self.is_single_message = true;
        self
    }

    /// What the request is charged to.
    pub fn stream(&self) -> &Arc<Stream> {
        self.body.stream()
    }

    /// Starts the timer for an incomplete message, and stops it when the message is complete.
    fn update_timer(&mut self) {
        let is_expected = self.is_single_message || self.held > 0;
        if !is_expected || self.body.is_end_stream() {
            self.timer = None;
            self.knows_length = false;
        } else if self.timer.is_none()
            || self.message.head_bytes == FRAME_HEADER && !self.knows_length
        {
            self.knows_length = self.message.head_bytes == FRAME_HEADER;
            let length = self.message.rest + self.message.body_bytes;
            self.timer = Some(Box::pin(sleep(receive_timeout(self.stall, length))));
        }
    }

    /// Called when nothing has arrived: most messages arrive with their headers, and need no timer.
    fn is_timed_out(&mut self, context: &mut Context<'_>) -> bool {
        self.update_timer();
        let timer = self.timer.as_mut();
        timer.is_some_and(|timer| timer.as_mut().poll(context).is_ready())
    }

    /// Charges this many bytes instead of the bytes charged before.
    fn charge(&mut self, bytes: usize) -> Result<(), Status> {
        let charge = self.body.stream().charge();
        match bytes.checked_sub(self.held) {
            Some(more) => charge
                .add(more)
                .map_err(|refused| Status::resource_exhausted(refused.to_string()))?,
            None => charge.sub(self.held - bytes),
        }
        self.held = bytes;
        Ok(())
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
            Poll::Pending if this.is_timed_out(context) => {
                let timeout =
                    Status::deadline_exceeded("timeout while receiving the request message");
                return Poll::Ready(Some(Err(timeout)));
            }
            Poll::Pending => return Poll::Pending,
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Ready(Some(Err(_))) => {
                let cancelled = Status::cancelled("the request body ended early");
                return Poll::Ready(Some(Err(cancelled)));
            }
            Poll::Ready(Some(Ok(frame))) => frame,
        };
        if let Some(data) = frame.data_ref() {
            let incomplete = this.message.add(data);
            let held = match this.is_single_message {
                // The usual case: the first piece is the whole body.
                true if this.held == 0 && this.body.is_end_stream() => 0,
                true => this.held + data.len(),
                false => incomplete,
            };
            if held != this.held
                && let Err(exhausted) = this.charge(held)
            {
                return Poll::Ready(Some(Err(exhausted)));
            }
            if this.timer.is_some() {
                this.update_timer();
            }
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
    /// Adds received bytes and returns how many bytes belong to an incomplete message.
    fn add(&mut self, mut data: &[u8]) -> usize {
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
    fn message_add_counts_incomplete_messages_only() {
        let whole = [0, 0, 0, 0, 2, 1, 1];
        let mut message = Message::default();
        assert_eq!(message.add(&whole), 0);
        assert_eq!(message.add(&whole[..3]), 3);
        assert_eq!(message.add(&whole[3..6]), 6);
        assert_eq!(message.add(&whole[6..]), 0);
        assert_eq!(message.add(&[whole, whole].concat()), 0);
        assert_eq!(message.add(&[0, 0, 0, 0, 0]), 0);
        assert_eq!(message.add(&[0, 255, 255, 255, 255, 9]), 6);
    }
}
