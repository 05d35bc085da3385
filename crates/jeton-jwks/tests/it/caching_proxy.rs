//! Remote key sets through a caching proxy (nginx). By default nginx ignores `Cache-Control: no-cache` in a
//! request; one more line of configuration makes it obey.
//!
//! `cargo xtask test --only proxies` sets `JETON_NGINX` to the path of nginx.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use jeton::error::Rejection;
use jeton::key::{SigAlg, SigningKey};
use jeton::{Claims, Policy};
use jeton_jwks::{Error, RemoteKeySet, RemoteVerifier, Schedule};
use serde_json::Value;
use tempfile::TempDir;

/// The server that publishes the keys, with the number of requests it received.
#[derive(Clone)]
struct Origin {
    address: SocketAddr,
    set: Arc<Mutex<String>>,
    requests: Arc<Mutex<usize>>,
}

impl Origin {
    /// Starts the server; its responses have this `max-age`.
    fn start(max_age_seconds: u32) -> Origin {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = Origin {
            address: listener.local_addr().unwrap(),
            set: Arc::default(),
            requests: Arc::default(),
        };
        let serving = origin.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let _ = stream.read(&mut [0; 4096]);
                *serving.requests.lock().unwrap() += 1;
                let set = serving.set.lock().unwrap().clone();
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/jwk-set+json\r\nConnection: close\r\n\
                     Cache-Control: public, max-age={max_age_seconds}\r\nContent-Length: {}\r\n\r\n",
                    set.len()
                );
                let _ = stream.write_all((head + &set).as_bytes());
            }
        });
        origin
    }

    fn publishes(&self, keys: &[&SigningKey]) {
        let keys: Vec<_> = keys.iter().map(|k| k.verifying_key().to_jwk()).collect();
        *self.set.lock().unwrap() = format!("{{\"keys\":[{}]}}", keys.join(","));
    }

    fn request_count(&self) -> usize {
        *self.requests.lock().unwrap()
    }
}

/// An nginx in front of the origin. It is stopped when this is dropped.
struct Cache {
    nginx: Child,
    folder: TempDir,
    address: SocketAddr,
}

impl Cache {
    fn start(origin: &Origin, more: &str) -> Cache {
        // Another process may listen on the free port first. nginx then ends.
        let mut tries = (0..3).filter_map(|_| Cache::try_start(origin, more));
        tries.next().expect("nginx starts")
    }

    /// Returns `None` if nginx ends.
    fn try_start(origin: &Origin, more: &str) -> Option<Cache> {
        let program = std::env::var("JETON_NGINX");
        let program = program.expect("cargo xtask test --only proxies sets JETON_NGINX");
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().display();
        // nginx cannot report a port chosen by the system, so a free one is chosen here.
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        // If root starts nginx, its worker would run as another user, who cannot write to the folder.
        let configuration = format!(
            "daemon off; user root; worker_processes 1; pid {at}/pid; error_log {at}/errors;
            events {{}}
            http {{
                access_log {at}/requests;
                client_body_temp_path {at}/body; fastcgi_temp_path {at}/fastcgi;
                proxy_temp_path {at}/proxy; scgi_temp_path {at}/scgi; uwsgi_temp_path {at}/uwsgi;
                proxy_cache_path {at}/cache keys_zone=keys:1m;
                server {{
                    listen {address};
                    location / {{ proxy_pass http://{}; proxy_cache keys; {more} }}
                    location = /logged {{ return 204; }}
                }}
            }}",
            origin.address
        );
        fs::write(folder.path().join("nginx.conf"), configuration).unwrap();
        let nginx = Command::new(program)
            .arg("-c")
            .arg(folder.path().join("nginx.conf"))
            // Before nginx reads its configuration, it writes to another log.
            .arg("-e")
            .arg(folder.path().join("errors"))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut cache = Cache {
            nginx,
            folder,
            address,
        };
        let start = Instant::now();
        while TcpStream::connect(cache.address).is_err() {
            assert!(
                start.elapsed() < Duration::from_secs(60),
                "nginx did not start"
            );
            thread::sleep(Duration::from_millis(10));
        }
        let is_running = cache.nginx.try_wait().unwrap().is_none();
        is_running.then_some(cache)
    }

    /// The number of requests for keys that have reached nginx.
    fn request_count(&self) -> usize {
        // nginx writes its log after it has answered. Its only worker ends one request before it reads the next,
        // so once this request is answered, the log has all requests before it.
        let mut stream = TcpStream::connect(self.address).unwrap();
        let request = b"HEAD /logged HTTP/1.0\r\n\r\n";
        stream.write_all(request).unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
        let log = fs::read_to_string(self.folder.path().join("requests")).unwrap();
        log.lines().filter(|line| line.contains("GET")).count()
    }

    fn keys(&self, schedule: Schedule) -> RemoteKeySet {
        let address = format!("http://{}/jwks.json", self.address);
        RemoteKeySet::builder(address)
            .schedule(schedule)
            .build()
            .unwrap()
    }

    fn verifier(&self, schedule: Schedule) -> RemoteVerifier {
        RemoteVerifier::new(
            &self.keys(schedule),
            Policy::new("https://id.example", "api"),
        )
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        // On SIGTERM nginx also stops its worker; after SIGKILL the worker would remain.
        let process = self.nginx.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &process]).status();
        let _ = self.nginx.wait();
    }
}

