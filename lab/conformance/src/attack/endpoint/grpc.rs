//! Unary gRPC calls over HTTP/2 without TLS, one after another: the method's verdict on a token.

use std::fmt::Display;

use bytes::Bytes;
use h2::RecvStream;
use h2::client::SendRequest;
use http::{HeaderMap, Request, Response};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use zeroize::Zeroizing;

use super::address::Target;
use super::line::{ANSWER_BYTES_MAX, EndpointClient};
use crate::attack::session::Reply;
use jeton_lab_harness::grpc::{framed, put_text};
use jeton_lab_harness::protocol::ANSWER_LIMIT;

/// The highest field number in Protocol Buffers.
const FIELD_MAX: u32 = (1 << 29) - 1;

/// A request message: the field for the token, and fields with fixed values. All of them are
/// strings; a method that requires other types is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    token: u32,
    fields: Vec<(u32, String)>,
}

impl Message {
    /// Creates a message. `token` is the number of the token's field; `fields` are the other
    /// fields.
    ///
    /// # Errors
    ///
    /// A sentence, if a number is not a valid field number or is a duplicate.
    ///
    /// ```
    /// use jeton_lab_conformance::attack::Message;
    /// assert!(Message::new(3, vec![(2, "api".to_owned())]).is_ok());
    /// assert!(Message::new(3, vec![(3, "api".to_owned())]).is_err());
    /// ```
    pub fn new(token: u32, fields: Vec<(u32, String)>) -> Result<Self, String> {
        let mut numbers = vec![token];
        numbers.extend(fields.iter().map(|(number, _)| *number));
        if let Some(wrong) = numbers.iter().find(|n| !(1..=FIELD_MAX).contains(*n)) {
            return Err(format!(
                "field number {wrong} must be between 1 and {FIELD_MAX}"
            ));
        }
        numbers.sort_unstable();
        match numbers.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("duplicate field {}", pair[0])),
            None => Ok(Self { token, fields }),
        }
    }

    /// Returns the message with a token, framed for gRPC.
    fn framed(&self, token: &str) -> Bytes {
        let mut message = Vec::new();
        for (number, text) in &self.fields {
            put_text(&mut message, *number, text);
        }
        put_text(&mut message, self.token, token);
        framed(&message)
    }
}

impl Default for Message {
    /// The token in field 1, and no other field.
    fn default() -> Self {
        Self {
            token: 1,
            fields: Vec::new(),
        }
    }
}

/// A gRPC method.
pub(super) struct Method<'a> {
    target: &'a Target,
    message: &'a Message,
    authorization: Option<Zeroizing<String>>,
    runtime: Runtime,
    connection: Option<SendRequest<Bytes>>,
    server: Option<String>,
}

impl<'a> Method<'a> {
    pub(super) fn new(
        target: &'a Target,
        message: &'a Message,
        authorization: Option<Zeroizing<String>>,
    ) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        Ok(Self {
            target,
            message,
            authorization,
            runtime: runtime.map_err(|e| format!("cannot start the runtime: {e}"))?,
            connection: None,
            server: None,
        })
    }
}

impl EndpointClient for Method<'_> {
    fn ask(&mut self, token: &str) -> Reply {
        let call = Call {
            target: self.target,
            authorization: self.authorization.as_ref().map(|a| a.as_str()),
            framed: self.message.framed(token),
        };
        let connection = self.connection.take();
        let answered = self
            .runtime
            .block_on(async { tokio::time::timeout(ANSWER_LIMIT, call.make(connection)).await });
        match answered {
            Ok(Ok((reply, connection, server))) => {
                self.connection = Some(connection);
                self.server = server;
                reply
            }
            Ok(Err(why)) => Reply::Crashed(why),
            Err(_) => Reply::Hung(format!(
                "did not answer within {} s",
                ANSWER_LIMIT.as_secs()
            )),
        }
    }

    fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }
}

struct Call<'a> {
    target: &'a Target,
    authorization: Option<&'a str>,
    framed: Bytes,
}

type Answered = (Reply, SendRequest<Bytes>, Option<String>);

