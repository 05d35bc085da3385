//! Proxies with the configuration of the guide, in front of an API: they ask the service whether requests may pass.
//!
//! `cargo xtask test --only proxies` sets the paths of the proxies.

mod envoy;
mod nginx;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{OAuth, access_token, basic};
use crate::raw_http::{Response, send};

/// An API that records its requests, in lower case up to the body.
struct Api {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Api {
    fn start() -> Api {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let api = Api {
            address: listener.local_addr().unwrap(),
            requests: Arc::default(),
        };
        let recorded = api.requests.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                recorded.lock().unwrap().push(record(&stream));
                let answer = b"HTTP/1.0 200 OK\r\ncontent-length: 4\r\n\r\ndone";
                let _ = (&stream).write_all(answer);
            }
        });
        api
    }

    /// The request since the last call, if there was one.
    fn request(&self) -> Option<String> {
        let mut requests = self.requests.lock().unwrap();
        let request = requests.pop();
        assert!(requests.is_empty());
        request
    }
}

fn record(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut request, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        request.push_str(&lower);
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    request + std::str::from_utf8(&body).unwrap()
}

/// A proxy that runs until this is dropped.
struct Proxy {
    process: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl Proxy {
    /// Starts a proxy. `variable` names the program, and `arguments` gets a folder and the address to listen on.
    fn start(variable: &str, arguments: impl Fn(&Path, SocketAddr) -> Vec<String>) -> Proxy {
        let program = std::env::var(variable);
        let program =
            program.unwrap_or_else(|_| panic!("cargo xtask test --only proxies sets {variable}"));
        // Another process may listen on the free port first. The proxy then ends.
        let mut tries = (0..3).filter_map(|_| Proxy::try_start(&program, &arguments));
        tries.next().expect("the proxy starts")
    }

    /// Returns `None` if the proxy ends.
    fn try_start(
        program: &str,
        arguments: &impl Fn(&Path, SocketAddr) -> Vec<String>,
    ) -> Option<Proxy> {
        let folder = tempfile::tempdir().unwrap();
        // A proxy cannot report a port chosen by the system, so a free one is chosen here.
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let process = Command::new(program)
            .args(arguments(folder.path(), address))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut proxy = Proxy {
            process,
            address,
            _folder: folder,
        };
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            let is_late = start.elapsed() > Duration::from_secs(60);
            assert!(!is_late, "the proxy did not start");
            std::thread::sleep(Duration::from_millis(10));
        }
        let is_running = proxy.process.try_wait().unwrap().is_none();
        is_running.then_some(proxy)
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        send(self.address, method, path, headers, body)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // On SIGTERM a proxy also stops its workers; after SIGKILL they would remain.
        let process = self.process.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &process]).status();
        let _ = self.process.wait();
    }
}

/// The block of the guide after this text, with the places of a test.
fn of_guide(text: &str, places: &[(&str, String)]) -> String {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/get-tokens.md");
    let guide = fs::read_to_string(guide).unwrap();
    let (_, after) = guide.split_once(text).unwrap();
    let mut parts = after.split("```");
    let block = parts.nth(1).unwrap();
    let (_language, block) = block.split_once('\n').unwrap();
    places.iter().fold(block.to_owned(), |block, (from, to)| {
        assert!(block.contains(from), "{from}");
        block.replace(from, to)
    })
}

/// What every proxy does that has the right to ask.
fn passes_requests_with_a_valid_token_only(oauth: &OAuth, api: &Api, proxy: &Proxy) {
    let token = access_token(&oauth.client_credentials(&[("scope", "read list")]));
    let bearer = format!("Bearer {token}");
    let valid = ("authorization", bearer.as_str());
    assert_eq!(proxy.ask("GET", "/api/a?b=c", &[valid], "").status, 200);
    let request = api.request().unwrap();
    assert!(request.starts_with("get /api/a?b=c "), "{request}");
    // A page of another site that is allowed to call the API, with a body.
    let origin = ("origin", "https://page.example");
    let answer = proxy.ask("POST", "/api/a", &[valid, origin], "text");
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(api.request().unwrap().ends_with("text"));
    // What the client says about itself never reaches the API.
    let forged = [
        valid,
        ("x-auth-subject", "admin"),
        ("x-auth-client-id", "admin"),
        ("x-auth-scope", "admin"),
    ];
    assert_eq!(proxy.ask("GET", "/api/", &forged, "").status, 200);
    let request = api.request().unwrap();
    for line in [
        "\r\nx-auth-subject: ci\r\n",
        "\r\nx-auth-client-id: ci\r\n",
        "\r\nx-auth-scope: read list\r\n",
    ] {
        assert!(request.contains(line), "{request}");
    }
    assert!(!request.contains("admin"), "{request}");
    // Without a token, with another one, and with a revoked one.
    let refused = |headers: &[(&str, &str)], challenge: &str| {
        let answer = proxy.ask("GET", "/api/", headers, "");
        let found = (answer.status, &*answer.headers["www-authenticate"]);
        assert_eq!(found, (401, challenge));
        assert_eq!(api.request(), None);
    };
    let invalid = "Bearer error=\"invalid_token\"";
    refused(&[], "Bearer");
    refused(&[("authorization", "Bearer abc")], invalid);
    let header = basic("ci", &oauth.secret);
    let revoked = oauth.post_to(
        "/tenant/revoke",
        &[("authorization", &header)],
        &[("token", &token)],
    );
    assert_eq!(revoked.status, 200);
    refused(&[valid], invalid);
}

/// A proxy without the permission is an error of its operator, and not of the client.
fn passes_nothing(oauth: &OAuth, api: &Api, proxy: &Proxy) {
    let bearer = format!("Bearer {}", access_token(&oauth.client_credentials(&[])));
    let answer = proxy.ask("GET", "/api/", &[("authorization", &bearer)], "");
    assert_eq!(answer.status, 403);
    assert_eq!(api.request(), None);
}
