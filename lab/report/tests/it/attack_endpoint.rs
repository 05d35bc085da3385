//! `lab attack --target` against HTTP servers on this machine: a correct one and faulty ones.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use base64_simd::URL_SAFE_NO_PAD;
use jeton::key::{SigAlg, SigningKey, VerifyingKey};
use jeton::{Policy, jwt::JwtVerifier};
use jeton_lab_conformance::attack::{
    self, Demand, Message, Operator, Reach, Target, TargetOptions,
};
use jeton_lab_harness::Stop;
use jeton_lab_model::result::{AttackOutcome, AttackRow, RunResult, Status};
use jeton_lab_report::html;
use serde_json::{Value, json};

/// How a server treats a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behavior {
    /// Rejects and accepts correctly, with an issuer and an audience.
    Fair,
    /// Like `Fair`, but accepts `alg: none`.
    BelievesNone,
    /// Closes the connection when a header has no `alg`.
    Faints,
    /// Never answers when a header has no `alg`.
    Freezes,
    /// Like `Fair`, but needs longer than the limit for the first header without `alg`.
    IsSlowOnce,
    /// Requires a password.
    Locked,
    /// Redirects every request to another server.
    SendsElsewhere,
}

/// Serves introspection on a free port until the test ends.
fn serve(behavior: Behavior, key: &SigningKey) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/introspect", listener.local_addr().unwrap());
    let key = Arc::new(key.verifying_key());
    let slow = Arc::new(AtomicBool::new(behavior == Behavior::IsSlowOnce));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, key, slow) = (stream.unwrap(), key.clone(), slow.clone());
            // A client that disconnects is not an error of the server.
            thread::spawn(move || drop(converse(behavior, &key, &slow, stream)));
        }
    });
    address
}

fn converse(
    behavior: Behavior,
    key: &VerifyingKey,
    slow: &AtomicBool,
    stream: TcpStream,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut stream = stream;
    loop {
        let (mut length, mut head, mut password) = (0, String::new(), false);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            password |= line.trim_end() == "authorization: Bearer let-me-in";
            head.push_str(&line);
            if line == "\r\n" {
                break;
            }
        }
        assert!(head.starts_with("POST /introspect HTTP/1.1\r\n"), "{head}");
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let form = String::from_utf8(body).unwrap();
        let token = form
            .split('&')
            .find_map(|p| p.strip_prefix("token="))
            .unwrap();
        let token = decoded(token);
        let (status, more) = match behavior {
            Behavior::Locked if !password => ("401 Unauthorized", ""),
            Behavior::SendsElsewhere => ("302 Found", "location: http://192.0.2.1/\r\n"),
            _ => ("200 OK", ""),
        };
        let without_alg = alg(&token) == Some(Value::Null);
        if without_alg && behavior == Behavior::Faints {
            return Ok(());
        }
        if without_alg && behavior == Behavior::Freezes {
            thread::sleep(std::time::Duration::from_secs(600));
        }
        if without_alg && slow.swap(false, Ordering::SeqCst) {
            thread::sleep(std::time::Duration::from_millis(1500));
        }
        let none = behavior == Behavior::BelievesNone && alg(&token) == Some(json!("none"));
        let answer = json!({"active": none || is_right(key, &token)}).to_string();
        write!(
            stream,
            "HTTP/1.1 {status}\r\nserver: tiny/1.0\r\n{more}content-type: application/json\r\ncontent-length: {}\r\n\r\n{answer}",
            answer.len()
        )?;
    }
}

fn is_right(key: &VerifyingKey, token: &str) -> bool {
    let key = VerifyingKey::from_jwk(&key.to_jwk()).unwrap();
    let policy = Policy::new("https://issuer.example", "api");
    JwtVerifier::new(key, policy).verify::<Value>(token).is_ok()
}

/// Returns the `alg` of a header that is an object; null if it has none.
fn alg(token: &str) -> Option<Value> {
    let header = token.split('.').next()?;
    let header = URL_SAFE_NO_PAD.decode_to_vec(header).ok()?;
    let header: Value = serde_json::from_slice(&header).ok()?;
    header
        .as_object()
        .map(|h| h.get("alg").cloned().unwrap_or_default())
}

/// Decodes a form value byte by byte.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).unwrap()
}

fn key() -> SigningKey {
    SigningKey::generate(SigAlg::ES256)
        .unwrap()
        .with_key_id("one")
        .unwrap()
}

