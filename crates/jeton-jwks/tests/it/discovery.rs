//! Discovery of the key set of an issuer: against HTTP servers, and against a fake client where time has to pass.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jeton::error::Rejection;
use jeton::key::{SigAlg, SigningKey};
use jeton::{Claims, Policy, Timestamp};
use jeton_jwks::{
    AddressError, DISCOVERY_BYTES, DiscoveryError, Error, Fetch, FetchError, FetchFuture,
    FetchRequest, FetchResponse, Https, MultiIssuerVerifier, RemoteKeySet, RemoteVerifier,
    Schedule,
};
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::advance;

const S: Duration = Duration::from_secs(1);

/// An HTTP server with a response for each path. Other paths get 404.
#[derive(Clone)]
struct Server {
    origin: String,
    pages: Arc<Mutex<HashMap<String, String>>>,
    paths: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server {
            origin: format!("http://{}", listener.local_addr().unwrap()),
            pages: Arc::default(),
            paths: Arc::default(),
        };
        let serving = server.clone();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = [0; 4096];
                let length = stream.read(&mut request).await.unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..length]).into_owned();
                let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                let page = serving.pages.lock().unwrap().get(&path).cloned();
                serving.paths.lock().unwrap().push(path);
                let page = page.unwrap_or_else(|| response("404 Not Found", "", ""));
                let _ = stream.write_all(page.as_bytes()).await;
            }
        });
        server
    }

    fn raw(&self, path: &str, response: String) {
        self.pages.lock().unwrap().insert(path.to_owned(), response);
    }

    fn page(&self, path: &str, body: &str) {
        self.raw(path, response("200 OK", "", body));
    }

    /// Publishes a document of this issuer, with its keys at `/keys`.
    fn document(&self, path: &str, issuer: &str) {
        let keys = format!("{}/keys", self.origin);
        self.page(path, &document(issuer, &keys));
    }

    fn keys(&self, key: &SigningKey) {
        self.page("/keys", &set(key));
    }

    fn requested(&self) -> Vec<String> {
        self.paths.lock().unwrap().drain(..).collect()
    }
}

const OPENID: &str = "/.well-known/openid-configuration";
const OAUTH: &str = "/.well-known/oauth-authorization-server";

fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn document(issuer: &str, keys: &str) -> String {
    json!({"issuer": issuer, "jwks_uri": keys, "scopes_supported": ["openid"]}).to_string()
}

fn key() -> SigningKey {
    let key = SigningKey::generate(SigAlg::EdDSA).unwrap();
    key.with_key_id("one").unwrap()
}

fn set(key: &SigningKey) -> String {
    format!("{{\"keys\":[{}]}}", key.verifying_key().to_jwk())
}

fn token(key: &SigningKey, issuer: &str) -> String {
    let claims = Claims::registered()
        .issuer(issuer.to_owned())
        .audience("api");
    key.issue(&claims.expires_in(300 * S)).unwrap()
}

async fn error_of(issuer: &str) -> FetchError {
    let keys = RemoteKeySet::discover(issuer).unwrap();
    keys.ready().await.unwrap_err()
}

#[tokio::test]
async fn discovered_keys_verify_tokens_of_the_issuer() {
    let (server, key) = (Server::start().await, key());
    let issuer = server.origin.clone();
    server.document(OPENID, &issuer);
    server.keys(&key);
    let keys = RemoteKeySet::discover(&*issuer).unwrap();
    assert!(server.requested().is_empty());
    let verifier = RemoteVerifier::new(&keys, Policy::new(issuer.clone(), "api"));
    let verify = async || verifier.verify_raw(&token(&key, &issuer)).await.map(drop);
    assert_eq!(verify().await, Ok(()));
    assert_eq!(verify().await, Ok(()));
    assert_eq!(server.requested(), [OPENID, "/keys"]);
}

#[tokio::test]
async fn issuer_with_path_is_found_at_each_known_address() {
    let (server, key) = (Server::start().await, key());
    server.keys(&key);
    let issuer = format!("{}/realms/one/", server.origin);
    let all = [
        format!("/realms/one{OPENID}"),
        format!("{OAUTH}/realms/one"),
        format!("{OPENID}/realms/one"),
    ];
    for (index, path) in all.iter().enumerate() {
        server.pages.lock().unwrap().remove(path);
        server.document(path, &issuer);
        for before in &all[..index] {
            server.pages.lock().unwrap().remove(before);
        }
        let keys = RemoteKeySet::discover(&*issuer).unwrap();
        assert_eq!(keys.ready().await, Ok(()), "{path}");
        let requested = server.requested();
        assert_eq!(requested[..=index], all[..=index]);
        assert_eq!(requested[index + 1..], ["/keys"]);
    }
}

