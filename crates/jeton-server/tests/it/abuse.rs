//! Hostile HTTP/2 clients, while another client continues undisturbed.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use bytes::Bytes;
use jeton_proto::v1::{IssueBatchRequest, IssueItem};

use crate::connections::{is_live, sometime};
use crate::harness::{ISSUER, TestServer};
use crate::raw_grpc::{self, framed, unended};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// Longer than a call takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A request for `Issue`.
fn request_headers() -> Vec<u8> {
    headers_to("/jeton.v1.TokenService/Issue")
}

/// The headers of a POST, in HPACK without table and Huffman coding.
fn headers_to(path: &str) -> Vec<u8> {
    headers_of("POST", path, "application/grpc")
}

fn headers_of(method: &str, path: &str, content_type: &str) -> Vec<u8> {
    let mut block = Vec::new();
    let fields = [
        (":method", method),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("content-type", content_type),
        ("te", "trailers"),
    ];
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).unwrap());
            block.extend_from_slice(text.as_bytes());
        }
    }
    block
}

/// A raw HTTP/2 connection.
struct Raw(TcpStream);

impl Raw {
    fn connect(fixture: &TestServer) -> Raw {
        let stream = TcpStream::connect(fixture.address()).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.set_write_timeout(Some(TIMEOUT)).unwrap();
        let mut raw = Raw(stream);
        raw.0
            .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            .unwrap();
        assert!(raw.send(SETTINGS, 0, 0, &[]));
        raw
    }

    /// Sends a frame. False if the server has closed the connection.
    fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> bool {
        let mut frame = Vec::with_capacity(9 + payload.len());
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        frame.extend_from_slice(&length[1..]);
        frame.extend_from_slice(&[kind, flags]);
        frame.extend_from_slice(&stream.to_be_bytes());
        frame.extend_from_slice(payload);
        self.0.write_all(&frame).is_ok()
    }

    /// Reads until this many streams have a response. False if the connection ended before.
    fn answered(&mut self, mut streams: usize) -> bool {
        while streams > 0 {
            match self.frame() {
                None | Some((GOAWAY, ..)) => return false,
                Some((HEADERS | DATA, flags, ..)) if flags & END_STREAM != 0 => streams -= 1,
                Some(_) => {}
            }
        }
        true
    }

    /// Reads until the server has reset this many streams, and returns them in order.
    fn reset_streams(&mut self, count: usize) -> Vec<u32> {
        let mut reset = Vec::new();
        while reset.len() < count {
            let (kind, _, stream, _) = self.frame().expect("the connection is open");
            if kind == RST_STREAM {
                reset.push(stream);
            }
        }
        reset.sort_unstable();
        reset
    }

    /// Kind, flags, stream and payload of the next frame.
    fn frame(&mut self) -> Option<(u8, u8, u32, Vec<u8>)> {
        let mut header = [0; 9];
        self.0.read_exact(&mut header).ok()?;
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
        let stream = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
        let mut payload = vec![0; length as usize];
        self.0.read_exact(&mut payload).ok()?;
        Some((header[3], header[4], stream, payload))
    }

    /// Reads until the connection ends. Returns the error code of GOAWAY and the number of reset streams.
    fn end(mut self) -> (Option<u32>, usize) {
        let (mut goaway, mut reset) = (None, 0);
        while let Some((kind, _, _, payload)) = self.frame() {
            match kind {
                GOAWAY => {
                    let code = u32::from_be_bytes(payload[4..8].try_into().unwrap());
                    goaway = Some(code);
                }
                RST_STREAM => reset += 1,
                _ => {}
            }
        }
        (goaway, reset)
    }
}

/// Checks that another client can issue tokens meanwhile.
fn assert_other_clients_served(fixture: &TestServer) {
    let begun = Instant::now();
    for _ in 0..5 {
        assert!(!fixture.issue("mac", "other").token.is_empty());
    }
    assert!(begun.elapsed() < TIMEOUT);
}

