//! A request body that is read to its end, even if the response was sent before.
//!
//! Dropping an unread HTTP/2 request resets its stream. Frames that the client then still sends count as
//! client errors, and a connection has a limit for those
//! ([`LOCAL_RESETS`](crate::limits::LOCAL_RESETS)). A client that sent headers and body together made no
//! error if the server rejected the request by its headers alone. Other callers may share the connection.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::held_response::Stream;
use crate::limits;

/// A request body. Dropping it reads and discards the rest in the background.
pub struct DrainedBody {
    body: Option<Incoming>,
    stream: Arc<Stream>,
    /// Nothing has asked for it yet.
    is_unread: bool,
}

impl DrainedBody {
    pub(crate) fn new(body: Incoming, stream: &Arc<Stream>) -> DrainedBody {
        stream.call().leave_body_unread();
        DrainedBody {
            body: Some(body),
            stream: stream.clone(),
            is_unread: true,
        }
    }

    /// What the request is charged to.
    pub fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    fn take(&mut self) {
        if self.is_unread {
            self.is_unread = false;
            self.stream.call().take_body();
        }
    }
}

impl Drop for DrainedBody {
    fn drop(&mut self) {
        self.take();
        let Some(rest) = self.body.take().filter(|body| !body.is_end_stream()) else {
            return;
        };
        // Without a runtime, the server has ended and its connections are closed.
        if let Ok(runtime) = Handle::try_current() {
            let stream = self.stream.clone();
            runtime.spawn(async move {
                let _ = timeout(limits::RECEIVE_TIMEOUT, discard(rest)).await;
                drop(stream);
            });
        }
    }
}

/// Reads and discards the rest, up to [`limits::DISCARDED_BYTES`].
async fn discard(mut rest: Incoming) {
    let mut bytes = 0;
    while let Some(Ok(frame)) = rest.frame().await {
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > limits::DISCARDED_BYTES {
            return;
        }
    }
}

impl Body for DrainedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        self.take();
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let frame = ready!(Pin::new(body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) {
            self.body = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Some(body) => body.size_hint(),
            None => SizeHint::with_exact(0),
        }
    }
}
