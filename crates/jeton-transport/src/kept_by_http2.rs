//! Charges a connection for what HTTP/2 keeps until it ends.
//!
//! h2 keeps the places of streams and of frames that waited, for later ones: a connection that had many at once stays
//! large. Handlers do not see all of these streams, because h2 itself answers headers that are too long. So the frames are
//! counted as they arrive, until the connection pauses.

use std::io;
use std::sync::Arc;

use crate::account::Charge;
use crate::connection_limit::Activity;
use crate::limits::{
    INCOMPLETE_BYTES, KEPT_FRAME_BYTES, KEPT_INCLUDED, KEPT_STREAM_BYTES, WAITING_FRAMES,
};

/// Streams that h2 keeps beside the concurrent ones: those that it has reset, and those that wait to be accepted.
const OTHER_STREAMS: usize = 64;

/// The charge of a connection, with what it keeps.
pub(crate) struct KeptByHttp2 {
    charge: Arc<Charge>,
    activity: Arc<Activity>,
    count: FrameCount,
    /// Calls that were open when the connection paused.
    open: usize,
    /// The most of each so far.
    streams: Most,
    frames: Most,
    /// Whether the connection is charged for a frame or a header block that is not complete.
    is_incomplete: bool,
}

/// The most places that a connection has had.
struct Most {
    charged: usize,
    limit: usize,
    bytes_each: usize,
}

impl KeptByHttp2 {
    pub(crate) fn new(
        charge: &Arc<Charge>,
        activity: &Arc<Activity>,
        calls_per_connection: u32,
    ) -> KeptByHttp2 {
        let most = |limit, bytes_each| Most {
            charged: KEPT_INCLUDED,
            limit,
            bytes_each,
        };
        let streams = calls_per_connection as usize + OTHER_STREAMS;
        KeptByHttp2 {
            charge: charge.clone(),
            activity: activity.clone(),
            count: FrameCount::default(),
            open: 0,
            streams: most(streams, KEPT_STREAM_BYTES),
            frames: most(streams + WAITING_FRAMES, KEPT_FRAME_BYTES),
            is_incomplete: false,
        }
    }

    /// Charges the connection, or fails with the reason.
    pub(crate) fn add(&self, bytes: usize) -> io::Result<()> {
        let added = self.charge.add(bytes);
        added.map_err(|refused| io::Error::other(refused.to_string()))
    }

    pub(crate) fn sub(&self, bytes: usize) {
        self.charge.sub(bytes);
    }

    /// Counts the frames in bytes that h2 is about to read.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.count.add(bytes);
        let FrameCount { headers, data, .. } = self.count;
        self.streams.reach(self.open + headers, &self.charge)?;
        self.frames.reach(headers + data, &self.charge)
    }

    /// Called when h2 has read everything. `is_blocked`: its responses wait for the socket.
    pub(crate) fn pause(&mut self, is_blocked: bool) -> io::Result<()> {
        if !is_blocked {
            self.open = self.activity.calls();
            self.count.headers = 0;
            if !self.activity.has_unread_body() {
                self.count.data = 0;
            }
        }
        let is_incomplete = self.count.is_incomplete();
        if is_incomplete != self.is_incomplete {
            if is_incomplete {
                self.add(INCOMPLETE_BYTES)?;
            } else {
                self.sub(INCOMPLETE_BYTES);
            }
            self.is_incomplete = is_incomplete;
        }
        Ok(())
    }
}

impl Most {
    fn reach(&mut self, count: usize, charge: &Charge) -> io::Result<()> {
        if count <= self.charged || self.charged >= self.limit {
            return Ok(());
        }
        let count = count.min(self.limit).next_multiple_of(KEPT_INCLUDED);
        let added = charge.add((count - self.charged) * self.bytes_each);
        added.map_err(|refused| io::Error::other(refused.to_string()))?;
        self.charged = count;
        Ok(())
    }
}

/// RFC 9113, section 3.4.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// RFC 9113, section 4.1.
const FRAME_HEADER: usize = 9;
/// RFC 9113, section 6.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_HEADERS: u8 = 4;

/// The frames in the bytes of a connection.
#[derive(Debug, Default)]
struct FrameCount {
    protocol: Protocol,
    head: [u8; FRAME_HEADER],
    head_bytes: usize,
    /// Bytes of the payload that have not arrived.
    rest: usize,
    is_in_header_block: bool,
    headers: usize,
    data: usize,
}

#[derive(Debug, Clone, Copy)]
enum Protocol {
    /// So many bytes of the preface have arrived.
    Unknown(usize),
    Http1,
    Http2,
}

impl Default for Protocol {
    fn default() -> Self {
        Protocol::Unknown(0)
    }
}

impl FrameCount {
    fn add(&mut self, mut bytes: &[u8]) {
        if let Protocol::Unknown(arrived) = self.protocol {
            let now = bytes.len().min(PREFACE.len() - arrived);
            self.protocol = if bytes[..now] != PREFACE[arrived..arrived + now] {
                Protocol::Http1
            } else if arrived + now == PREFACE.len() {
                Protocol::Http2
            } else {
                Protocol::Unknown(arrived + now)
            };
            bytes = &bytes[now..];
        }
        if !matches!(self.protocol, Protocol::Http2) {
            return;
        }
        while !bytes.is_empty() {
            if self.rest > 0 {
                let now = bytes.len().min(self.rest);
                self.rest -= now;
                bytes = &bytes[now..];
                continue;
            }
            let now = bytes.len().min(FRAME_HEADER - self.head_bytes);
            self.head[self.head_bytes..self.head_bytes + now].copy_from_slice(&bytes[..now]);
            self.head_bytes += now;
            bytes = &bytes[now..];
            if self.head_bytes == FRAME_HEADER {
                self.head_bytes = 0;
                self.begin();
            }
        }
    }

