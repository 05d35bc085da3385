//! Unary calls, without the overhead of streams.
//!
//! The request message is decoded in place. The response is one frame between constant headers and
//! trailers. Streams and services from other crates use tonic.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Response};
use hyper::body::{Body as _, Frame, SizeHint};
use prost::Message;
use tonic::Status;
use tonic::body::Body;
use tonic::metadata::MetadataValue;

use crate::grpc::{ResponseFuture, fail};
use crate::transport::grpc::body_budget::MeteredBody;
use crate::transport::unread_responses::{LongResponse, UnreadResponses};

/// Bytes of a gRPC frame header: the compression flag and the message length.
pub(crate) const FRAME_HEADER: usize = 5;

/// The body of an HTTP response.
pub(crate) enum ResponseBody {
    /// A framed message, then trailers with status 0. `None` after the message was sent.
    Message(Option<Bytes>),
    /// A framed message that is sent in pieces, then the same trailers.
    Long(LongResponse),
    /// The end.
    Ended,
    /// A stream, an error, or a response that is not gRPC.
    Other(Body),
}

/// The request message of a call.
pub(crate) trait RequestMessage: Send + Sized {
    /// Decodes the bytes of the message.
    fn decode_message(message: Bytes) -> Result<Self, Status>;
}

impl<M: Message + Default> RequestMessage for M {
    fn decode_message(message: Bytes) -> Result<M, Status> {
        // prost's error does not repeat data of the message.
        M::decode(message).map_err(|error| Status::internal(error.to_string()))
    }
}

/// The response message of a call.
pub(crate) trait ResponseMessage {
    fn into_frame(self) -> Result<Bytes, Status>;
}

impl<M: Message> ResponseMessage for M {
    fn into_frame(self) -> Result<Bytes, Status> {
        frame(&self)
    }
}

/// The future of a method, as in tonic's generated traits.
pub(crate) type MethodFuture<'a, A> =
    Pin<Box<dyn Future<Output = Result<tonic::Response<A>, Status>> + Send + 'a>>;

/// Reads the request message, calls the method and frames the response.
pub(crate) fn unary<S, Q, A>(
    api: S,
    limit: usize,
    request: http::Request<MeteredBody>,
    method: impl FnOnce(&S, tonic::Request<Q>) -> MethodFuture<'_, A> + Send + 'static,
) -> ResponseFuture
where
    S: Send + Sync + 'static,
    Q: RequestMessage + 'static,
    A: ResponseMessage + 'static,
{
    if let Err(status) = check_encoding(request.headers()) {
        return fail(status);
    }
    let mut body = request.into_body().single_message();
    Box::pin(async move {
        let response = match message(&mut body, limit).await {
            Ok(message) => method(&api, tonic::Request::new(message)).await,
            Err(status) => Err(status),
        };
        let framed = response.and_then(|response| response.into_inner().into_frame());
        Ok(framed.map_or_else(Status::into_http, |message| respond(message, body.unread())))
    })
}

/// Reads the single message of a request.
async fn message<Q: RequestMessage>(body: &mut MeteredBody, limit: usize) -> Result<Q, Status> {
    let mut frame = next(body).await?;
    check(&frame, limit)?;
    // The usual case: the first piece is the whole message, and is not copied.
    if !is_whole(&frame) {
        frame = join(frame, body, limit).await?;
    }
    frame.advance(FRAME_HEADER);
    let message = Q::decode_message(frame)?;
    match next(body).await?.is_empty() {
        true => Ok(message),
        false => Err(more_than_one()),
    }
}

/// Waits for the remaining pieces of a frame.
async fn join(first: Bytes, body: &mut MeteredBody, limit: usize) -> Result<Bytes, Status> {
    // Copied, so that a slow request does not keep the read buffer of the connection in memory.
    let mut joined = BytesMut::from(&*first);
    drop(first);
    while !is_whole(&joined) {
        let more = next(body).await?;
        if more.is_empty() {
            let what = match joined.is_empty() {
                true => "the request has no message",
                false => "the request message is truncated",
            };
            return Err(Status::internal(what));
        }
        joined.put(more);
        check(&joined, limit)?;
    }
    Ok(joined.freeze())
}

