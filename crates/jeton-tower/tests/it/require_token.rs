//! The layer with axum and tonic services, over TCP connections.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use axum::routing::get;
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};
use jeton::paseto::PasetoVerifier;
use jeton::paseto::v4;
use jeton::{Claims, Issue, Policy, Verified, Verify, jwt::JwtVerifier};
use jeton_jwks::{RemoteKeySet, RemoteVerifier, Schedule};
use jeton_tower::{Authenticated, RequireScope, RequireToken, claims};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

#[derive(serde::Serialize, serde::Deserialize)]
struct Session {
    tenant: String,
}

fn session() -> Claims<'static, Session> {
    Claims::new(Session {
        tenant: "acme".into(),
    })
    .issuer("https://id.example")
    .subject("user-7")
    .audience("api")
    .expires_in(Duration::from_secs(300))
}

fn policy() -> Policy {
    Policy::new("https://id.example", "api")
}

async fn tenant(session: Authenticated<Session>) -> String {
    format!(
        "{} of {}",
        session.subject().unwrap(),
        session.claims().tenant
    )
}

async fn optional_tenant(session: Option<Authenticated<Session>>) -> String {
    session.map_or("nobody".into(), |session| session.claims().tenant.clone())
}

async fn serve(app: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

fn app(layer: RequireToken) -> Router {
    Router::new()
        .route("/", get(tenant))
        .route("/optional", get(optional_tenant))
        .layer(layer)
}

/// Sends a request with these `Authorization` headers.
async fn send(address: &str, credentials: &[&str]) -> (StatusCode, Option<String>, String) {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let mut request = Request::get(address);
    for one in credentials {
        request = request.header("authorization", *one);
    }
    let response = client
        .request(request.body(Body::empty()).unwrap())
        .await
        .unwrap();
    let challenge = response.headers().get("www-authenticate");
    let challenge = challenge.map(|challenge| challenge.to_str().unwrap().to_owned());
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, challenge, String::from_utf8(body.to_vec()).unwrap())
}

async fn passes(address: &str, token: &str) -> bool {
    let (status, _, body) = send(address, &[&format!("Bearer {token}")]).await;
    match status {
        StatusCode::OK => {
            assert_eq!(body, "user-7 of acme");
            true
        }
        other => {
            assert_eq!((other, body.as_str()), (StatusCode::UNAUTHORIZED, ""));
            false
        }
    }
}

#[tokio::test]
async fn valid_token_of_any_format_passes() {
    let mac = MacKey::generate(MacAlg::HS256).unwrap();
    let local = v4::LocalKey::generate().unwrap();
    let issuers: [&dyn Issue; 2] = [&mac, &local];
    let by_mac = serve(app(RequireToken::new(JwtVerifier::new(&mac, policy())))).await;
    let by_local = serve(app(RequireToken::new(PasetoVerifier::new(
        &local,
        policy(),
    ))))
    .await;
    for (i, issuer) in issuers.into_iter().enumerate() {
        let token = issuer.issue(&session()).unwrap();
        for (v, address) in [&by_mac, &by_local].into_iter().enumerate() {
            assert_eq!(
                passes(address, &token).await,
                i == v,
                "issuer {i}, verifier {v}"
            );
        }
    }
}

#[tokio::test]
async fn failed_request_has_the_response_of_rfc_6750() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let address = serve(app(RequireToken::new(JwtVerifier::new(&key, policy())))).await;
    let token = key.issue(&session()).unwrap();
    let expired = {
        let old = jeton::FixedClock(jeton::Timestamp::from_unix_seconds(1_700_000_000).unwrap());
        format!("Bearer {}", key.issue_with_clock(&session(), &old).unwrap())
    };
    let other = json!({"tenant": 7});
    let shape = Claims::new(other)
        .issuer("https://id.example")
        .audience("api");
    let shape = key
        .issue(&shape.expires_in(Duration::from_secs(300)))
        .unwrap();
    let (right, shape) = (format!("bearer {token}"), format!("Bearer {shape}"));
    for (credentials, status, challenge) in [
        (&[][..], 401, Some("Bearer")),
        (&["Basic dTpw"], 401, Some("Bearer")),
        (
            &[expired.as_str()],
            401,
            Some("Bearer error=\"invalid_token\""),
        ),
        (&["Bearer x"], 401, Some("Bearer error=\"invalid_token\"")),
        (
            &[shape.as_str()],
            401,
            Some("Bearer error=\"invalid_token\""),
        ),
        (&["Bearer"], 400, Some("Bearer error=\"invalid_request\"")),
        (
            &[right.as_str(), right.as_str()],
            400,
            Some("Bearer error=\"invalid_request\""),
        ),
        (&[right.as_str()], 200, None),
    ] {
        let (found, found_challenge, body) = send(&address, credentials).await;
        assert_eq!(
            (found.as_u16(), found_challenge.as_deref()),
            (status, challenge),
            "{credentials:?}"
        );
        assert!(status == 200 || body.is_empty(), "{body}");
    }
}

