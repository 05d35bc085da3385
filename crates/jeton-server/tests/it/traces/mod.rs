//! Traces over OpenTelemetry, as a collector receives them. `cargo xtask test` runs these tests.

mod collector;
mod secrets;

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Empty;
use jeton_proto::v1::{
    IssueRequest, IssueResponse, RevokeRequest, WatchRevocationsRequest, revoke_request,
};
use jeton_testkit::free_port;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tonic::{Code, Request, Status};

use self::collector::{TIMEOUT, TestCollector, attributes};
use crate::access::TestCertificates;
use crate::harness::{ISSUER, TestServer};
use crate::raw_http::{get, send};

const TRACE_ID: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN_ID: &str = "b7ad6b7169203331";
const KEY_SET: &str = "{issuer}/.well-known/jwks.json";

fn traceparent(flags: &str) -> String {
    format!("00-{TRACE_ID}-{SPAN_ID}-{flags}")
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Issues a token, with these metadata.
fn issue(fixture: &TestServer, metadata: &[(&'static str, &str)]) -> Result<IssueResponse, Status> {
    let mut request = Request::new(IssueRequest {
        profile: "access".to_owned(),
        subject: "alice".to_owned(),
        ..IssueRequest::default()
    });
    for (name, value) in metadata {
        request.metadata_mut().append(*name, value.parse().unwrap());
    }
    let mut tokens = fixture.tokens();
    let issued = fixture.runtime.block_on(tokens.issue(request));
    issued.map(tonic::Response::into_inner)
}

/// Stops the server, which then sends its last spans.
fn stop(mut fixture: TestServer) {
    fixture.server.take().unwrap().stop();
}

fn metric(fixture: &TestServer, name: &str) -> u64 {
    let text = get(fixture.server().admin_address(), "/metrics", &[]).body;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_else(|| panic!("{name}: {text}"))
        .trim()
        .parse()
        .unwrap()
}

fn only(collector: &TestCollector) -> Span {
    let mut spans = collector.spans();
    assert_eq!(spans.len(), 1, "{spans:#?}");
    spans.remove(0)
}

fn named<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    let mut with_name = spans.iter().filter(|span| span.name == name);
    let span = with_name.next();
    assert!(with_name.next().is_none(), "several {name}");
    span.unwrap_or_else(|| panic!("no {name}: {spans:#?}"))
}

#[test]
fn grpc_call_continues_the_trace_of_its_caller() {
    let collector = TestCollector::start();
    // Without a parent, no request is sampled.
    let config = collector.config().replace("1.0", "0.0");
    let fixture = TestServer::with(&format!("{ISSUER}{config}service_name = 'tokens'\n"));
    issue(&fixture, &[]).unwrap();
    let parent = [
        ("traceparent", &*traceparent("01")),
        ("tracestate", "a=1,b=2"),
    ];
    issue(&fixture, &parent).unwrap();
    stop(fixture);
    let span = only(&collector);
    assert_eq!(span.name, "jeton.v1.TokenService/Issue");
    assert_eq!(span.kind(), SpanKind::Server);
    assert_eq!(hexadecimal(&span.trace_id), TRACE_ID);
    assert_eq!(hexadecimal(&span.parent_span_id), SPAN_ID);
    assert_ne!(hexadecimal(&span.span_id), SPAN_ID);
    assert_eq!(span.trace_state, "a=1,b=2");
    assert_eq!(
        attributes(&span.attributes),
        [
            "rpc.grpc.status_code=0",
            "rpc.method=Issue",
            "rpc.service=jeton.v1.TokenService",
            "rpc.system=grpc"
        ]
    );
    assert_eq!(span.status.unwrap_or_default().code(), StatusCode::Unset);
    assert!(span.start_time_unix_nano < span.end_time_unix_nano);
    let (resource, _) = collector.resources().remove(0);
    let resource = attributes(&resource);
    assert!(
        resource.contains(&"service.name=tokens".to_owned()),
        "{resource:?}"
    );
    let received = collector.received();
    assert_eq!(received[0].path, "/v1/traces");
    assert_eq!(
        received[0].headers["content-type"],
        "application/x-protobuf"
    );
}

#[test]
fn http_request_continues_the_trace_of_its_caller() {
    let collector = TestCollector::start();
    let config = collector.config().replace("1.0", "0.0");
    let fixture = TestServer::with(&format!("{ISSUER}{config}"));
    let parent = [("traceparent", &*traceparent("01"))];
    let path = "/tenant/.well-known/jwks.json";
    assert_eq!(get(fixture.address(), path, &parent).status, 200);
    // A span ends after the client has its response.
    collector.wait_for(|collector| !collector.spans().is_empty());
    stop(fixture);
    let span = only(&collector);
    assert_eq!(span.name, format!("GET {KEY_SET}"));
    assert_eq!(span.kind(), SpanKind::Server);
    assert_eq!(hexadecimal(&span.trace_id), TRACE_ID);
    assert_eq!(hexadecimal(&span.parent_span_id), SPAN_ID);
    assert_eq!(
        attributes(&span.attributes),
        [
            "http.request.method=GET",
            "http.response.status_code=200",
            &format!("http.route={KEY_SET}"),
            "url.scheme=http"
        ]
    );
}

#[test]
fn invalid_parent_begins_a_new_trace() {
    let collector = TestCollector::start();
    let fixture = TestServer::with(&format!("{ISSUER}{}", collector.config()));
    let zeros = format!("00-{}-{SPAN_ID}-01", "0".repeat(32));
    let long = format!("{}-{}", traceparent("01"), "a".repeat(4000));
    let invalid = [
        "nonsense",
        "",
        &zeros,
        &long,
        &traceparent("0g"),
        &traceparent("01")[1..],
    ];
    for value in invalid {
        let headers = [("traceparent", value)];
        issue(&fixture, &headers).unwrap();
        assert_eq!(get(fixture.address(), "/livez", &headers).status, 200);
    }
    // With two parents, neither counts.
    let (one, two) = (traceparent("01"), traceparent("01"));
    issue(&fixture, &[("traceparent", &one), ("traceparent", &two)]).unwrap();
    stop(fixture);
    let spans = collector.spans();
    assert_eq!(spans.len(), 2 * invalid.len() + 1);
    for span in spans {
        assert_ne!(hexadecimal(&span.trace_id), TRACE_ID);
        assert!(span.parent_span_id.is_empty(), "{span:?}");
    }
}

#[test]
fn unsampled_requests_are_not_exported() {
    let collector = TestCollector::start();
    let fixture = TestServer::with(&format!("{ISSUER}{}", collector.config()));
    issue(&fixture, &[("traceparent", &traceparent("00"))]).unwrap();
    stop(fixture);
    let config = collector.config().replace("1.0", "0.0");
    let fixture = TestServer::with(&format!("{ISSUER}{config}"));
    issue(&fixture, &[]).unwrap();
    issue(&fixture, &[("traceparent", "nonsense")]).unwrap();
    stop(fixture);
    assert!(collector.received().is_empty());
}

#[test]
fn callers_cannot_make_the_server_sample_everything() {
    let collector = TestCollector::start();
    let config = collector.config().replace("1.0", "0.0");
    let config = format!("{ISSUER}{config}sampled_parents_per_minute = 5\n");
    let fixture = TestServer::with(&config);
    let headers = [("traceparent", &*traceparent("01"))];
    for _ in 0..20 {
        assert_eq!(get(fixture.address(), "/livez", &headers).status, 200);
    }
    assert_eq!(
        metric(&fixture, "jeton_trace_sampled_parents_limited_total"),
        15
    );
    stop(fixture);
    assert_eq!(collector.spans().len(), 5);
}

#[test]
fn rejected_and_unknown_calls_have_their_status() {
    let collector = TestCollector::start();
    let fixture = TestServer::with(&format!("{ISSUER}{}", collector.config()));
    assert!(fixture.verify("nonsense").is_err());
    let unknown = "jeton.v1.TokenService/Unknown";
    crate::raw_grpc::call(&fixture, unknown, &[], Empty::new());
    assert_eq!(get(fixture.address(), "/unknown", &[]).status, 404);
    assert_eq!(
        send(fixture.address(), "BREW", "/livez", &[], "").status,
        405
    );
    assert_eq!(
        get(fixture.address(), "/livez", &[("host", "other.example")]).status,
        421
    );
    stop(fixture);
    let spans = collector.spans();
    let with = |name: &str, attribute: &str| {
        let span = named(&spans, name);
        let attributes = attributes(&span.attributes);
        assert!(
            attributes.contains(&attribute.to_owned()),
            "{name}: {attributes:?}"
        );
        span.status.clone().unwrap_or_default().code()
    };
    let code = format!(
        "rpc.grpc.status_code={}",
        i32::from(Code::FailedPrecondition)
    );
    let verify = with("jeton.v1.TokenService/Verify", &code);
    // Errors of the caller are no errors of the server.
    assert_eq!(verify, StatusCode::Unset);
    let other = with("jeton.v1.TokenService/_OTHER", "error.type=UNIMPLEMENTED");
    assert_eq!(other, StatusCode::Error);
    with("GET", "http.response.status_code=404");
    with("HTTP /livez", "http.request.method=_OTHER");
    with("GET /livez", "http.response.status_code=421");
}

#[test]
fn revocation_has_a_child_span_of_the_store() {
    let collector = TestCollector::start();
    let fixture = TestServer::with(&format!("{ISSUER}{}", collector.config()));
    let request = RevokeRequest {
        what: Some(revoke_request::What::Subject("alice".to_owned())),
        ..RevokeRequest::default()
    };
    let mut tokens = fixture.tokens();
    fixture.runtime.block_on(tokens.revoke(request)).unwrap();
    stop(fixture);
    let spans = collector.spans();
    let (server, store) = (
        named(&spans, "jeton.v1.TokenService/Revoke"),
        named(&spans, "store revoke"),
    );
    assert_eq!(store.trace_id, server.trace_id);
    assert_eq!(store.parent_span_id, server.span_id);
    assert_eq!(store.kind(), SpanKind::Internal);
    assert!(store.end_time_unix_nano <= server.end_time_unix_nano);
}

#[test]
fn span_of_a_stream_ends_with_the_stream() {
    let collector = TestCollector::start();
    let fixture = TestServer::with(&format!("{ISSUER}{}", collector.config()));
    let request = IssueRequest {
        profile: "access".to_owned(),
        ..IssueRequest::default()
    };
    let mut tokens = fixture.tokens();
    fixture.runtime.block_on(async {
        let requests = tokio_stream::iter(vec![request.clone(), request]);
        let mut issued = tokens.issue_stream(requests).await.unwrap().into_inner();
        let mut count = 0;
        while issued.message().await.unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 2);
    });
    stop(fixture);
    let span = only(&collector);
    assert_eq!(span.name, "jeton.v1.TokenService/IssueStream");
    let attributes = attributes(&span.attributes);
    assert!(
        attributes.contains(&"rpc.grpc.status_code=0".to_owned()),
        "{attributes:?}"
    );
}

/// A caller that goes away.
#[test]
fn span_of_a_cancelled_call_says_so() {
    let collector = TestCollector::start();
    let fixture = TestServer::with(&format!("{ISSUER}{}", collector.config()));
    let mut tokens = fixture.tokens();
    fixture.runtime.block_on(async {
        let watching = tokens.watch_revocations(WatchRevocationsRequest::default());
        drop(watching.await.unwrap());
        drop(tokens);
        // The end of the server would be another end of the call. This runtime tells the server that the caller
        // is gone.
        let until = std::time::Instant::now() + TIMEOUT;
        while collector.spans().is_empty() {
            assert!(std::time::Instant::now() < until);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    stop(fixture);
    let span = only(&collector);
    assert_eq!(span.name, "jeton.v1.TokenService/WatchRevocations");
    let attributes = attributes(&span.attributes);
    let code = format!("rpc.grpc.status_code={}", i32::from(Code::Cancelled));
    assert!(attributes.contains(&code), "{attributes:?}");
}

/// The collector is down at the start, up, down, and up again. The server serves all the time.
#[test]
fn outage_of_the_collector_costs_spans_only() {
    // Not a port that a connection can take while the collector is down.
    let collector = TestCollector::at(&format!("127.0.0.1:{}", free_port()), None);
    let (address, config) = (collector.address.to_string(), collector.config());
    drop(collector);
    let fixture = TestServer::with(&format!("{ISSUER}{config}"));
    let mut tokens = fixture.tokens();
    // More than a batch, so that it is sent at once.
    let mut calls = || {
        fixture.runtime.block_on(async {
            for _ in 0..600 {
                let request = IssueRequest {
                    profile: "mac".to_owned(),
                    ..IssueRequest::default()
                };
                tokens.issue(request).await.unwrap();
            }
        });
    };
    let failed = "jeton_trace_spans_dropped_total{reason=\"export_failed\"}";
    let wait_for = |holds: &dyn Fn() -> bool| {
        let until = std::time::Instant::now() + TIMEOUT;
        while !holds() {
            assert!(std::time::Instant::now() < until);
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let mut dropped = 0;
    for _ in 0..2 {
        calls();
        wait_for(&|| metric(&fixture, failed) > dropped);
        dropped = metric(&fixture, failed);
        assert_eq!(metric(&fixture, "jeton_trace_collector_available"), 0);
        let collector = TestCollector::at(&address, None);
        calls();
        collector.wait_for(|collector| collector.spans().len() > 500);
        wait_for(&|| metric(&fixture, "jeton_trace_collector_available") == 1);
        assert!(metric(&fixture, "jeton_trace_spans_exported_total") > 500);
    }
    assert_eq!(
        metric(
            &fixture,
            "jeton_trace_spans_dropped_total{reason=\"queue_full\"}"
        ),
        0
    );
}

/// It answers with status 200, and names the number.
#[test]
fn spans_that_the_collector_rejects_are_dropped_and_counted() {
    let collector = TestCollector::start();
    // Requests for the metrics are not sampled.
    let config = collector.config().replace("1.0", "0.0");
    let fixture = TestServer::with(&format!("{ISSUER}{config}"));
    let exported = || metric(&fixture, "jeton_trace_spans_exported_total");
    let rejected = "jeton_trace_spans_dropped_total{reason=\"rejected\"}";
    let wait_for = |spans: u64| {
        let until = std::time::Instant::now() + TIMEOUT;
        while exported() + metric(&fixture, rejected) < spans {
            assert!(std::time::Instant::now() < until);
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let counts = |spans: i64| {
        collector.reject(spans);
        let before = (exported(), metric(&fixture, rejected));
        issue(&fixture, &[("traceparent", &traceparent("01"))]).unwrap();
        wait_for(before.0 + before.1 + 1);
        (exported() - before.0, metric(&fixture, rejected) - before.1)
    };
    assert_eq!(counts(1), (0, 1));
    // It cannot reject more than it got, or less than none.
    assert_eq!(counts(i64::MAX), (0, 1));
    assert_eq!(counts(-1), (1, 0));
    assert_eq!(metric(&fixture, "jeton_trace_collector_available"), 1);
}

#[test]
fn collector_with_tls_is_authenticated() {
    let certificates = TestCertificates::new();
    let file = |name: &str| certificates.path(name);
    let chain = CertificateDer::from_pem_file(file("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let tls = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .unwrap();
    let collector = TestCollector::at("127.0.0.1:0", Some(Arc::new(tls)));
    let config = collector.config().replace("http:", "https:");
    // The authorities of this machine did not sign the certificate.
    let fixture = TestServer::with(&format!("{ISSUER}{config}"));
    issue(&fixture, &[]).unwrap();
    stop(fixture);
    assert!(collector.received().is_empty());

    fs::write(file("headers"), "\nx-api-key: k3y\nx-other:v\n").unwrap();
    let config = format!(
        "{ISSUER}{config}ca = '{}'\nheaders_file = '{}'\n",
        file("ca.pem").display(),
        file("headers").display()
    );
    let fixture = TestServer::with(&config);
    issue(&fixture, &[]).unwrap();
    stop(fixture);
    assert_eq!(only(&collector).name, "jeton.v1.TokenService/Issue");
    let received = collector.received();
    assert_eq!(received[0].headers["x-api-key"], "k3y");
    assert_eq!(received[0].headers["x-other"], "v");
}

#[test]
fn unusable_files_are_errors_of_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let error = |key: &str, scheme: &str, contents: &str| {
        fs::write(&file, contents).unwrap();
        let config = format!(
            "{ISSUER}[traces]\nendpoint = '{scheme}://127.0.0.1:1'\n{key} = '{}'\n",
            file.display()
        );
        let error = TestServer::try_with(&config).err().unwrap().to_string();
        let at = format!("{} ", file.display());
        assert!(!error.contains("s3cret"), "{error}");
        error.replace(&at, "")
    };
    for contents in ["x-api-key s3cret", "a b: s3cret", "a: s3cret\u{7f}"] {
        let expected = "`traces.headers_file`: line 1: expected `name: value`";
        assert_eq!(error("headers_file", "http", contents), expected);
    }
    assert_eq!(
        error("ca", "https", "s3cret"),
        "`traces.ca`: has no certificate"
    );
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert_eq!(
        error("ca", "https", pem),
        "`traces.ca`: has a malformed certificate"
    );
}
