//! Runs the API as a process, with two issuers that publish their keys as Auth0 does.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use axum::Router;
use axum::routing::get;
use base64_simd::{STANDARD, URL_SAFE_NO_PAD};

use jeton::key::{SigAlg, SigningKey};
use jeton::{Claims, FixedClock, Timestamp};
use rcgen::{CertificateParams, KeyPair, PKCS_RSA_SHA256};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

const AUDIENCE: &str = "https://api.example";

/// An issuer on the loopback interface. It publishes a key set, which a test may change.
struct Issuer {
    /// `iss`, with the slash at the end that Auth0 writes.
    name: String,
    published: Arc<Mutex<Vec<Value>>>,
    /// Keeps the server running.
    runtime: Runtime,
}

impl Issuer {
    fn start(keys: Vec<Value>) -> Self {
        let published = Arc::new(Mutex::new(keys));
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let name = format!("http://{}/", listener.local_addr().unwrap());
        let served = Arc::clone(&published);
        let set = move || async move { json!({"keys": *served.lock().unwrap()}).to_string() };
        let app = Router::new().route("/.well-known/jwks.json", get(set));
        runtime.spawn(async move { axum::serve(listener, app).await });
        Self {
            name,
            published,
            runtime,
        }
    }

    /// The claims of an access token of Auth0 for this API.
    fn claims(&self, custom: Value) -> Claims<'_, Value> {
        Claims::new(custom)
            .issuer(&self.name)
            .subject("auth0|6553f0")
            .audiences([AUDIENCE.to_owned(), format!("{}userinfo", self.name)])
            .expires_in(Duration::from_secs(3600))
    }
}

fn rsa_key(kid: &str) -> SigningKey {
    let key = SigningKey::generate(SigAlg::RS256).unwrap();
    key.with_key_id(kid).unwrap()
}

/// A key as Auth0 publishes it.
fn published(key: &SigningKey) -> Value {
    let pkcs8 = key.to_der().unwrap();
    let pair =
        KeyPair::from_pkcs8_der_and_sign_algo(&pkcs8.as_slice().into(), &PKCS_RSA_SHA256).unwrap();
    let certificate = CertificateParams::new(["tenant.eu.auth0.com".to_owned()]).unwrap();
    let certificate = certificate.self_signed(&pair).unwrap();
    let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, certificate.der());
    let mut jwk: Value = serde_json::from_str(&key.verifying_key().to_jwk()).unwrap();
    jwk["use"] = "sig".into();
    jwk["x5t"] = URL_SAFE_NO_PAD.encode_to_string(hash).into();
    jwk["x5c"] = json!([STANDARD.encode_to_string(certificate.der())]);
    jwk
}

/// The key without its `alg`, as some issuers publish it.
fn without_alg(mut jwk: Value) -> Value {
    jwk.as_object_mut().unwrap().remove("alg").unwrap();
    jwk
}

/// The running API, which ends with the test.
struct Api {
    process: Child,
    url: String,
}

impl Api {
    fn start(issuers: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_axum-two-issuers"))
            .args(["127.0.0.1:0", AUDIENCE])
            .args(issuers)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on ").unwrap();
        let url = format!("http://{address}");
        Self { process, url }
    }

    /// Requests a path: the status, the challenge and the body.
    fn get(&self, path: &str, token: Option<&str>) -> (u16, Option<String>, String) {
        let agent = ureq::Agent::config_builder().http_status_as_error(false);
        let agent = agent.build().new_agent();
        let mut request = agent.get(format!("{}{path}", self.url));
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut response = request.call().unwrap();
        let challenge = response.headers().get("www-authenticate");
        let challenge = challenge.map(|challenge| challenge.to_str().unwrap().to_owned());
        let body = response.body_mut().read_to_string().unwrap();
        (response.status().as_u16(), challenge, body)
    }