#[tokio::test]
async fn optional_token_may_be_absent_but_not_invalid() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let layer = RequireToken::new(JwtVerifier::new(&key, policy())).optional();
    let address = format!("{}/optional", serve(app(layer)).await);
    let token = format!("Bearer {}", key.issue(&session()).unwrap());
    assert_eq!(send(&address, &[]).await.2, "nobody");
    assert_eq!(send(&address, &[&token]).await.2, "acme");
    assert_eq!(
        send(&address, &["Bearer x"]).await.0,
        StatusCode::UNAUTHORIZED
    );
    // Without the layer, a handler that requires claims fails.
    let bare = serve(Router::new().route("/", get(tenant))).await;
    assert_eq!(
        send(&bare, &[&token]).await.0,
        StatusCode::INTERNAL_SERVER_ERROR
    );
}

#[tokio::test]
async fn remote_keys_verify_and_unreachable_keys_give_503() {
    let key = SigningKey::generate(SigAlg::EdDSA)
        .unwrap()
        .with_key_id("k")
        .unwrap();
    let set = format!("{{\"keys\":[{}]}}", key.verifying_key().to_jwk());
    let published = serve(Router::new().route("/jwks.json", get(move || async { set }))).await;
    let by = |address: &str| {
        let keys = RemoteKeySet::new(format!("{address}/jwks.json")).unwrap();
        app(RequireToken::new(RemoteVerifier::new(&keys, policy())))
    };
    let address = serve(by(&published)).await;
    assert!(passes(&address, &key.issue(&session()).unwrap()).await);
    let other_key = SigningKey::generate(SigAlg::EdDSA)
        .unwrap()
        .with_key_id("k")
        .unwrap();
    assert!(!passes(&address, &other_key.issue(&session()).unwrap()).await);
    let address = serve(by("http://127.0.0.1:1")).await;
    let token = format!("Bearer {}", key.issue(&session()).unwrap());
    let (status, challenge, _) = send(&address, &[&token]).await;
    assert_eq!((status, challenge), (StatusCode::SERVICE_UNAVAILABLE, None));
}

/// A verifier that returns `InvalidUse` for every token.
struct Misconfigured;

impl Verify for Misconfigured {
    fn verify_raw(&self, _: &str) -> jeton::Result<Verified<jeton::RawClaims>> {
        Err(jeton::error::InvalidUse::ImplicitAssertion.into())
    }

    fn recheck(&self, _: &Verified<jeton::RawClaims>) -> jeton::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn misconfigured_verifier_gives_500() {
    let address = serve(app(RequireToken::new(Misconfigured))).await;
    let (status, challenge, _) = send(&address, &["Bearer x"]).await;
    assert_eq!(
        (status, challenge),
        (StatusCode::INTERNAL_SERVER_ERROR, None)
    );
}

/// Starts the health service of tonic behind the layer, with an interceptor that checks the claims.
async fn grpc(layer: RequireToken) -> HealthClient<tonic::transport::Channel> {
    let (_, health) = tonic_health::server::health_reporter();
    let sees = |request: tonic::Request<()>| {
        let tenant = claims::<Session>(request.extensions())
            .map(|claims| claims.unwrap().into_claims().tenant);
        assert_eq!(tenant.as_deref(), Some("acme"));
        Ok(request)
    };
    let health = tonic::service::interceptor::InterceptedService::new(health, sees);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let incoming = tonic::transport::server::TcpIncoming::from(listener);
    let server = tonic::transport::Server::builder()
        .layer(layer)
        .add_service(health);
    tokio::spawn(server.serve_with_incoming(incoming));
    let address = tonic::transport::Endpoint::from_shared(address).unwrap();
    HealthClient::new(address.connect().await.unwrap())
}

#[tokio::test]
async fn grpc_request_has_grpc_status() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    let layer = RequireToken::new(JwtVerifier::new(&key, policy()));
    let mut client = grpc(layer).await;
    let token = format!("Bearer {}", key.issue(&session()).unwrap());
    for (credentials, code) in [
        (&[][..], Code::Unauthenticated),
        (&["Bearer x"], Code::Unauthenticated),
        (&["Bearer x", "Bearer y"], Code::InvalidArgument),
        (&[token.as_str()], Code::Ok),
    ] {
        let mut request = tonic::Request::new(HealthCheckRequest {
            service: String::new(),
        });
        for one in credentials {
            request
                .metadata_mut()
                .append("authorization", one.parse().unwrap());
        }
        let found = client
            .check(request)
            .await
            .map_or_else(|status| status.code(), |_| Code::Ok);
        assert_eq!(found, code, "{credentials:?}");
    }
    let layer = RequireToken::new(Misconfigured);
    let mut request = tonic::Request::new(HealthCheckRequest {
        service: String::new(),
    });
    request
        .metadata_mut()
        .append("authorization", token.parse().unwrap());
    let status = grpc(layer).await.check(request).await.unwrap_err();
    assert_eq!(status.code(), Code::Internal);
}

