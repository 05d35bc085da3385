//! Keys through a real cache: nginx. As it is usually set up it ignores `Cache-Control: no-cache` of a
//! request; with one line more it heeds it.
//! `cargo xtask test --only caching-proxy` says in `JETON_NGINX` where it is.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use jeton::error::Rejection;
use jeton::key::SigAlg;
use jeton::{Claims, Policy, jwt};
use jeton_jwks::{Error, Https, RemoteKeySet, Schedule, Verifier};
use serde_json::Value;
use tempfile::TempDir;

/// Where keys are published, and how often it was asked.
#[derive(Clone)]
struct Origin {
    address: SocketAddr,
    set: Arc<Mutex<String>>,
    asked: Arc<Mutex<usize>>,
}

impl Origin {
    /// What it answers may be kept for so long.
    fn start(max_age_seconds: u32) -> Origin {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = Origin {
            address: listener.local_addr().unwrap(),
            set: Arc::default(),
            asked: Arc::default(),
        };
        let answering = origin.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let _ = stream.read(&mut [0; 4096]);
                *answering.asked.lock().unwrap() += 1;
                let set = answering.set.lock().unwrap().clone();
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

    fn publishes(&self, keys: &[&jwt::SigningKey]) {
        let keys: Vec<_> = keys.iter().map(|k| k.verifying_key().to_jwk()).collect();
        *self.set.lock().unwrap() = format!("{{\"keys\":[{}]}}", keys.join(","));
    }

    fn asked(&self) -> usize {
        *self.asked.lock().unwrap()
    }
}

/// A real nginx before the origin, for as long as a test.
struct Cache {
    nginx: Child,
    folder: TempDir,
    address: SocketAddr,
}

impl Cache {
    fn start(origin: &Origin, more: &str) -> Cache {
        let program = std::env::var("JETON_NGINX");
        let program = program.expect("cargo xtask test --only caching-proxy says where it is");
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().display();
        // Free a moment ago: nginx cannot say which port it was given.
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        // Of root's nginx the worker would be another user, who cannot write to root's folder.
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
                }}
            }}",
            origin.address
        );
        fs::write(folder.path().join("nginx.conf"), configuration).unwrap();
        let nginx = Command::new(program)
            .arg("-c")
            .arg(folder.path().join("nginx.conf"))
            // Until it has read that, it writes elsewhere.
            .arg("-e")
            .arg(folder.path().join("errors"))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let cache = Cache {
            nginx,
            folder,
            address,
        };
        let begun = Instant::now();
        while TcpStream::connect(cache.address).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(30), "nginx is not up");
            thread::sleep(Duration::from_millis(10));
        }
        cache
    }

    /// Requests that have reached it.
    fn asked(&self) -> usize {
        let log = fs::read_to_string(self.folder.path().join("requests")).unwrap();
        log.lines().filter(|line| line.contains("GET")).count()
    }

    fn keys(&self, schedule: Schedule) -> RemoteKeySet {
        let address = format!("http://{}/jwks.json", self.address);
        RemoteKeySet::with(&address, Https::new().unwrap(), schedule).unwrap()
    }

    fn verifier(&self, schedule: Schedule) -> Verifier {
        Verifier::new(
            &self.keys(schedule),
            Policy::new("https://id.example", "api"),
        )
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        // Its worker ends with it, which it does not after a kill.
        let process = self.nginx.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &process]).status();
        let _ = self.nginx.wait();
    }
}

fn key(id: &str) -> jwt::SigningKey {
    let key = jwt::SigningKey::generate(SigAlg::EdDSA).unwrap();
    key.with_key_id(id).unwrap()
}

async fn verified(verifier: &Verifier, key: &jwt::SigningKey) -> Result<(), Error> {
    let claims = Claims::new(())
        .issuer("https://id.example")
        .audience("api")
        .expires_in(Duration::from_secs(1000));
    let token = key.issue(&claims).unwrap();
    verifier.verify::<Value>(&token).await.map(drop)
}

fn rejection(result: Result<(), Error>) -> Option<Rejection> {
    result.unwrap_err().rejection()
}

#[tokio::test]
#[ignore = "needs nginx: cargo xtask test --only caching-proxy"]
async fn unknown_key_is_found_through_a_cache_that_heeds_no_cache() {
    let (one, two, never) = (key("one"), key("two"), key("never"));
    let origin = Origin::start(3600);
    origin.publishes(&[&one]);
    let cache = Cache::start(&origin, "proxy_cache_bypass $http_cache_control;");
    let verifier = cache.verifier(Schedule::default());
    verified(&verifier, &one).await.unwrap();

    // Its copy of the old set is fresh for an hour, and whoever starts now is given it.
    origin.publishes(&[&one, &two]);
    let other = cache.verifier(Schedule::default());
    verified(&other, &one).await.unwrap();
    assert_eq!(origin.asked(), 1, "it is a cache");

    verified(&verifier, &two).await.unwrap();
    assert_eq!(origin.asked(), 2);
    // What it was asked for once it has for everybody.
    let third = cache.verifier(Schedule::default());
    verified(&third, &two).await.unwrap();
    assert_eq!(origin.asked(), 2);

    // Whoever invents names of keys does not have the origin asked more often for it.
    for _ in 0..100 {
        let refused = verified(&verifier, &never).await;
        assert_eq!(rejection(refused), Some(Rejection::UnknownKey));
    }
    assert_eq!(origin.asked(), 2);
}

#[tokio::test]
#[ignore = "needs nginx: cargo xtask test --only caching-proxy"]
async fn key_is_found_from_the_first_token_on_though_the_cache_is_old() {
    let (one, two) = (key("one"), key("two"));
    let origin = Origin::start(3600);
    origin.publishes(&[&one]);
    let cache = Cache::start(&origin, "proxy_cache_bypass $http_cache_control;");
    cache.keys(Schedule::default()).ready().await.unwrap();
    origin.publishes(&[&two]);
    // Nothing was fetched yet: the first answer is the cache's, and the key is not in it.
    let verifier = cache.verifier(Schedule::default());
    verified(&verifier, &two).await.unwrap();
    assert_eq!((origin.asked(), cache.asked()), (2, 3));
}

#[tokio::test]
#[ignore = "needs nginx: cargo xtask test --only caching-proxy"]
async fn cache_that_ignores_no_cache_is_asked_within_bounds_until_its_copy_is_old() {
    let (one, two) = (key("one"), key("two"));
    let origin = Origin::start(3);
    origin.publishes(&[&one]);
    let cache = Cache::start(&origin, "");
    let verifier = cache.verifier(Schedule::default());
    verified(&verifier, &one).await.unwrap();
    origin.publishes(&[&one, &two]);
    for _ in 0..100 {
        let refused = verified(&verifier, &two).await;
        assert_eq!(rejection(refused), Some(Rejection::UnknownKey));
        verified(&verifier, &one).await.unwrap();
    }
    assert_eq!(
        cache.asked(),
        2,
        "once for the keys, and once for the unknown one"
    );
    assert_eq!(origin.asked(), 1, "it ignores no-cache");

    // When the copy is no longer fresh, the next question brings the key.
    let cooldown = Duration::from_millis(100);
    let verifier = cache.verifier(Schedule::default().cooldown(cooldown));
    let (asked, begun) = (cache.asked(), Instant::now());
    while verified(&verifier, &two).await.is_err() {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "it never recovers"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(origin.asked(), 2);
    let most = 3 + begun.elapsed().as_millis() / cooldown.as_millis();
    let asked = cache.asked() - asked;
    assert!(
        asked as u128 <= most,
        "{asked} questions, and {most} are the most"
    );
}
