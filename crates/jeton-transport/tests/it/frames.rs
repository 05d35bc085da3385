//! HTTP/2 frames, as they are on the wire.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const END_STREAM: u8 = 1;
pub(super) const ACK: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;

const TIMEOUT: Duration = Duration::from_secs(60);

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
    pub(super) payload: Vec<u8>,
}

/// A connection that sends what it is told, and acknowledges settings and pings.
pub(super) struct Frames(TcpStream);

impl Frames {
    pub(super) async fn connect(address: SocketAddr) -> Frames {
        let mut frames = Frames(TcpStream::connect(address).await.unwrap());
        let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
        frames.0.write_all(preface).await.unwrap();
        frames.send(SETTINGS, 0, 0, &[]).await;
        frames
    }

    pub(super) async fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let stream = stream.to_be_bytes();
        let frame = [&length[1..], &[kind, flags], &stream, payload].concat();
        // The server may have closed the connection.
        let _ = self.0.write_all(&frame).await;
    }

    /// Sends the headers of a call, without Huffman coding and without the dynamic table.
    pub(super) async fn call(&mut self, stream: u32, path: &str) {
        let mut block = Vec::new();
        for (name, value) in [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", path),
            (":authority", "localhost"),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
        ] {
            block.push(0);
            for text in [name, value] {
                block.push(u8::try_from(text.len()).unwrap());
                block.extend_from_slice(text.as_bytes());
            }
        }
        self.send(HEADERS, END_HEADERS, stream, &block).await;
    }

    /// The next frame. `None` at the end of the connection.
    pub(super) async fn next(&mut self) -> Option<Frame> {
        let frame = timeout(TIMEOUT, self.read()).await.unwrap()?;
        match frame.kind {
            SETTINGS if frame.flags & ACK == 0 => self.send(SETTINGS, ACK, 0, &[]).await,
            PING if frame.flags & ACK == 0 => self.send(PING, ACK, 0, &frame.payload).await,
            _ => {}
        }
        Some(frame)
    }

    async fn read(&mut self) -> Option<Frame> {
        let mut header = [0; 9];
        self.0.read_exact(&mut header).await.ok()?;
        let [a, b, c, kind, flags, s, t, u, v] = header;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.0.read_exact(&mut payload).await.ok()?;
        Some(Frame {
            kind,
            flags,
            stream: u32::from_be_bytes([s, t, u, v]),
            payload,
        })
    }
}

impl Frame {
    /// The number at that position of the payload.
    pub(super) fn number(&self, at: usize) -> u32 {
        let bytes = self.payload.get(at..at + 4).unwrap();
        u32::from_be_bytes(bytes.try_into().unwrap())
    }
}
