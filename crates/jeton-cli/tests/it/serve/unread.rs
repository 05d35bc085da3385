//! A gRPC client that opens a stream and does not read it, written directly on HTTP/2.

use std::io::Write as _;
use std::net::TcpStream;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const SETTINGS: u8 = 4;
pub(super) const CONTINUATION: u8 = 9;
pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;

/// Opens a stream of revocations at `url` with an empty flow control window. The stream lasts as long as the returned
/// value.
pub(crate) fn watch(url: &str) -> TcpStream {
    let host = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        .unwrap();
    // SETTINGS_INITIAL_WINDOW_SIZE (RFC 9113, section 6.5.2).
    frame(&mut stream, SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]);
    // POST and http are from the static table; the others are literals (RFC 7541, section 6.2.2).
    let mut headers = vec![0x83, 0x86];
    literal(
        &mut headers,
        ":path",
        "/jeton.v1.TokenService/WatchRevocations",
    );
    literal(&mut headers, ":authority", host);
    literal(&mut headers, "content-type", "application/grpc");
    literal(&mut headers, "te", "trailers");
    frame(&mut stream, HEADERS, END_HEADERS, 1, &headers);
    // An empty message: not compressed, length 0.
    frame(&mut stream, DATA, END_STREAM, 1, &[0; 5]);
    stream
}

pub(super) fn literal(headers: &mut Vec<u8>, name: &str, value: &str) {
    headers.push(0);
    for text in [name, value] {
        headers.push(u8::try_from(text.len()).unwrap());
        headers.extend(text.as_bytes());
    }
}

fn frame(stream: &mut TcpStream, kind: u8, flags: u8, id: u32, payload: &[u8]) {
    stream
        .write_all(&frame_bytes(kind, flags, id, payload))
        .unwrap();
}

pub(super) fn frame_bytes(kind: u8, flags: u8, id: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let head = [&length[1..], &[kind, flags], &id.to_be_bytes()].concat();
    [&head, payload].concat()
}