#[test]
fn rapid_reset_ends_the_connection() {
    let fixture = TestServer::plain();
    let mut raw = Raw::connect(&fixture);
    let block = request_headers();
    let mut sent = 0;
    for stream in (1..40_000).step_by(2) {
        let open = raw.send(HEADERS, END_HEADERS, stream, &block)
            && raw.send(RST_STREAM, 0, stream, &[0, 0, 0, 8]);
        if !open {
            break;
        }
        sent += 1;
    }
    let (goaway, _) = raw.end();
    // ENHANCE_YOUR_CALM. The connection may close before the frame could be read.
    assert!(
        goaway == Some(11) || sent < 19_999,
        "{goaway:?} after {sent}"
    );
    assert_other_clients_served(&fixture);
}

#[test]
fn continuation_flood_ends_the_connection() {
    let fixture = TestServer::plain();
    let mut raw = Raw::connect(&fixture);
    assert!(raw.send(HEADERS, 0, 1, &request_headers()));
    // A header field that never ends: repeated literals of 16 KiB.
    let mut field = vec![0, 1, b'x', 0x7f, 0x81, 0x7f];
    field.resize(16_000, b'a');
    let mut sent = 0;
    while sent < 2_000 && raw.send(CONTINUATION, 0, 1, &field) {
        sent += 1;
    }
    let (goaway, _) = raw.end();
    assert!(sent < 2_000, "the server accepted 32 MB of headers");
    assert!(goaway.is_none_or(|code| code != 0));
    assert_other_clients_served(&fixture);
}

#[test]
fn streams_beyond_the_limit_are_reset() {
    let fixture = TestServer::with(&format!("[limits]\ncalls_per_connection = 100\n{ISSUER}"));
    let mut raw = Raw::connect(&fixture);
    let block = request_headers();
    // Each stream starts a message and never completes it.
    let mut opened = 0;
    for stream in (1..20_000).step_by(2) {
        let open = raw.send(HEADERS, END_HEADERS, stream, &block)
            && raw.send(DATA, 0, stream, &[0, 0, 0, 1, 0]);
        if !open {
            break;
        }
        opened += 1;
    }
    assert_other_clients_served(&fixture);
    let (goaway, reset) = raw.end();
    assert!(
        reset + 100 >= opened || goaway.is_some_and(|code| code != 0),
        "{opened} opened, {reset} reset, {goaway:?}"
    );
}

#[test]
fn client_that_reads_nothing_is_disconnected() {
    let fixture = TestServer::with(&format!(
        "[limits]\nclient_stall_timeout_seconds = 1\n{ISSUER}"
    ));
    let mut stream = TcpStream::connect(fixture.address()).unwrap();
    stream.set_write_timeout(Some(TIMEOUT)).unwrap();
    // Requests many key sets and reads none of them.
    let request =
        b"GET /tenant/.well-known/jwks.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(100);
    let begun = Instant::now();
    while begun.elapsed() < TIMEOUT && stream.write_all(&request).is_ok() {}
    let admin = fixture.server().admin_address();
    let metrics = || crate::raw_http::get(admin, "/metrics", &[]).body;
    let is_counted = || metrics().contains("jeton_connections_stalled_total 1\n");
    let begun = Instant::now();
    while !is_counted() {
        assert!(
            begun.elapsed() < TIMEOUT,
            "the server did not disconnect the client"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_other_clients_served(&fixture);
}

/// A client may keep its HTTP/2 window closed and still answer pings without limit.
#[test]
fn response_that_is_not_read_ends() {
    let fixture = TestServer::with(&format!(
        "[limits]\nclient_stall_timeout_seconds = 2\n{ISSUER}"
    ));
    let mut raw = Raw::connect(&fixture);
    // SETTINGS_INITIAL_WINDOW_SIZE is 0.
    assert!(raw.send(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]));
    let batch = IssueBatchRequest {
        profile: "mac".to_owned(),
        items: vec![IssueItem::default(); 1000],
        ..IssueBatchRequest::default()
    };
    let path = "/jeton.v1.TokenService/IssueBatch";
    assert!(raw.send(HEADERS, END_HEADERS, 1, &headers_to(path)));
    assert!(raw.send(DATA, END_STREAM, 1, &framed(&batch)));
    let begun = Instant::now();
    assert_eq!(raw.reset_streams(1), [1]);
    assert!(begun.elapsed() >= Duration::from_secs(2));
    assert_other_clients_served(&fixture);
    // A client that reads slowly receives the whole response. It takes longer than the
    // timeout, which is long enough for a busy machine between two steps.
    let fixture = TestServer::with(&format!(
        "[limits]\nclient_stall_timeout_seconds = 10\n{ISSUER}"
    ));
    let mut raw = Raw::connect(&fixture);
    assert!(raw.send(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]));
    assert!(raw.send(HEADERS, END_HEADERS, 1, &headers_to(path)));
    assert!(raw.send(DATA, END_STREAM, 1, &framed(&batch)));
    let read_more = |raw: &mut Raw, bytes: u32| {
        raw.send(WINDOW_UPDATE, 0, 0, &bytes.to_be_bytes());
        raw.send(WINDOW_UPDATE, 0, 1, &bytes.to_be_bytes());
    };
    for _ in 0..12 {
        std::thread::sleep(Duration::from_secs(1));
        read_more(&mut raw, 24 * 1024);
    }
    read_more(&mut raw, 1024 * 1024);
    assert!(raw.answered(1));
    assert_other_clients_served(&fixture);
}

