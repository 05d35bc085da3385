//! Charges requests and their responses to the account, until the client has read them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Request, Response, StatusCode, Version};
use hyper::body::{Body, Frame, SizeHint};
use tonic::Status;

use crate::account::{Charge, Refused};
use crate::connection_limit::ActiveCall;
use crate::limits::{
    HEADER_FIELD_BYTES, PIECE_BYTES, SHORT_RESPONSE_BYTES, STREAM_BYTES, UNENDED_STREAM_BYTES,
};
use crate::peer::Peer;
use crate::response::{ResponseBody, ResponseFuture};

/// A request with its response, as far as it takes memory: an HTTP/2 stream.
#[derive(Debug)]
pub struct Stream {
    charge: Charge,
    /// Keeps the connection busy.
    call: ActiveCall,
    /// Counts the pieces of the response that were asked for.
    pieces: AtomicU32,
    /// Whether a piece was produced, and the client has made no room for the next.
    is_unread: AtomicBool,
}

impl Stream {
    /// Charges a request for its headers and for what the server needs to handle it.
    pub(crate) fn open<B>(peer: &Peer, request: &Request<B>) -> Result<Arc<Stream>, Refused> {
        Ok(Arc::new(Stream {
            charge: Charge::new(&peer.share, STREAM_BYTES + header_bytes(request))?,
            call: peer.activity.begin_call(),
            pieces: AtomicU32::new(0),
            is_unread: AtomicBool::new(false),
        }))
    }

    /// What the request is charged to: its address, and its client once that is known.
    pub fn charge(&self) -> &Charge {
        &self.charge
    }

    /// The call, for its connection.
    pub(crate) fn call(&self) -> &ActiveCall {
        &self.call
    }

    /// Which piece the client does not read. `None`: it reads, or the server has nothing to send.
    pub(crate) fn unread_piece(&self) -> Option<u32> {
        let is_unread = self.is_unread.load(Ordering::Relaxed);
        is_unread.then(|| self.pieces.load(Ordering::Relaxed))
    }
}

/// Memory of the headers of a request, about.
fn header_bytes<B>(request: &Request<B>) -> usize {
    let headers = request.headers();
    let fields = headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len());
    let uri = request.uri();
    let target = uri
        .path_and_query()
        .map_or(0, |target| target.as_str().len());
    let authority = uri
        .authority()
        .map_or(0, |authority| authority.as_str().len());
    target + authority + headers.len() * HEADER_FIELD_BYTES + fields.sum::<usize>()
}

/// The future of a response whose memory is charged.
pub(crate) enum HeldResponse {
    /// The handler runs.
    Running(ResponseFuture, Option<Arc<Stream>>),
    /// There was no room for the request. Boxed: the future of each call is moved.
    Refused(Box<Response<HeldBody>>),
}

impl HeldResponse {
    /// Refuses a request. The response ends with its headers, so that it needs no room at the client.
    pub(crate) fn refuse<B>(request: &Request<B>, refused: Refused) -> HeldResponse {
        let is_grpc = request.version() == Version::HTTP_2
            && (request.headers().get(CONTENT_TYPE))
                .is_some_and(|value| value.as_bytes().starts_with(b"application/grpc"));
        HeldResponse::Refused(Box::new(refusal(is_grpc, refused)))
    }
}

fn refusal(is_grpc: bool, refused: Refused) -> Response<HeldBody> {
    let mut response = if is_grpc {
        Status::resource_exhausted(refused.to_string()).into_http()
    } else {
        let mut response = Response::new(HeldBody::default());
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        response
    };
    let headers = response.headers_mut();
    headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

impl Future for HeldResponse {
    type Output = Result<Response<HeldBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (running, stream) = match &mut *self {
            HeldResponse::Refused(response) => {
                return Poll::Ready(Ok(std::mem::take(&mut **response)));
            }
            HeldResponse::Running(running, stream) => (running, stream),
        };
        let Ok(response) = ready!(running.as_mut().poll(context));
        Poll::Ready(Ok(hold(response, stream.take())))
    }
}