impl Call<'_> {
    async fn make(self, connection: Option<SendRequest<Bytes>>) -> Result<Answered, String> {
        let mut connection = match connection {
            // A connection that was closed in the meantime is not caused by the token.
            Some(open) => match open.ready().await {
                Ok(ready) => ready,
                Err(_) => self.connect().await?,
            },
            None => self.connect().await?,
        };
        let (response, mut body) = connection
            .send_request(self.request()?, false)
            .map_err(no_answer)?;
        body.send_data(self.framed, true).map_err(no_answer)?;
        let response = response.await.map_err(no_answer)?;
        let named = response.headers().get("server");
        let server = named.and_then(|v| v.to_str().ok()).map(str::to_owned);
        Ok((reply(response).await?, connection, server))
    }

    async fn connect(&self) -> Result<SendRequest<Bytes>, String> {
        let stream = TcpStream::connect(self.target.socket)
            .await
            .map_err(no_answer)?;
        let (sender, connection) = h2::client::handshake(stream).await.map_err(no_answer)?;
        tokio::spawn(connection);
        sender.ready().await.map_err(no_answer)
    }

    fn request(&self) -> Result<Request<()>, String> {
        let uri = format!("http://{}{}", self.target.authority, self.target.path);
        let mut request = Request::post(uri)
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .header("user-agent", "jeton-lab-attack");
        if let Some(authorization) = self.authorization {
            request = request.header("authorization", authorization);
        }
        request.body(()).map_err(no_answer)
    }
}

/// Reads a response to its end.
async fn reply(response: Response<RecvStream>) -> Result<Reply, String> {
    let (head, mut body) = response.into_parts();
    if head.status != 200 {
        let status = head.status.as_u16();
        return Ok(match status {
            500..=599 => Reply::Crashed(format!("answered {status}")),
            _ => Reply::Unasked(format!(
                "answered {status}, which is no verdict on the token"
            )),
        });
    }
    let mut length = 0;
    while let Some(data) = body.data().await {
        let data = data.map_err(no_answer)?;
        length += data.len();
        if length > ANSWER_BYTES_MAX {
            return Err(format!("answered more than {ANSWER_BYTES_MAX} bytes"));
        }
        body.flow_control()
            .release_capacity(data.len())
            .map_err(no_answer)?;
    }
    let trailers = body.trailers().await.map_err(no_answer)?;
    let status = trailers.as_ref().and_then(status_of);
    // A response without a message has its status in its only headers.
    let status = status.or_else(|| status_of(&head.headers));
    Ok(match status {
        Some(0) if length == 0 => Reply::Crashed("answered OK without a message".into()),
        status => meaning(status),
    })
}

fn status_of(headers: &HeaderMap) -> Option<u32> {
    headers.get("grpc-status")?.to_str().ok()?.parse().ok()
}

/// Returns what a status means for the token, or that it does not refer to the token.
fn meaning(status: Option<u32>) -> Reply {
    let Some(status) = status else {
        return Reply::Crashed("answered without a gRPC status".into());
    };
    let refused = |name: &str| Reply::Refused(format!("answered {name}"));
    match status {
        0 => Reply::Accepted,
        // Handlers that return any error produce this status.
        2 => refused("UNKNOWN"),
        3 => refused("INVALID_ARGUMENT"),
        5 => refused("NOT_FOUND"),
        7 => refused("PERMISSION_DENIED"),
        9 => refused("FAILED_PRECONDITION"),
        11 => refused("OUT_OF_RANGE"),
        // The caller's control was accepted, so this refers to the token.
        16 => refused("UNAUTHENTICATED"),
        13 => Reply::Crashed("answered INTERNAL".into()),
        14 => Reply::Crashed("answered UNAVAILABLE".into()),
        other => Reply::Unasked(format!(
            "answered gRPC status {other}, which is no verdict on the token"
        )),
    }
}

fn no_answer(error: impl Display) -> String {
    format!("no answer: {error}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn message_is_encoded_as_protocol_buffers() {
        let message = Message::new(3, vec![(2, "api".to_owned()), (16, String::new())]).unwrap();
        assert_eq!(
            message.framed("t.o.k"),
            &b"\0\0\0\0\x0f\x12\x03api\x82\x01\0\x1a\x05t.o.k"[..]
        );
        let long = Message::default().framed(&"x".repeat(300));
        assert_eq!(&long[..8], b"\0\0\0\x01\x2f\x0a\xac\x02");
        for numbers in [(0, 1), (1, 1), (1, 1 << 29)] {
            assert!(Message::new(numbers.0, vec![(numbers.1, String::new())]).is_err());
        }
    }

    #[test]
    fn grpc_status_maps_to_reply() {
        assert_eq!(meaning(Some(0)), Reply::Accepted);
        for refused in [2, 3, 5, 7, 9, 11, 16] {
            assert!(matches!(meaning(Some(refused)), Reply::Refused(_)));
        }
        for broken in [None, Some(13), Some(14)] {
            assert!(matches!(meaning(broken), Reply::Crashed(_)));
        }
        for other in [1, 4, 6, 8, 10, 12, 15, 17] {
            assert!(matches!(meaning(Some(other)), Reply::Unasked(_)));
        }
    }
}
