//! The metadata of a resource (RFC 9728), and the order of layers: CORS, tokens, scopes, nested routers.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, Response, StatusCode, header};
use axum::routing::get;
use http_body_util::BodyExt as _;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use jeton::key::{MacAlg, MacKey};
use jeton::{Claims, Policy, jwt::JwtVerifier};
use jeton_jwks::AddressError;
use jeton_tower::{RequireScope, RequireToken, ResourceMetadata};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tower_http::cors::CorsLayer;

const RESOURCE: &str = "https://api.example/v1";
const METADATA: &str = "/.well-known/oauth-protected-resource/v1";
const ORIGIN: &str = "https://app.example";

struct Api {
    address: String,
    key: MacKey,
}

impl Api {
    /// Starts an API with a router that uses this layer.
    async fn start(router: impl FnOnce(RequireToken) -> Router) -> Api {
        let key = MacKey::generate(MacAlg::HS256).unwrap();
        let policy = Policy::new("https://id.example", RESOURCE);
        let require_token = RequireToken::new(JwtVerifier::new(&key, policy));
        let app = router(require_token);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Api { address, key }
    }

    /// A token with these scopes.
    fn token(&self, scope: &str) -> String {
        let claims = Claims::new(json!({"scope": scope}))
            .issuer("https://id.example")
            .audience(RESOURCE)
            .expires_in(Duration::from_secs(300));
        format!("Bearer {}", self.key.issue(&claims).unwrap())
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Response<impl http_body_util::BodyExt<Data = Bytes, Error: std::fmt::Debug>> {
        let client = Client::builder(TokioExecutor::new()).build_http();
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).unwrap();
        client.request(request).await.unwrap()
    }

    async fn get(&self, path: &str, token: Option<&str>) -> (StatusCode, HeaderMap) {
        let authorization = token.map(|token| ("authorization", token));
        let headers: Vec<_> = authorization.into_iter().collect();
        let response = self.send(Method::GET, path, &headers).await;
        (response.status(), response.headers().clone())
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().unwrap())
}

fn metadata() -> ResourceMetadata {
    ResourceMetadata::new(RESOURCE)
        .unwrap()
        .authorization_servers(["https://id.example", "https://partner.example/"])
        .scopes_supported(["read", "write"])
        .resource_name("Orders")
}

#[tokio::test]
async fn metadata_is_served_without_a_token() {
    let api = Api::start(|require_token| {
        Router::new()
            .route("/orders", get(|| async {}))
            .route_layer(require_token.resource_metadata(&metadata()))
            .route_service(&metadata().path(), metadata())
    })
    .await;
    let response = api.send(Method::GET, METADATA, &[]).await;
    assert_eq!(response.status(), 200);
    assert_eq!(
        text(response.headers(), "content-type"),
        Some("application/json")
    );
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let document: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        document,
        json!({
            "resource": RESOURCE,
            "authorization_servers": ["https://id.example", "https://partner.example/"],
            "scopes_supported": ["read", "write"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Orders",
        })
    );
    let head = api.send(Method::HEAD, METADATA, &[]).await;
    let length = text(head.headers(), "content-length").unwrap().to_owned();
    assert_eq!(
        (head.status().as_u16(), length),
        (200, body.len().to_string())
    );
    assert!(
        head.into_body()
            .collect()
            .await
            .unwrap()
            .to_bytes()
            .is_empty()
    );
    let post = api.send(Method::POST, METADATA, &[]).await;
    assert_eq!(post.status(), 405);
    assert_eq!(text(post.headers(), "allow"), Some("GET, HEAD"));
}

#[tokio::test]
async fn challenge_names_the_metadata_of_the_resource() {
    let api = Api::start(|require_token| {
        let read = RequireScope::all(["read"]);
        Router::new()
            .route("/orders", get(|| async {}).layer(read))
            .route_layer(
                require_token
                    .describe_errors()
                    .resource_metadata(&metadata()),
            )
    })
    .await;
    let url = format!("resource_metadata=\"https://api.example{METADATA}\"");
    for (token, status, parameters) in [
        (None, 401, String::new()),
        (
            Some("Bearer a.b".to_owned()),
            401,
            "error=\"invalid_token\", error_description=\"TOKEN_MALFORMED\", ".to_owned(),
        ),
        (
            Some("Bearer".to_owned()),
            400,
            "error=\"invalid_request\", ".to_owned(),
        ),
        (
            Some(api.token("write")),
            403,
            "error=\"insufficient_scope\", scope=\"read\", ".to_owned(),
        ),
    ] {
        let (found, headers) = api.get("/orders", token.as_deref()).await;
        let challenge = format!("Bearer {parameters}{url}");
        assert_eq!(
            (found.as_u16(), text(&headers, "www-authenticate")),
            (status, Some(&*challenge))
        );
    }
}

