//! Deadlines. tonic's client would end the calls by itself, so these use plain HTTP/2: the server must end
//! them.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderMap;
use http_body_util::Full;
use hyper::body::Body;
use jeton_proto::v1::{IssueRequest, WatchRevocationsRequest};

use crate::harness::TestServer;
use crate::raw_grpc::{self, framed, unended, whole};

/// Calls with a timeout. Returns whether messages arrived, and the headers with the status.
fn call<B>(fixture: &TestServer, method: &str, timeout: &str, body: B) -> (bool, HeaderMap)
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let method = format!("jeton.v1.TokenService/{method}");
    let answer = raw_grpc::call(fixture, &method, &[("grpc-timeout", timeout)], body);
    (!answer.data.is_empty(), answer.end().clone())
}

fn issue() -> Full<Bytes> {
    whole(framed(&IssueRequest {
        profile: "mac".to_owned(),
        ..IssueRequest::default()
    }))
}

#[test]
fn call_ends_at_its_deadline() {
    let fixture = TestServer::plain();
    for method in ["Issue", "Revoke", "IssueStream"] {
        let begun = Instant::now();
        let (answered, end) = call(&fixture, method, "200m", unended(Vec::new()));
        let took = begun.elapsed();
        assert!(!answered, "{method}");
        assert_eq!(end["grpc-status"], "4", "{method}: {end:?}");
        assert!(took >= Duration::from_millis(200), "{method}: {took:?}");
        assert!(took < Duration::from_secs(60), "{method}: {took:?}");
    }
    let (answered, end) = call(&fixture, "Issue", "60S", issue());
    assert!(answered);
    assert_eq!(end["grpc-status"], "0");
}

#[test]
fn stream_ends_at_its_deadline() {
    let fixture = TestServer::with(&format!(
        "[limits]\nrevocation_watchers = 3\n{}",
        crate::harness::ISSUER
    ));
    let watch = || whole(framed(&WatchRevocationsRequest::default()));
    // On a busy machine, the snapshot may come after a short deadline.
    let has_snapshot = ["300m", "3S", "30S"].into_iter().any(|timeout| {
        let (answered, end) = call(&fixture, "WatchRevocations", timeout, watch());
        assert_eq!(end["grpc-status"], "4", "{end:?}");
        answered
    });
    assert!(has_snapshot, "no snapshot arrived");
}

#[test]
fn invalid_timeout_is_an_invalid_argument() {
    let fixture = TestServer::plain();
    for timeout in ["", "1", "1s", "123456789S"] {
        let (answered, end) = call(&fixture, "Issue", timeout, issue());
        assert!(!answered, "{timeout}");
        assert_eq!(end["grpc-status"], "3", "{timeout}: {end:?}");
        let message = end["grpc-message"].to_str().unwrap();
        assert!(message.contains("grpc-timeout"), "{message}");
    }
}
