//! Remote key sets: against an HTTP server, and against a fake client where time has to pass.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jeton::error::Rejection;
use jeton::jwk::KeySet;
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};
use jeton::{Claims, Policy};
use jeton_jwks::{
    AddressError, Error, Fetch, FetchError, FetchFuture, FetchRequest, FetchResponse, Https,
    RemoteKeySet, RemoteVerifier, Schedule, TIMEOUT,
};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::{advance, sleep};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::aws_lc_rs::default_provider;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};

const S: Duration = Duration::from_secs(1);

fn key(id: &str) -> SigningKey {
    SigningKey::generate(SigAlg::EdDSA)
        .unwrap()
        .with_key_id(id)
        .unwrap()
}

fn set(keys: &[&SigningKey]) -> String {
    let keys: Vec<String> = keys
        .iter()
        .map(|key| key.verifying_key().to_jwk())
        .collect();
    format!("{{\"keys\":[{}]}}", keys.join(","))
}

fn claims() -> Claims<'static, ()> {
    Claims::new(())
        .issuer("https://id.example")
        .audience("api")
        .expires_in(Duration::from_secs(1_000_000))
}

fn policy() -> Policy {
    Policy::new("https://id.example", "api")
}

/// A client that returns the configured response and records the requests.
#[derive(Clone, Default)]
struct FakeServer {
    response: Arc<Mutex<Option<Result<FetchResponse, FetchError>>>>,
    requests: Arc<Mutex<Vec<FetchRequest>>>,
    /// The time until the response.
    takes: Arc<Mutex<Duration>>,
}

impl FakeServer {
    fn responds(&self, response: Result<FetchResponse, FetchError>) {
        *self.response.lock().unwrap() = Some(response);
    }

    fn publishes(&self, keys: &[&SigningKey]) {
        self.responds(Ok(FetchResponse::key_set(set(keys))));
    }

    fn is_down(&self) {
        self.responds(Err(FetchError::Status(503)));
    }

    fn request_count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// The `no_cache` flag of each request.
    fn no_cache_flags(&self) -> Vec<bool> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|request| request.no_cache).collect()
    }

    fn keys(&self) -> RemoteKeySet {
        self.keys_with(Schedule::default())
    }

    fn keys_with(&self, schedule: Schedule) -> RemoteKeySet {
        let address = "https://id.example/jwks.json";
        RemoteKeySet::builder(address)
            .schedule(schedule)
            .fetch(self.clone())
            .build()
            .unwrap()
    }
}

impl Fetch for FakeServer {
    fn fetch(&self, request: FetchRequest) -> FetchFuture<'_> {
        self.requests.lock().unwrap().push(request);
        let response = self.response.lock().unwrap().clone();
        let takes = *self.takes.lock().unwrap();
        Box::pin(async move {
            sleep(takes).await;
            match response {
                Some(response) => response,
                None => pending().await,
            }
        })
    }
}

async fn verified(verifier: &RemoteVerifier, key: &SigningKey) -> Result<(), Error> {
    let token = key.issue(&claims()).unwrap();
    verifier.verify::<Value>(&token).await.map(drop)
}

