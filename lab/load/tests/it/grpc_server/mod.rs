//! A gRPC server on a separate thread, correct or faulty.

use std::io::Write;
use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::{HeaderMap, HeaderValue, Response};
use jeton::Claims;
use jeton::key::{MacAlg, MacKey};
use tokio::task::{LocalSet, spawn_local};

/// The secret of its tokens.
pub(crate) const SECRET: &[u8] = b"32 bytes of a secret for a test.";

/// The behaviour of the server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Behaviour {
    /// Answers with a token.
    Good,
    /// Answers with a token that was signed with another key.
    OtherKey,
    /// Good, except for a time in which the whole server stalls, counted from its first call.
    Stalls {
        /// The start of the stall.
        after: Duration,
        /// The duration of the stall.
        lasts: Duration,
    },
    /// Answers immediately with an error; on a stream, to each message without ending the stream.
    Status(u8),
    /// Good, except for streams: each ends with UNAVAILABLE after this number of answers.
    EndsStreams(usize),
    /// Answers like a web server.
    Html,
    /// Lets every request pass, as a gateway.
    Passes,
    /// Lets no request pass, as a gateway.
    Refuses,
    /// Answers with a token but no status.
    NoStatus,
    /// Answers with a truncated message.
    HalfAMessage,
    /// Accepts calls and never answers.
    Silent,
    /// Answers with HTTP/1.1.
    NoHttp2,
    /// Accepts connections and closes them.
    Closes,
}

/// Starts a server that lasts as long as the test process.
pub(crate) fn serve(behaviour: Behaviour) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        LocalSet::new().block_on(&runtime, async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let answers: &'static Answers = Box::leak(Box::new(Answers::new(behaviour)));
            if let Behaviour::Stalls { after, lasts } = behaviour {
                let (stream, _) = listener.accept().await.unwrap();
                spawn_local(connection(stream, answers));
                spawn_local(async move {
                    tokio::time::sleep(after).await;
                    // Blocks the runtime's only thread: nothing is read or answered.
                    thread::sleep(lasts);
                });
            }
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                spawn_local(connection(stream, answers));
            }
        });
    });
    address
}

struct Answers {
    behaviour: Behaviour,
    good: Bytes,
    /// The same as a message of `IssueStream`.
    streamed: Bytes,
}

impl Answers {
    fn new(behaviour: Behaviour) -> Self {
        let secret = match behaviour {
            Behaviour::OtherKey => b"another secret of 32 bytes, too.",
            _ => SECRET,
        };
        let key = MacKey::new(MacAlg::HS256, secret).unwrap();
        let claims = Claims::new(serde_json::json!({}))
            .subject("user0001@mail.test")
            .expires_in(Duration::from_hours(2));
        let token = key.issue(&claims).unwrap();
        let issued = first_field(token.as_bytes());
        let mut message = issued.clone();
        message.extend_from_slice(b"\x12\x12user0001@mail.test");
        let streamed = match behaviour {
            // An ItemError with this code.
            Behaviour::Status(number) => vec![0x12, 2, 0x08, number],
            _ => first_field(&issued),
        };
        Self {
            behaviour,
            good: framed(&message),
            streamed: framed(&streamed),
        }
    }
}

/// Encodes field 1 with a length of at least 128 bytes.
fn first_field(content: &[u8]) -> Vec<u8> {
    let length = content.len();
    let mut field = vec![0x0a, (length % 128) as u8 | 0x80, (length / 128) as u8];
    field.extend_from_slice(content);
    field
}

fn framed(message: &[u8]) -> Bytes {
    let mut frame = vec![0];
    frame.extend_from_slice(&(message.len() as u32).to_be_bytes());
    frame.extend_from_slice(message);
    frame.into()
}

async fn connection(stream: tokio::net::TcpStream, answers: &'static Answers) {
    match answers.behaviour {
        Behaviour::Closes => return,
        Behaviour::NoHttp2 => {
            let mut stream = stream.into_std().unwrap();
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            return;
        }
        _ => {}
    }
    stream.set_nodelay(true).unwrap();
    let Ok(mut connection) = h2::server::handshake(stream).await else {
        return;
    };
    let mut kept = Vec::new();
    let began = Instant::now();
    while let Some(Ok((request, respond))) = connection.accept().await {
        if answers.behaviour == Behaviour::Silent {
            kept.push((request, respond));
            assert!(began.elapsed() < Duration::from_mins(5));
            continue;
        }
        if request.uri().path() == "/jeton.v1.TokenService/IssueStream" {
            spawn_local(answer_each(request.into_body(), respond, answers));
        } else {
            answer(respond, answers);
        }
    }
}

/// Sends a message for each received one, until the client ends the stream.
async fn answer_each(mut there: RecvStream, mut respond: SendResponse<Bytes>, answers: &Answers) {
    let mut back = None;
    let (mut arrived, mut answered) = (Vec::new(), 0);
    let most = match answers.behaviour {
        Behaviour::EndsStreams(most) => most,
        _ => usize::MAX,
    };
    while let Some(Ok(piece)) = there.data().await {
        there.flow_control().release_capacity(piece.len()).unwrap();
        arrived.extend_from_slice(&piece);
        // Like some servers, sends headers only after the first message.
        let back = back.get_or_insert_with(|| respond.send_response(head(200), false).unwrap());
        while let Some((prefix, rest)) = arrived.split_first_chunk::<5>() {
            let length = usize::from(prefix[4]);
            if rest.len() < length {
                break;
            }
            arrived.drain(..5 + length);
            if back.send_data(answers.streamed.clone(), false).is_err() {
                return;
            }
            answered += 1;
            if answered == most {
                let _ = back.send_trailers(status(14));
                return;
            }
        }
    }
    if let Some(mut back) = back {
        let _ = back.send_trailers(status(0));
    }
}

fn head(status: u16) -> Response<()> {
    Response::builder()
        .status(status)
        .header("content-type", "application/grpc")
        .body(())
        .unwrap()
}

fn status(number: u8) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from(u16::from(number)));
    trailers
}

fn answer(mut respond: SendResponse<Bytes>, answers: &Answers) {
    let (code, body, trailers) = match answers.behaviour {
        Behaviour::Status(number) => {
            let mut head = head(200);
            head.headers_mut().extend(status(number));
            let _ = respond.send_response(head, true);
            return;
        }
        Behaviour::Html => (404, Bytes::from_static(b"<html>"), None),
        Behaviour::Passes => (200, Bytes::from_static(b"passed"), None),
        Behaviour::Refuses => (401, Bytes::from_static(b"no"), None),
        Behaviour::NoStatus => (200, answers.good.clone(), None),
        Behaviour::HalfAMessage => (200, answers.good.slice(..20), Some(status(0))),
        _ => (200, answers.good.clone(), Some(status(0))),
    };
    let Ok(mut stream) = respond.send_response(head(code), false) else {
        return;
    };
    let sent = stream.send_data(body, trailers.is_none());
    if let (Ok(()), Some(trailers)) = (sent, trailers) {
        let _ = stream.send_trailers(trailers);
    }
}