    /// The status and the challenge of the route that needs a token.
    fn private(&self, token: &str) -> (u16, Option<String>) {
        let (status, challenge, _) = self.get("/api/private", Some(token));
        (status, challenge)
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn rejected() -> (u16, Option<String>) {
    (401, Some("Bearer error=\"invalid_token\"".to_owned()))
}

#[test]
fn public_route_needs_no_token_and_private_does() {
    let issuer = Issuer::start(vec![published(&rsa_key("a"))]);
    let api = Api::start(&[&issuer.name]);
    let (status, _, body) = api.get("/api/public", None);
    assert_eq!((status, body.contains("message")), (200, true));
    for path in ["/api/private", "/api/private-scoped"] {
        let (status, challenge, _) = api.get(path, None);
        assert_eq!((status, challenge.as_deref()), (401, Some("Bearer")));
    }
}

#[test]
fn tokens_of_both_issuers_are_accepted() {
    let (current, next, other) = (rsa_key("current"), rsa_key("next"), rsa_key("other"));
    let encryption = rsa_key("encryption");
    let mut for_encryption = published(&encryption);
    for_encryption["use"] = "enc".into();
    let a = Issuer::start(vec![
        for_encryption,
        published(&current),
        without_alg(published(&next)),
    ]);
    let b = Issuer::start(vec![without_alg(published(&other))]);
    let api = Api::start(&[&a.name, &b.name]);
    for (issuer, key) in [(&a, &current), (&a, &next), (&b, &other)] {
        let token = key.issue(&issuer.claims(json!({"azp": "app"}))).unwrap();
        let (status, _, body) = api.get("/api/private", Some(&token));
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(status, 200);
        assert_eq!(
            body,
            json!({"issuer": issuer.name, "subject": "auth0|6553f0"})
        );
    }
    let token = encryption.issue(&a.claims(json!({}))).unwrap();
    assert_eq!(api.private(&token), rejected());
}

#[test]
fn issuer_cannot_issue_for_the_other() {
    let (of_a, of_b) = (rsa_key("same-id"), rsa_key("same-id"));
    let a = Issuer::start(vec![published(&of_a)]);
    let b = Issuer::start(vec![published(&of_b)]);
    let api = Api::start(&[&a.name, &b.name]);
    for (key, issuer, status) in [
        (&of_a, &a, 200),
        (&of_b, &b, 200),
        (&of_a, &b, 401),
        (&of_b, &a, 401),
    ] {
        let token = key.issue(&issuer.claims(json!({}))).unwrap();
        assert_eq!(api.private(&token).0, status);
    }
}

#[test]
fn token_for_another_use_is_rejected() {
    let key = rsa_key("a");
    let issuer = Issuer::start(vec![published(&key)]);
    let api = Api::start(&[&issuer.name]);
    let claims = || issuer.claims(json!({}));
    let past = FixedClock(Timestamp::from_unix_seconds(1_700_000_000).unwrap());
    let name = issuer.name.trim_end_matches('/');
    for (what, token) in [
        ("expired", key.issue_with_clock(&claims(), &past)),
        ("audience", key.issue(&claims().audience("https://other"))),
        ("unknown issuer", key.issue(&claims().issuer("https://x/"))),
        ("issuer without slash", key.issue(&claims().issuer(name))),
        ("not a token", Ok("x".to_owned())),
    ] {
        assert_eq!(api.private(&token.unwrap()), rejected(), "{what}");
    }
}

#[test]
fn scoped_route_needs_the_scope_in_either_claim() {
    let key = rsa_key("a");
    let issuer = Issuer::start(vec![published(&key)]);
    let api = Api::start(&[&issuer.name]);
    let get = |custom: Value| {
        let token = key.issue(&issuer.claims(custom)).unwrap();
        api.get("/api/private-scoped", Some(&token))
    };
    for granted in [
        json!({"permissions": ["write:messages", "read:messages"]}),
        json!({"scope": "openid profile read:messages"}),
    ] {
        assert_eq!(get(granted).0, 200);
    }
    for other in [
        json!({}),
        json!({"permissions": [], "scope": "read:messages.all"}),
    ] {
        let (status, challenge, _) = get(other);
        let expected = "Bearer error=\"insufficient_scope\", scope=\"read:messages\"";
        assert_eq!((status, challenge.as_deref()), (403, Some(expected)));
    }
}

#[test]
fn new_key_of_an_issuer_is_found() {
    let (old, new) = (rsa_key("old"), rsa_key("new"));
    let issuer = Issuer::start(vec![published(&old)]);
    let api = Api::start(&[&issuer.name]);
    let token = |key: &SigningKey| key.issue(&issuer.claims(json!({}))).unwrap();
    assert_eq!(api.private(&token(&old)).0, 200);
    *issuer.published.lock().unwrap() = vec![without_alg(published(&new)), published(&old)];
    assert_eq!(api.private(&token(&new)).0, 200);
}

#[test]
fn unreachable_issuer_gives_503_and_the_other_works() {
    let key = rsa_key("a");
    let (up, down) = (
        Issuer::start(vec![published(&key)]),
        Issuer::start(Vec::new()),
    );
    let name = down.name.clone();
    let token = key.issue(&down.claims(json!({}))).unwrap();
    down.runtime.shutdown_background();
    let api = Api::start(&[&up.name, &name]);
    assert_eq!(api.private(&token), (503, None));
    let token = key.issue(&up.claims(json!({}))).unwrap();
    assert_eq!(api.private(&token).0, 200);
}
