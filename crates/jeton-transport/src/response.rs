//! The response of a request, gRPC or not.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response};
use hyper::body::{Body as _, Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;

/// The future of an HTTP response. Errors of a call are in the trailers.
///
/// Each call boxes its own future, so that a call needs one allocation of the required size.
pub type ResponseFuture =
    Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

/// The body of an HTTP response.
pub enum ResponseBody {
    /// A framed message, then trailers with status 0. `None` after the message was sent.
    Message(Option<Bytes>),
    /// The end.
    Ended,
    /// A stream, an error, or a response that is not gRPC.
    Other(Body),
}

impl Default for ResponseBody {
    fn default() -> Self {
        ResponseBody::Other(Body::empty())
    }
}

impl ResponseBody {
    /// The length, if the whole body is there.
    pub(crate) fn size(&self) -> Option<usize> {
        match self {
            ResponseBody::Message(message) => Some(message.as_ref().map_or(0, Bytes::len)),
            ResponseBody::Ended => Some(0),
            ResponseBody::Other(body) => body.size_hint().exact().map(|bytes| bytes as usize),
        }
    }
}

impl hyper::body::Body for ResponseBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let piece = match &mut *self {
            ResponseBody::Other(body) => return Pin::new(body).poll_frame(context),
            ResponseBody::Ended => return Poll::Ready(None),
            ResponseBody::Message(message) => message.take(),
        };
        Poll::Ready(Some(Ok(match piece {
            Some(piece) => Frame::data(piece),
            None => {
                *self = ResponseBody::Ended;
                let mut trailers = HeaderMap::with_capacity(1);
                trailers.insert(Status::GRPC_STATUS, HeaderValue::from_static("0"));
                Frame::trailers(trailers)
            }
        })))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            ResponseBody::Message(_) => false,
            ResponseBody::Ended => true,
            ResponseBody::Other(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            // Without a size, hyper sends no content-length header. Trailers follow anyway.
            ResponseBody::Message(_) => SizeHint::default(),
            ResponseBody::Ended => SizeHint::with_exact(0),
            ResponseBody::Other(body) => body.size_hint(),
        }
    }
}
