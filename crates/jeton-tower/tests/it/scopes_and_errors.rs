//! Scopes per route, error codes, and tokens of several issuers, over TCP connections.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::routing::get;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};
use jeton::{Claims, FixedClock, Policy, Timestamp, jwt::JwtVerifier};
use jeton_jwks::{MultiIssuerVerifier, RemoteKeySet};
use jeton_tower::{Authenticated, RequireScope, RequireToken};
#[cfg(feature = "tonic")]
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tonic::service::LayerExt as _;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

fn claims(custom: Value) -> Claims<'static, Value> {
    Claims::new(custom)
        .issuer("https://id.example")
        .audience("api")
        .expires_in(Duration::from_secs(300))
}

fn policy() -> Policy {
    Policy::new("https://id.example", "api")
}

async fn serve(app: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

/// Sends a request with this token, and with this `Content-Type`.
async fn send(address: &str, token: Option<&str>, kind: &str) -> (StatusCode, HeaderMap) {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let mut request = Request::get(address).header("content-type", kind);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let request = request.body(Body::empty()).unwrap();
    let response = client.request(request).await.unwrap();
    (response.status(), response.headers().clone())
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().unwrap())
}

#[tokio::test]
async fn route_requires_its_scopes() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let one = get(|| async {}).layer(RequireScope::all(["read"]));
    let both = get(|| async {})
        .layer(RequireScope::all(["read", "write:all"]).claims(["scope", "permissions"]));
    let without_layer = get(|| async {}).layer(RequireScope::all(["read"]));
    let app = Router::new()
        .route("/one", one)
        .route("/both", both)
        .route_layer(RequireToken::new(JwtVerifier::new(&key, policy())))
        .route("/without", without_layer);
    let address = serve(app).await;
    for (path, custom, passes) in [
        ("/one", json!({"scope": "read"}), true),
        ("/one", json!({"scope": "x read"}), true),
        ("/one", json!({"scope": "reader"}), false),
        ("/one", json!({"scope": "Read"}), false),
        ("/one", json!({"permissions": ["read"]}), false),
        ("/one", json!({}), false),
        ("/one", json!({"scope": 7}), false),
        ("/both", json!({"scope": "read write:all"}), true),
        (
            "/both",
            json!({"scope": "read", "permissions": ["write:all"]}),
            true,
        ),
        ("/both", json!({"scope": "read"}), false),
        ("/both", json!({"permissions": ["read write:all"]}), false),
    ] {
        let token = key.issue(&claims(custom.clone())).unwrap();
        let url = format!("{address}{path}");
        let (status, headers) = send(&url, Some(&token), "text/plain").await;
        let expected = if passes { 200 } else { 403 };
        assert_eq!(status.as_u16(), expected, "{path} {custom}");
        let scope = if path == "/one" {
            "read"
        } else {
            "read write:all"
        };
        let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
        let challenge = (!passes).then_some(challenge.as_str());
        assert_eq!(text(&headers, "www-authenticate"), challenge);
    }
    let token = key.issue(&claims(json!({}))).unwrap();
    let one = format!("{address}/one");
    let (status, headers) = send(&one, Some(&token), "application/grpc").await;
    let found = (status.as_u16(), text(&headers, "grpc-status"));
    assert_eq!(found, (200, Some("7")));
    let without = format!("{address}/without");
    assert_eq!(
        send(&without, Some(&token), "text/plain").await.0.as_u16(),
        500
    );
}

#[tokio::test]
async fn route_with_optional_token_still_requires_scopes() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let scoped = get(|| async {}).layer(RequireScope::all(["read"]));
    let extracting = get(|_: Authenticated| async {});
    let layer = RequireToken::new(JwtVerifier::new(&key, policy())).optional();
    let app = Router::new()
        .route("/scoped", scoped)
        .route("/extracting", extracting)
        .layer(layer);
    let address = serve(app).await;
    for path in ["/scoped", "/extracting"] {
        let (status, headers) = send(&format!("{address}{path}"), None, "text/plain").await;
        let found = (status.as_u16(), text(&headers, "www-authenticate"));
        assert_eq!(found, (401, Some("Bearer")), "{path}");
    }
}