/// Responses of any size count, also those of calls without credentials. The connection continues.
#[test]
fn short_responses_that_are_not_read_end() {
    let fixture = TestServer::with(&format!(
        "[limits]\nclient_stall_timeout_seconds = 1\n{ISSUER}"
    ));
    let mut raw = Raw::connect(&fixture);
    assert!(raw.send(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]));
    let gets = ["/tenant/.well-known/jwks.json", "/nowhere", "/livez"];
    for (stream, path) in [1, 3, 5].into_iter().zip(gets) {
        let block = headers_of("GET", path, "text/plain");
        assert!(raw.send(HEADERS, END_HEADERS | END_STREAM, stream, &block));
    }
    let watch = headers_to("/grpc.health.v1.Health/Watch");
    assert!(raw.send(HEADERS, END_HEADERS, 7, &watch));
    assert!(raw.send(DATA, END_STREAM, 7, &[0, 0, 0, 0, 0]));
    assert_eq!(raw.reset_streams(4), [1, 3, 5, 7]);
    let admin = fixture.server().admin_address();
    let metrics = crate::raw_http::get(admin, "/metrics", &[]).body;
    assert!(metrics.contains("jeton_streams_stalled_total 4\n"));
    // A call whose response is read.
    let block = headers_of("GET", "/livez", "text/plain");
    assert!(raw.send(HEADERS, END_HEADERS | END_STREAM, 9, &block));
    raw.send(WINDOW_UPDATE, 0, 9, &1000_u32.to_be_bytes());
    assert!(raw.answered(1));
    assert_other_clients_served(&fixture);
}

/// A watch that has nothing to say is not a response that is not read.
#[test]
fn idle_health_watch_continues() {
    let fixture = TestServer::with(&format!(
        "[limits]\nclient_stall_timeout_seconds = 1\n{ISSUER}"
    ));
    let mut raw = Raw::connect(&fixture);
    let watch = headers_to("/grpc.health.v1.Health/Watch");
    assert!(raw.send(HEADERS, END_HEADERS, 1, &watch));
    assert!(raw.send(DATA, END_STREAM, 1, &[0, 0, 0, 0, 0]));
    raw.0
        .set_read_timeout(Some(Duration::from_secs(3)))
        .unwrap();
    while let Some((kind, ..)) = raw.frame() {
        assert_ne!(kind, RST_STREAM);
    }
}

/// A request whose message never begins has a time limit, with and without credentials.
#[test]
fn requests_without_a_message_time_out() {
    let fixture = TestServer::with(&format!(
        "[limits]\nclient_stall_timeout_seconds = 1\n{ISSUER}"
    ));
    let mut raw = Raw::connect(&fixture);
    let paths = [
        "/jeton.v1.TokenService/Verify",
        "/grpc.health.v1.Health/Check",
    ];
    for (stream, path) in [1, 3].into_iter().zip(paths) {
        assert!(raw.send(HEADERS, END_HEADERS, stream, &headers_to(path)));
    }
    assert!(raw.answered(2));
}

