//! How long a caller waits. tonic's own client would end a call by itself, so these are made by hand:
//! it is the server that must say when the time is over.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderMap;
use http_body_util::Full;
use hyper::body::Body;
use jeton_proto::v1::{IssueRequest, WatchRevocationsRequest};

use crate::raw_grpc::{self, framed, unended, whole};
use crate::harness::TestServer;

/// Makes a call whose caller waits so long; whether messages came, and how it ended.
fn call<B>(fixture: &TestServer, method: &str, wait: &str, body: B) -> (bool, HeaderMap)
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let method = format!("jeton.v1.TokenService/{method}");
    let answer = raw_grpc::call(fixture, &method, &[("grpc-timeout", wait)], body);
    (!answer.data.is_empty(), answer.end().clone())
}

fn issue() -> Full<Bytes> {
    whole(framed(&IssueRequest {
        profile: "mac".to_owned(),
        ..IssueRequest::default()
    }))
}

#[test]
fn a_call_ends_when_its_caller_no_longer_waits() {
    let fixture = TestServer::plain();
    for method in ["Issue", "Revoke", "IssueStream"] {
        let begun = Instant::now();
        let (answered, end) = call(&fixture, method, "200m", unended(Vec::new()));
        let took = begun.elapsed();
        assert!(!answered, "{method}");
        assert_eq!(end["grpc-status"], "4", "{method}: {end:?}");
        assert!(took >= Duration::from_millis(200), "{method}: {took:?}");
        assert!(took < Duration::from_secs(5), "{method}: {took:?}");
    }
    let (answered, end) = call(&fixture, "Issue", "30S", issue());
    assert!(answered);
    assert_eq!(end["grpc-status"], "0");
}

#[test]
fn a_stream_ends_in_its_midst() {
    let fixture = TestServer::with(&format!("[limits]\nwatchers = 1\n{}", crate::harness::ISSUER));
    let watch = || whole(framed(&WatchRevocationsRequest::default()));
    let (answered, end) = call(&fixture, "WatchRevocations", "300m", watch());
    assert!(answered, "the snapshot came");
    assert_eq!(end["grpc-status"], "4", "{end:?}");
}

#[test]
fn a_wait_that_is_none_is_named() {
    let fixture = TestServer::plain();
    for wait in ["", "1", "1s", "123456789S"] {
        let (answered, end) = call(&fixture, "Issue", wait, issue());
        assert!(!answered, "{wait}");
        assert_eq!(end["grpc-status"], "3", "{wait}: {end:?}");
        let words = end["grpc-message"].to_str().unwrap();
        assert!(words.contains("grpc-timeout"), "{words}");
    }
}