/// Charges the body of a response that is complete. What a stream sends is charged as it is produced.
fn hold(response: Response<ResponseBody>, stream: Option<Arc<Stream>>) -> Response<HeldBody> {
    let Some(stream) = stream else {
        // A future is not polled again after its end.
        return Response::default();
    };
    let is_grpc = matches!(response.body(), ResponseBody::Message(_));
    let complete = response.body().size();
    let bytes = complete.unwrap_or(UNENDED_STREAM_BYTES);
    if bytes > SHORT_RESPONSE_BYTES
        && let Err(refused) = stream.charge.add(bytes)
    {
        return refusal(is_grpc, refused);
    }
    let is_unread = !response.body().is_end_stream();
    stream.is_unread.store(is_unread, Ordering::Relaxed);
    response.map(|body| HeldBody {
        body,
        rest: Bytes::new(),
        is_complete: complete.is_some(),
        stream: Some(stream),
    })
}

/// The body of a response, in pieces. Each is charged until it is written.
#[derive(Default)]
pub(crate) struct HeldBody {
    body: ResponseBody,
    /// What was produced and not yet asked for.
    rest: Bytes,
    /// Whether the whole body was charged when it was complete.
    is_complete: bool,
    /// `None`: there is no room, and nothing is held.
    stream: Option<Arc<Stream>>,
}

impl Body for HeldBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        let Some(stream) = &this.stream else {
            return Pin::new(&mut this.body).poll_frame(context);
        };
        // hyper asks when the client has room for more.
        let pieces = stream.pieces.load(Ordering::Relaxed);
        stream
            .pieces
            .store(pieces.wrapping_add(1), Ordering::Relaxed);
        if this.rest.is_empty() {
            stream.is_unread.store(false, Ordering::Relaxed);
            let frame = ready!(Pin::new(&mut this.body).poll_frame(context));
            let data = match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => data,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            };
            this.rest = if this.is_complete {
                data
            } else {
                match Piece::charged(data, stream) {
                    Ok(data) => data,
                    Err(refused) => {
                        let status = Status::resource_exhausted(refused.to_string());
                        return Poll::Ready(Some(Err(status)));
                    }
                }
            };
            stream.is_unread.store(true, Ordering::Relaxed);
        }
        let length = this.rest.len().min(PIECE_BYTES);
        let piece = this.rest.split_to(length);
        // A piece of a stream that goes on is charged already.
        let is_held = this.is_complete && piece.len() > SHORT_RESPONSE_BYTES;
        Poll::Ready(Some(Ok(Frame::data(if is_held {
            Piece::whole(piece, stream)
        } else {
            piece
        }))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Bytes that wait to be written, and what they are charged to.
struct Piece {
    bytes: Bytes,
    /// Of a stream that goes on: what is returned when these bytes are written.
    charged: usize,
    stream: Arc<Stream>,
}

impl Piece {
    /// A part of a response that is charged as a whole.
    fn whole(bytes: Bytes, stream: &Arc<Stream>) -> Bytes {
        Bytes::from_owner(Piece {
            bytes,
            charged: 0,
            stream: stream.clone(),
        })
    }

    fn charged(bytes: Bytes, stream: &Arc<Stream>) -> Result<Bytes, Refused> {
        stream.charge.add(bytes.len())?;
        Ok(Bytes::from_owner(Piece {
            charged: bytes.len(),
            bytes,
            stream: stream.clone(),
        }))
    }
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        if self.charged > 0 {
            self.stream.charge.sub(self.charged);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// HTTP/2 has the host in the target, and a host may be as long as all headers.
    #[test]
    fn header_bytes_count_each_part_of_the_head() {
        let request = |host: usize, path: usize, value: usize| {
            let uri = format!("http://{}/{}", "a".repeat(host), "p".repeat(path));
            let request = Request::post(uri).header("x", "v".repeat(value));
            header_bytes(&request.body(()).unwrap())
        };
        let least = request(1, 1, 1);
        assert_eq!(request(10_000, 1, 1), least + 9_999);
        assert_eq!(request(1, 10_000, 1), least + 9_999);
        assert_eq!(request(1, 1, 10_000), least + 9_999);
    }
}