#[tokio::test]
async fn optional_token_reaches_the_handler_if_there_is_one() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let name =
        async |token: Option<Authenticated>| token.map_or("nobody", |_| "somebody").to_owned();
    let layer = RequireToken::new(JwtVerifier::new(&key, policy())).optional();
    let address = serve(Router::new().route("/", get(name)).layer(layer)).await;
    let token = key.issue(&claims(json!({}))).unwrap();
    for (token, status, length) in [
        (None, 200, Some("6")),
        (Some(token.as_str()), 200, Some("8")),
        (Some("a.b.c"), 401, Some("0")),
    ] {
        let (found, headers) = send(&address, token, "text/plain").await;
        let found = (found.as_u16(), text(&headers, "content-length"));
        assert_eq!(found, (status, length), "{token:?}");
    }
}

/// Starts the health service of tonic, which requires the scope `read`.
async fn scoped_grpc(layer: RequireToken) -> HealthClient<Channel> {
    let (_, health) = tonic_health::server::health_reporter();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let server = Server::builder()
        .layer(layer)
        .add_service(RequireScope::all(["read"]).named_layer(health));
    tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));
    let address = Endpoint::from_shared(address).unwrap();
    HealthClient::new(address.connect().await.unwrap())
}

async fn check(client: &mut HealthClient<Channel>, token: Option<&str>) -> Status {
    let service = String::new();
    let mut request = tonic::Request::new(HealthCheckRequest { service });
    if let Some(token) = token {
        let value = format!("Bearer {token}").parse().unwrap();
        request.metadata_mut().insert("authorization", value);
    }
    let response = client.check(request).await;
    response.map_or_else(|status| status, |_| Status::ok(""))
}

#[tokio::test]
async fn grpc_service_requires_its_scopes() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let layer = RequireToken::new(JwtVerifier::new(&key, policy()));
    let mut client = scoped_grpc(layer.clone().describe_errors()).await;
    for (custom, code) in [
        (json!({"scope": "read"}), Code::Ok),
        (json!({"scope": "write"}), Code::PermissionDenied),
    ] {
        let token = key.issue(&claims(custom)).unwrap();
        assert_eq!(check(&mut client, Some(&token)).await.code(), code);
    }
    assert_eq!(check(&mut client, None).await.code(), Code::Unauthenticated);
    let mut client = scoped_grpc(layer.optional()).await;
    assert_eq!(check(&mut client, None).await.code(), Code::Unauthenticated);
}

#[cfg(feature = "tonic")]
#[tokio::test]
async fn described_grpc_error_has_the_code() {
    use tonic_types::StatusExt as _;
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let layer = || RequireToken::new(JwtVerifier::new(&key, policy()));
    let past = FixedClock(Timestamp::from_unix_seconds(1_700_000_000).unwrap());
    let expired = key.issue_with_clock(&claims(json!({})), &past).unwrap();
    for (layer, reason) in [
        (layer().describe_errors(), Some("TOKEN_EXPIRED")),
        (layer(), None),
    ] {
        let status = check(&mut scoped_grpc(layer).await, Some(&expired)).await;
        assert_eq!(status.code(), Code::Unauthenticated);
        let info = status.get_details_error_info();
        let found = info.as_ref().map(|info| info.reason.as_str());
        assert_eq!(found, reason);
    }
}

#[cfg(feature = "tonic")]
#[tokio::test]
async fn client_with_send_token_passes() {
    use tonic::service::interceptor::InterceptedService;
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let layer = RequireToken::new(JwtVerifier::new(&key, policy()));
    let token = key.issue(&claims(json!({"scope": "read"}))).unwrap();
    let (_, health) = tonic_health::server::health_reporter();
    let service = layer.named_layer(health);
    for (token, code) in [
        (Ok(token), Code::Ok),
        (Ok("\n".to_owned()), Code::Internal),
        (Err("no key"), Code::Internal),
    ] {
        let send = jeton_tower::SendToken::new(move || token.clone());
        let service = InterceptedService::new(service.clone(), send);
        let response = HealthClient::new(service)
            .check(HealthCheckRequest::default())
            .await;
        let found = response.map_or_else(|status| status.code(), |_| Code::Ok);
        assert_eq!(found, code);
    }
}

