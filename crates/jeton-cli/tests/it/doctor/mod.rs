//! Tests of `jeton doctor`: typical mistakes with tokens, keys and clocks are explained.

mod agrees;
mod cases;
mod causes;
mod service;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use base64_simd::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::binary::{jeton, line};
use crate::data_folder;
use crate::serving::Serving;

/// A folder with two keys and a set of their public keys.
struct Fixture(tempfile::TempDir);

const NOW: &str = "2026-11-20T09:00:00Z";
const NOW_S: i64 = 1_795_165_200;

impl Fixture {
    fn new() -> Fixture {
        let fixture = Fixture(tempfile::tempdir().unwrap());
        for (name, alg) in [("one", "ES256"), ("two", "EdDSA")] {
            let key = line(fixture.path(), &["key", "new", "--alg", alg, "--kid", name]);
            fixture.write(&format!("{name}.jwk"), &key);
            let public = line(fixture.path(), &["key", "public", &format!("{name}.jwk")]);
            fixture.write(&format!("{name}.pub"), &public);
        }
        fixture.write("set.json", &fixture.set(&["one.pub", "two.pub"]));
        fixture
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        data_folder::private(&self.path().join(name), text);
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn set(&self, names: &[&str]) -> String {
        let keys: Vec<String> = names.iter().map(|name| self.read(name)).collect();
        format!("{{\"keys\":[{}]}}", keys.join(","))
    }

    /// Issues a token with these claims.
    fn token(&self, key: &str, claims: &Value) -> String {
        let sign = ["jws", "sign", "--key", key, &claims.to_string()];
        line(self.path(), &sign)
    }

    /// Returns the output of the doctor and its exit code.
    #[track_caller]
    fn doctor(&self, args: &[&str]) -> (String, i32) {
        let output = jeton(self.path(), &[&["doctor"], args].concat(), b"");
        let said = [output.stdout, output.stderr].concat();
        (
            String::from_utf8(said).unwrap(),
            output.status.code().unwrap(),
        )
    }

    /// Asserts that the doctor reports this error.
    #[track_caller]
    fn finds(&self, args: &[&str], what: &str) {
        let (said, code) = self.doctor(args);
        let line = said.lines().find(|line| line.contains(what));
        assert!(
            line.is_some_and(|line| line.starts_with("! ")),
            "{what}: {said}"
        );
        assert_eq!(code, 1, "{said}");
    }
}

fn claims() -> Value {
    json!({"iss": "https://id.example", "aud": "api", "iat": NOW_S, "exp": NOW_S + 600})
}

const DEMANDED: [&str; 8] = [
    "--key",
    "set.json",
    "--issuer",
    "https://id.example",
    "--audience",
    "api",
    "--at",
    NOW,
];

#[test]
fn doctor_valid_token_has_no_error() {
    let fixture = Fixture::new();
    let token = fixture.token("one.jwk", &claims());
    fixture.write("token", &format!("{token}\n"));
    for given in [token.as_str(), "@token"] {
        let (said, code) = fixture.doctor(&[&DEMANDED[..], &[given]].concat());
        assert_eq!(code, 0, "{said}");
        assert!(!said.contains("! "), "{said}");
        for line in [
            "expires in 10 minutes",
            "kid one",
            "verified: jeton jwt verify accepts it",
        ] {
            assert!(said.contains(line), "{line}: {said}");
        }
        assert!(!said.contains(&token), "no token is said back");
    }
}

#[test]
fn doctor_token_with_extra_characters_is_explained() {
    let fixture = Fixture::new();
    let token = fixture.token("one.jwk", &claims());
    let wrapped = format!("{}\n{}", &token[..70], &token[70..]);
    for (given, what) in [
        (
            format!("Bearer {token}"),
            "`Bearer` before the token was removed",
        ),
        (
            format!("\"{token}\""),
            "quotes around the token were removed",
        ),
        (
            format!(" {token}"),
            "white space around the token was removed",
        ),
        (
            token.replace('.', "%2E"),
            "percent-encoding or JSON escapes were decoded",
        ),
        (wrapped, "line breaks inside the token were removed"),
        (token.replace('.', "=."), "base64 padding"),
    ] {
        let args = [&DEMANDED[..], &["--text", &given]].concat();
        fixture.finds(&args, what);
        let (said, _) = fixture.doctor(&args);
        assert!(
            said.contains("jeton jwt verify accepts it"),
            "{what}: {said}"
        );
    }
    let cut = token.rsplit_once('.').unwrap().0;
    fixture.finds(
        &[&DEMANDED[..], &[cut]].concat(),
        "2 parts: a JWT has three",
    );
}

#[test]
fn doctor_all_claim_problems_are_reported_at_once() {
    let fixture = Fixture::new();
    let with = |name: &str, value: Value| {
        let mut claims = claims();
        claims[name] = value;
        fixture.token("one.jwk", &claims)
    };
    let mut endless = claims();
    endless.as_object_mut().unwrap().remove("exp");
    for (token, what) in [
        (with("exp", json!(NOW_S - 7200)), "expired 2 hours ago"),
        (
            with("exp", json!((NOW_S + 600) * 1000)),
            "the claim `exp` is outside the years 1970 to 9999: milliseconds?",
        ),
        (fixture.token("one.jwk", &endless), "never expires"),
        (
            with("nbf", json!(NOW_S + 90)),
            "not valid yet: nbf is 1 minute from now",
        ),
        (with("iat", json!(NOW_S + 90)), "iat is 1 minute from now"),
        (
            with("iss", json!("https://id.example/")),
            "expected https://id.example",
        ),
        (with("aud", json!(["web", "app"])), "aud is web, app"),
    ] {
        fixture.finds(&[&DEMANDED[..], &[&token]].concat(), what);
    }
    let wrong = with("exp", json!(NOW_S - 60));
    let (said, _) = fixture.doctor(&["--key", "set.json", "--at", NOW, "--issuer", "x", &wrong]);
    for what in [
        "expired 1 minute ago",
        "expected x",
        "jeton jwt verify rejects it",
    ] {
        assert!(said.contains(what), "{said}");
    }
    // A leeway or --allow accepts them.
    let (said, code) = fixture.doctor(&[&DEMANDED[..], &["--leeway", "2h30m", &wrong]].concat());
    assert_eq!(code, 0, "{said}");
    let endless = fixture.token("one.jwk", &endless);
    let (said, code) =
        fixture.doctor(&[&DEMANDED[..], &["--allow", "no-expiry", &endless]].concat());
    assert_eq!(code, 0, "{said}");
}

#[test]
fn doctor_rejected_token_reports_its_signer() {
    let fixture = Fixture::new();
    let token = fixture.token("one.jwk", &claims());
    let check = |keys: &str, token: &str, what: &str| {
        fixture.finds(&["--key", keys, "--at", NOW, token], what);
    };
    let changed = {
        let (rest, _) = token.rsplit_once('.').unwrap();
        let other = fixture.token("one.jwk", &json!({"exp": NOW_S + 601}));
        format!("{rest}.{}", other.rsplit_once('.').unwrap().1)
    };
    check("set.json", &changed, "not signed by the key one");
    check(
        "two.pub",
        &token,
        "the key is for EdDSA, the token has ES256",
    );
    // The same key with another kid.
    let renamed = fixture.read("one.pub").replace("\"one\"", "\"uno\"");
    fixture.write("renamed.pub", &renamed);
    fixture.write("renamed.json", &fixture.set(&["renamed.pub", "two.pub"]));
    check(
        "renamed.json",
        &token,
        "signed by the key uno, and the header has the kid one",
    );
    check("one.jwk", &token, "private key given");
    let (said, _) = fixture.doctor(&["--key", "one.jwk", "--at", NOW, &token]);
    assert!(said.contains("signed by the key one"), "{said}");
    let none = URL_SAFE_NO_PAD.encode_to_string(br#"{"alg":"none"}"#);
    let body = token.split('.').nth(1).unwrap();
    check("set.json", &format!("{none}.{body}."), "alg is none");
    let twice = URL_SAFE_NO_PAD.encode_to_string(br#"{"alg":"ES256","alg":"ES256"}"#);
    check(
        "set.json",
        &format!("{twice}.{body}.AA"),
        "duplicate member",
    );
}

#[test]
fn doctor_key_set_problems_are_reported_for_each_key() {
    let fixture = Fixture::new();
    let nameless = fixture.read("two.pub").replace("\"kid\":\"two\",", "");
    fixture.write("nameless.pub", &nameless);
    fixture.write(
        "weak.pub",
        r#"{"kty":"RSA","kid":"old","alg":"RS256","n":"AQAB","e":"AQAB"}"#,
    );
    for (names, what) in [
        (&["one.pub", "one.pub"][..], "2 keys have the kid one"),
        (&["one.pub", "nameless.pub"], "key 2 of 2 has no kid"),
        (&["one.pub", "weak.pub"], "key 2: RS256, kid old: unusable"),
    ] {
        fixture.write("wrong.json", &fixture.set(names));
        fixture.finds(&["--key", "wrong.json"], what);
    }
}

/// Starts a server that answers every request with this response.
fn answering(status: &str, headers: &str, body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    format!("http://{address}/jwks.json?secret=hidden")
}

#[test]
fn doctor_url_is_checked_for_keys_and_time() {
    let fixture = Fixture::new();
    let json = "Content-Type: application/json\r\nCache-Control: max-age=300\r\n";
    let set = fixture.read("set.json");
    let secret = fixture.set(&["one.jwk"]);
    let metadata = r#"{"issuer":"i","jwks_uri":"https://id.example/keys"}"#;
    let old = format!("{json}Date: Thu, 01 Jan 2015 00:00:00 GMT\r\n");
    for (address, what) in [
        (
            answering("200 OK", json, &secret),
            "a secret key is published",
        ),
        (answering("200 OK", json, metadata), "provider metadata"),
        (answering("200 OK", json, "<html>"), "not a key set"),
        (answering("404 Not Found", json, ""), "status 404"),
        (
            answering("301 Moved", "Location: /elsewhere\r\n", ""),
            "not every verifier follows redirects",
        ),
        (answering("200 OK", &old, &set), "s ahead of 127.0.0.1"),
        ("http://127.0.0.1:1/".to_owned(), "the request failed"),
    ] {
        fixture.finds(&["--key", &address], what);
        let (said, _) = fixture.doctor(&["--key", &address]);
        assert!(!said.contains("hidden"), "{said}");
    }
    let (said, code) = fixture.doctor(&["--key", &answering("200 OK", "", &set)]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("? Content-Type is none"), "{said}");
    assert!(said.contains("? no Cache-Control"), "{said}");
    for wrong in [
        "http://id.example/jwks.json",
        "https://u:p@id.example/",
        "nowhere.json",
    ] {
        let (said, code) = fixture.doctor(&["--key", wrong]);
        assert_eq!(code, 2, "{said}");
    }
}

/// Starts a server that behaves like a cache: it returns an old copy, unless the request bypasses it.
fn caching(heeds_no_cache: bool, copy: &str, published: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = |age: &str, body: &str| {
        format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nCache-Control: max-age=300\r\n{age}\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let (copy, published) = (answer("Age: 120\r\n", copy), answer("", published));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap_or(0);
            let request = String::from_utf8_lossy(&request[..length]).to_lowercase();
            let is_past = heeds_no_cache && request.contains("\r\ncache-control: no-cache\r\n");
            let answer = if is_past { &published } else { &copy };
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    format!("http://{address}/jwks.json")
}

#[test]
fn doctor_url_request_bypasses_caches() {
    let fixture = Fixture::new();
    let (old, new) = (fixture.set(&["one.pub"]), fixture.set(&["two.pub"]));
    let (said, code) = fixture.doctor(&["--key", &caching(true, &old, &new)]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("kid two"), "{said}");
    let (said, _) = fixture.doctor(&["--key", &caching(false, &old, &new)]);
    assert!(said.contains("kid one"), "{said}");
    assert!(
        said.contains("? a cache returned a copy that is 120 s old"),
        "{said}"
    );
}

#[test]
fn doctor_real_service_has_no_error() {
    let folder = data_folder::issuer();
    let server = Serving::any_port(folder.path(), &[]);
    let keys = format!("{}/.well-known/jwks.json", server.address());
    let issue = [
        "token",
        "issue",
        "--server",
        &server.address(),
        "--profile",
        "access",
    ];
    let token = line(folder.path(), &issue);
    let call = [
        "doctor",
        "--key",
        &keys,
        "--issuer",
        data_folder::ISS,
        "--audience",
        "api",
    ];
    let output = jeton(
        folder.path(),
        &[&call[..], &["--json", &token]].concat(),
        b"",
    );
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let examined: Vec<&str> = (all.as_array().unwrap().iter())
        .map(|one| one["about"].as_str().unwrap())
        .collect();
    assert_eq!(examined, ["clock", "keys", "token"]);
    for finding in all
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|one| one["findings"].as_array().unwrap())
    {
        assert_eq!(finding["state"], "good", "{finding}");
    }
}
