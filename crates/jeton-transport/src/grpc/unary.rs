//! Unary calls, without the overhead of streams.
//!
//! The request message is decoded in place. The response is one frame between constant headers and
//! trailers. Streams and services from other crates use tonic.

use std::future::ready;
use std::pin::Pin;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use prost::Message;
use tonic::Status;
use tonic::metadata::MetadataValue;

use super::frame::frame;
use super::metered_body::MeteredBody;
use super::request_message::{RequestMessage, message};
use crate::response::{ResponseBody, ResponseFuture};

/// The response message of a call.
pub trait ResponseMessage {
    /// Encodes the message with its frame header.
    fn into_frame(self) -> Result<Bytes, Status>;
}

impl<M: Message> ResponseMessage for M {
    fn into_frame(self) -> Result<Bytes, Status> {
        frame(&self)
    }
}

/// The future of a method, as in tonic's generated traits.
pub type MethodFuture<'a, A> =
    Pin<Box<dyn Future<Output = Result<tonic::Response<A>, Status>> + Send + 'a>>;

/// Reads the request message, calls the method and frames the response.
pub fn unary<S, Q, A>(
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
        Ok(framed.map_or_else(Status::into_http, respond))
    })
}

/// Ends a call with a status.
pub fn fail(status: Status) -> ResponseFuture {
    Box::pin(ready(Ok(status.into_http())))
}

static GRPC_ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");

/// Checks that the request is not compressed.
fn check_encoding(headers: &HeaderMap) -> Result<(), Status> {
    match headers.get(&GRPC_ENCODING) {
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

fn respond(message: Bytes) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::Message(Some(message)));
    // Capacity for the date, which hyper adds.
    let mut headers = HeaderMap::with_capacity(2);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    *response.headers_mut() = headers;
    response
}
