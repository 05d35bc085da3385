//! Requests that a web page can send: with an unknown host, from another site, or without gRPC headers.
//!
//! `crates/jeton-cli/tests/it/serve/browser_attack.rs` sends them with a real browser.

use std::net::SocketAddr;

use http::Request;
use jeton_proto::v1::{
    CreateIssuerRequest, ImportKeyRequest, IssueRequest, RevokeRequest, VerifyRequest,
    revoke_request,
};
use tonic::{Code, Status};

use crate::harness::{ISS, ISSUER, TestServer, reason};
use crate::raw_grpc::{self, exchange, framed, whole};
use crate::raw_http::{Response, get, post_form, send, send_bytes};

const ISSUE: &str = "jeton.v1.TokenService/Issue";
const REVOKE: &str = "jeton.v1.TokenService/Revoke";
const IMPORT: &str = "jeton.v1.AdminService/ImportKey";

fn issue() -> IssueRequest {
    IssueRequest {
        profile: "mac".to_owned(),
        subject: "planted".to_owned(),
        ..IssueRequest::default()
    }
}

fn revoke() -> RevokeRequest {
    RevokeRequest {
        what: Some(revoke_request::What::Subject("alice".to_owned())),
        ..RevokeRequest::default()
    }
}

fn import() -> ImportKeyRequest {
    let key = jeton::key::SigningKey::generate(jeton::key::SigAlg::ES256).unwrap();
    ImportKeyRequest {
        issuer: ISS.to_owned(),
        kind: "ES256".to_owned(),
        private_key: key.to_jwk().unwrap().to_string(),
    }
}

/// Sends a POST like a web page.
fn post(to: SocketAddr, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
    let mut request = format!("POST /{path} HTTP/1.1\r\nconnection: close\r\n");
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    send_bytes(to, &[request.as_bytes(), body].concat())
}

/// A server with a token of alice, and its state at the start.
struct AttackedServer {
    fixture: TestServer,
    token: String,
    keys: String,
}

impl AttackedServer {
    fn start(config: &str) -> AttackedServer {
        let fixture = TestServer::with(config);
        let token = fixture.issue("access", "alice").token;
        let keys = get(fixture.address(), KEYS, &[]).body;
        AttackedServer {
            fixture,
            token,
            keys,
        }
    }

    #[track_caller]
    fn assert_unchanged(&self) {
        let fixture = &self.fixture;
        assert!(
            fixture.verify(&self.token).is_ok(),
            "alice's token was revoked"
        );
        assert_eq!(
            get(fixture.address(), KEYS, &[]).body,
            self.keys,
            "the key set has changed"
        );
        let metrics = get(fixture.server().admin_address(), "/metrics", &[]).body;
        assert!(
            metrics.contains("\njeton_tokens_issued_total 1\n"),
            "a token was issued"
        );
    }
}

const KEYS: &str = "/tenant/.well-known/jwks.json";

#[test]
fn grpc_call_of_a_web_page_is_rejected() {
    let report = format!("[generate_jwt]\nissuer = '{ISS}'\nhs256 = 'mac'\nes256 = 'access'\n");
    let attacked = AttackedServer::start(&format!("{report}{ISSUER}"));
    let (data, admin) = (
        attacked.fixture.address(),
        attacked.fixture.server().admin_address(),
    );
    let empty = [0; 5];
    let calls = [
        (data, ISSUE, framed(&issue())),
        (data, REVOKE, framed(&revoke())),
        (admin, IMPORT, framed(&import())),
        (
            data,
            "jwt.services.JwtService/GenerateJwt",
            framed(&"ES256".to_owned()),
        ),
        (data, "grpc.health.v1.Health/Check", empty.to_vec()),
        (admin, "grpc.health.v1.Health/Check", empty.to_vec()),
        (
            data,
            "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            empty.to_vec(),
        ),
        (
            admin,
            "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            empty.to_vec(),
        ),
    ];
    for (to, path, frame) in &calls {
        let host = to.to_string();
        for (host, kind, status) in [
            ("evil.example", "text/plain", 421),
            ("evil.example", "application/grpc", 421),
            (&*host, "text/plain", 415),
            (&*host, "application/x-www-form-urlencoded", 415),
            // The right content type, but no page can use HTTP/2 without TLS.
            (&*host, "application/grpc", 415),
        ] {
            let answer = post(*to, path, &[("host", host), ("content-type", kind)], frame);
            assert_eq!(
                answer.status, status,
                "{path} {host} {kind}: {}",
                answer.body
            );
            assert!(!answer.headers.contains_key("grpc-status"), "{path}");
        }
        let answer = post(*to, path, &[("host", &host)], frame);
        assert_eq!(answer.status, 415, "{path} without a type");
    }
    attacked.assert_unchanged();
}