/// Lets background tasks run.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn first_verification_fetches_once_for_all_callers() {
    let (one, server) = (key("one"), FakeServer::default());
    server.publishes(&[&one]);
    *server.takes.lock().unwrap() = 2 * S;
    let verifier = Arc::new(RemoteVerifier::new(&server.keys(), policy()));
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let (verifier, token) = (Arc::clone(&verifier), one.issue(&claims()).unwrap());
            tokio::spawn(async move { verifier.verify::<Value>(&token).await.map(drop) })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), Ok(()));
    }
    assert_eq!(server.request_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn stale_keys_verify_during_background_refresh() {
    let (one, two, server) = (key("one"), key("two"), FakeServer::default());
    server.publishes(&[&one]);
    let verifier = RemoteVerifier::new(&server.keys(), policy());
    verified(&verifier, &one).await.unwrap();
    advance(299 * S).await;
    verified(&verifier, &one).await.unwrap();
    assert_eq!(server.request_count(), 1);

    advance(S).await;
    server.publishes(&[&two]);
    *server.takes.lock().unwrap() = S;
    for _ in 0..10 {
        // Verification does not wait: no time passes, and the stale keys are used.
        verified(&verifier, &one).await.unwrap();
    }
    settle().await;
    assert_eq!(server.request_count(), 2);
    advance(S).await;
    settle().await;
    verified(&verifier, &two).await.unwrap();
    let gone = verified(&verifier, &one).await.unwrap_err();
    assert_eq!(gone.rejection(), Some(&Rejection::UnknownKey));
    assert_eq!(server.no_cache_flags(), [false, false, true]);
}

#[tokio::test(start_paused = true)]
async fn unknown_key_is_fetched_once_per_cooldown() {
    let (one, two, never) = (key("one"), key("two"), key("never"));
    let server = FakeServer::default();
    server.publishes(&[&one]);
    let verifier = RemoteVerifier::new(&server.keys(), policy());
    verified(&verifier, &one).await.unwrap();
    // An invented key id causes one request, because the cached set may come from a proxy.
    for _ in 0..100 {
        let error = verified(&verifier, &never).await.unwrap_err();
        assert_eq!(error.rejection(), Some(&Rejection::UnknownKey));
    }
    assert_eq!(server.request_count(), 2);
    advance(30 * S).await;
    server.publishes(&[&one, &two]);
    verified(&verifier, &two).await.unwrap();
    assert_eq!(server.request_count(), 3);
    for _ in 0..100 {
        verified(&verifier, &never).await.unwrap_err();
    }
    assert_eq!(server.request_count(), 3);
    // A forged token with a known key id causes no request.
    advance(30 * S).await;
    let forged = verified(&verifier, &key("one")).await.unwrap_err();
    assert_eq!(forged.rejection(), Some(&Rejection::Signature));
    assert_eq!(server.request_count(), 3);
    assert_eq!(server.no_cache_flags(), [false, true, true]);
}

/// Verifies a token of the key fifty times at once.
async fn verified_at_once(verifier: &Arc<RemoteVerifier>, key: &SigningKey) -> Vec<Error> {
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let (verifier, token) = (Arc::clone(verifier), key.issue(&claims()).unwrap());
            tokio::spawn(async move { verifier.verify::<Value>(&token).await.map(drop) })
        })
        .collect();
    let mut errors = Vec::new();
    for call in calls {
        errors.push(call.await.unwrap().unwrap_err());
    }
    errors
}