#[tokio::test]
async fn document_of_another_issuer_is_rejected() {
    let server = Server::start().await;
    let issuer = server.origin.clone();
    for (published, only_slash, message) in [
        (
            format!("{issuer}/"),
            true,
            "discovery: the `issuer` of the document differs from yours in the trailing slash: add the slash, or remove it",
        ),
        (
            "https://evil.example".to_owned(),
            false,
            "discovery: the `issuer` of the document is not the requested issuer",
        ),
    ] {
        server.document(OPENID, &published);
        let error = error_of(&issuer).await;
        assert_eq!(
            (error.code(), &*error.to_string()),
            ("DISCOVERY_ISSUER_MISMATCH", message)
        );
        let mismatch = DiscoveryError::IssuerMismatch {
            published,
            only_slash,
        };
        assert_eq!(error, FetchError::Discovery(mismatch));
        assert_eq!(server.requested(), [OPENID]);
    }
}

#[tokio::test]
async fn invalid_discovery_response_is_described() {
    let server = Server::start().await;
    let large = " ".repeat(10_000_000);
    let chunked = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{large}\r\n0\r\n\r\n",
        large.len()
    );
    let too_large = |bytes| {
        format!("discovery: the document has {bytes} bytes or more, limit {DISCOVERY_BYTES}")
    };
    let redirect = "discovery: the server redirects (status 302), and redirects are not followed: configure the final address";
    for (raw, code, message) in [
        (
            response("200 OK", "", "<html>"),
            "DISCOVERY_MALFORMED",
            "discovery: the document is an HTML page, not JSON: check the address of the issuer"
                .to_owned(),
        ),
        (
            response("200 OK", "", "{"),
            "DISCOVERY_MALFORMED",
            "discovery: the document is not a JSON object with `issuer` and `jwks_uri`".to_owned(),
        ),
        (
            response("200 OK", "", &large),
            "DISCOVERY_TOO_LARGE",
            too_large(10_000_000),
        ),
        (
            chunked,
            "DISCOVERY_TOO_LARGE",
            too_large(DISCOVERY_BYTES + 1),
        ),
        (
            response("302 Found", "Location: http://169.254.169.254/\r\n", ""),
            "KEY_SET_UNREACHABLE",
            redirect.to_owned(),
        ),
        (
            response("500 Internal Server Error", "", ""),
            "KEY_SET_UNREACHABLE",
            "discovery: the server responded with status 500".to_owned(),
        ),
    ] {
        server.raw(OPENID, raw);
        let error = error_of(&server.origin).await;
        assert_eq!((error.code(), error.to_string()), (code, message));
        assert_eq!(server.requested(), [OPENID]);
    }
    server.pages.lock().unwrap().clear();
    let error = error_of(&server.origin).await;
    let message = "discovery: the server responded with status 404";
    assert_eq!(error.to_string(), message);
    assert_eq!(server.requested(), [OPENID, OAUTH]);
}

#[tokio::test]
async fn key_set_on_a_private_address_is_refused() {
    let (server, other, key) = (Server::start().await, Server::start().await, key());
    other.keys(&key);
    let by_address = format!("{}/keys", other.origin);
    // The name is resolved by the client, which then refuses the loopback address.
    let by_name = by_address.replace("127.0.0.1", "localhost");
    for keys in [&by_address, &by_name] {
        server.page(OPENID, &document(&server.origin, keys));
        let error = error_of(&server.origin).await;
        let expected = DiscoveryError::InvalidKeySetAddress(AddressError::Private);
        assert_eq!(error, FetchError::Discovery(expected), "{keys}");
        assert_eq!(error.code(), "KEY_SET_ADDRESS");
        assert!(other.requested().is_empty());
        let builder = RemoteKeySet::builder_with_discovery(&*server.origin);
        let allowed = builder.allow_private_addresses().build().unwrap();
        assert_eq!(allowed.ready().await, Ok(()), "{keys}");
        assert_eq!(other.requested(), ["/keys"]);
    }
}