fn attacked(address: &str, key: &SigningKey, attacks: &[&str]) -> Result<RunResult, String> {
    let options = TargetOptions {
        grant: None,
        message: Message::default(),
        leeway: std::time::Duration::ZERO,
        target: Target::new(address, Reach::Loopback)?,
        operator: Operator {
            jwk: key.to_jwk().unwrap(),
            ..Operator::default()
        },
        authorization: Some("Bearer let-me-in".to_owned().into()),
        demands: vec![Demand::Issuer, Demand::Audience, Demand::Expiry],
        attacks: attacks.iter().map(|a| (*a).to_owned()).collect(),
        seed: 7,
        command: "jeton-lab attack --target".into(),
    };
    attack::run_target(&options, &Stop::default(), |_, _| {})
}

fn row<'a>(result: &'a RunResult, attack: &str) -> &'a AttackRow {
    result
        .rows
        .attack
        .iter()
        .find(|r| r.attack == attack)
        .unwrap()
}

#[test]
fn endpoint_correct_rejects_every_attack() {
    let key = key();
    let result = attacked(&serve(Behavior::Fair, &key), &key, &[]).unwrap();
    let mut refused = 0;
    for row in &result.rows.attack {
        let outcome = row.outcome;
        let harmless = [
            Some(AttackOutcome::Refused),
            Some(AttackOutcome::NotOffered),
            Some(AttackOutcome::NotApplicable),
        ];
        assert!(harmless.contains(&outcome), "{row:?}");
        refused += usize::from(outcome == Some(AttackOutcome::Refused));
    }
    assert!(refused >= 60, "{refused}");
    let party = &result.rows.attack[0].subject;
    assert_eq!(
        (party.version.as_str(), party.language.as_str()),
        ("tiny/1.0", "http")
    );
    assert!(result.environment.complete);
}

#[test]
fn endpoint_finding_is_reported_without_the_key() {
    let key = key();
    let address = serve(Behavior::BelievesNone, &key);
    let result = attacked(&address, &key, &["alg-none", "other-key"]).unwrap();
    let found = row(&result, "alg-none");
    assert_eq!(found.outcome, Some(AttackOutcome::Accepted), "{found:?}");
    assert_eq!(
        row(&result, "other-key").outcome,
        Some(AttackOutcome::Refused)
    );
    let shown = serde_json::to_string(&result).unwrap();
    let secret: Value = serde_json::from_str(&key.to_jwk().unwrap()).unwrap();
    assert!(!shown.contains(secret["d"].as_str().unwrap()));
    let page = html::page(&result);
    assert!(page.contains("--target"), "the page contains the command");
}

#[test]
fn endpoint_that_crashes_is_reported_and_run_continues() {
    let key = key();
    let attacks = ["alg-absent", "other-key"];
    let fainted = attacked(&serve(Behavior::Faints, &key), &key, &attacks).unwrap();
    let row_of = |result, attack| row(result, attack).clone();
    assert_eq!(row_of(&fainted, "alg-absent").status, Status::Crashed);
    assert_eq!(
        row_of(&fainted, "other-key").outcome,
        Some(AttackOutcome::Refused)
    );
    let frozen = attacked(&serve(Behavior::Freezes, &key), &key, &attacks).unwrap();
    assert_eq!(row_of(&frozen, "alg-absent").status, Status::TimedOut);
    assert_eq!(
        row_of(&frozen, "other-key").outcome,
        Some(AttackOutcome::Refused)
    );
}

#[test]
fn endpoint_that_is_slow_once_is_not_over_the_limit() {
    let key = key();
    let result = attacked(&serve(Behavior::IsSlowOnce, &key), &key, &["alg-absent"]).unwrap();
    assert_eq!(
        row(&result, "alg-absent").outcome,
        Some(AttackOutcome::Refused)
    );
}

#[test]
fn endpoint_that_rejects_a_valid_token_is_not_attacked() {
    let (ours, theirs) = (key(), key());
    let stranger = attacked(&serve(Behavior::Fair, &theirs), &ours, &["alg-none"]);
    let why = stranger.unwrap_err();
    assert!(why.contains("rejects a valid token (not active)"), "{why}");
    let elsewhere = serve(Behavior::SendsElsewhere, &ours);
    let why = attacked(&elsewhere, &ours, &["alg-none"]).unwrap_err();
    assert!(why.contains("answered 302"), "{why}");
    // Nothing listens there any more.
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let why = attacked(&format!("http://{closed}/introspect"), &ours, &["alg-none"]).unwrap_err();
    assert!(why.contains("no answer"), "{why}");
}

#[test]
fn endpoint_authorization_is_sent_with_every_request() {
    let key = key();
    let result = attacked(&serve(Behavior::Locked, &key), &key, &["alg-none"]).unwrap();
    assert_eq!(
        row(&result, "alg-none").outcome,
        Some(AttackOutcome::Refused)
    );
}