    /// Begins the frame whose header has arrived.
    fn begin(&mut self) {
        let [high, middle, low, kind, flags, ..] = self.head;
        self.rest = u32::from_be_bytes([0, high, middle, low]) as usize;
        match kind {
            DATA => self.data += 1,
            HEADERS => {
                self.headers += 1;
                self.is_in_header_block = flags & END_HEADERS == 0;
            }
            CONTINUATION => self.is_in_header_block = flags & END_HEADERS == 0,
            _ => {}
        }
    }

    fn is_incomplete(&self) -> bool {
        self.rest > 0 || self.is_in_header_block
    }
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Instant;

    use super::*;
    use crate::account::Account;

    const SHARE: usize = 1 << 30;

    fn kept_of(account: &Arc<Account>) -> KeptByHttp2 {
        let charge = Charge::new(&account.of_address([127, 0, 0, 1].into()), 0).unwrap();
        KeptByHttp2::new(&Arc::new(charge), &Activity::new(Instant::now()), 256)
    }

    pub(crate) fn kept() -> KeptByHttp2 {
        kept_of(&Account::new(SHARE, SHARE))
    }

    fn frame(kind: u8, flags: u8, payload: usize) -> Vec<u8> {
        let length = u32::try_from(payload).unwrap().to_be_bytes();
        let head = [&length[1..], &[kind, flags, 0, 0, 0, 1]].concat();
        [head, vec![0; payload]].concat()
    }

    #[test]
    fn frames_are_counted_wherever_reads_divide_them() {
        let frames = [
            PREFACE.to_vec(),
            frame(4, 0, 6),
            frame(HEADERS, END_HEADERS, 20),
            frame(DATA, 0, 300),
            frame(DATA, 1, 0),
            frame(HEADERS, 0, 20),
            frame(CONTINUATION, END_HEADERS, 5),
        ];
        let bytes = frames.concat();
        for step in 1..=bytes.len() {
            let mut count = FrameCount::default();
            for piece in bytes.chunks(step) {
                count.add(piece);
            }
            assert_eq!((count.headers, count.data), (2, 2), "steps of {step}");
            assert!(!count.is_incomplete());
        }
        let mut count = FrameCount::default();
        count.add(&bytes[..bytes.len() - 1]);
        assert!(count.is_incomplete());
        // Between two frames, but within a header block.
        let mut count = FrameCount::default();
        count.add(&frames[..6].concat());
        assert!(count.is_incomplete());
    }

    #[test]
    fn http1_has_no_frames() {
        let mut count = FrameCount::default();
        count.add(b"P");
        count.add(b"OST /token HTTP/1.1\r\nhost: a\r\n\r\n");
        count.add(&frame(HEADERS, END_HEADERS, 0));
        assert_eq!((count.headers, count.is_incomplete()), (0, false));
    }

    #[test]
    fn most_streams_at_once_stay_charged() {
        let account = Account::new(SHARE, SHARE);
        let mut kept = kept_of(&account);
        let opened = |count| frame(HEADERS, END_HEADERS, 0).repeat(count);
        kept.receive(PREFACE).unwrap();
        kept.receive(&opened(KEPT_INCLUDED)).unwrap();
        assert_eq!(account.held(), 0);
        kept.receive(&opened(KEPT_INCLUDED)).unwrap();
        let each = KEPT_STREAM_BYTES + KEPT_FRAME_BYTES;
        assert_eq!(account.held(), KEPT_INCLUDED * each);
        // The next ones take the places of those that have ended.
        kept.pause(false).unwrap();
        kept.receive(&opened(2 * KEPT_INCLUDED)).unwrap();
        assert_eq!(account.held(), KEPT_INCLUDED * each);
        // Those that wait for the socket have not ended.
        kept.pause(true).unwrap();
        kept.receive(&opened(KEPT_INCLUDED)).unwrap();
        assert_eq!(account.held(), 2 * KEPT_INCLUDED * each);
        // h2 has a limit.
        kept.receive(&opened(10_000)).unwrap();
        let most = 256 + OTHER_STREAMS - KEPT_INCLUDED;
        let frames = 256 + OTHER_STREAMS + WAITING_FRAMES - KEPT_INCLUDED;
        let full = most * KEPT_STREAM_BYTES + frames * KEPT_FRAME_BYTES;
        assert_eq!(account.held(), full);
        drop(kept);
        assert_eq!(account.held(), 0);
    }

    #[test]
    fn incomplete_frame_is_charged_until_it_is_complete() {
        let account = Account::new(SHARE, SHARE);
        let mut kept = kept_of(&account);
        let whole = frame(DATA, 0, 1000);
        kept.receive(&[PREFACE, &whole[..500]].concat()).unwrap();
        kept.pause(false).unwrap();
        kept.pause(false).unwrap();
        assert_eq!(account.held(), INCOMPLETE_BYTES);
        kept.receive(&whole[500..]).unwrap();
        kept.pause(false).unwrap();
        assert_eq!(account.held(), 0);
    }

    #[test]
    fn connection_without_room_for_its_streams_ends() {
        let mut kept = kept_of(&Account::new(SHARE, 1000));
        let opened = frame(HEADERS, END_HEADERS, 0).repeat(KEPT_INCLUDED + 1);
        let refused = kept.receive(&[PREFACE, &opened].concat()).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("maximum 1000 (`limits.memory_share_bytes`)")
        );
    }
}