fn key(id: &str) -> SigningKey {
    let key = SigningKey::generate(SigAlg::EdDSA).unwrap();
    key.with_key_id(id).unwrap()
}

async fn verified(verifier: &RemoteVerifier, key: &SigningKey) -> Result<(), Error> {
    let claims = Claims::new(())
        .issuer("https://id.example")
        .audience("api")
        .expires_in(Duration::from_secs(1000));
    let token = key.issue(&claims).unwrap();
    verifier.verify::<Value>(&token).await.map(drop)
}

fn rejection(result: Result<(), Error>) -> Option<Rejection> {
    result.unwrap_err().rejection().cloned()
}

#[tokio::test]
#[ignore = "needs nginx: cargo xtask test --only proxies"]
async fn unknown_key_is_found_through_a_proxy_that_obeys_no_cache() {
    let (one, two, never) = (key("one"), key("two"), key("never"));
    let origin = Origin::start(3600);
    origin.publishes(&[&one]);
    let cache = Cache::start(&origin, "proxy_cache_bypass $http_cache_control;");
    let verifier = cache.verifier(Schedule::default());
    verified(&verifier, &one).await.unwrap();

    // The proxy's copy of the old set is fresh for an hour, and a verifier that starts now gets it.
    origin.publishes(&[&one, &two]);
    let other = cache.verifier(Schedule::default());
    verified(&other, &one).await.unwrap();
    assert_eq!(origin.request_count(), 1, "the proxy answers from its copy");

    verified(&verifier, &two).await.unwrap();
    assert_eq!(origin.request_count(), 2);
    // The proxy now has the new set for all clients.
    let third = cache.verifier(Schedule::default());
    verified(&third, &two).await.unwrap();
    assert_eq!(origin.request_count(), 2);

    // Invented key ids cause no further request to the origin.
    for _ in 0..100 {
        let result = verified(&verifier, &never).await;
        assert_eq!(rejection(result), Some(Rejection::UnknownKey));
    }
    assert_eq!(origin.request_count(), 2);
}

#[tokio::test]
#[ignore = "needs nginx: cargo xtask test --only proxies"]
async fn first_verification_finds_key_behind_a_stale_proxy() {
    let (one, two) = (key("one"), key("two"));
    let origin = Origin::start(3600);
    origin.publishes(&[&one]);
    let cache = Cache::start(&origin, "proxy_cache_bypass $http_cache_control;");
    cache.keys(Schedule::default()).ready().await.unwrap();
    origin.publishes(&[&two]);
    // Nothing was fetched yet: the first response is the proxy's copy, which does not contain the key.
    let verifier = cache.verifier(Schedule::default());
    verified(&verifier, &two).await.unwrap();
    assert_eq!((origin.request_count(), cache.request_count()), (2, 3));
}

#[tokio::test]
#[ignore = "needs nginx: cargo xtask test --only proxies"]
async fn proxy_that_ignores_no_cache_is_retried_within_the_cooldown() {
    let (one, two) = (key("one"), key("two"));
    let origin = Origin::start(15);
    origin.publishes(&[&one]);
    let cache = Cache::start(&origin, "");
    let verifier = cache.verifier(Schedule::default());
    verified(&verifier, &one).await.unwrap();
    origin.publishes(&[&one, &two]);
    for _ in 0..100 {
        let result = verified(&verifier, &two).await;
        assert_eq!(rejection(result), Some(Rejection::UnknownKey));
        verified(&verifier, &one).await.unwrap();
    }
    assert_eq!(
        cache.request_count(),
        2,
        "once for the keys, and once for the unknown one"
    );
    assert_eq!(origin.request_count(), 1, "the proxy ignores no-cache");

    // When the copy has expired, the next request returns the key.
    let cooldown = Duration::from_millis(100);
    let verifier = cache.verifier(Schedule::default().cooldown(cooldown));
    let (before, start) = (cache.request_count(), Instant::now());
    while verified(&verifier, &two).await.is_err() {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "the key was never found"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(origin.request_count(), 2);
    let maximum = 3 + start.elapsed().as_millis() / cooldown.as_millis();
    let requests = cache.request_count() - before;
    assert!(
        requests as u128 <= maximum,
        "{requests} requests, maximum {maximum}"
    );
}
