//! Keys from a URL and of a discovered issuer: jwt verify, jws verify and doctor, against real servers.

use std::collections::HashMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use jeton_testkit::{Expected, KeyServer, REFUSED_HOST};
use serde_json::json;

use crate::binary::{ends, jeton, line, said, succeeds};
use crate::data_folder::private;

const NOW: &str = "1795165200";
const OPENID: &str = "/.well-known/openid-configuration";

/// A server with a response for each path, and a key pair whose public key it publishes at `/keys`.
struct Issuer {
    url: String,
    folder: tempfile::TempDir,
    pages: Arc<Mutex<HashMap<String, String>>>,
    paths: Arc<Mutex<Vec<String>>>,
}

impl Issuer {
    fn start() -> Issuer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let issuer = Issuer {
            url: format!("http://{}", listener.local_addr().unwrap()),
            folder: tempfile::tempdir().unwrap(),
            pages: Arc::default(),
            paths: Arc::default(),
        };
        let (pages, paths) = (Arc::clone(&issuer.pages), Arc::clone(&issuer.paths));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = [0; 4096];
                let length = stream.read(&mut request).unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..length]).into_owned();
                let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                let page = pages.lock().unwrap().get(&path).cloned();
                paths.lock().unwrap().push(path);
                let not_found = response("404 Not Found", "", "");
                let _ = stream.write_all(page.unwrap_or(not_found).as_bytes());
            }
        });
        let at = issuer.at();
        private(
            &at.join("one.jwk"),
            &line(at, &["key", "new", "--alg", "ES256", "--kid", "one"]),
        );
        private(
            &at.join("one.pub"),
            &line(at, &["key", "public", "one.jwk"]),
        );
        let set = format!("{{\"keys\":[{}]}}", issuer.read("one.pub"));
        issuer.page("/keys", &set);
        issuer.document(&issuer.url, &format!("{}/keys", issuer.url));
        issuer
    }

    fn at(&self) -> &Path {
        self.folder.path()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at().join(name)).unwrap()
    }

    fn raw(&self, path: &str, response: String) {
        self.pages.lock().unwrap().insert(path.to_owned(), response);
    }

    fn page(&self, path: &str, body: &str) {
        let json = "Content-Type: application/json\r\nCache-Control: max-age=300\r\n";
        self.raw(path, response("200 OK", json, body));
    }

    fn document(&self, issuer: &str, keys: &str) {
        let document = json!({"issuer": issuer, "jwks_uri": keys});
        self.page(OPENID, &document.to_string());
    }

    fn keys(&self) -> String {
        format!("{}/keys", self.url)
    }

    /// Issues a token of this issuer.
    fn token(&self, issuer: &str) -> String {
        let claims = json!({"iss": issuer, "aud": "api", "exp": 1_795_165_800});
        line(
            self.at(),
            &["jws", "sign", "--key", "one.jwk", &claims.to_string()],
        )
    }

    fn requested(&self) -> Vec<String> {
        self.paths.lock().unwrap().drain(..).collect()
    }
}

fn response(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn key_set_at_a_url_verifies() {
    let issuer = Issuer::start();
    let (keys, token) = (issuer.keys(), issuer.token(&issuer.url));
    let verify = ["jwt", "verify", "--at", NOW, "--key", &keys, &token];
    assert!(line(issuer.at(), &verify).contains("\"aud\":\"api\""));
    assert_eq!(issuer.requested(), ["/keys"]);
    succeeds(issuer.at(), &["jws", "verify", "--key", &keys, &token], b"");
    let doctor = ["doctor", "--at", NOW, "--key", &keys, &token];
    succeeds(issuer.at(), &doctor, b"");
}

#[test]
fn discovered_issuer_verifies_and_is_required() {
    let issuer = Issuer::start();
    let url = &*issuer.url;
    let (own, other) = (issuer.token(url), issuer.token("https://other.example"));
    let output = jeton(
        issuer.at(),
        &[
            "jwt",
            "verify",
            "--at",
            NOW,
            "--discover",
            url,
            "--audience",
            "api",
            &own,
        ],
        b"",
    );
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), &*stderr), (Some(0), ""));
    assert_eq!(issuer.requested(), [OPENID, "/keys"]);
    for command in [&["jwt", "verify"][..], &["doctor"]] {
        let call = [command, &["--at", NOW, "--discover", url]].concat();
        let (text, code) = said(issuer.at(), &[&call[..], &[&own]].concat());
        assert_eq!(code, 0, "{text}");
        let (text, code) = said(issuer.at(), &[&call[..], &[&other]].concat());
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("iss"), "{text}");
        let named = ["--issuer", "https://other.example", &other];
        let (text, code) = said(issuer.at(), &[&call[..], &named].concat());
        assert_eq!(code, 0, "{text}");
    }
    succeeds(
        issuer.at(),
        &["jws", "verify", "--discover", url, &own],
        b"",
    );
}