#[test]
fn metadata_of_an_invalid_resource_is_rejected() {
    for (resource, error) in [
        ("http://api.example", AddressError::NotEncrypted),
        ("https://api.example?x", AddressError::QueryOrFragment),
        ("https://api.example/#x", AddressError::QueryOrFragment),
        ("https://user:secret@api.example", AddressError::Credentials),
        ("https://api.example/\"", AddressError::NotHttp),
        ("https://api.example/\n", AddressError::NotHttp),
        ("api.example", AddressError::NotHttp),
        ("", AddressError::NotHttp),
    ] {
        let found = ResourceMetadata::new(resource).map(drop);
        assert_eq!(found, Err(error), "{resource:?}");
    }
    for (resource, url) in [
        (
            "https://api.example",
            "https://api.example/.well-known/oauth-protected-resource",
        ),
        (
            "https://api.example/",
            "https://api.example/.well-known/oauth-protected-resource",
        ),
        (
            "http://localhost:1/a/",
            "http://localhost:1/.well-known/oauth-protected-resource/a/",
        ),
    ] {
        assert_eq!(ResourceMetadata::new(resource).unwrap().url(), url);
    }
    let plain = ResourceMetadata::new("https://api.example").unwrap();
    let document = r#"{"resource":"https://api.example","bearer_methods_supported":["header"]}"#;
    assert_eq!(plain.to_json(), document);
}

/// The order of layers in a service for browsers on another origin. The layer that is added last runs first.
fn cors(require_token: RequireToken) -> Router {
    let cors = CorsLayer::new()
        .allow_origin([ORIGIN.parse().unwrap()])
        .allow_methods([Method::GET])
        // A wildcard does not include this header.
        .allow_headers([header::AUTHORIZATION])
        // Without this, the page cannot read why a request failed.
        .expose_headers([header::WWW_AUTHENTICATE]);
    Router::new()
        .route(
            "/orders",
            get(|| async { "[]" }).layer(RequireScope::all(["read"])),
        )
        .route_layer(require_token.resource_metadata(&metadata()))
        .route_service(&metadata().path(), metadata())
        .layer(cors)
}

#[tokio::test]
async fn preflight_without_a_token_passes() {
    let api = Api::start(cors).await;
    let preflight = [
        ("origin", ORIGIN),
        ("access-control-request-method", "GET"),
        ("access-control-request-headers", "authorization"),
    ];
    let response = api.send(Method::OPTIONS, "/orders", &preflight).await;
    let headers = response.headers();
    assert_eq!(response.status(), 200);
    assert_eq!(text(headers, "access-control-allow-origin"), Some(ORIGIN));
    assert_eq!(
        text(headers, "access-control-allow-headers"),
        Some("authorization")
    );
    assert_eq!(text(headers, "www-authenticate"), None);
}

#[tokio::test]
async fn error_responses_have_cors_headers() {
    let api = Api::start(cors).await;
    let (invalid, few) = ("Bearer a.b.c".to_owned(), api.token("write"));
    let read = api.token("read");
    for (token, status) in [
        (None, 401),
        (Some(&invalid), 401),
        (Some(&few), 403),
        (Some(&read), 200),
    ] {
        let mut headers = vec![("origin", ORIGIN)];
        headers.extend(token.map(|token| ("authorization", token.as_str())));
        let response = api.send(Method::GET, "/orders", &headers).await;
        assert_eq!(response.status().as_u16(), status);
        let headers = response.headers();
        assert_eq!(text(headers, "access-control-allow-origin"), Some(ORIGIN));
        assert_eq!(
            text(headers, "access-control-expose-headers"),
            Some("www-authenticate")
        );
        assert_eq!(headers.contains_key("www-authenticate"), status != 200);
    }
    let (status, headers) = api.get(METADATA, None).await;
    assert_eq!(status, 200);
    assert!(!headers.contains_key("www-authenticate"));
}

#[tokio::test]
async fn scopes_of_nested_routers_add_up() {
    let orders = || {
        Router::new()
            .route("/", get(|| async {}))
            .route("/all", get(|| async {}).layer(RequireScope::all(["admin"])))
            .route_layer(RequireScope::all(["read"]))
    };
    let by_route_layer = Api::start(|require_token| {
        Router::new()
            .nest("/orders", orders())
            .route("/me", get(|| async {}))
            .route_layer(require_token)
            .route("/public", get(|| async {}))
    })
    .await;
    let by_layer = Api::start(|require_token| {
        Router::new()
            .nest("/orders", orders())
            .route("/me", get(|| async {}))
            .layer(require_token)
            .route("/public", get(|| async {}))
    })
    .await;
    for (api, unknown) in [(&by_route_layer, 404), (&by_layer, 401)] {
        for (path, scope, status) in [
            ("/orders", None, 401),
            ("/orders", Some("write"), 403),
            ("/orders", Some("read"), 200),
            ("/orders/all", Some("read"), 403),
            ("/orders/all", Some("admin"), 403),
            ("/orders/all", Some("admin read"), 200),
            ("/me", None, 401),
            ("/me", Some(""), 200),
            ("/public", None, 200),
            ("/nothing", None, unknown),
        ] {
            let token = scope.map(|scope| api.token(scope));
            let (found, _) = api.get(path, token.as_deref()).await;
            assert_eq!(found.as_u16(), status, "{path} {scope:?}");
        }
    }
}
