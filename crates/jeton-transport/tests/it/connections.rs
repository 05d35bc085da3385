//! What a connection sees: settings, limits, cancelled calls and the end of the server.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use jeton_transport::limits::RECEIVE_WINDOW_BYTES;

use super::block_on;
use super::exchange::framed;
use super::frames::{DATA, END_STREAM, Frame, Frames, GOAWAY, HEADERS, RST_STREAM, SETTINGS};
use super::probe::{Probe, Probes};
use super::probe_calls::issue;
use super::servers::{CALLS, HEADER_BYTES};

const ISSUE: &str = "/jeton.v1.TokenService/Issue";
const CANCEL: [u8; 4] = [0, 0, 0, 8];

/// Waits until this many calls wait in the probe.
async fn until_waiting(probe: &Probe, count: usize) {
    let begun = Instant::now();
    while probe.waiting.load(std::sync::atomic::Ordering::SeqCst) != count {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "never {count} waiting calls"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn settings(address: SocketAddr) -> BTreeMap<u16, u32> {
    let mut frames = Frames::connect(address).await;
    let first = frames.next().await.unwrap();
    assert_eq!(first.kind, SETTINGS);
    let one = |setting: &[u8]| {
        let [id, value @ ..] = *setting.first_chunk::<6>().unwrap();
        let [second, value @ ..] = value;
        (u16::from_be_bytes([id, second]), u32::from_be_bytes(value))
    };
    first.payload.chunks(6).map(one).collect()
}

#[test]
fn settings_of_http2_are_as_with_tonic() {
    block_on(async {
        let probes = Probes::start().await;
        let mut ours = settings(probes.pair.ours).await;
        let mut tonic = settings(probes.pair.tonic).await;
        // SETTINGS_INITIAL_WINDOW_SIZE: what a connection buffers is part of its charge.
        assert_eq!(ours.remove(&4), Some(RECEIVE_WINDOW_BYTES));
        tonic.remove(&4);
        assert_eq!(ours, tonic);
        // SETTINGS_MAX_CONCURRENT_STREAMS and SETTINGS_MAX_HEADER_LIST_SIZE.
        assert_eq!((ours[&3], ours[&6]), (CALLS, HEADER_BYTES));
        probes.stop().await;
    });
}

#[test]
fn cancelled_calls_end_as_with_tonic() {
    block_on(async {
        let probes = Probes::start().await;
        for (address, probe) in [
            (probes.pair.ours, &probes.ours),
            (probes.pair.tonic, &probes.tonic),
        ] {
            let mut frames = Frames::connect(address).await;
            let wait = framed(&issue("wait 60000"));
            for stream in [1, 3] {
                frames.call(stream, ISSUE).await;
                frames.send(DATA, END_STREAM, stream, &wait).await;
            }
            until_waiting(probe, 2).await;
            // One call is cancelled, and the other one continues.
            frames.send(RST_STREAM, 0, 1, &CANCEL).await;
            until_waiting(probe, 1).await;
            frames.call(5, ISSUE).await;
            frames
                .send(DATA, END_STREAM, 5, &framed(&issue("ok")))
                .await;
            let end = end_of(&mut frames, 5).await;
            assert_eq!(end.kind, HEADERS, "{end:?}");
            // The client goes away.
            drop(frames);
            until_waiting(probe, 0).await;
        }
        probes.stop().await;
    });
}

/// The last frame of a stream.
async fn end_of(frames: &mut Frames, stream: u32) -> Frame {
    loop {
        let frame = frames.next().await.unwrap();
        let is_end = frame.kind == RST_STREAM || frame.flags & END_STREAM != 0;
        if frame.stream == stream && is_end && frame.kind != SETTINGS {
            return frame;
        }
    }
}

#[test]
fn calls_beyond_the_limit_are_refused_as_with_tonic() {
    block_on(async {
        let probes = Probes::start().await;
        let mut ends = Vec::new();
        for (address, probe) in [
            (probes.pair.ours, &probes.ours),
            (probes.pair.tonic, &probes.tonic),
        ] {
            let mut frames = Frames::connect(address).await;
            let wait = framed(&issue("wait 60000"));
            for call in 0..CALLS {
                frames.call(1 + 2 * call, ISSUE).await;
                frames.send(DATA, END_STREAM, 1 + 2 * call, &wait).await;
            }
            until_waiting(probe, CALLS as usize).await;
            let beyond = 1 + 2 * CALLS;
            frames.call(beyond, ISSUE).await;
            let end = end_of(&mut frames, beyond).await;
            ends.push((end.kind, end.number(0)));
        }
        // REFUSED_STREAM: the client may retry.
        assert_eq!(ends, [(RST_STREAM, 7); 2]);
        probes.stop().await;
    });
}

#[test]
fn concurrent_calls_get_their_own_responses() {
    block_on(async {
        let probes = Probes::start().await;
        for address in [probes.pair.ours, probes.pair.tonic] {
            let mut frames = Frames::connect(address).await;
            let lengths: Vec<u32> = (0..CALLS).collect();
            for length in &lengths {
                frames.call(1 + 2 * length, ISSUE).await;
                let message = framed(&issue(&format!("long {length}")));
                frames
                    .send(DATA, END_STREAM, 1 + 2 * length, &message)
                    .await;
            }
            let mut responses = BTreeMap::new();
            let mut open = CALLS;
            while open > 0 {
                let frame = frames.next().await.unwrap();
                match frame.kind {
                    DATA => drop(responses.insert(frame.stream, frame.payload.clone())),
                    HEADERS if frame.flags & END_STREAM != 0 => open -= 1,
                    _ => {}
                }
            }
            for length in lengths {
                let expected = framed(&jeton_proto::v1::IssueResponse {
                    token: "x".repeat(length as usize),
                    ..Default::default()
                });
                assert_eq!(responses[&(1 + 2 * length)], expected, "{length}");
            }
        }
        probes.stop().await;
    });
}

/// What a client sees that has a call running when the server is told to stop.
#[derive(Debug, PartialEq, Eq)]
struct Shutdown {
    /// Last stream and error code of each GOAWAY.
    goaways: Vec<(u32, u32)>,
    has_response: bool,
    /// How a call that begins after the first GOAWAY ends. `None`: it gets no frame.
    late: Option<u8>,
}

#[test]
fn stopping_server_says_goaway_as_tonic_does() {
    block_on(async {
        let probes = Probes::start().await;
        let wait = framed(&issue("wait 5000"));
        let mut connections = Vec::new();
        for (address, probe) in [
            (probes.pair.ours, &probes.ours),
            (probes.pair.tonic, &probes.tonic),
        ] {
            let mut frames = Frames::connect(address).await;
            frames.call(1, ISSUE).await;
            frames.send(DATA, END_STREAM, 1, &wait).await;
            until_waiting(probe, 1).await;
            connections.push(frames);
        }
        let tonic = connections.pop().unwrap();
        let ours = connections.pop().unwrap();
        let (ours, tonic, ()) = tokio::join!(shutdown(ours), shutdown(tonic), probes.stop());
        assert_eq!(ours, tonic);
        let expected = Shutdown {
            // The first one names the highest stream, the second one the last stream that is handled.
            goaways: vec![(u32::MAX >> 1, 0), (1, 0)],
            has_response: true,
            late: None,
        };
        assert_eq!(ours, expected);
    });
}

async fn shutdown(mut frames: Frames) -> Shutdown {
    let mut seen = Shutdown {
        goaways: Vec::new(),
        has_response: false,
        late: None,
    };
    while let Some(frame) = frames.next().await {
        match (frame.kind, frame.stream) {
            (GOAWAY, _) => seen.goaways.push((frame.number(0), frame.number(4))),
            (HEADERS, 1) if frame.flags & END_STREAM != 0 => seen.has_response = true,
            (kind, 3) => seen.late = Some(kind),
            _ => {}
        }
    }
    seen
}

#[test]
fn connection_without_calls_closes_when_the_server_stops() {
    block_on(async {
        let probes = Probes::start().await;
        let mut ours = Frames::connect(probes.pair.ours).await;
        let mut tonic = Frames::connect(probes.pair.tonic).await;
        for frames in [&mut ours, &mut tonic] {
            // A call, so that the handshake is over.
            frames.call(1, ISSUE).await;
            let message = framed(&issue("ok"));
            frames.send(DATA, END_STREAM, 1, &message).await;
            end_of(frames, 1).await;
        }
        let (ours, tonic, ()) = tokio::join!(shutdown(ours), shutdown(tonic), probes.stop());
        assert_eq!(ours, tonic);
    });
}