#[cfg(feature = "tonic")]
#[test]
fn method_without_the_layer_fails_as_internal() {
    use jeton::Verify as _;
    let status = jeton_tower::require::<IgnoredAny>(&tonic::Request::new(())).unwrap_err();
    assert_eq!(status.code(), Code::Internal);
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let token = key.issue(&claims(json!({"tenant": 7}))).unwrap();
    let verified = JwtVerifier::new(&key, policy()).verify_raw(&token);
    let mut request = tonic::Request::new(());
    request.extensions_mut().insert(verified.unwrap());
    assert!(jeton_tower::require::<IgnoredAny>(&request).is_ok());
    let status = jeton_tower::require::<String>(&request).unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
}

#[tokio::test]
async fn described_error_has_the_code() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let layer = || RequireToken::new(JwtVerifier::new(&key, policy()));
    let app = |layer| Router::new().route("/", get(|| async {})).layer(layer);
    let described = serve(app(layer().describe_errors())).await;
    let silent = serve(app(layer())).await;
    let past = FixedClock(Timestamp::from_unix_seconds(1_700_000_000).unwrap());
    let expired = key.issue_with_clock(&claims(json!({})), &past).unwrap();
    let expected = "Bearer error=\"invalid_token\", error_description=\"TOKEN_EXPIRED\"";
    let (status, headers) = send(&described, Some(&expired), "text/plain").await;
    let found = (status.as_u16(), text(&headers, "www-authenticate"));
    assert_eq!(found, (401, Some(expected)));
    let (_, headers) = send(&silent, Some(&expired), "text/plain").await;
    let challenge = text(&headers, "www-authenticate");
    assert_eq!(challenge, Some("Bearer error=\"invalid_token\""));
    for (address, has_details) in [(&described, cfg!(feature = "tonic")), (&silent, false)] {
        let (_, headers) = send(address, Some(&expired), "application/grpc").await;
        assert_eq!(text(&headers, "grpc-status"), Some("16"));
        assert_eq!(headers.contains_key("grpc-status-details-bin"), has_details);
    }
}

#[tokio::test]
async fn unreachable_issuer_affects_only_its_tokens() {
    let key = SigningKey::generate(SigAlg::EdDSA).unwrap();
    let key = key.with_key_id("k").unwrap();
    let set = format!("{{\"keys\":[{}]}}", key.verifying_key().to_jwk());
    let published = Router::new().route("/jwks.json", get(move || async { set }));
    let published = format!("{}/jwks.json", serve(published).await);
    let up = RemoteKeySet::new(&published).unwrap();
    let down = RemoteKeySet::new("http://127.0.0.1:1/jwks.json").unwrap();
    let verifier = MultiIssuerVerifier::new()
        .issuer(&up, policy())
        .and_then(|verifier| verifier.issuer(&down, Policy::new("https://down.example", "api")))
        .unwrap();
    let failed = verifier.ready().await;
    let failed: Vec<_> = failed.iter().flat_map(|issuer| issuer.issuers()).collect();
    assert_eq!(failed, ["https://down.example"]);
    let app = Router::new().route("/", get(|| async {}));
    let address = serve(app.layer(RequireToken::new(verifier))).await;
    for (issuer, expected) in [
        ("https://id.example", (200, None)),
        ("https://down.example", (503, Some("5"))),
        ("https://unknown.example", (401, None)),
    ] {
        let token = key.issue(&claims(json!({})).issuer(issuer)).unwrap();
        let (status, headers) = send(&address, Some(&token), "text/plain").await;
        let found = (status.as_u16(), text(&headers, "retry-after"));
        assert_eq!(found, expected, "{issuer}");
    }
}