#[test]
fn connection_beyond_the_limit_is_closed() {
    let fixture = TestServer::with(&format!("[limits]\nconnections = 2\n{ISSUER}"));
    let mut held: Vec<Raw> = (0..2).map(|_| Raw::connect(&fixture)).collect();
    for raw in &mut held {
        assert!(raw.frame().is_some(), "a connection within the limit");
    }
    let mut third = TcpStream::connect(fixture.address()).unwrap();
    third.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut byte = [0];
    let is_closed = match third.read(&mut byte) {
        Ok(bytes) => bytes == 0,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    };
    assert!(is_closed, "the connection was not closed");
    drop(held);
    assert!(sometime(|| is_live(fixture.address())));
    assert!(!fixture.issue("mac", "a").token.is_empty());
}

#[test]
fn truncated_message_does_not_disturb_others() {
    let fixture = TestServer::plain();
    let mut raw = Raw::connect(&fixture);
    assert!(raw.send(HEADERS, END_HEADERS, 1, &request_headers()));
    assert!(raw.send(DATA, END_STREAM, 1, &[0, 0, 0, 1, 0, 1, 2]));
    assert!(raw.send(HEADERS, END_HEADERS, 3, &request_headers()));
    assert!(raw.send(DATA, END_STREAM, 3, &[9, 9, 9, 9, 9]));
    assert_other_clients_served(&fixture);
}

/// A gateway may send calls of many users through one connection. Calls that fail before their bodies arrive
/// must not end it for the others.
#[test]
fn early_errors_do_not_end_the_connection() {
    let fixture = TestServer::with(&format!(
        "[bearer]\nissuer = 'https://id.example/tenant'\naudience = 'web'\n\
         [[client]]\nname = 'known'\nbearer_subject = 'known'\nmay = ['issue']\nissuers = ['*']\n{ISSUER}"
    ));
    let mut raw = Raw::connect(&fixture);
    // The window of the connection, for the texts of all responses.
    assert!(raw.send(WINDOW_UPDATE, 0, 0, &(1_u32 << 20).to_be_bytes()));
    let body = [0, 0, 0, 0, 0];
    let paths = [
        "/jeton.v1.TokenService/Issue",
        "/jeton.v1.TokenService/NoSuchMethod",
        "/jeton.v1.AdminService/Status",
        "/tenant/introspect",
        "/nowhere",
    ];
    let streams: Vec<u32> = (1..4_000).step_by(2).collect();
    for together in streams.chunks(100) {
        for (stream, path) in together.iter().zip(paths.iter().cycle()) {
            assert!(raw.send(HEADERS, END_HEADERS, *stream, &headers_to(path)));
        }
        assert!(raw.answered(together.len()), "after {together:?}");
        for stream in together {
            assert!(raw.send(DATA, END_STREAM, *stream, &body));
        }
    }
}

/// Incomplete messages share one budget. Services without credentials do not use it, and every message has a
/// time limit.
#[test]
fn incomplete_messages_time_out() {
    let fixture = TestServer::with(&format!(
        "[limits]\nclient_stall_timeout_seconds = 1\n{ISSUER}"
    ));
    // Announces 128 KiB and sends one byte.
    let begun = Bytes::from_static(&[0, 0, 2, 0, 0, 1]);
    for (path, waits) in [
        ("jeton.v1.TokenService/Verify", true),
        ("jeton.v1.TokenService/IssueStream", true),
        ("grpc.health.v1.Health/Check", false),
        ("grpc.health.v1.Health/Watch", false),
        (
            "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            false,
        ),
    ] {
        let sent = Instant::now();
        let response = raw_grpc::call(&fixture, path, &[], unended(vec![begun.clone()]));
        let is_timeout = response.end()["grpc-status"] == "4";
        assert_eq!(is_timeout, waits, "{path}: {response:?}");
        // One second, plus two for the announced length.
        assert!(!waits || sent.elapsed() > Duration::from_secs(2), "{path}");
    }
    // A complete message is also charged while its request has not ended.
    let mut raw = Raw::connect(&fixture);
    assert!(raw.send(HEADERS, END_HEADERS, 1, &request_headers()));
    assert!(raw.send(DATA, 0, 1, &[0, 0, 0, 0, 0]));
    assert!(raw.answered(1), "the request did not time out");
    assert_other_clients_served(&fixture);
}