/// The error and the hint of a call are those of `jwt verify`, `jws verify` and `doctor`.
#[track_caller]
fn fails(issuer: &Issuer, option: &str, place: &str, what: &str, how: &str) {
    let token = issuer.token(&issuer.url);
    for (call, code) in [
        (["jwt", "verify", "--at", NOW, option, place, &token], 2),
        (
            ["jws", "verify", option, place, "--text", &token, "--json"],
            2,
        ),
        (["doctor", "--at", NOW, option, place, "--text", &token], 1),
    ] {
        let (text, found) = said(issuer.at(), &call);
        assert_eq!(found, code, "{call:?}: {text}");
        assert!(text.contains(what), "{call:?}: {text}");
        assert!(text.contains(how), "{call:?}: {text}");
        assert!(!text.contains(&token), "{call:?}");
    }
}

#[test]
fn url_without_a_key_set_is_described() {
    let issuer = Issuer::start();
    let keys = &*issuer.keys();
    for (raw, what, how) in [
        (
            response("404 Not Found", "", ""),
            "status 404",
            "with status 200",
        ),
        (
            response("302 Found", "Location: https://10.0.0.1/k?secret\r\n", ""),
            "status 302: not every verifier follows redirects",
            "pass the new address: https://10.0.0.1/k",
        ),
        (
            response("302 Found", "Location: file:///etc/passwd\r\n", ""),
            "status 302",
            "pass the address of the key set itself",
        ),
        (
            response("200 OK", "", "<html>"),
            "an HTML page, not a key set",
            "a login page or a proxy",
        ),
        (
            response("200 OK", "", "[]"),
            "the response is not a key set",
            "",
        ),
        (
            response("200 OK", "", &" ".repeat(10_000_000)),
            "the response has 10000000 bytes or more, limit 1048576",
            "",
        ),
        (
            response("200 OK", "", r#"{"jwks_uri":"https://id.example/k"}"#),
            "provider metadata, not a key set",
            "use the URL in jwks_uri: https://id.example/k",
        ),
    ] {
        issuer.raw("/keys", raw);
        fails(&issuer, "--key", keys, what, how);
    }
    let closed = "http://127.0.0.1:1/keys";
    fails(
        &issuer,
        "--key",
        closed,
        "the request failed",
        "check the address",
    );
}

#[test]
fn issuer_without_a_valid_document_is_described() {
    let (issuer, other) = (Issuer::start(), Issuer::start());
    let url = &*issuer.url;
    let slash = format!("{url}/");
    for (published, what) in [
        (
            "https://evil.example",
            "the `issuer` of the document is not the requested issuer",
        ),
        (&*slash, "differs from yours in the trailing slash"),
    ] {
        issuer.document(published, &issuer.keys());
        let how = format!("compare the issuer with that of the document: {published}");
        fails(&issuer, "--discover", url, what, &how);
    }
    let by_name = other.keys().replace("127.0.0.1", "localhost");
    for keys in [&other.keys(), &by_name] {
        issuer.document(url, keys);
        let what = "`jwks_uri`: the URL has a private IP address";
        fails(
            &issuer,
            "--discover",
            url,
            what,
            "pass it instead of the issuer",
        );
    }
    assert!(other.requested().is_empty());
    for (raw, what) in [
        (response("200 OK", "", "<html>"), "an HTML page, not JSON"),
        (
            response("200 OK", "", "[]"),
            "the document is not a JSON object",
        ),
        (
            response("200 OK", "", &" ".repeat(10_000_000)),
            "the document has 10000000 bytes or more, limit 262144",
        ),
        (
            response("302 Found", "Location: http://10.0.0.1/\r\n", ""),
            "the server redirects (status 302)",
        ),
    ] {
        issuer.raw(OPENID, raw);
        fails(&issuer, "--discover", url, what, "");
    }
    issuer.pages.lock().unwrap().remove(OPENID);
    fails(
        &issuer,
        "--discover",
        url,
        "discovery: the server responded with status 404",
        "if you know the URL of the key set",
    );
}

#[test]
fn secret_keys_at_a_url_verify_nothing() {
    let issuer = Issuer::start();
    let at = issuer.at();
    let (public, private_key) = (issuer.read("one.pub"), issuer.read("one.jwk"));
    let mac = line(at, &["key", "new", "--alg", "HS256", "--kid", "mac"]);
    private(&at.join("mac.jwk"), &mac);
    let keys = issuer.keys();
    let claims = format!(r#"{{"iss":"x","exp":1795165800,"n":"{}"}}"#, issuer.url);
    let token = line(at, &["jws", "sign", "--key", "mac.jwk", &claims]);
    issuer.page("/keys", &format!("{{\"keys\":[{mac},{public}]}}"));
    let verify = ["jwt", "verify", "--at", NOW, "--key", &keys];
    ends(at, &[&verify[..], &[&token]].concat(), b"", 1, "rejected: ");
    let doctor = ["doctor", "--at", NOW, "--key", &keys, &token];
    let (text, code) = said(at, &doctor);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("a secret key is published"), "{text}");
    // The other keys of the set still verify.
    let own = issuer.token(&issuer.url);
    succeeds(at, &[&verify[..], &[&own]].concat(), b"");
    for only in [
        format!("{{\"keys\":[{mac},{private_key}]}}"),
        mac,
        private_key,
    ] {
        issuer.page("/keys", &only);
        let all = "all keys are secret, and anyone can read them";
        ends(at, &[&verify[..], &[&token]].concat(), b"", 2, all);
    }
}

#[test]
fn slow_server_is_noted_and_given_up() {
    let issuer = Issuer::start();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // The connection is made, and no response follows.
    let (token, place) = (issuer.token(&url), format!("{url}/keys?secret"));
    let verify = ["jwt", "verify", "--key", &place, &token];
    let (text, code) = said(issuer.at(), &verify);
    assert_eq!(code, 2, "{text}");
    let note = format!("note: waiting for {url}/keys\n");
    assert!(text.starts_with(&note), "{text}");
    assert!(text.contains("no response within 10 s"), "{text}");
    assert!(!text.contains("secret"), "{text}");
    drop(listener);
}

#[test]
fn address_that_is_not_allowed_is_an_error() {
    let issuer = Issuer::start();
    let token = issuer.token("x");
    for (option, place, what, how) in [
        (
            "--key",
            "http://id.example/k",
            "http is not allowed",
            "https://",
        ),
        ("--key", "https://u:p@id.example/", "credentials", "remove"),
        (
            "--discover",
            "http://id.example",
            "http is not allowed",
            "https://",
        ),
        ("--discover", "https://id.example?x", "no query", "--key"),
        ("--discover", "id.example", "not a URL", ""),
        ("--discover", "", "not a URL", ""),
    ] {
        let (text, code) = said(issuer.at(), &["jwt", "verify", option, place, &token]);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(what) && text.contains(how), "{text}");
        assert!(!text.contains("u:p"), "{text}");
    }
    let both = [
        "--discover",
        "https://id.example",
        "--key",
        "one.pub",
        &token,
    ];
    let (text, code) = said(issuer.at(), &[&["jwt", "verify"][..], &both].concat());
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("cannot be used with"), "{text}");
}

