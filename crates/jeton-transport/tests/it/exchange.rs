//! One request over HTTP/2 frames, and what came back.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use h2::RecvStream;
use h2::client::SendRequest;
use http::{HeaderMap, Method, Request};
use prost::Message;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Time limit for a response.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit for a response that plain tonic never ends.
pub(super) const NO_END: Duration = Duration::from_secs(8);
/// The same for this server, which ends it in three seconds.
pub(super) const OWN_END: Duration = Duration::from_secs(60);

/// A request. Unlike a client, it may break every rule of gRPC.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, String)>,
    /// The body, in the pieces that are sent as DATA frames.
    pub(super) body: Vec<Bytes>,
    pub(super) end: End,
    /// Whether plain tonic does not end the response.
    pub(super) is_endless: bool,
}

/// How a request ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With END_STREAM on the last DATA frame, or on the headers if there is no body.
    Stream,
    /// With trailers.
    Trailers,
    /// Not at all: the server must end the call.
    Never,
}

/// What can be seen of a response, by aspect: `response`, `grpc-status`, `body`, …
pub(super) type Seen = BTreeMap<String, String>;

impl Call {
    /// A well-formed gRPC call.
    pub(super) fn new(name: &'static str, path: &str) -> Call {
        Call {
            name,
            method: Method::POST,
            path: path.to_owned(),
            headers: vec![
                ("content-type", "application/grpc".to_owned()),
                ("te", "trailers".to_owned()),
            ],
            body: Vec::new(),
            end: End::Stream,
            is_endless: false,
        }
    }

    pub(super) fn message(self, message: &impl Message) -> Call {
        let framed = framed(message);
        self.body(framed)
    }

    pub(super) fn body(mut self, bytes: impl Into<Bytes>) -> Call {
        self.body.push(bytes.into());
        self
    }

    pub(super) fn header(mut self, name: &'static str, value: &str) -> Call {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(super) fn without(mut self, name: &str) -> Call {
        self.headers.retain(|(other, _)| *other != name);
        self
    }

    pub(super) fn endless(mut self) -> Call {
        self.is_endless = true;
        self
    }

    pub(super) fn end(mut self, end: End) -> Call {
        self.end = end;
        self
    }
}

/// A message in its frame.
pub(super) fn framed(message: &impl Message) -> Vec<u8> {
    let message = message.encode_to_vec();
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[0][..], &length, &message].concat()
}

/// Sends a request on a connection of its own. `no_end` is the time limit if plain tonic does not end the response.
pub(super) async fn exchange(address: SocketAddr, call: &Call, no_end: Duration) -> Seen {
    let stream = TcpStream::connect(address).await.unwrap();
    let (sender, connection) = h2::client::handshake(stream).await.unwrap();
    let connection = tokio::spawn(connection);
    let mut seen = Seen::new();
    let limit = if call.is_endless { no_end } else { TIMEOUT };
    let is_ended = timeout(limit, send(sender, call, &mut seen)).await.is_ok();
    connection.abort();
    let response = if is_ended {
        kind(&seen)
    } else {
        "never ends".to_owned()
    };
    seen.insert("response".to_owned(), response);
    seen
}

/// Whether a response is gRPC, and what it says if it is not.
fn kind(seen: &Seen) -> String {
    let value = |aspect| seen.get(aspect).map_or("", String::as_str);
    match (value("header content-type"), value("status")) {
        ("application/grpc", "200") => "gRPC".to_owned(),
        ("application/grpc", status) => format!("gRPC with HTTP {status}"),
        (_, status) => format!("HTTP {status}: {}", value("body").trim_end()),
    }
}

async fn send(sender: SendRequest<Bytes>, call: &Call, seen: &mut Seen) {
    let mut request = Request::builder()
        .method(call.method.clone())
        .uri(format!("http://localhost{}", call.path));
    for (name, value) in &call.headers {
        request = request.header(*name, value);
    }
    let mut sender = sender.ready().await.unwrap();
    let is_ended = call.body.is_empty() && call.end == End::Stream;
    let (response, mut body) = sender
        .send_request(request.body(()).unwrap(), is_ended)
        .unwrap();
    for (index, piece) in call.body.iter().enumerate() {
        let is_last = index + 1 == call.body.len() && call.end == End::Stream;
        // The server may have ended the call already.
        let _ = body.send_data(piece.clone(), is_last);
    }
    if call.end == End::Trailers {
        let trailers =
            [("x-end", "1")].map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let _ = body.send_trailers(HeaderMap::from_iter(trailers));
    }
    match response.await {
        Err(error) => drop(seen.insert("reset".to_owned(), reset(&error))),
        Ok(response) => {
            let (head, body) = response.into_parts();
            seen.insert("status".to_owned(), head.status.as_u16().to_string());
            add(seen, "header", &head.headers);
            read(seen, body).await;
        }
    }
}

async fn read(seen: &mut Seen, mut body: RecvStream) {
    let mut bytes = Vec::new();
    while let Some(data) = body.data().await {
        match data {
            Ok(data) => {
                let _ = body.flow_control().release_capacity(data.len());
                bytes.extend_from_slice(&data);
                seen.insert("body".to_owned(), shown(&bytes));
            }
            Err(error) => {
                seen.insert("reset".to_owned(), reset(&error));
                return;
            }
        }
    }
    match body.trailers().await {
        Ok(None) => {}
        Ok(Some(trailers)) => add(seen, "trailer", &trailers),
        Err(error) => drop(seen.insert("reset".to_owned(), reset(&error))),
    }
}

fn reset(error: &h2::Error) -> String {
    error
        .reason()
        .map_or(error.to_string(), |reason| format!("{reason:?}"))
}

/// Adds each header but the date. Where the status of the call is, is an aspect of its own.
fn add(seen: &mut Seen, kind: &str, headers: &HeaderMap) {
    for name in headers.keys().filter(|name| *name != "date") {
        let values: Vec<_> = headers
            .get_all(name)
            .iter()
            .map(|value| shown(value.as_bytes()))
            .collect();
        let is_status = name.as_str().starts_with("grpc-status") || name == "grpc-message";
        let aspect = if is_status {
            name.to_string()
        } else {
            format!("{kind} {name}")
        };
        if name == "grpc-status" {
            seen.insert("status is in".to_owned(), format!("the {kind}s"));
        }
        seen.insert(aspect, values.join(", "));
    }
}

/// Text as it is, other bytes in hexadecimal. Of a long body, its length and a hash.
fn shown(bytes: &[u8]) -> String {
    if bytes.len() > 4096 {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        return format!("{} bytes, hash {:x}", bytes.len(), hasher.finish());
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(|letter: char| letter.is_control() && letter != '\n') => {
            text.to_owned()
        }
        _ => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}
