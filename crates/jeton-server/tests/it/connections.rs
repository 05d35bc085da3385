//! Clients that keep idle connections open do not block others.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use jeton_proto::v1::StatusRequest;

use crate::harness::{ISSUER, TestServer};
use crate::raw_http::get;

/// Longer than anything takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// Opens a connection, sends these bytes, and then stays idle.
fn idle(to: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(to).unwrap();
    stream.write_all(bytes).unwrap();
    stream
}

/// Opens many idle HTTP/2 connections. Only eviction closes them.
fn hold(to: SocketAddr, many: usize) -> Vec<TcpStream> {
    (0..many).map(|_| idle(to, PREFACE)).collect()
}

/// Retries until the condition holds: an idle connection has some seconds before it is evicted.
pub(crate) fn sometime(mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < TIMEOUT {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    false
}

pub(crate) fn is_live(to: SocketAddr) -> bool {
    let Ok(mut stream) = TcpStream::connect(to) else {
        return false;
    };
    // `sometime` tries again.
    let timeout = Some(Duration::from_secs(5));
    stream.set_read_timeout(timeout).unwrap();
    let request = b"GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let mut answer = String::new();
    let _ = stream.write_all(request);
    let _ = stream.read_to_string(&mut answer);
    answer.ends_with("live\n")
}

#[test]
fn idle_connections_are_evicted_at_the_limit() {
    let fixture = TestServer::with(&format!("limits = {{ connections = 40 }}\n{ISSUER}"));
    let (data, admin) = (fixture.address(), fixture.server().admin_address());
    let _on_data = hold(data, 80);
    let _on_admin = hold(admin, 200);
    assert!(
        sometime(|| is_live(admin)),
        "the admin listener does not respond"
    );
    let status = fixture
        .runtime
        .block_on(fixture.admin().status(StatusRequest {}));
    assert!(status.is_ok(), "{status:?}");
    assert!(
        sometime(|| is_live(data)),
        "the data listener does not respond"
    );
    assert!(!fixture.issue("mac", "a").token.is_empty());
}

#[test]
fn connection_with_an_incomplete_preface_is_closed() {
    let fixture = TestServer::plain();
    let mut stream = idle(fixture.address(), b"PRI * HTTP");
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    assert!(read.is_ok(), "the connection was not closed: {read:?}");
}

#[test]
fn connection_in_use_is_not_evicted() {
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

/// A connection with a running call may be silent for long.
#[test]
fn connection_with_a_running_call_is_evicted_last() {
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
    // Each of them is idle for a shorter time, and has no running call.
    std::thread::sleep(Duration::from_millis(5500));
    assert!(sometime(|| is_live(fixture.address())));
    let mut stream = stream;
    fixture.runtime.block_on(async {
        issue.send(request()).unwrap();
        let issued = stream.message().await;
        assert!(
            issued.is_ok_and(|one| one.is_some()),
            "the connection was closed"
        );
    });
    drop(idle);
}