#[cfg(unix)]
#[test]
fn authority_of_the_caller_is_trusted() {
    use crate::serve::tls::Authority;
    use crate::serving::Serving;

    let issuer = Issuer::start();
    let at = issuer.at();
    let authority = Authority::new(&at.join("authority.pem"));
    Authority::new(&at.join("other.pem"));
    authority.certify(at, 4096);
    let config = "[tls]\ncertificate = 'server.pem'\nkey = 'server.key'\n";
    fs::write(at.join("jeton.toml"), config).unwrap();
    let server = Serving::any_port(at, &["--config", "jeton.toml"]);
    let keys = format!("{}/.well-known/jwks.json", server.address());
    // The server has other keys than the token.
    let token = issuer.token("x");
    let verify = |ca: &[&str]| {
        said(
            at,
            &[&["jwt", "verify", "--key", &keys, &token], ca].concat(),
        )
    };
    let (text, code) = verify(&["--ca", "authority.pem"]);
    assert_eq!(code, 1, "{text}");
    for ca in [&[][..], &["--ca", "other.pem"]] {
        let (text, code) = verify(ca);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains("certificate"), "{text}");
        let hint = "hint: to trust the authority of the server, add `--ca FILE`";
        assert!(text.contains(hint), "{text}");
    }
    let (text, code) = verify(&["--ca", "one.pub"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("one.pub: certificate 1"), "{text}");
    assert!(
        text.contains("hint: --ca takes certificates in PEM"),
        "{text}"
    );
    let doctor = ["doctor", "--key", &keys, "--ca", "authority.pem"];
    succeeds(at, &doctor, b"");
    let file = ["--key", "one.pub", "--ca", "authority.pem", &token];
    let (text, code) = said(at, &[&["jwt", "verify"][..], &file].concat());
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("--ca: --key is not a URL\nhint: "), "{text}");
}

