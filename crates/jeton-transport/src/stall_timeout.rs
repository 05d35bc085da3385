//! Time limits for the first bytes of a connection, and for a client that stops reading.
//!
//! HTTP/2 itself would wait without limit.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::connection_limit::Activity;

/// Length of the HTTP/2 connection preface (RFC 9113, section 3.4). Every HTTP/1.1 request is longer.
const PREFACE_BYTES: usize = 24;

/// A stream that fails if the client stalls.
pub(crate) struct StallTimeout<S> {
    stream: S,
    stall: Duration,
    /// Runs until the length of the preface is received, and while a write is pending.
    timer: Pin<Box<Sleep>>,
    received: usize,
    activity: Arc<Activity>,
    is_waiting: bool,
    stalled: Arc<AtomicBool>,
}

impl<S> StallTimeout<S> {
    pub(crate) fn new(
        stream: S,
        first_bytes: Duration,
        stall: Duration,
        activity: Arc<Activity>,
    ) -> StallTimeout<S> {
        StallTimeout {
            stream,
            stall,
            timer: Box::pin(tokio::time::sleep(first_bytes)),
            received: 0,
            activity,
            is_waiting: false,
            stalled: Arc::default(),
        }
    }

    /// True once the client has stalled.
    pub(crate) fn stalled(&self) -> Arc<AtomicBool> {
        self.stalled.clone()
    }

    fn poll_timer<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        match self.timer.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                self.stalled.store(true, Ordering::Relaxed);
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }

    /// Updates the timer after a write or a flush.
    fn after_send<T>(
        &mut self,
        context: &mut Context<'_>,
        sent: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match sent {
            Poll::Ready(ready) => {
                self.is_waiting = false;
                self.activity.touch();
                Poll::Ready(ready)
            }
            Poll::Pending => {
                if !self.is_waiting {
                    self.is_waiting = true;
                    self.timer.as_mut().reset(Instant::now() + self.stall);
                }
                self.poll_timer(context)
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buffer.filled().len();
        let read = Pin::new(&mut this.stream).poll_read(context, buffer);
        match read {
            Poll::Ready(ready) => {
                this.received += buffer.filled().len() - before;
                this.activity.touch();
                Poll::Ready(ready)
            }
            Poll::Pending if this.received >= PREFACE_BYTES => Poll::Pending,
            Poll::Pending => this.poll_timer(context),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let sent = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.after_send(context, sent)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let sent = Pin::new(&mut this.stream).poll_flush(context);
        this.after_send(context, sent)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
