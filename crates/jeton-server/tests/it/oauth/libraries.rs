//! OAuth client libraries of other languages, as their lockfiles pin them.
//!
//! `cargo xtask test --only oauth-clients` installs them and sets `JETON_OAUTH_CLIENTS`.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use super::OAuth;
use crate::harness::ISS;

/// An API that records the bearer tokens of its requests.
struct Api {
    address: String,
    tokens: Arc<Mutex<Vec<String>>>,
}

impl Api {
    fn start() -> Api {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let tokens: Arc<Mutex<Vec<String>>> = Arc::default();
        let recorded = tokens.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut request = [0; 8192];
                let length = stream.read(&mut request).unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..length]).into_owned();
                let token = request
                    .lines()
                    .filter_map(|line| line.split_once(": "))
                    .find(|(name, _)| name.eq_ignore_ascii_case("authorization"))
                    .and_then(|(_, value)| value.strip_prefix("Bearer ").map(str::to_owned));
                let status = match token {
                    Some(token) => {
                        recorded.lock().unwrap().push(token);
                        "200 OK"
                    }
                    None => "401 Unauthorized",
                };
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
                );
            }
        });
        Api { address, tokens }
    }
}

fn run(oauth: &OAuth, api: &Api, command: &[PathBuf]) -> String {
    let base = format!("http://{}/tenant", oauth.fixture.address());
    let signer = oauth.path("signer.jwk");
    std::fs::write(&signer, oauth.signer.to_jwk().unwrap().as_str()).unwrap();
    let output = Command::new(&command[0])
        .args(&command[1..])
        .env("ISSUER", ISS)
        .env("TOKEN_URL", format!("{base}/token"))
        .env("INTROSPECT_URL", format!("{base}/introspect"))
        .env("REVOKE_URL", format!("{base}/revoke"))
        .env("API_URL", &api.address)
        .env("CLIENT_ID", "ci")
        .env("CLIENT_SECRET", &oauth.secret)
        .env("SIGNER_JWK", signer)
        // Plain HTTP, on loopback.
        .env("AUTHLIB_INSECURE_TRANSPORT", "1")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[ignore = "needs four client libraries: cargo xtask test --only oauth-clients"]
fn client_libraries_get_use_and_revoke_a_token() {
    let built = std::env::var("JETON_OAUTH_CLIENTS");
    let built = PathBuf::from(built.expect("cargo xtask test --only oauth-clients sets it"));
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oauth_clients");
    let clients = [
        ("go", vec![built.join("go/client")], &["used"][..]),
        (
            "java",
            vec![
                "java".into(),
                "-cp".into(),
                built.join("java/*"),
                sources.join("java/Client.java"),
            ],
            &["used"],
        ),
        (
            "node",
            vec!["node".into(), sources.join("node/client.js")],
            &["used", "revoked", "signed"],
        ),
        (
            "python",
            vec![
                built.join("python/bin/python"),
                sources.join("python/client.py"),
            ],
            &["used", "revoked"],
        ),
    ];
    for (name, command, expected) in clients {
        // Assertions of a library have the time of the system.
        let oauth = OAuth::by_system_clock();
        let api = Api::start();
        let said = run(&oauth, &api, &command);
        assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{name}");
        let tokens = api.tokens.lock().unwrap().clone();
        assert_eq!(tokens.len(), 1, "{name}");
        let is_active = &oauth.introspect(&tokens[0])["active"];
        assert_eq!(is_active, !expected.contains(&"revoked"), "{name}");
    }
}