/// The next piece of a body. Empty at the end.
async fn next(body: &mut MeteredBody) -> Result<Bytes, Status> {
    while !body.is_end_stream() {
        let Some(frame) = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await else {
            break;
        };
        // Request trailers are ignored.
        match frame?.into_data() {
            Ok(data) if !data.is_empty() => return Ok(data),
            _ => {}
        }
    }
    Ok(Bytes::new())
}

/// The compression flag and the message length in a frame header.
fn head(arrived: &[u8]) -> Option<(u8, usize)> {
    let [flag, length @ ..] = *arrived.first_chunk::<FRAME_HEADER>()?;
    Some((flag, u32::from_be_bytes(length) as usize))
}

fn is_whole(arrived: &[u8]) -> bool {
    head(arrived).is_some_and(|(_, length)| arrived.len() == FRAME_HEADER + length)
}

fn more_than_one() -> Status {
    Status::internal("the request has more than one message")
}

/// Fails as soon as the received bytes cannot become one message within the limit.
fn check(arrived: &[u8], limit: usize) -> Result<(), Status> {
    let Some((flag, length)) = head(arrived) else {
        return Ok(());
    };
    match flag {
        0 => {}
        1 => {
            return Err(Status::internal(
                "the message is compressed, but `grpc-encoding` is missing",
            ));
        }
        _ => {
            return Err(Status::internal(
                "the message's first byte is neither 0 nor 1",
            ));
        }
    }
    if length > limit {
        return Err(Status::out_of_range(format!(
            "the message has {length} bytes, maximum {limit}"
        )));
    }
    if arrived.len() > FRAME_HEADER + length {
        return Err(more_than_one());
    }
    Ok(())
}

/// Checks that the request is not compressed.
fn check_encoding(headers: &HeaderMap) -> Result<(), Status> {
    match headers.get("grpc-encoding") {
        None => Ok(()),
        Some(encoding) if encoding == "identity" => Ok(()),
        Some(_) => {
            let what = "compression is not supported";
            let mut status = Status::unimplemented(what);
            let identity = MetadataValue::from_static("identity");
            let metadata = status.metadata_mut();
            metadata.insert("grpc-accept-encoding", identity);
            Err(status)
        }
    }
}

/// Encodes a message with its frame header, in one allocation.
pub(crate) fn frame(message: &impl Message) -> Result<Bytes, Status> {
    let mut frame = Vec::with_capacity(FRAME_HEADER + message.encoded_len());
    frame.resize(FRAME_HEADER, 0);
    message.encode_raw(&mut frame);
    write_header(frame)
}

/// Writes the frame header into the space reserved for it.
pub(crate) fn write_header(mut frame: Vec<u8>) -> Result<Bytes, Status> {
    let length = u32::try_from(frame.len() - FRAME_HEADER).map_err(|_| {
        Status::resource_exhausted("the response is longer than a gRPC frame can be")
    })?;
    // Flag 0: not compressed.
    frame[0] = 0;
    frame[1..FRAME_HEADER].copy_from_slice(&length.to_be_bytes());
    Ok(frame.into())
}

fn respond(message: Bytes, unread: &Arc<UnreadResponses>) -> Response<ResponseBody> {
    let mut response = Response::new(match LongResponse::is_long(message.len()) {
        true => ResponseBody::Long(LongResponse::new(message, unread)),
        false => ResponseBody::Message(Some(message)),
    });
    // Capacity for the date, which hyper adds.
    let mut headers = HeaderMap::with_capacity(2);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    *response.headers_mut() = headers;
    response
}

impl Default for ResponseBody {
    fn default() -> Self {
        ResponseBody::Other(Body::empty())
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
            ResponseBody::Long(response) => response.next(),
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
            ResponseBody::Message(_) | ResponseBody::Long(_) => false,
            ResponseBody::Ended => true,
            ResponseBody::Other(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            // Without a size, hyper sends no content-length header. Trailers follow anyway.
            ResponseBody::Message(_) | ResponseBody::Long(_) => SizeHint::default(),
            ResponseBody::Ended => SizeHint::with_exact(0),
            ResponseBody::Other(body) => body.size_hint(),
        }
    }
}