/// Calls `Issue` over HTTP/2 with these content types.
fn call(fixture: &TestServer, types: &[&str], headers: &[(&str, &str)]) -> raw_grpc::Response {
    let mut request = Request::post(format!("http://{}/{ISSUE}", fixture.address()));
    for value in types {
        request = request.header("content-type", *value);
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(whole(framed(&issue()))).unwrap();
    exchange(fixture, fixture.address(), request)
}

#[test]
fn grpc_with_another_content_type_is_rejected() {
    let fixture = TestServer::plain();
    for kind in ["application/grpc", "application/grpc+proto"] {
        let answer = call(&fixture, &[kind], &[]);
        assert_eq!(
            (answer.status.as_u16(), &answer.end()["grpc-status"]),
            (200, &"0".parse().unwrap())
        );
    }
    let wrong: &[&[&str]] = &[
        &[],
        &["text/plain"],
        &["application/grpc-web"],
        &["application/grpc-web+proto"],
        &["application/grpc+json"],
        &["application/grpc;charset=utf-8"],
        &["application/grpc, text/plain"],
        &["Application/gRPC"],
        &["application/grpc", "application/grpc"],
        &["application/grpc", "text/plain"],
        &["text/plain", "application/grpc"],
    ];
    for types in wrong {
        let answer = call(&fixture, types, &[]);
        assert_eq!(answer.status, 415, "{types:?}");
        assert!(!answer.end().contains_key("grpc-status"), "{types:?}");
    }
    let metrics = get(fixture.server().admin_address(), "/metrics", &[]).body;
    assert!(metrics.contains("\njeton_tokens_issued_total 2\n"));
}

#[test]
fn grpc_call_with_another_method_is_rejected() {
    let fixture = TestServer::plain();
    for method in ["GET", "PUT", "OPTIONS"] {
        let request = Request::builder()
            .method(method)
            .uri(format!("http://localhost/{ISSUE}"))
            .header("content-type", "application/grpc")
            .body(whole(framed(&issue())))
            .unwrap();
        let answer = exchange(&fixture, fixture.address(), request);
        assert_eq!(
            (answer.status.as_u16(), &answer.headers["allow"]),
            (405, &"POST".parse().unwrap())
        );
    }
}

/// The status of `/livez` for a host name, on both listeners.
fn status_for(fixture: &TestServer, host: &str) -> u16 {
    let addresses = [fixture.address(), fixture.server().admin_address()];
    let status = addresses.map(|to| get(to, "/livez", &[("host", host)]).status);
    assert_eq!(status[0], status[1], "{host}");
    status[0]
}

#[test]
fn unknown_host_is_rejected() {
    let fixture = TestServer::with(&format!(
        "hosts = ['gateway.internal', 'Proxy.Example']\n{ISSUER}"
    ));
    for host in [
        "127.0.0.1",
        "127.0.0.1:1",
        "10.0.0.7:8420",
        "[::1]",
        "[::1]:8420",
        "[fe80::1]",
        "localhost",
        "LocalHost:8420",
        "localhost.",
        "a.localhost",
        "a.b.localhost.:80",
        "id.example",
        "ID.example:443",
        "id.example.",
        "gateway.internal",
        "GATEWAY.internal:9",
        "proxy.example",
    ] {
        assert_eq!(status_for(&fixture, host), 200, "{host}");
    }
    for host in [
        "evil.example",
        "evil.example:8420",
        "localhost.evil.example",
        "xlocalhost",
        "127.0.0.1.evil.example",
        "127.0.0.1.nip.io",
        "x.id.example",
        "id.example.evil.example",
        "gateway",
        "internal",
        "1",
        "0x7f.1",
        "127.1",
        "2130706433",
    ] {
        assert_eq!(status_for(&fixture, host), 421, "{host}");
    }
    for host in [
        "",
        " ",
        ":8420",
        "user@127.0.0.1",
        "user:secret@localhost",
        "127.0.0.1@evil.example",
        "::1",
        "[::1",
        "[::1]x",
        "[evil.example]",
        "[127.0.0.1]",
        "localhost:port",
        "localhost:99999",
        "localhost:1:2",
        "localhost..",
        ".",
        "local host",
        "localhost/",
        "localhost,evil.example",
        "local%68ost",
        "\u{1d5c5}ocalhost",
    ] {
        assert_eq!(status_for(&fixture, host), 400, "{host}");
    }
    let refused = get(
        fixture.address(),
        "/livez",
        &[("host", "evil<script>.example")],
    );
    assert!(!refused.body.contains("script"), "{}", refused.body);
    let refused = get(fixture.address(), "/livez", &[("host", "evil.example")]);
    assert!(
        refused.body.contains("`hosts`") && !refused.body.contains("evil"),
        "{}",
        refused.body
    );
}

#[test]
fn host_of_a_new_issuer_is_accepted() {
    let fixture = TestServer::plain();
    assert_eq!(status_for(&fixture, "new.example"), 421);
    let settings = r#"{"iss":"https://new.example:8443/a","profiles":[{"name":"p","alg":"ES256","lifetime_seconds":60,"audiences":["a"]}]}"#;
    let create = CreateIssuerRequest {
        settings_json: settings.to_owned(),
    };
    fixture
        .runtime
        .block_on(fixture.admin().create_issuer(create))
        .unwrap();
    assert_eq!(status_for(&fixture, "new.example"), 200);
    assert_eq!(status_for(&fixture, "a.new.example"), 421);
}

/// Two readers could end such a request at different bytes.
#[test]
fn transfer_encoding_other_than_one_chunked_is_rejected() {
    let fixture = TestServer::plain();
    let status = |encodings: &[&str]| {
        let lines: String = (encodings.iter())
            .map(|encoding| format!("transfer-encoding: {encoding}\r\n"))
            .collect();
        let request = format!(
            "POST /tenant/introspect HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             content-type: application/x-www-form-urlencoded\r\n{lines}\r\n7\r\ntoken=a\r\n0\r\n\r\n"
        );
        send_bytes(fixture.address(), request.as_bytes()).status
    };
    assert_eq!(status(&["chunked"]), 200);
    assert_eq!(status(&["Chunked"]), 200);
    for refused in [
        &["chunked", "chunked"][..],
        &["gzip", "chunked"],
        &["identity", "chunked"],
        &["gzip, chunked"],
        &["chunked, chunked"],
    ] {
        assert_eq!(status(refused), 400, "{refused:?}");
    }
}

#[test]
fn request_without_exactly_one_host_is_rejected() {
    let fixture = TestServer::plain();
    let to = fixture.address();
    let status = |request: &str| send_bytes(to, format!("{request}\r\n\r\n").as_bytes()).status;
    for version in ["1.1", "1.0"] {
        let get = format!("GET /livez HTTP/{version}\r\nconnection: close");
        assert_eq!(
            status(&format!("{get}\r\nhost: localhost")),
            200,
            "{version}"
        );
        assert_eq!(status(&get), 400, "{version}: none");
        assert_eq!(
            status(&format!("{get}\r\nhost: localhost\r\nhost: localhost")),
            400,
            "{version}: two"
        );
        assert_eq!(
            status(&format!("{get}\r\nhost: localhost\r\nHost: evil.example")),
            400
        );
    }
    let at = |target: &str, host: &str| {
        status(&format!(
            "GET {target}/livez HTTP/1.1\r\nconnection: close\r\nhost: {host}"
        ))
    };
    assert_eq!(at("http://localhost", "localhost"), 200);
    assert_eq!(at("http://LOCALHOST.:80", "localhost"), 200);
    assert_eq!(at("http://evil.example", "localhost"), 400);
    assert_eq!(at("http://localhost", "evil.example"), 400);
    assert_eq!(at("http://localhost:81", "localhost"), 400);
    assert_eq!(at("http://evil.example", "evil.example"), 421);
    assert_eq!(at("http://a@localhost", "localhost"), 400);
    assert_eq!(
        status("GET http://localhost/livez HTTP/1.1\r\nconnection: close"),
        400
    );
}

/// Calls `Issue` over HTTP/2 with an `:authority` and `Host` headers.
fn over_http2(
    fixture: &TestServer,
    authority: &str,
    hosts: &[&str],
    kind: &str,
) -> raw_grpc::Response {
    let mut request = Request::post(format!("http://{authority}/{ISSUE}"));
    request = request.header("content-type", kind);
    for host in hosts {
        request = request.header("host", *host);
    }
    let request = request.body(whole(framed(&issue()))).unwrap();
    exchange(fixture, fixture.address(), request)
}

#[test]
fn authority_and_host_of_http2_must_agree() {
    let fixture = TestServer::plain();
    let grpc = "application/grpc";
    for (authority, hosts) in [
        ("localhost", &[][..]),
        ("localhost", &["LOCALHOST"][..]),
        ("id.example:80", &["id.example"][..]),
    ] {
        let answer = over_http2(&fixture, authority, hosts, grpc);
        assert_eq!(&answer.end()["grpc-status"], "0", "{authority} {hosts:?}");
    }
    for hosts in [
        &["evil.example"][..],
        &["localhost", "localhost"],
        &["localhost:1"],
        &[""],
    ] {
        let answer = over_http2(&fixture, "localhost", hosts, grpc);
        assert_eq!(answer.status, 400, "{hosts:?}");
    }
    assert_eq!(
        over_http2(&fixture, "evil.example", &[], "text/plain").status,
        421
    );
}

#[test]
fn grpc_client_receives_the_reason_for_an_unknown_host() {
    let fixture = TestServer::plain();
    let answer = over_http2(&fixture, "evil.example", &[], "application/grpc");
    let status = Status::from_header_map(answer.end()).unwrap();
    assert_eq!(
        (status.code(), &*reason(&status)),
        (Code::PermissionDenied, "HOST_NOT_ALLOWED")
    );
    assert!(
        status.message().contains("`hosts`") && !status.message().contains("evil"),
        "{status:?}"
    );
}

const FOREIGN: [&[(&str, &str)]; 12] = [
    &[("origin", "null")],
    &[("origin", "http://evil.example")],
    &[("origin", "https://localhost:80")],
    &[("origin", "http://localhost:81")],
    &[("origin", "http://127.0.0.1")],
    &[("origin", "")],
    &[("origin", "http://localhost/")],
    &[
        ("origin", "http://localhost"),
        ("origin", "http://evil.example"),
    ],
    &[("sec-fetch-site", "cross-site")],
    &[("sec-fetch-site", "same-site")],
    &[("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")],
    &[
        ("origin", "http://localhost"),
        ("sec-fetch-site", "cross-site"),
    ],
];

const OWN: [&[(&str, &str)]; 6] = [
    &[],
    &[("origin", "http://localhost")],
    &[("origin", "http://localhost:80")],
    &[("sec-fetch-site", "none")],
    &[("sec-fetch-site", "same-origin")],
    &[
        ("origin", "http://localhost"),
        ("sec-fetch-site", "same-origin"),
    ],
];

#[test]
fn cross_origin_grpc_call_is_refused() {
    let attacked = AttackedServer::start(ISSUER);
    let fixture = &attacked.fixture;
    for foreign in FOREIGN {
        let answer = raw_grpc::call(fixture, ISSUE, foreign, whole(framed(&issue())));
        assert_eq!(answer.status, 403, "{foreign:?}");
        let status = Status::from_header_map(answer.end()).unwrap();
        assert_eq!(
            (status.code(), &*reason(&status)),
            (Code::PermissionDenied, "FOREIGN_ORIGIN")
        );
    }
    attacked.assert_unchanged();
    for own in OWN {
        let answer = raw_grpc::call(fixture, ISSUE, own, whole(framed(&issue())));
        assert_eq!(&answer.end()["grpc-status"], "0", "{own:?}");
    }
}

#[test]
fn cross_origin_form_is_refused() {
    let attacked = AttackedServer::start(ISSUER);
    let (fixture, token) = (&attacked.fixture, &attacked.token);
    let form = format!("token={token}");
    let post = |path: &str, more: &[(&str, &str)]| {
        let usual = [
            ("host", "localhost"),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        let answer = send(
            fixture.address(),
            "POST",
            path,
            &[&usual, more].concat(),
            &form,
        );
        assert!(!answer.body.contains("alice") || answer.status == 200);
        answer.status
    };
    for foreign in FOREIGN {
        assert_eq!(post("/tenant/introspect", foreign), 403, "{foreign:?}");
        assert_eq!(post("/tenant/revoke", foreign), 403, "{foreign:?}");
    }
    attacked.assert_unchanged();
    for own in OWN {
        assert_eq!(post("/tenant/introspect", own), 200, "{own:?}");
    }
    // Any page may send requests that only read, and key sets are public.
    let reads = get(
        fixture.address(),
        KEYS,
        &[("origin", "http://evil.example")],
    );
    assert_eq!(
        (reads.status, &*reads.headers["access-control-allow-origin"]),
        (200, "*")
    );
    assert_eq!(post("/tenant/revoke", &[]), 200);
    assert!(fixture.verify(token).is_err());
}

#[test]
fn cors_preflight_permits_nothing() {
    let fixture = TestServer::plain();
    let asks = [
        ("origin", "http://evil.example"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "content-type"),
    ];
    for path in [&format!("/{ISSUE}"), "/tenant/introspect", "/tenant/revoke"] {
        let answer = send(fixture.address(), "OPTIONS", path, &asks, "");
        assert_eq!(answer.status, 405, "{path}");
        let permitted = answer
            .headers
            .keys()
            .find(|name| name.starts_with("access-control-"));
        assert_eq!(permitted, None, "{path}");
    }
}

/// The positive control of these tests.
#[test]
fn valid_requests_succeed() {
    let fixture = TestServer::plain();
    let token = fixture.issue("access", "alice").token;
    let verify = VerifyRequest {
        audience: "api".to_owned(),
        token: token.clone(),
        ..VerifyRequest::default()
    };
    let verified = raw_grpc::call(
        &fixture,
        "jeton.v1.TokenService/Verify",
        &[],
        whole(framed(&verify)),
    );
    assert_eq!(&verified.end()["grpc-status"], "0");
    let revoked = raw_grpc::call(&fixture, REVOKE, &[], whole(framed(&revoke())));
    assert_eq!(&revoked.end()["grpc-status"], "0");
    assert_eq!(
        post_form(
            fixture.address(),
            "/tenant/introspect",
            &format!("token={token}")
        )
        .status,
        200
    );
}