/// The habits of real key servers, which the fetchers of all languages share.
const HABITS: &str = include_str!("../../../../sdk/testdata/fetch.json");

#[test]
fn habit_of_a_key_server_has_its_result_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let server = KeyServer::start(HABITS).unwrap();
    for habit in server.habits() {
        let base = format!("{}/{}", server.http, habit.name);
        let place = if habit.is_of_issuer() {
            ["--discover".to_owned(), base]
        } else {
            ["--key".to_owned(), format!("{base}/keys")]
        };
        let policy = ["--issuer", "https://id.example", "--audience", "api"];
        let mut call = vec!["jwt", "verify"];
        call.extend(policy);
        call.extend(place.iter().map(String::as_str));
        call.push(server.token());
        let (text, code) = said(folder.path(), &call);
        let expected = match habit.expected() {
            Expected::Verified => 0,
            Expected::Code(_) => 2,
        };
        assert_eq!(code, expected, "{}: {text}", habit.name);
    }
    let head = server.read("/plain/head").unwrap().to_ascii_lowercase();
    assert!(head.contains("\r\nuser-agent: jeton/"), "{head}");
    let keys = format!("{}/asks-for-a-pause/keys", server.http);
    let verify = ["jwt", "verify", "--key", &keys, server.token()];
    let (text, _) = said(folder.path(), &verify);
    assert!(
        text.contains("status 429") && text.contains("hint: try again in 120 s"),
        "{text}"
    );
}

#[test]
fn proxy_of_the_environment_is_used_except_for_loopback_hosts() {
    let folder = tempfile::tempdir().unwrap();
    let server = KeyServer::start(HABITS).unwrap();
    let authority = folder.path().join("authority.pem");
    fs::write(&authority, &server.authority).unwrap();
    let authority = authority.to_str().unwrap();
    let verify = |host: &str, variables: &[(&str, &str)]| {
        let keys = format!("https://{host}/plain/keys");
        let mut jeton = std::process::Command::new(env!("CARGO_BIN_EXE_jeton"));
        jeton.args([
            "jwt",
            "verify",
            "--ca",
            authority,
            "--key",
            &keys,
            server.token(),
        ]);
        for name in [
            "HTTPS_PROXY",
            "https_proxy",
            "ALL_PROXY",
            "all_proxy",
            "NO_PROXY",
            "no_proxy",
        ] {
            jeton.env_remove(name);
        }
        jeton
            .envs(variables.iter().copied())
            .output()
            .unwrap()
            .status
            .code()
    };
    let proxy = ("HTTPS_PROXY", &*server.proxy);
    assert_eq!(verify("keys.example", &[proxy]), Some(0));
    assert_eq!(
        verify("keys.example", &[("ALL_PROXY", &*server.proxy)]),
        Some(0)
    );
    assert_eq!(
        verify("keys.example", &[proxy, ("NO_PROXY", ".example")]),
        Some(2)
    );
    assert_eq!(
        verify("keys.example", &[("HTTP_PROXY", &*server.proxy)]),
        Some(2)
    );
    assert_eq!(verify(REFUSED_HOST, &[proxy]), Some(2));
    let local = server.https.trim_start_matches("https://");
    assert_eq!(
        verify(local, &[("HTTPS_PROXY", "http://127.0.0.1:1")]),
        Some(0)
    );
    assert_eq!(server.read("/proxy/count").unwrap(), "3");
}

#[test]
fn http_from_another_host_needs_an_option() {
    let issuer = Issuer::start();
    let token = issuer.token("x");
    let call = |more: &[&str]| {
        let verify = ["jwt", "verify", "--key", "http://keys.invalid/keys", &token];
        said(issuer.at(), &[&verify[..], more].concat())
    };
    let (text, code) = call(&[]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("--plain-http"), "{text}");
    // The hint does not lead to the same error.
    let (text, code) = call(&["--plain-http"]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("note: keys are fetched with http"), "{text}");
    assert!(text.contains("the request failed"), "{text}");
    let file = ["jwt", "verify", "--key", "one.pub", "--plain-http", &token];
    let (text, _) = said(issuer.at(), &file);
    assert!(
        text.contains("--plain-http: --key is not a URL\nhint: "),
        "{text}"
    );
}
