//! The configuration for nginx in the guide, with a real nginx in front of an API.
//!
//! `cargo xtask test --only caching-proxy` sets `JETON_NGINX` to the path of nginx.

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

/// nginx with the configuration of the guide. It is stopped when this is dropped.
struct Nginx {
    process: Child,
    address: SocketAddr,
    _folder: TempDir,
}

impl Nginx {
    fn start(oauth: &OAuth, api: &Api, proxy: &str) -> Nginx {
        let program = std::env::var("JETON_NGINX");
        let program = program.expect("cargo xtask test --only caching-proxy sets JETON_NGINX");
        let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/get-tokens.md");
        let guide = fs::read_to_string(guide).unwrap();
        let (_, block) = guide.split_once("```nginx\n").unwrap();
        let (locations, _) = block.split_once("```").unwrap();
        let mut locations = locations.to_owned();
        for (from, to) in [
            (
                "127.0.0.1:8420/",
                format!("{}/tenant/", oauth.fixture.address()),
            ),
            ("127.0.0.1:9000", api.address.to_string()),
            ("Basic …", proxy.to_owned()),
        ] {
            assert!(locations.contains(from), "{from}");
            locations = locations.replace(from, &to);
        }
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
                access_log off;
                client_body_temp_path {at}/body; fastcgi_temp_path {at}/fastcgi;
                proxy_temp_path {at}/proxy; scgi_temp_path {at}/scgi; uwsgi_temp_path {at}/uwsgi;
                server {{
                    listen {address};
                    {locations}
                }}
            }}"
        );
        let file = folder.path().join("nginx.conf");
        fs::write(&file, configuration).unwrap();
        let process = Command::new(program)
            .arg("-c")
            .arg(file)
            // Before nginx has read its configuration, it writes to another log.
            .arg("-e")
            .arg(folder.path().join("errors"))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while TcpStream::connect(address).is_err() {
            let is_late = start.elapsed() > Duration::from_secs(30);
            assert!(!is_late, "nginx did not start");
            std::thread::sleep(Duration::from_millis(10));
        }
        Nginx {
            process,
            address,
            _folder: folder,
        }
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        send(self.address, method, path, headers, body)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // On SIGTERM nginx also stops its worker; after SIGKILL the worker would remain.
        let process = self.process.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &process]).status();
        let _ = self.process.wait();
    }
}

#[test]
#[ignore = "needs nginx"]
fn nginx_passes_requests_with_a_valid_token_only() {
    let (oauth, api) = (OAuth::with(""), Api::start());
    let nginx = Nginx::start(&oauth, &api, &basic("reader", &oauth.secret));
    let token = access_token(&oauth.client_credentials(&[("scope", "read list")]));
    let bearer = format!("Bearer {token}");
    let valid = ("authorization", bearer.as_str());
    assert_eq!(nginx.ask("GET", "/api/a?b=c", &[valid], "").status, 200);
    let request = api.request().unwrap();
    assert!(request.starts_with("get /api/a?b=c "), "{request}");
    // A page of another site that is allowed to call the API, with a body.
    let origin = ("origin", "https://page.example");
    let answer = nginx.ask("POST", "/api/a", &[valid, origin], "text");
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(api.request().unwrap().ends_with("text"));
    // What the client says about itself never reaches the API.
    let forged = [
        valid,
        ("x-auth-subject", "admin"),
        ("x-auth-client-id", "admin"),
        ("x-auth-scope", "admin"),
    ];
    assert_eq!(nginx.ask("GET", "/api/", &forged, "").status, 200);
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
        let answer = nginx.ask("GET", "/api/", headers, "");
        let found = (answer.status, &*answer.headers["www-authenticate"]);
        assert_eq!(found, (401, challenge));
        assert_eq!(api.request(), None);
    };
    let invalid = "Bearer error=\"invalid_token\"";
    refused(&[], "Bearer");
    refused(&[("authorization", "Bearer abc")], invalid);
    // The decision cannot be asked for from outside.
    assert_eq!(nginx.ask("GET", "/check", &[valid], "").status, 404);
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
#[test]
#[ignore = "needs nginx"]
fn nginx_with_wrong_credentials_passes_nothing() {
    let (oauth, api) = (OAuth::with(""), Api::start());
    let nginx = Nginx::start(&oauth, &api, &basic("reader", "wrong"));
    let bearer = format!("Bearer {}", access_token(&oauth.client_credentials(&[])));
    let answer = nginx.ask("GET", "/api/", &[("authorization", &bearer)], "");
    assert_eq!(answer.status, 403);
    assert_eq!(api.request(), None);
}
