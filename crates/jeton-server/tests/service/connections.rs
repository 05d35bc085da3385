//! Clients that only hold connections: others find room all the same.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use jeton_proto::v1::StatusRequest;

use crate::raw_http::get;
use crate::harness::{ISSUER, TestServer};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// Says that, and then nothing.
fn idle(to: SocketAddr, says: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(to).unwrap();
    stream.write_all(says).unwrap();
    stream
}

/// Many connections of clients that have said that they speak HTTP/2, and nothing since. Nothing else
/// ends those.
fn hold(to: SocketAddr, many: usize) -> Vec<TcpStream> {
    (0..many).map(|_| idle(to, PREFACE)).collect()
}

/// Tries for a while: who is silent has some seconds.
fn sometime(mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(30) {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    false
}

fn is_live(to: SocketAddr) -> bool {
    let Ok(mut stream) = TcpStream::connect(to) else {
        return false;
    };
    let timeout = Some(Duration::from_secs(5));
    stream.set_read_timeout(timeout).unwrap();
    let request = b"GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let mut answer = String::new();
    let _ = stream.write_all(request);
    let _ = stream.read_to_string(&mut answer);
    answer.ends_with("live\n")
}

#[test]
fn idle_connections_make_room_for_others() {
    let fixture = TestServer::with(&format!("limits = {{ connections = 40 }}\n{ISSUER}"));
    let (data, admin) = (fixture.address(), fixture.server().admin_address());
    let _on_data = hold(data, 80);
    let _on_admin = hold(admin, 200);
    assert!(sometime(|| is_live(admin)), "the admin listener is shut");
    let status = fixture
        .runtime
        .block_on(fixture.admin().status(StatusRequest {}));
    assert!(status.is_ok(), "{status:?}");
    assert!(sometime(|| is_live(data)), "the data listener is shut");
    assert!(!fixture.issue("mac", "a").token.is_empty());
}

/// The first byte of HTTP/2's preface is no request.
#[test]
fn connection_that_stops_within_the_preface_is_closed() {
    let fixture = TestServer::plain();
    let mut stream = idle(fixture.address(), b"PRI * HTTP");
    let timeout = Some(Duration::from_secs(25));
    stream.set_read_timeout(timeout).unwrap();
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    assert!(read.is_ok(), "it is still held: {read:?}");
}

/// Who calls now and then is not idle.
#[test]
fn connection_that_is_used_stays() {
    let fixture = TestServer::with(&format!("limits = {{ connections = 2 }}\n{ISSUER}"));
    let mut tokens = fixture.tokens();
    let request = || jeton_proto::v1::IssueRequest {
        profile: "mac".to_owned(),
        ..Default::default()
    };
    for _ in 0..3 {
        assert!(fixture.runtime.block_on(tokens.issue(request())).is_ok());
        let _held = idle(fixture.address(), b"");
        let _more = idle(fixture.address(), b"");
        std::thread::sleep(Duration::from_millis(300));
    }
    assert!(fixture.runtime.block_on(tokens.issue(request())).is_ok());
    let metrics = get(fixture.server().admin_address(), "/metrics", &[]).body;
    assert!(
        metrics.contains("jeton_connections_rejected_total"),
        "{metrics}"
    );
}

/// Who waits for an answer is silent, and so is the server until it has one.
#[test]
fn connection_that_waits_for_an_answer_goes_after_those_that_are_idle() {
    let fixture = TestServer::with(&format!("limits = {{ connections = 6 }}\n{ISSUER}"));
    let mut tokens = fixture.tokens();
    let (issue, waiting) = tokio::sync::mpsc::unbounded_channel();
    let waiting = tokio_stream::wrappers::UnboundedReceiverStream::new(waiting);
    let request = || jeton_proto::v1::IssueRequest {
        profile: "mac".to_owned(),
        ..Default::default()
    };
    let stream = fixture.runtime.block_on(async {
        let mut stream = tokens.issue_stream(waiting).await.unwrap().into_inner();
        issue.send(request()).unwrap();
        assert!(stream.message().await.is_ok());
        stream
    });
    std::thread::sleep(Duration::from_millis(200));
    let idle = hold(fixture.address(), 5);
    // Each of them is idle for less long, and has no call.
    std::thread::sleep(Duration::from_millis(5500));
    assert!(is_live(fixture.address()));
    let mut stream = stream;
    fixture.runtime.block_on(async {
        issue.send(request()).unwrap();
        let issued = stream.message().await;
        assert!(issued.is_ok_and(|one| one.is_some()), "it was closed");
    });
    drop(idle);
}
