//! Unary calls on the wire.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use hyper::body::Frame;
use jeton_proto::v1::{
    IssueBatchRequest, IssueBatchResponse, IssueItem, IssueRequest, IssueResponse,
};

use crate::harness::{ISSUER, TestServer};
use crate::raw_grpc::{Response, call, framed, frames, unended, whole};

const ISSUE: &str = "jeton.v1.TokenService/Issue";

fn request() -> Vec<u8> {
    framed(&IssueRequest {
        profile: "mac".to_owned(),
        subject: "alice".to_owned(),
        ..IssueRequest::default()
    })
}

fn pieces(bytes: &[u8], length: usize) -> Vec<Frame<Bytes>> {
    let piece = |piece: &[u8]| Frame::data(Bytes::copy_from_slice(piece));
    bytes.chunks(length).map(piece).collect()
}

fn is_issued(fixture: &TestServer, answer: &Response) -> bool {
    let token = answer.message::<IssueResponse>().token;
    answer.end()["grpc-status"] == "0" && fixture.verify(&token).unwrap().subject == "alice"
}

/// The status code of a response that consists of headers only.
fn error_code(answer: &Response) -> &str {
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "application/grpc");
    assert!(
        answer.data.is_empty() && answer.trailers.is_none(),
        "{answer:?}"
    );
    answer.headers["grpc-status"].to_str().unwrap()
}

#[test]
fn response_is_a_message_between_headers_and_trailers() {
    let fixture = TestServer::plain();
    let answer = call(&fixture, ISSUE, &[], whole(request()));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "application/grpc");
    assert!(!answer.headers.contains_key("grpc-status"));
    let trailers = answer.trailers.as_ref().unwrap();
    assert_eq!(trailers.len(), 1);
    assert!(is_issued(&fixture, &answer));
}

#[test]
fn message_may_arrive_in_pieces() {
    let fixture = TestServer::plain();
    for length in [1, 3, 5, 7] {
        let answer = call(&fixture, ISSUE, &[], frames(pieces(&request(), length)));
        assert!(is_issued(&fixture, &answer), "{length}");
    }
    // With an empty piece, and with request trailers.
    let mut split = pieces(&request(), 4);
    split.insert(1, Frame::data(Bytes::new()));
    let mut trailers = HeaderMap::new();
    trailers.insert("x-end", HeaderValue::from_static("1"));
    split.push(Frame::trailers(trailers));
    assert!(is_issued(
        &fixture,
        &call(&fixture, ISSUE, &[], frames(split))
    ));

    let item = IssueItem {
        subject: "s".repeat(100),
        ..IssueItem::default()
    };
    let batch = framed(&IssueBatchRequest {
        profile: "mac".to_owned(),
        items: vec![item; 1000],
        ..IssueBatchRequest::default()
    });
    let method = "jeton.v1.TokenService/IssueBatch";
    let answer = call(&fixture, method, &[], frames(pieces(&batch, 999)));
    let outcomes = answer.message::<IssueBatchResponse>().outcomes;
    assert_eq!(outcomes.len(), 1000);
    assert_eq!(answer.end()["grpc-status"], "0");
}

#[test]
fn malformed_message_is_rejected() {
    let fixture = TestServer::plain();
    let one = request();
    let cases = [
        ("none", Vec::new()),
        ("half a header", one[..3].to_vec()),
        ("only a header", one[..5].to_vec()),
        ("truncated", one[..one.len() - 1].to_vec()),
        ("two", [&one[..], &one].concat()),
        ("one and a half", [&one[..], &one[..4]].concat()),
        ("compressed without encoding", [&[1], &one[1..]].concat()),
        ("invalid flag", [&[2], &one[1..]].concat()),
        ("invalid protobuf", vec![0, 0, 0, 0, 2, 0x0a, 0xff]),
        ("invalid UTF-8", vec![0, 0, 0, 0, 3, 0x0a, 1, 0xff]),
    ];
    for (what, body) in cases {
        let answer = call(&fixture, ISSUE, &[], whole(body.clone()));
        assert_eq!(error_code(&answer), "13", "{what}: {answer:?}");
        let split = call(&fixture, ISSUE, &[], frames(pieces(&body, 2)));
        assert_eq!(error_code(&split), "13", "{what}, in pieces: {split:?}");
    }
    let answer = call(&fixture, ISSUE, &[], whole(request()));
    assert!(is_issued(&fixture, &answer));
}

#[test]
fn too_long_message_is_rejected_by_its_header() {
    let fixture = TestServer::with(&format!("[limits]\nmessage_bytes = 5000\n{ISSUER}"));
    let header = |length: u32| [&[0][..], &length.to_be_bytes()].concat();
    let incomplete = |length| unended(vec![header(length).into(), Bytes::from_static(b"x")]);
    for length in [5001, u32::MAX] {
        let answer = call(&fixture, ISSUE, &[], incomplete(length));
        assert_eq!(error_code(&answer), "11", "{length}: {answer:?}");
    }
    // A message of the maximum length is read, and then fails to decode.
    let most = [header(5000), vec![0xff; 5000]].concat();
    assert_eq!(error_code(&call(&fixture, ISSUE, &[], whole(most))), "13");
}

#[test]
fn compressed_message_is_unimplemented() {
    let fixture = TestServer::plain();
    let compressed = [("grpc-encoding", "gzip")];
    let answer = call(&fixture, ISSUE, &compressed, whole(request()));
    assert_eq!(error_code(&answer), "12", "{answer:?}");
    assert_eq!(answer.headers["grpc-accept-encoding"], "identity");
    let plain = [
        ("grpc-encoding", "identity"),
        ("grpc-accept-encoding", "gzip"),
    ];
    let answer = call(&fixture, ISSUE, &plain, whole(request()));
    assert!(is_issued(&fixture, &answer));
    assert!(!answer.headers.contains_key("grpc-encoding"));
}

#[test]
fn unknown_method_is_unimplemented() {
    let fixture = TestServer::plain();
    for method in [
        "jeton.v1.TokenService/Forge",
        "jeton.v1.TokenService/issue",
        "jeton.v1.TokenService/Issue/Issue",
        "jeton.v1.TokenService/",
        "jeton.v1.AdminService/Status",
        "jwt.services.JwtService/GenerateJwt",
    ] {
        let answer = call(&fixture, method, &[], whole(request()));
        assert_eq!(error_code(&answer), "12", "{method}: {answer:?}");
    }
}
