//! Requests to the token service, well-formed and not.

use bytes::Bytes;
use http::Method;
use jeton_proto::v1::{
    CreateIssuerRequest, IssueBatchRequest, IssueItem, IssueRequest, KeysRequest, RotateKeyRequest,
    VerifyBatchRequest, VerifyRequest, WatchRevocationsRequest,
};
use tonic_health::pb::HealthCheckRequest;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;

use super::exchange::{Call, End, framed};
use super::servers::MESSAGE_BYTES;
use super::token_server::ISS;

const TOKENS: &str = "/jeton.v1.TokenService/";
const ADMIN: &str = "/jeton.v1.AdminService/";

fn tokens(name: &'static str, method: &str) -> Call {
    Call::new(name, &format!("{TOKENS}{method}"))
}

/// A call that succeeds with the same response each time.
fn keys(name: &'static str) -> Call {
    tokens(name, "Keys").message(&KeysRequest::default())
}

fn verify(token: &str, audience: &str) -> VerifyRequest {
    VerifyRequest {
        token: token.to_owned(),
        audience: audience.to_owned(),
        ..VerifyRequest::default()
    }
}

fn issue(profile: &str, claims_json: &str) -> IssueRequest {
    IssueRequest {
        profile: profile.to_owned(),
        claims_json: claims_json.to_owned(),
        ..IssueRequest::default()
    }
}

/// Calls that the data listener serves. `token` is an issued token, for the audience `api`.
pub(super) fn to_data_listener(token: &str) -> Vec<Call> {
    let mut calls = meaning(token);
    calls.extend(paths());
    calls.extend(content_types());
    calls.extend(bodies());
    calls.extend(headers());
    calls.extend(deadlines());
    calls.extend(streams(token));
    calls.extend(other_services());
    calls
}

/// What the service says.
fn meaning(token: &str) -> Vec<Call> {
    let batch = |name, profile: &str, items: usize| {
        let item = IssueItem {
            claims_json: "{\"iss\":1}".to_owned(),
            ..IssueItem::default()
        };
        tokens(name, "IssueBatch").message(&IssueBatchRequest {
            profile: profile.to_owned(),
            items: vec![item; items],
            ..IssueBatchRequest::default()
        })
    };
    let verify_batch = VerifyBatchRequest {
        audience: "api".to_owned(),
        tokens: vec![token.to_owned(), "a.b.c".to_owned()],
        ..VerifyBatchRequest::default()
    };
    let issuer = |issuer: &str| KeysRequest {
        issuer: issuer.to_owned(),
    };
    vec![
        keys("ok"),
        tokens("ok with claims", "Verify").message(&verify(token, "api")),
        tokens("ok batch", "VerifyBatch").message(&verify_batch),
        tokens("rejected token", "Verify").message(&verify("a.b.c", "api")),
        tokens("other audience", "Verify").message(&verify(token, "web")),
        tokens("unknown issuer", "Keys").message(&issuer("https://other.example")),
        tokens("unknown profile", "Issue").message(&issue("none", "")),
        tokens("invalid claims", "Issue").message(&issue("mac", "[]")),
        batch("failed items", "mac", 2),
        batch("batch of an unknown profile", "none", 1),
        batch("too many items", "mac", 4),
        batch("no items", "mac", 0),
    ]
}

fn paths() -> Vec<Call> {
    [
        ("unknown method", "/jeton.v1.TokenService/Forge"),
        ("method in lower case", "/jeton.v1.TokenService/keys"),
        (
            "path with a further part",
            "/jeton.v1.TokenService/Keys/Keys",
        ),
        ("no method", "/jeton.v1.TokenService/"),
        ("only a service", "/jeton.v1.TokenService"),
        ("unknown service", "/jeton.v1.OtherService/Keys"),
    ]
    .map(|(name, path)| Call::new(name, path).message(&KeysRequest::default()))
    .into()
}

fn content_types() -> Vec<Call> {
    let mut calls: Vec<Call> = [
        ("content type with proto", "application/grpc+proto"),
        ("content type with json", "application/grpc+json"),
        (
            "content type with a parameter",
            "application/grpc; charset=utf-8",
        ),
        ("content type of a web page", "text/plain"),
        ("content type of grpc-web", "application/grpc-web"),
    ]
    .map(|(name, value)| {
        keys(name)
            .without("content-type")
            .header("content-type", value)
    })
    .into();
    calls.push(keys("no content type").without("content-type"));
    calls.push(keys("two content types").header("content-type", "text/plain"));
    for (name, method) in [("GET", Method::GET), ("PUT", Method::PUT)] {
        let mut call = keys(name);
        call.method = method;
        calls.push(call);
    }
    calls
}

fn bodies() -> Vec<Call> {
    let one = framed(&KeysRequest {
        issuer: ISS.to_owned(),
    });
    let most = |bytes: usize| {
        let length = u32::try_from(bytes).unwrap().to_be_bytes();
        [&[0][..], &length, &vec![0xff; bytes]].concat()
    };
    let mut calls = Vec::new();
    for (name, body) in [
        ("no body", Vec::new()),
        ("half a frame header", one[..3].to_vec()),
        ("only a frame header", one[..5].to_vec()),
        ("truncated message", one[..one.len() - 1].to_vec()),
        ("two messages", [&one[..], &one].concat()),
        ("one message and a half", [&one[..], &one[..4]].concat()),
        (
            "compressed flag without encoding",
            [&[1], &one[1..]].concat(),
        ),
        ("unknown flag", [&[2], &one[1..]].concat()),
        ("invalid protobuf", vec![0, 0, 0, 0, 2, 0x0a, 0xff]),
        ("invalid UTF-8", vec![0, 0, 0, 0, 3, 0x0a, 1, 0xff]),
        ("longest message", most(MESSAGE_BYTES)),
        ("too long message", most(MESSAGE_BYTES + 1)),
    ] {
        let call = tokens(name, "Keys");
        calls.push(if body.is_empty() {
            call
        } else {
            call.body(body)
        });
    }
    let bytes = one.iter().map(|byte| Bytes::copy_from_slice(&[*byte]));
    let mut pieces = tokens("message in pieces", "Keys");
    pieces.body = bytes.collect();
    let empty = tokens("empty pieces", "Keys")
        .body("")
        .body(one.clone())
        .body("");
    let stalled = tokens("message that never ends", "Keys")
        .body(one[..7].to_vec())
        .end(End::Never)
        .endless();
    let open = keys("body that never ends").end(End::Never).endless();
    calls.extend([pieces, empty, stalled, open]);
    calls.push(keys("request trailers").end(End::Trailers));
    calls
}

