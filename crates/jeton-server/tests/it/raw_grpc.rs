//! gRPC calls over plain HTTP/2, for requests that tonic's client does not send.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Body, Frame};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;

use crate::harness::TestServer;

/// Longer than a response takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The response of a call.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) data: Bytes,
    /// `None` if the response has no trailers.
    pub(crate) trailers: Option<HeaderMap>,
}

impl Response {
    /// The headers with the status of the call: the trailers, or the headers of a response without a body.
    pub(crate) fn end(&self) -> &HeaderMap {
        self.trailers.as_ref().unwrap_or(&self.headers)
    }

    pub(crate) fn message<M: Message + Default>(&self) -> M {
        let length = u32::try_from(self.data.len() - 5).unwrap().to_be_bytes();
        assert_eq!(self.data[..5], [&[0][..], &length].concat());
        M::decode(&self.data[5..]).unwrap()
    }
}

/// Calls `package.Service/Method` with additional headers.
pub(crate) fn call<B>(
    fixture: &TestServer,
    method: &str,
    headers: &[(&str, &str)],
    body: B,
) -> Response
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut request = http::Request::post(format!("http://localhost/{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    exchange(fixture, fixture.address(), request.body(body).unwrap())
}

/// Sends a request over HTTP/2 unchanged.
pub(crate) fn exchange<B>(
    fixture: &TestServer,
    to: SocketAddr,
    request: http::Request<B>,
) -> Response
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let exchange = async {
        let stream = tokio::net::TcpStream::connect(to).await.unwrap();
        let shaken = http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
        let (mut sender, connection) = shaken.await.unwrap();
        tokio::spawn(connection);
        let response = sender.send_request(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let collected = response.into_body().collect().await.unwrap();
        let trailers = collected.trailers().cloned();
        Response {
            status,
            headers,
            data: collected.to_bytes(),
            trailers,
        }
    };
    let limited = async { tokio::time::timeout(TIMEOUT, exchange).await };
    fixture.runtime.block_on(limited).expect("a whole response")
}

/// A framed message.
pub(crate) fn framed(message: &impl Message) -> Vec<u8> {
    let message = message.encode_to_vec();
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[0][..], &length, &message].concat()
}

/// A complete body.
pub(crate) fn whole(bytes: Vec<u8>) -> Full<Bytes> {
    Full::new(bytes.into())
}

/// A body that starts with these pieces and never ends.
pub(crate) fn unended(
    pieces: Vec<Bytes>,
) -> impl Body<Data = Bytes, Error = std::io::Error> + Send + Unpin {
    use tokio_stream::StreamExt as _;
    let pieces = tokio_stream::iter(pieces).map(|piece| Ok(Frame::data(piece)));
    StreamBody::new(pieces.chain(tokio_stream::pending()))
}

/// A body of these frames.
pub(crate) fn frames(
    frames: Vec<Frame<Bytes>>,
) -> impl Body<Data = Bytes, Error = std::io::Error> + Send + Unpin {
    use tokio_stream::StreamExt as _;
    StreamBody::new(tokio_stream::iter(frames).map(Ok))
}
