//! curl as the client, with a secret and with a certificate, and as the caller of an API.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;

use jeton::jwk::KeySet;
use jeton::jwt::JwtVerifier;
use jeton::{Policy, Verify as _};
use serde_json::{Value, json};

use super::{OAUTH_ISSUER, OAuth};
use crate::access::TestCertificates;
use crate::harness::{ISS, TestServer};

/// Runs curl and returns the body of the response. `None`: this machine has no curl.
fn curl(arguments: &[&str]) -> Option<Value> {
    let output = Command::new("curl")
        .args(["--silent", "--show-error"])
        .args(arguments)
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: this machine has no curl");
        return None;
    };
    let body = String::from_utf8(output.stdout).unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error} {body}");
    Some(serde_json::from_str(&body).unwrap_or_else(|_| panic!("{body}")))
}

/// Starts an API that verifies access tokens (RFC 9068) with these keys, and returns its address.
fn start_api(key_set: &Value) -> String {
    let keys = KeySet::from_published_json(&key_set.to_string(), None).unwrap();
    let policy = Policy::access_token(ISS, "api");
    let verifier = JwtVerifier::new(keys, policy);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/invoices", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 8192];
            let length = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let mut lines = request.lines();
            let token = lines.find_map(|line| line.strip_prefix("Authorization: Bearer "));
            let verified = token.map(|token| verifier.verify_raw(token));
            let (status, body) = match verified {
                Some(Ok(verified)) => ("200 OK", json!({"caller": verified.subject()})),
                _ => ("401 Unauthorized", json!({"error": "invalid_token"})),
            };
            let body = body.to_string();
            let length = body.len();
            let head =
                format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}");
            let _ = write!(stream, "{head}\r\n\r\n{body}");
        }
    });
    address
}

/// Gets a token, calls an API with it, introspects it, revokes it, and introspects it again.
fn get_use_and_revoke(base: &str, client: &[&str], name: &str) {
    let run = |path: &str, form: &[&str]| {
        let address = format!("{base}{path}");
        let mut arguments = client.to_vec();
        for parameter in form {
            arguments.extend(["--data-urlencode", parameter]);
        }
        arguments.push(&address);
        curl(&arguments)
    };
    let Some(issued) = run("/token", &["grant_type=client_credentials", "scope=read"]) else {
        return;
    };
    let token = issued["access_token"]
        .as_str()
        .unwrap_or_else(|| panic!("{issued}"));
    let api = start_api(&run("/.well-known/jwks.json", &[]).unwrap());
    let call = |token: &str| curl(&["--oauth2-bearer", token, &api]).unwrap();
    assert_eq!(call(token), json!({ "caller": name }));
    assert_eq!(call("abc"), json!({"error": "invalid_token"}));
    let form = format!("token={token}");
    let introspected = run("/introspect", &[&form]).unwrap();
    assert_eq!(introspected["active"], true, "{introspected}");
    assert_eq!(introspected["scope"], "read");
    assert_eq!(introspected["client_id"], name);
    run("/revoke", &[&form]).unwrap();
    assert_eq!(run("/introspect", &[&form]).unwrap()["active"], false);
}

#[test]
fn curl_with_a_secret_gets_and_revokes_a_token() {
    // The API verifies by the clock of the system, as the service does.
    let oauth = OAuth::by_system_clock();
    let user = format!("ci:{}", oauth.secret);
    let base = format!("http://{}/tenant", oauth.fixture.address());
    get_use_and_revoke(&base, &["--user", &user], "ci");
}

#[test]
fn curl_with_a_certificate_gets_and_revokes_a_token() {
    let certificates = TestCertificates::new();
    let client = format!(
        "[[client]]\nname = 'billing'\ncertificate_name = 'billing.example'\n\
         may = ['token', 'verify', 'revoke']\nissuers = ['{ISS}']\n\
         tokens = [{{profile = 'access', scopes = ['read']}}]\n"
    );
    let fixture = TestServer::with(&format!("{}{client}{OAUTH_ISSUER}", certificates.tls()));
    let file = |name: &str| certificates.path(name).display().to_string();
    let base = format!("https://{}/tenant", fixture.address());
    let (ca, cert, key) = (file("ca.pem"), file("billing.pem"), file("billing.key"));
    let client = ["--cacert", &ca, "--cert", &cert, "--key", &key];
    get_use_and_revoke(&base, &client, "billing");
    // Another certificate of the same authority is no client.
    let (cert, key) = (file("stranger.pem"), file("stranger.key"));
    let address = format!("{base}/token");
    let refused = curl(&[
        "--cacert",
        &ca,
        "--cert",
        &cert,
        "--key",
        &key,
        "-d",
        "grant_type=client_credentials",
        &address,
    ]);
    if let Some(refused) = refused {
        assert_eq!(refused["error"], "invalid_client", "{refused}");
    }
}