fn headers() -> Vec<Call> {
    vec![
        keys("no te").without("te"),
        keys("identity encoding").header("grpc-encoding", "identity"),
        keys("gzip encoding").header("grpc-encoding", "gzip"),
        keys("unknown encoding").header("grpc-encoding", "other"),
        keys("gzip accepted").header("grpc-accept-encoding", "gzip,identity"),
        keys("metadata")
            .header("x-text", "text")
            .header("x-text", "again")
            .header("x-binary-bin", "AP8H"),
        keys("invalid binary metadata").header("x-binary-bin", "?"),
        keys("authority of another name").header("host", "other.example"),
        keys("origin of another site").header("origin", "https://other.example"),
        keys("headers that are too long").header("x-long", &"x".repeat(8000)),
    ]
}

fn deadlines() -> Vec<Call> {
    let never = |name, timeout| {
        tokens(name, "Keys")
            .header("grpc-timeout", timeout)
            .end(End::Never)
    };
    vec![
        keys("deadline in time").header("grpc-timeout", "30S"),
        never("deadline before the message", "100m"),
        keys("timeout without a unit").header("grpc-timeout", "30"),
        keys("timeout with an unknown unit").header("grpc-timeout", "30s"),
        keys("timeout with nine digits").header("grpc-timeout", "123456789S"),
        tokens("deadline of a stream", "WatchRevocations")
            .message(&WatchRevocationsRequest::default())
            .header("grpc-timeout", "300m")
            .endless(),
    ]
}

fn streams(token: &str) -> Vec<Call> {
    let verified = framed(&verify(token, "api"));
    let rejected = framed(&verify("a.b.c", "api"));
    let both = [&verified[..], &rejected].concat();
    let stream = |name| tokens(name, "VerifyStream");
    vec![
        stream("stream without messages"),
        stream("stream of two").body(both.clone()),
        stream("stream in pieces")
            .body(both[..9].to_vec())
            .body(both[9..].to_vec()),
        stream("stream with a truncated message").body(both[..both.len() - 2].to_vec()),
        stream("stream with invalid protobuf")
            .body(verified.clone())
            .body(vec![0, 0, 0, 0, 2, 0x0a, 0xff]),
        stream("stream with a too long message")
            .body(verified)
            .body(vec![0, 0, 1, 0, 0]),
        stream("stream with gzip").header("grpc-encoding", "gzip"),
        tokens("stream of an unknown issuer", "WatchRevocations").message(
            &WatchRevocationsRequest {
                issuer: "https://other.example".to_owned(),
                ..WatchRevocationsRequest::default()
            },
        ),
    ]
}

fn other_services() -> Vec<Call> {
    let health = |name, service: &str| {
        Call::new(name, "/grpc.health.v1.Health/Check").message(&HealthCheckRequest {
            service: service.to_owned(),
        })
    };
    let reflection = |name, ask| {
        let path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
        Call::new(name, path).message(&ServerReflectionRequest {
            host: String::new(),
            message_request: Some(ask),
        })
    };
    let symbol = |name: &str| MessageRequest::FileContainingSymbol(name.to_owned());
    vec![
        health("health", ""),
        health("health of a service", "jeton.v1.TokenService"),
        health("health of an unknown service", "other"),
        health("health with a long name", &"x".repeat(4200)),
        reflection(
            "reflection list",
            MessageRequest::ListServices(String::new()),
        ),
        reflection("reflection of a service", symbol("jeton.v1.TokenService")),
        reflection("reflection of an unknown name", symbol("other")),
    ]
}

/// Calls that the admin listener serves. Each has the admin token.
pub(super) fn to_admin_listener(admin_token: &str) -> Vec<Call> {
    let call = |name, method: &str, message: Vec<u8>| {
        Call::new(name, &format!("{ADMIN}{method}"))
            .body(message)
            .header("authorization", &format!("Bearer {admin_token}"))
    };
    let exists = CreateIssuerRequest {
        settings_json: format!(
            "{{\"iss\":\"{ISS}\",\"profiles\":[{{\"name\":\"a\",\"alg\":\"ES256\",\"lifetime_seconds\":900,\
             \"audiences\":[\"api\"]}}]}}"
        ),
    };
    let rotate = RotateKeyRequest {
        issuer: ISS.to_owned(),
        kind: "no algorithm".to_owned(),
    };
    vec![
        call("issuers", "ListIssuers", framed(&())),
        call("existing issuer", "CreateIssuer", framed(&exists)),
        call(
            "invalid settings",
            "CreateIssuer",
            framed(&CreateIssuerRequest::default()),
        ),
        call("unknown algorithm", "RotateKey", framed(&rotate)),
        call("unknown method of AdminService", "Forge", framed(&())),
    ]
}