#[tokio::test(start_paused = true)]
async fn unknown_key_without_a_cooldown_is_fetched_once_per_token() {
    let (one, two, server) = (key("one"), key("two"), FakeServer::default());
    server.publishes(&[&one]);
    let keys = server.keys_with(Schedule::default().cooldown(Duration::ZERO));
    let verifier = Arc::new(RemoteVerifier::new(&keys, policy()));
    verified(&verifier, &one).await.unwrap();
    for before in 1..=3 {
        assert_eq!(server.request_count(), before);
        let error = verified(&verifier, &two).await.unwrap_err();
        assert_eq!(error.rejection(), Some(&Rejection::UnknownKey));
    }
    assert_eq!(server.no_cache_flags(), [false, true, true, true]);

    // One fetch for the first token, and one for all that came while it ran.
    *server.takes.lock().unwrap() = S;
    for error in verified_at_once(&verifier, &two).await {
        assert_eq!(error.rejection(), Some(&Rejection::UnknownKey));
    }
    assert_eq!(server.request_count(), 6);
    server.publishes(&[&two]);
    verified(&verifier, &two).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn failure_without_a_cooldown_is_shared_by_waiting_callers() {
    let (one, server) = (key("one"), FakeServer::default());
    server.is_down();
    *server.takes.lock().unwrap() = S;
    let keys = server.keys_with(Schedule::default().cooldown(Duration::ZERO));
    let verifier = Arc::new(RemoteVerifier::new(&keys, policy()));
    for error in verified_at_once(&verifier, &one).await {
        assert_eq!(error, Error::NoKeys(FetchError::Status(503)));
    }
    assert_eq!(server.request_count(), 1);
    server.publishes(&[&one]);
    verified(&verifier, &one).await.unwrap();
    assert_eq!(server.request_count(), 2);
}

#[tokio::test(start_paused = true)]
async fn keys_verify_during_outage_until_usable_for_has_passed() {
    let (one, server) = (key("one"), FakeServer::default());
    server.publishes(&[&one]);
    let keys = server.keys();
    let verifier = RemoteVerifier::new(&keys, policy());
    verified(&verifier, &one).await.unwrap();
    server.is_down();
    for _ in 0..23 {
        advance(3600 * S).await;
        // The number of tokens does not matter: one request, and the next after the pause.
        for _ in 0..10 {
            verified(&verifier, &one).await.unwrap();
            settle().await;
        }
    }
    assert!(keys.age().unwrap() >= 23 * 3600 * S);
    let tried = server.request_count();
    assert_eq!(tried, 24);
    advance(3600 * S).await;
    let none = verified(&verifier, &one).await;
    assert_eq!(none, Err(Error::NoKeys(FetchError::Status(503))));
    // Not every token causes a request; the next one follows after the pause.
    assert_eq!(server.request_count(), tried + 1);
    verified(&verifier, &one).await.unwrap_err();
    assert_eq!(server.request_count(), tried + 1);
    server.publishes(&[&one]);
    advance(30 * S).await;
    verified(&verifier, &one).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn first_fetch_failure_is_retried_after_a_second() {
    let (one, server) = (key("one"), FakeServer::default());
    server.is_down();
    let keys = server.keys();
    assert_eq!(keys.ready().await, Err(FetchError::Status(503)));
    assert_eq!(keys.ready().await, Err(FetchError::Status(503)));
    assert_eq!(server.request_count(), 1);
    server.publishes(&[&one]);
    advance(S).await;
    assert_eq!(keys.ready().await, Ok(()));
    verified(&RemoteVerifier::new(&keys, policy()), &one)
        .await
        .unwrap();
    assert_eq!(server.request_count(), 2);
}

#[tokio::test(start_paused = true)]
async fn cancelled_caller_does_not_cancel_the_request() {
    let (one, server) = (key("one"), FakeServer::default());
    server.publishes(&[&one]);
    *server.takes.lock().unwrap() = 2 * S;
    let verifier = RemoteVerifier::new(&server.keys(), policy());
    let gone = tokio::time::timeout(S, verified(&verifier, &one)).await;
    assert!(gone.is_err());
    verified(&verifier, &one).await.unwrap();
    assert_eq!(server.request_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn silent_server_times_out() {
    let server = FakeServer::default();
    let keys = server.keys();
    let start = tokio::time::Instant::now();
    assert_eq!(keys.ready().await, Err(FetchError::TimedOut));
    assert_eq!(start.elapsed(), TIMEOUT);
    // The pause counts from the end of the request, not from its beginning.
    assert_eq!(keys.ready().await, Err(FetchError::TimedOut));
    assert_eq!((start.elapsed(), server.request_count()), (TIMEOUT, 1));
}

#[tokio::test(start_paused = true)]
async fn secret_keys_in_a_published_set_are_skipped() {
    let (one, private) = (key("one"), key("private"));
    let mac = MacKey::generate(MacAlg::HS256)
        .unwrap()
        .with_key_id("mac")
        .unwrap();
    let public = one.verifying_key().to_jwk();
    let secrets = format!(
        "{},{}",
        private.to_jwk().unwrap().as_str(),
        mac.to_jwk().as_str()
    );
    let server = FakeServer::default();
    let publish = |keys: &str| {
        let text = format!("{{\"keys\":[{keys}]}}");
        server.responds(Ok(FetchResponse::key_set(text)));
    };
    publish(&format!("{secrets},{public}"));
    let verifier = RemoteVerifier::new(&server.keys(), policy());
    verified(&verifier, &one).await.unwrap();
    for token in [private.issue(&claims()), mac.issue(&claims())] {
        let error = verifier.verify::<Value>(&token.unwrap()).await.unwrap_err();
        assert_eq!(error.rejection(), Some(&Rejection::UnknownKey));
    }
    publish(&secrets);
    let error = server.keys().ready().await.unwrap_err();
    assert_eq!(error.code(), "KEY_SET_EMPTY");
    let FetchError::NoUsableKey { skipped } = &error else {
        panic!("{error:?}");
    };
    let ids: Vec<_> = skipped.iter().map(|skipped| skipped.key_id()).collect();
    assert_eq!(ids, [Some("private"), Some("mac")]);
    let private = "private key given, public key expected";
    let message = format!(
        "the key set has no public key that can verify: key 0: d: {private}; key 1: k: {private}"
    );
    assert_eq!(error.to_string(), message);
}

#[tokio::test(start_paused = true)]
async fn set_without_usable_key_is_described() {
    let server = FakeServer::default();
    let many = [r#"{"kty":"new"}"#; 10].join(",");
    let unsupported = "kty: not supported: expected EC, OKP, RSA or AKP";
    let eight: Vec<_> = (0..8).map(|n| format!("key {n}: {unsupported}")).collect();
    let eight = eight.join("; ");
    for (text, code, message) in [
        (
            r#"{"keys":[]}"#.to_owned(),
            "KEY_SET_EMPTY",
            "the key set has no keys".to_owned(),
        ),
        (
            format!("{{\"keys\":[{many}]}}"),
            "KEY_SET_EMPTY",
            format!("the key set has no public key that can verify: {eight}; and 2 more"),
        ),
        (
            "{}".to_owned(),
            "KEY_MEMBER_MISSING",
            "the response is not a key set: key rejected: keys: missing".to_owned(),
        ),
        (
            "7".to_owned(),
            "KEY_NOT_RECOGNIZED",
            "the response is not a key set: key rejected: this is a number in JSON, and not a key"
                .to_owned(),
        ),
        (
            "keys".to_owned(),
            "KEY_MALFORMED",
            "the response is not a key set: key rejected: malformed: expected a JWK Set".to_owned(),
        ),
    ] {
        server.responds(Ok(FetchResponse::key_set(text)));
        let error = server.keys().ready().await.unwrap_err();
        assert_eq!((error.code(), error.to_string()), (code, message));
    }
}

#[tokio::test(start_paused = true)]
async fn cached_set_lists_the_keys_that_were_skipped() {
    let (one, server) = (key("one"), FakeServer::default());
    let keys = server.keys();
    assert!(keys.cached().is_none());
    let text = set(&[&one]).replace("[{", r#"[{"kty":"new","kid":"x"},{"#);
    server.responds(Ok(FetchResponse::key_set(text)));
    keys.ready().await.unwrap();
    let cached = keys.cached().unwrap();
    assert_eq!(cached.len(), 1);
    let skipped: Vec<_> = cached.skipped().iter().map(ToString::to_string).collect();
    assert_eq!(
        skipped,
        ["key 0: kty: not supported: expected EC, OKP, RSA or AKP"]
    );
}

#[tokio::test(start_paused = true)]
async fn clock_of_the_verifier_decides_about_expiry() {
    let (one, server) = (key("one"), FakeServer::default());
    server.publishes(&[&one]);
    let late = jeton::Timestamp::now().saturating_add(2_000_000 * S);
    let verifier = RemoteVerifier::new(&server.keys(), policy()).clock(jeton::FixedClock(late));
    let error = verified(&verifier, &one).await.unwrap_err();
    assert_eq!(
        (error.rejection(), error.code()),
        (Some(&Rejection::Expired), "TOKEN_EXPIRED")
    );
}

#[tokio::test(start_paused = true)]
async fn not_modified_response_renews_freshness_and_keeps_etag() {
    let (one, server) = (key("one"), FakeServer::default());
    let named = |max_age| {
        let response = FetchResponse::key_set(set(&[&one]));
        Ok(response.etag("\"v1\"".to_owned()).max_age(max_age))
    };
    server.responds(named(60 * S));
    let keys = server.keys();
    let verifier = RemoteVerifier::new(&keys, policy());
    verified(&verifier, &one).await.unwrap();
    server.responds(Ok(FetchResponse::not_modified().max_age(120 * S)));
    for (after, requests) in [(60, 2), (119, 2), (1, 3)] {
        advance(after * S).await;
        verified(&verifier, &one).await.unwrap();
        settle().await;
        assert_eq!(server.request_count(), requests, "after {after} s");
    }
    let etags: Vec<_> = server
        .requests
        .lock()
        .unwrap()
        .iter()
        .map(|request| request.etag.clone())
        .collect();
    assert_eq!(
        etags,
        [None, Some("\"v1\"".to_owned()), Some("\"v1\"".to_owned())]
    );
}

/// Starts a server that returns these responses in order, and then repeats the last one.
async fn start_server(responses: Vec<String>) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/jwks.json", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requests);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let nth = count.fetch_add(1, Ordering::SeqCst);
            let response = responses.get(nth).or(responses.last()).unwrap();
            let _ = stream.write_all(response.as_bytes()).await;
        }
    });
    (address, requests)
}

fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn over_http(address: &str) -> RemoteKeySet {
    RemoteKeySet::new(address).unwrap()
}

#[tokio::test]
async fn https_client_sends_etag_on_refresh() {
    let one = key("one");
    let full = response("200 OK", "ETag: \"v1\"\r\n", &set(&[&one]));
    let (address, requests) = start_server(vec![full, response("304 Not Modified", "", "")]).await;
    let schedule = Schedule::default()
        .fresh_for(Duration::ZERO)
        .cooldown(Duration::ZERO);
    let keys = RemoteKeySet::builder(address)
        .schedule(schedule)
        .build()
        .unwrap();
    let verifier = RemoteVerifier::new(&keys, policy());
    let begun = Instant::now();
    while requests.load(Ordering::SeqCst) <= 2 {
        assert!(begun.elapsed() < 60 * S, "the set was never refreshed");
        verified(&verifier, &one).await.unwrap();
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn https_client_reports_invalid_responses() {
    let one = key("one");
    let long = format!(
        "{{\"keys\":[],\"x\":\"{}\"}}",
        "x".repeat(jeton::limits::KEY_SET_BYTES)
    );
    let too_large = |bytes: usize| FetchError::TooLarge {
        bytes: bytes as u64,
        limit: jeton::limits::KEY_SET_BYTES as u64,
    };
    let chunked = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n0\r\n\r\n",
        long.len()
    );
    let Err(jeton::Error::Key(not_a_set)) = KeySet::from_json("keys") else {
        unreachable!("this is no JSON");
    };
    for (raw, error) in [
        (response("404 Not Found", "", ""), FetchError::Status(404)),
        (
            response("301 Moved", "Location: /elsewhere\r\n", ""),
            FetchError::Status(301),
        ),
        (
            response("304 Not Modified", "", ""),
            FetchError::Status(304),
        ),
        (
            response("200 OK", "", " \n<!DOCTYPE html>"),
            FetchError::Html,
        ),
        (
            response("200 OK", "", "keys"),
            FetchError::InvalidKeySet(not_a_set),
        ),
        (response("200 OK", "", &long), too_large(long.len())),
        (chunked, too_large(jeton::limits::KEY_SET_BYTES + 1)),
    ] {
        let (address, _) = start_server(vec![raw]).await;
        assert_eq!(over_http(&address).ready().await, Err(error));
    }
    let cut =
        response("200 OK", "", &set(&[&one])).replace("Content-Length: ", "Content-Length: 9");
    let (address, _) = start_server(vec![cut]).await;
    let broken = over_http(&address).ready().await;
    assert!(
        matches!(broken, Err(FetchError::Unreachable(_))),
        "{broken:?}"
    );
    let nobody = over_http("http://127.0.0.1:1/").ready().await;
    assert!(
        matches!(nobody, Err(FetchError::Unreachable(_))),
        "{nobody:?}"
    );
    assert_eq!(
        RemoteKeySet::new("http://id.example/").map(drop),
        Err(AddressError::NotEncrypted.into())
    );
}

/// Starts a TLS server with a self-signed certificate for the loopback address.
async fn start_tls_server(body: String) -> (String, rcgen::Certificate) {
    let own = rcgen::KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned()];
    let certificate = rcgen::CertificateParams::new(names)
        .unwrap()
        .self_signed(&own)
        .unwrap();
    let private = PrivatePkcs8KeyDer::from(own.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private.into())
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}/jwks.json", listener.local_addr().unwrap());
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            // A client that does not trust the certificate closes the connection.
            let Ok(mut stream) = acceptor.accept(stream).await else {
                continue;
            };
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream
                .write_all(response("200 OK", "", &body).as_bytes())
                .await;
            let _ = stream.shutdown().await;
        }
    });
    (address, certificate)
}

#[tokio::test]
async fn tls_server_with_unknown_authority_is_rejected() {
    let one = key("one");
    let (address, certificate) = start_tls_server(set(&[&one])).await;
    let mut roots = RootCertStore::empty();
    roots.add(certificate.der().clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let pem = Https::with_authorities(certificate.pem().as_bytes()).unwrap();
    for trusting in [Https::with_tls(config), pem] {
        let keys = RemoteKeySet::builder(&*address).fetch(trusting);
        let verifier = RemoteVerifier::new(&keys.build().unwrap(), policy());
        verified(&verifier, &one).await.unwrap();
    }
    let untrusted = over_http(&address).ready().await.unwrap_err();
    assert!(untrusted.to_string().contains("certificate"), "{untrusted}");
}