#[tokio::test]
async fn redirect_of_the_key_set_is_not_followed() {
    let (server, other, key) = (Server::start().await, Server::start().await, key());
    other.keys(&key);
    server.document(OPENID, &server.origin);
    let location = format!("Location: {}/keys\r\n", other.origin);
    server.raw(
        "/keys",
        response("307 Temporary Redirect", &location, &set(&key)),
    );
    assert_eq!(error_of(&server.origin).await, FetchError::Status(307));
    assert!(other.requested().is_empty());
}

#[tokio::test]
async fn key_set_of_ten_megabytes_or_html_is_rejected() {
    let server = Server::start().await;
    server.document(OPENID, &server.origin);
    server.page("/keys", &" ".repeat(10_000_000));
    let error = error_of(&server.origin).await;
    let limit = jeton::limits::KEY_SET_BYTES;
    let message = format!("the response has 10000000 bytes or more, limit {limit}");
    assert_eq!(
        (error.code(), error.to_string()),
        ("KEY_TOO_LARGE", message)
    );
    server.page("/keys", "\n<html>");
    assert_eq!(error_of(&server.origin).await, FetchError::Html);
}

#[tokio::test]
async fn several_issuers_are_discovered_and_counted() {
    let (a, b, key) = (Server::start().await, Server::start().await, key());
    for server in [&a, &b] {
        server.document(OPENID, &server.origin);
        server.keys(&key);
    }
    let policy = Policy::new(a.origin.clone(), "api");
    let verifier = MultiIssuerVerifier::new()
        .fetch(Https::new().unwrap())
        .discover(policy.clone())
        .and_then(|verifier| verifier.discover(policy.issuer(b.origin.clone())))
        .unwrap();
    assert_eq!(verifier.ready().await, []);
    for server in [&a, &b] {
        let token = token(&key, &server.origin);
        assert!(verifier.verify::<IgnoredAny>(&token).await.is_ok());
        assert_eq!(server.requested(), [OPENID, "/keys"]);
    }
    let other = verifier.verify_raw(&token(&key, "https://c.example")).await;
    let other = other.unwrap_err();
    assert_eq!(other.rejection(), Some(&Rejection::IssuerMismatch));
    let policy = Policy::new("x", "api").issuers_with_shared_keys([""; 0]);
    let no_issuer = MultiIssuerVerifier::new().discover(policy);
    assert_eq!(no_issuer.unwrap_err().code(), "ISSUER_NOT_CHOSEN");
}

#[test]
fn authorities_without_a_certificate_are_rejected() {
    let own = rcgen::KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned()];
    let certificate = rcgen::CertificateParams::new(names).unwrap();
    let pem = certificate.self_signed(&own).unwrap().pem();
    let cut = pem.replacen("MII", "M", 1);
    let two = format!("# company\n{pem}{cut}");
    for (pem, index) in [("", 0), (&*own.serialize_pem(), 0), (&cut, 0), (&two, 1)] {
        let error = Https::with_authorities(pem.as_bytes()).unwrap_err();
        assert_eq!(error, FetchError::InvalidAuthority { index });
        assert_eq!(error.code(), "INVALID_CERTIFICATE_AUTHORITY");
    }
    assert!(Https::with_authorities(pem.as_bytes()).is_ok());
}

/// A client with a response for each path, which records the requests.
#[derive(Clone, Default)]
struct FakeClient {
    responses: Arc<Mutex<HashMap<String, Result<FetchResponse, FetchError>>>>,
    requests: Arc<Mutex<Vec<FetchRequest>>>,
}

impl FakeClient {
    fn responds(&self, path: &str, response: Result<FetchResponse, FetchError>) {
        let mut responses = self.responses.lock().unwrap();
        responses.insert(path.to_owned(), response);
    }

    fn requests(&self) -> Vec<FetchRequest> {
        self.requests.lock().unwrap().drain(..).collect()
    }

    fn paths(&self) -> Vec<String> {
        let path = |request: FetchRequest| request.uri.path().to_owned();
        self.requests().into_iter().map(path).collect()
    }
}

impl Fetch for FakeClient {
    fn fetch(&self, request: FetchRequest) -> FetchFuture<'_> {
        let responses = self.responses.lock().unwrap();
        let response = responses.get(request.uri.path()).cloned();
        self.requests.lock().unwrap().push(request);
        Box::pin(async move { response.unwrap_or(Err(FetchError::Status(404))) })
    }
}

/// Lets background tasks run.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

const ISSUER: &str = "https://id.example";

