//! One call over HTTP/2: a connection, a request and the answer.

use std::cell::Cell;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use tokio::net::TcpStream;
use tokio::task::spawn_local;
use tokio::time::timeout;

use super::answer::ANSWER_BYTES_MAX;
use super::http_request::HttpRequest;
use super::tally::End;

/// The time limit for connecting.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// Large enough that no answer waits for flow control.
const WINDOW_BYTES: u32 = 1 << 20;
/// For a whole connection.
const CONNECTION_WINDOW_BYTES: u32 = 1 << 24;

/// The request and its target, ready to be sent repeatedly.
#[derive(Debug)]
pub(super) struct Exchange {
    target: SocketAddr,
    request: Request<()>,
    body: Bytes,
    is_grpc: bool,
    /// The values of `Authorization`, and how many were sent.
    bearers: Arc<[HeaderValue]>,
    sent: Cell<usize>,
}

/// The server did not accept the connection.
#[derive(Debug)]
pub(super) struct NotConnected;

/// The outcome of a call, and whether its connection can be used again.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) connection: Connection,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Connection {
    Lives,
    Gone,
}

impl Ended {
    pub(super) fn living(end: End) -> Self {
        Self {
            end,
            connection: Connection::Lives,
        }
    }

    fn gone(end: End) -> Self {
        Self {
            end,
            connection: Connection::Gone,
        }
    }
}

impl From<h2::Error> for Ended {
    fn from(error: h2::Error) -> Self {
        match error.reason() {
            // Only the stream failed, not the connection.
            Some(reason) if error.is_reset() => Self::living(End::Status(status_of(reason))),
            // HTTP/2 data that this side could not read.
            _ if error.is_library() => Self::gone(End::Garbage),
            _ => Self::gone(End::Lost),
        }
    }
}

impl Exchange {
    pub(super) fn new(target: SocketAddr, http: &HttpRequest) -> Self {
        let mut request = Request::new(());
        *request.uri_mut() = format!("http://{target}{}", http.path)
            .parse()
            .expect("a socket address and a method path form a URI");
        if !http.body.is_empty() {
            *request.method_mut() = Method::POST;
            let content_type = HeaderValue::from_static(http.content_type);
            request
                .headers_mut()
                .insert(header::CONTENT_TYPE, content_type);
        }
        if http.is_grpc() {
            let trailers = HeaderValue::from_static("trailers");
            request.headers_mut().insert(header::TE, trailers);
        }
        Self {
            target,
            request,
            body: http.body.clone(),
            is_grpc: http.is_grpc(),
            bearers: http.bearers.clone(),
            sent: Cell::new(0),
        }
    }

    pub(super) async fn connect(&self) -> Result<SendRequest<Bytes>, NotConnected> {
        let connected = timeout(CONNECT_LIMIT, TcpStream::connect(self.target)).await;
        let stream = connected.ok().and_then(Result::ok).ok_or(NotConnected)?;
        stream.set_nodelay(true).map_err(|_| NotConnected)?;
        let (send, connection) = h2::client::Builder::new()
            .initial_window_size(WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .enable_push(false)
            .handshake(stream)
            .await
            .map_err(|_| NotConnected)?;
        // Every call on the connection notices its end.
        spawn_local(async move { drop(connection.await) });
        Ok(send)
    }

    /// Opens a stream on which no body has been sent.
    pub(super) async fn open(
        &self,
        send: &mut SendRequest<Bytes>,
    ) -> Result<(ResponseFuture, SendStream<Bytes>), h2::Error> {
        poll_fn(|context| send.poll_ready(context)).await?;
        let mut request = self.request.clone();
        if !self.bearers.is_empty() {
            let number = self.sent.replace(self.sent.get() + 1);
            let bearer = self.bearers[number % self.bearers.len()].clone();
            request.headers_mut().insert(header::AUTHORIZATION, bearer);
        }
        send.send_request(request, self.body.is_empty())
    }

    /// Makes the call. Returns the body of an answer with status OK, or the outcome.
    pub(super) async fn once(&self, send: &mut SendRequest<Bytes>) -> Result<Bytes, Ended> {
        let (response, mut stream) = self.open(send).await?;
        if !self.body.is_empty() {
            stream.send_data(self.body.clone(), true)?;
        }
        let (head, mut body) = response.await?.into_parts();
        let bytes = read(&mut body).await?;
        let trailers = body.trailers().await?;
        if !self.is_grpc {
            return match (head.status, bytes) {
                (StatusCode::OK, Some(bytes)) => Ok(bytes),
                (StatusCode::OK, None) => Err(Ended::living(End::Garbage)),
                (other, _) => Err(Ended::living(End::Http(other.as_u16()))),
            };
        }
        if head.status != StatusCode::OK {
            return Err(Ended::living(End::Garbage));
        }
        // An error without a message has its status among the headers.
        let status = (trailers.as_ref().and_then(status)).or_else(|| status(&head.headers));
        match (status, bytes) {
            (Some(0), Some(bytes)) => Ok(bytes),
            (Some(0) | None, _) => Err(Ended::living(End::Garbage)),
            (Some(other), _) => Err(Ended::living(End::Status(other))),
        }
    }
}

/// Returns the whole body, usually one piece; none if it exceeds the maximum.
async fn read(body: &mut RecvStream) -> Result<Option<Bytes>, h2::Error> {
    let mut first = None;
    let mut more = BytesMut::new();
    let mut length = 0;
    while let Some(piece) = body.data().await {
        let piece = piece?;
        body.flow_control().release_capacity(piece.len())?;
        length += piece.len();
        match &first {
            None => first = Some(piece),
            Some(first) if length <= ANSWER_BYTES_MAX => {
                if more.is_empty() {
                    more.extend_from_slice(first);
                }
                more.extend_from_slice(&piece);
            }
            Some(_) => {}
        }
    }
    Ok(match first {
        _ if length > ANSWER_BYTES_MAX => None,
        _ if !more.is_empty() => Some(more.freeze()),
        first => Some(first.unwrap_or_default()),
    })
}

/// Returns the status of a whole call.
pub(super) fn status(headers: &HeaderMap) -> Option<u8> {
    headers.get("grpc-status")?.to_str().ok()?.parse().ok()
}

/// Returns gRPC's status for a stream that was reset (gRPC over HTTP/2, "Errors").
fn status_of(reason: Reason) -> u8 {
    match reason {
        Reason::REFUSED_STREAM => 14,
        Reason::CANCEL => 1,
        Reason::ENHANCE_YOUR_CALM => 8,
        Reason::INADEQUATE_SECURITY => 7,
        _ => 13,
    }
}
