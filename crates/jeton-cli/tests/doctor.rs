//! `jeton doctor`, the real binary: each mistake that is made with tokens, keys and clocks is named.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod binary;
mod data_folder;
mod serving;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use base64_simd::URL_SAFE_NO_PAD;
use binary::{jeton, line};
use serde_json::{Value, json};
use serving::Serving;

/// A folder with two keys, a set of their public halves, and a token by the first.
struct House(tempfile::TempDir);

const NOW: &str = "2026-11-20T09:00:00Z";
const NOW_S: i64 = 1_795_165_200;

impl House {
    fn new() -> House {
        let house = House(tempfile::tempdir().unwrap());
        for (name, alg) in [("one", "ES256"), ("two", "EdDSA")] {
            let key = line(house.path(), &["key", "new", "--alg", alg, "--kid", name]);
            house.write(&format!("{name}.jwk"), &key);
            let public = line(house.path(), &["key", "public", &format!("{name}.jwk")]);
            house.write(&format!("{name}.pub"), &public);
        }
        house.write("set.json", &house.set(&["one.pub", "two.pub"]));
        house
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

    /// A token with these claims by that key.
    fn token(&self, key: &str, claims: &Value) -> String {
        let sign = ["jws", "sign", "--key", key, &claims.to_string()];
        line(self.path(), &sign)
    }

    /// What the doctor says, and with which code it ends.
    #[track_caller]
    fn doctor(&self, args: &[&str]) -> (String, i32) {
        let output = jeton(self.path(), &[&["doctor"], args].concat(), b"");
        let said = [output.stdout, output.stderr].concat();
        (
            String::from_utf8(said).unwrap(),
            output.status.code().unwrap(),
        )
    }

    /// It finds that, and says that something is wrong.
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
    "--keys",
    "set.json",
    "--issuer",
    "https://id.example",
    "--audience",
    "api",
    "--at",
    NOW,
];

#[test]
fn nothing_is_wrong_with_what_is_right() {
    let house = House::new();
    let token = house.token("one.jwk", &claims());
    house.write("token", &format!("{token}\n"));
    for given in [token.as_str(), "@token"] {
        let (said, code) = house.doctor(&[&DEMANDED[..], &[given]].concat());
        assert_eq!(code, 0, "{said}");
        assert!(!said.contains("! "), "{said}");
        for line in [
            "it expires in 10 minutes",
            "by the key one",
            "verified: jeton jwt verify accepts it",
        ] {
            assert!(said.contains(line), "{line}: {said}");
        }
        assert!(!said.contains(&token), "no token is said back");
    }
}

#[test]
fn what_a_token_got_on_its_way_is_named_and_then_seen_through() {
    let house = House::new();
    let token = house.token("one.jwk", &claims());
    let wrapped = format!("{}\n{}", &token[..70], &token[70..]);
    for (given, what) in [
        (format!("Bearer {token}"), "the whole header"),
        (format!("\"{token}\""), "it stands in quotes"),
        (format!(" {token}"), "white space stands around it"),
        (token.replace('.', "%2E"), "escaped as in an address"),
        (token.replace('.', "=."), "padded with ="),
        (wrapped, "white space stands in it"),
    ] {
        let args = [&DEMANDED[..], &[&given]].concat();
        house.finds(&args, what);
        let (said, _) = house.doctor(&args);
        assert!(
            said.contains("jeton jwt verify accepts it"),
            "{what}: {said}"
        );
    }
    let cut = token.rsplit_once('.').unwrap().0;
    house.finds(&[&DEMANDED[..], &[cut]].concat(), "it has 2 parts");
}

#[test]
fn what_its_claims_say_that_a_verifier_refuses_is_all_told_at_once() {
    let house = House::new();
    let with = |name: &str, value: Value| {
        let mut claims = claims();
        claims[name] = value;
        house.token("one.jwk", &claims)
    };
    let mut endless = claims();
    endless.as_object_mut().unwrap().remove("exp");
    for (token, what) in [
        (with("exp", json!(NOW_S - 7200)), "it expired 2 hours ago"),
        (
            with("exp", json!((NOW_S + 600) * 1000)),
            "looks like milliseconds",
        ),
        (house.token("one.jwk", &endless), "never expires"),
        (
            with("nbf", json!(NOW_S + 90)),
            "not valid before 1 minute from now",
        ),
        (with("iat", json!(NOW_S + 30)), "issued 30 seconds from now"),
        (
            with("iss", json!("https://id.example/")),
            "https://id.example is demanded",
        ),
        (with("aud", json!(["web", "app"])), "its aud is web, app"),
    ] {
        house.finds(&[&DEMANDED[..], &[&token]].concat(), what);
    }
    let wrong = with("exp", json!(NOW_S - 60));
    let (said, _) = house.doctor(&["--keys", "set.json", "--at", NOW, "--issuer", "x", &wrong]);
    for what in [
        "it expired 1 minute ago",
        "and x is demanded",
        "jeton jwt verify rejects it",
    ] {
        assert!(said.contains(what), "{said}");
    }
    // The same is no fault with a leeway, or where it is wanted.
    let (said, code) = house.doctor(&[&DEMANDED[..], &["--leeway", "2h30m", &wrong]].concat());
    assert_eq!(code, 0, "{said}");
    let endless = house.token("one.jwk", &endless);
    let (said, code) = house.doctor(&[&DEMANDED[..], &["--allow", "no-expiry", &endless]].concat());
    assert_eq!(code, 0, "{said}");
}

#[test]
fn whose_a_token_is_that_does_not_verify_is_told() {
    let house = House::new();
    let token = house.token("one.jwk", &claims());
    let check = |keys: &str, token: &str, what: &str| {
        house.finds(&["--keys", keys, "--at", NOW, token], what);
    };
    let changed = {
        let (rest, _) = token.rsplit_once('.').unwrap();
        let other = house.token("one.jwk", &json!({"exp": NOW_S + 601}));
        format!("{rest}.{}", other.rsplit_once('.').unwrap().1)
    };
    check("set.json", &changed, "not signed by the key one");
    check("two.pub", &token, "`alg` does not match the key");
    // Another name for the same key.
    let renamed = house.read("one.pub").replace("\"one\"", "\"uno\"");
    house.write("renamed.pub", &renamed);
    house.write("renamed.json", &house.set(&["renamed.pub", "two.pub"]));
    check(
        "renamed.json",
        &token,
        "signed by the key uno, and its header names the key one",
    );
    check("one.jwk", &token, "private key given, public key expected");
    let (said, _) = house.doctor(&["--keys", "one.jwk", "--at", NOW, &token]);
    assert!(said.contains("signed by the key one"), "{said}");
    let none = URL_SAFE_NO_PAD.encode_to_string(br#"{"alg":"none"}"#);
    let body = token.split('.').nth(1).unwrap();
    check(
        "set.json",
        &format!("{none}.{body}."),
        "anybody can have written it",
    );
    let twice = URL_SAFE_NO_PAD.encode_to_string(br#"{"alg":"ES256","alg":"ES256"}"#);
    check("set.json", &format!("{twice}.{body}.AA"), "stands twice");
}

#[test]
fn what_is_wrong_with_a_set_is_told_key_by_key() {
    let house = House::new();
    let nameless = house.read("two.pub").replace("\"kid\":\"two\",", "");
    house.write("nameless.pub", &nameless);
    house.write(
        "weak.pub",
        r#"{"kty":"RSA","kid":"old","alg":"RS256","n":"AQAB","e":"AQAB"}"#,
    );
    for (names, what) in [
        (&["one.pub", "one.pub"][..], "2 keys are called one"),
        (&["one.pub", "nameless.pub"], "key 2 has no kid"),
        (
            &["one.pub", "weak.pub"],
            "key 2: RS256, kid old: not usable",
        ),
    ] {
        house.write("wrong.json", &house.set(names));
        house.finds(&["--keys", "wrong.json"], what);
    }
}

/// Answers every request with that, and with that date.
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
fn an_address_is_asked_for_its_keys_and_its_time() {
    let house = House::new();
    let json = "Content-Type: application/json\r\nCache-Control: max-age=300\r\n";
    let set = house.read("set.json");
    let secret = house.set(&["one.jwk"]);
    let metadata = r#"{"issuer":"i","jwks_uri":"https://id.example/keys"}"#;
    let old = format!("{json}Date: Thu, 01 Jan 2015 00:00:00 GMT\r\n");
    for (address, what) in [
        (
            answering("200 OK", json, &secret),
            "it is secret, and anybody can read it here",
        ),
        (answering("200 OK", json, metadata), "a provider's metadata"),
        (answering("200 OK", json, "<html>"), "no key set"),
        (answering("404 Not Found", json, ""), "it answers 404"),
        (
            answering("301 Moved", "Location: /elsewhere\r\n", ""),
            "and sends elsewhere",
        ),
        (answering("200 OK", &old, &set), "s ahead of 127.0.0.1"),
        ("http://127.0.0.1:1/".to_owned(), "it cannot be asked"),
    ] {
        house.finds(&["--keys", &address], what);
        let (said, _) = house.doctor(&["--keys", &address]);
        assert!(!said.contains("hidden"), "{said}");
    }
    let (said, code) = house.doctor(&["--keys", &answering("200 OK", "", &set)]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("? its Content-Type is none"), "{said}");
    assert!(
        said.contains("? it does not say how long it may be kept"),
        "{said}"
    );
    for wrong in [
        "http://id.example/jwks.json",
        "https://u:p@id.example/",
        "nowhere.json",
    ] {
        let (said, code) = house.doctor(&["--keys", wrong]);
        assert_eq!(code, 2, "{said}");
    }
}

/// Answers like a cache: with an old copy, unless it is asked past it.
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
fn key_set_is_asked_for_past_caches() {
    let house = House::new();
    let (old, new) = (house.set(&["one.pub"]), house.set(&["two.pub"]));
    let (said, code) = house.doctor(&["--keys", &caching(true, &old, &new)]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("kid two"), "{said}");
    let (said, _) = house.doctor(&["--keys", &caching(false, &old, &new)]);
    assert!(said.contains("kid one"), "{said}");
    assert!(
        said.contains(
            "? a cache answered with a copy that is 120 s old, though it was asked not to"
        ),
        "{said}"
    );
}

#[test]
fn a_real_service_has_nothing_wrong() {
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
        "--keys",
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