#[tokio::test(start_paused = true)]
async fn discovered_address_is_read_again_by_schedule() {
    let (client, key) = (FakeClient::default(), key());
    let text = |keys: &str| Ok(FetchResponse::key_set(document(ISSUER, keys)));
    client.responds(OPENID, text("https://keys.example/a"));
    client.responds(
        "/a",
        Ok(FetchResponse::key_set(set(&key)).etag("v1".to_owned())),
    );
    let keys = RemoteKeySet::builder_with_discovery(ISSUER)
        .fetch(client.clone())
        .schedule(Schedule::default().address_fresh_for(900 * S))
        .build()
        .unwrap();
    let verifier = RemoteVerifier::new(&keys, Policy::new(ISSUER, "api"));
    let verify = async || {
        let verified = verifier.verify_raw(&token(&key, ISSUER)).await.map(drop);
        settle().await;
        verified
    };
    assert_eq!(verify().await, Ok(()));
    let requests = client.requests();
    assert_eq!(requests.len(), 2);
    let sizes: Vec<_> = requests.iter().map(|request| request.max_bytes).collect();
    assert_eq!(sizes, [DISCOVERY_BYTES, jeton::limits::KEY_SET_BYTES]);
    let public: Vec<_> = requests.iter().map(|request| request.public_only).collect();
    assert_eq!(public, [false, true]);

    // The keys are refreshed after 300 s each, and the document is read with the fetch after 900 s.
    for paths in [&["/a"][..], &["/a"], &[OPENID, "/a"]] {
        advance(300 * S).await;
        assert_eq!(verify().await, Ok(()));
        assert_eq!(client.paths(), paths);
    }

    // The keys move: the first fetch fails, and the next fetch reads the document again. The `ETag` is not sent
    // to the new address.
    client.responds("/a", Err(FetchError::Status(404)));
    client.responds(OPENID, text("https://keys.example/b"));
    client.responds("/b", Ok(FetchResponse::key_set(set(&key))));
    advance(300 * S).await;
    assert_eq!(verify().await, Ok(()));
    assert_eq!(client.paths(), ["/a"]);
    advance(S).await;
    assert_eq!(verify().await, Ok(()));
    let requests = client.requests();
    let paths: Vec<_> = requests.iter().map(|request| request.uri.path()).collect();
    assert_eq!(paths, [OPENID, "/b"]);
    assert_eq!(requests[1].etag, None);
}

#[tokio::test(start_paused = true)]
async fn outage_of_the_document_keeps_cached_keys() {
    let (client, key) = (FakeClient::default(), key());
    let text = document(ISSUER, "https://id.example/keys");
    client.responds(OPENID, Ok(FetchResponse::key_set(text)));
    client.responds("/keys", Ok(FetchResponse::key_set(set(&key))));
    let builder = RemoteKeySet::builder_with_discovery(ISSUER).fetch(client.clone());
    let keys = builder.build().unwrap();
    let verifier = RemoteVerifier::new(&keys, Policy::new(ISSUER, "api"));
    let verify = async || verifier.verify_raw(&token(&key, ISSUER)).await.map(drop);
    assert_eq!(verify().await, Ok(()));
    client.responds(OPENID, Err(FetchError::TimedOut));
    for _ in 0..22 {
        advance(3600 * S).await;
        assert_eq!(verify().await, Ok(()));
        settle().await;
    }
    advance(3 * 3600 * S).await;
    let timed_out = DiscoveryError::NotFetched(Box::new(FetchError::TimedOut));
    assert_eq!(
        verify().await,
        Err(Error::NoKeys(FetchError::Discovery(timed_out)))
    );
}

#[tokio::test(start_paused = true)]
async fn metrics_count_fetches_and_failures() {
    let (client, key) = (FakeClient::default(), key());
    let builder = RemoteKeySet::builder("https://id.example/keys").fetch(client.clone());
    let keys = builder.build().unwrap();
    let before = keys.metrics();
    assert_eq!(
        (before.fetches, before.failures, before.last_success),
        (0, 0, None)
    );
    assert!(keys.ready().await.is_err());
    let jwk = key.verifying_key().to_jwk();
    let text = format!(r#"{{"keys":[{{"kty":"new"}},{jwk}]}}"#);
    client.responds("/keys", Ok(FetchResponse::key_set(text)));
    advance(S).await;
    let start = Timestamp::now();
    assert_eq!(keys.ready().await, Ok(()));
    let metrics = keys.metrics();
    assert_eq!((metrics.fetches, metrics.failures), (2, 1));
    assert_eq!((metrics.keys, metrics.skipped), (1, 1));
    assert!(metrics.last_success.unwrap() >= start);
}