/// Services of axum and tonic see the same keys, which change while they run.
#[tokio::test]
async fn statuses_are_right_before_and_after_a_rotation() {
    let key = |id: &str| {
        let key = SigningKey::generate(SigAlg::ES256).unwrap();
        key.with_key_id(id).unwrap()
    };
    let (old, next, unknown) = (key("old"), key("next"), key("unknown"));
    let published = Arc::new(Mutex::new(String::from("<html></html>")));
    let publish = |keys: &[&SigningKey]| {
        let keys: Vec<_> = keys
            .iter()
            .map(|key| key.verifying_key().to_jwk())
            .collect();
        *published.lock().unwrap() = format!("{{\"keys\":[{}]}}", keys.join(","));
    };
    let page = Arc::clone(&published);
    let body = move || std::future::ready(page.lock().unwrap().clone());
    let provider = serve(Router::new().route("/jwks.json", get(body))).await;
    let keys = RemoteKeySet::builder(format!("{provider}/jwks.json"))
        .schedule(Schedule::default().cooldown(Duration::ZERO))
        .build()
        .unwrap();
    let layer = RequireToken::new(RemoteVerifier::new(&keys, policy()));
    let scoped = get(tenant).layer(RequireScope::all(["read"]));
    let routes = Router::new()
        .route("/", get(tenant))
        .route("/scoped", scoped);
    let address = serve(routes.layer(layer.clone())).await;
    let mut client = grpc(layer).await;
    let mut check = async |key: &SigningKey, code: Code| {
        let token = format!("Bearer {}", key.issue(&session()).unwrap());
        let mut request = tonic::Request::new(HealthCheckRequest::default());
        let metadata = request.metadata_mut();
        metadata.append("authorization", token.parse().unwrap());
        let answer = client.check(request).await;
        let by_grpc = answer.map_or_else(|status| status.code(), |_| Code::Ok);
        let (by_http, _, _) = send(&address, &[&token]).await;
        let (with_scope, _, _) = send(&format!("{address}/scoped"), &[&token]).await;
        let expected = match code {
            Code::Ok => (200, 403),
            Code::Unavailable => (503, 503),
            _ => (401, 401),
        };
        let found = (by_grpc, (by_http.as_u16(), with_scope.as_u16()));
        assert_eq!(found, (code, expected), "a token of {:?}", key.key_id());
    };
    check(&old, Code::Unavailable).await;
    publish(&[&old]);
    check(&old, Code::Ok).await;
    check(&next, Code::Unauthenticated).await;
    publish(&[&old, &next]);
    check(&next, Code::Ok).await;
    check(&old, Code::Ok).await;
    check(&unknown, Code::Unauthenticated).await;
    publish(&[&next]);
    check(&unknown, Code::Unauthenticated).await;
    check(&old, Code::Unauthenticated).await;
    *published.lock().unwrap() = "<html></html>".into();
    check(&next, Code::Ok).await;
}

/// Checks at compile time that the layer works with any body type.
#[allow(dead_code)]
fn any_body_will_do(layer: &RequireToken) {
    fn is_service<S: tower_service::Service<Request<String>, Response = Response<Vec<u8>>>>(_: &S) {
    }
    #[derive(Clone)]
    struct Inner;
    impl tower_service::Service<Request<String>> for Inner {
        type Response = Response<Vec<u8>>;
        type Error = std::convert::Infallible;
        type Future = std::future::Ready<Result<Self::Response, Self::Error>>;
        fn poll_ready(
            &mut self,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Result<(), Self::Error>> {
            std::task::Poll::Ready(Ok(()))
        }
        fn call(&mut self, _: Request<String>) -> Self::Future {
            std::future::ready(Ok(Response::default()))
        }
    }
    is_service(&tower_layer::Layer::layer(layer, Inner));
    let _: Option<Value> = None;
}
