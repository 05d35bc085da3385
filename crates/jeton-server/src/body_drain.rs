//! A request's body. It is read to its end, also where the request was answered before.
//!
//! An HTTP/2 stream whose request is dropped is reset, and what the client sends of it afterwards is an
//! error of the client's, of which a connection may have only so many
//! ([`LOCAL_RESETS`](crate::limits::LOCAL_RESETS)). But a client that sends headers and body in one go
//! has done nothing wrong when the headers alone were enough to refuse it, and others may call through
//! the same connection.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::limits;

/// A body, until it has ended.
pub(crate) struct DrainedBody(Option<Incoming>);

impl From<Incoming> for DrainedBody {
    fn from(body: Incoming) -> Self {
        DrainedBody(Some(body))
    }
}

impl Drop for DrainedBody {
    fn drop(&mut self) {
        let Some(rest) = self.0.take().filter(|body| !body.is_end_stream()) else {
            return;
        };
        // Without a runtime the server has ended, and so has the connection.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(timeout(limits::RECEIVE_TIMEOUT, discard(rest)));
        }
    }
}

/// Reads what is left, as far as there is any patience with it.
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
        let Some(body) = &mut self.0 else {
            return Poll::Ready(None);
        };
        let frame = ready!(Pin::new(body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) {
            self.0 = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Some(body) => body.size_hint(),
            None => SizeHint::with_exact(0),
        }
    }
}
