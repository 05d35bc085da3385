//! Requests to the probe: every status, metadata, long responses, deadlines and panics.

use jeton_proto::v1::{IssueRequest, WatchRevocationsRequest};

use super::exchange::{Call, framed};

pub(super) fn issue(subject: &str) -> IssueRequest {
    IssueRequest {
        subject: subject.to_owned(),
        ..IssueRequest::default()
    }
}

fn probe(name: &'static str, subject: &str) -> Call {
    Call::new(name, "/jeton.v1.TokenService/Issue").message(&issue(subject))
}

/// The names of the gRPC codes, by number. The last one does not exist.
const CODES: [&str; 18] = [
    "code OK as an error",
    "code CANCELLED",
    "code UNKNOWN",
    "code INVALID_ARGUMENT",
    "code DEADLINE_EXCEEDED",
    "code NOT_FOUND",
    "code ALREADY_EXISTS",
    "code PERMISSION_DENIED",
    "code RESOURCE_EXHAUSTED",
    "code FAILED_PRECONDITION",
    "code ABORTED",
    "code OUT_OF_RANGE",
    "code UNIMPLEMENTED",
    "code INTERNAL",
    "code UNAVAILABLE",
    "code DATA_LOSS",
    "code UNAUTHENTICATED",
    "code 17",
];

pub(super) fn all() -> Vec<Call> {
    let mut calls: Vec<Call> = (0..)
        .zip(CODES)
        .map(|(code, name): (i32, _)| probe(name, &format!("code {code}")))
        .collect();
    let stream = |name, bodies: &[&str]| {
        let call = Call::new(name, "/jeton.v1.TokenService/IssueStream");
        let messages: Vec<_> = bodies.iter().map(|body| framed(&issue(body))).collect();
        call.body(messages.concat())
    };
    calls.extend([
        probe("ok", "ok"),
        probe("status without a message", "status without a message"),
        probe("response of 4 KiB", "long 4096"),
        probe("response of 200 KiB", "long 204800"),
        probe("response after a while", "wait 50"),
        probe("call that outlives its deadline", "wait 20000").header("grpc-timeout", "200m"),
        probe("call within its deadline", "wait 50").header("grpc-timeout", "60S"),
        probe("panic", "panic"),
        probe("metadata of a method", "metadata").header("x-sent", "sent"),
        stream("stream", &["a", "b", "c"]),
        stream("stream that fails in between", &["a", "fail", "c"]),
        stream("stream that fails at once", &["fail"]),
        Call::new(
            "stream that fails before its start",
            "/jeton.v1.TokenService/VerifyStream",
        ),
        Call::new(
            "metadata and deadline of a stream",
            "/jeton.v1.TokenService/WatchRevocations",
        )
        .message(&WatchRevocationsRequest::default())
        .header("grpc-timeout", "300m")
        .endless(),
    ]);
    calls
}
