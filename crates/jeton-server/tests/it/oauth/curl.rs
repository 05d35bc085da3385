//! curl as the client: with a secret, and with a certificate.

use std::process::Command;

use serde_json::Value;

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

/// Gets a token, introspects it, revokes it, and introspects it again.
fn get_use_and_revoke(base: &str, client: &[&str]) {
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
    let form = format!("token={token}");
    let introspected = run("/introspect", &[&form]).unwrap();
    assert_eq!(introspected["active"], true, "{introspected}");
    assert_eq!(introspected["scope"], "read");
    run("/revoke", &[&form]).unwrap();
    assert_eq!(run("/introspect", &[&form]).unwrap()["active"], false);
}

#[test]
fn curl_with_a_secret_gets_and_revokes_a_token() {
    let oauth = OAuth::with("");
    let user = format!("ci:{}", oauth.secret);
    let base = format!("http://{}/tenant", oauth.fixture.address());
    get_use_and_revoke(&base, &["--user", &user]);
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
    get_use_and_revoke(&base, &["--cacert", &ca, "--cert", &cert, "--key", &key]);
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
