//! Libraries in four languages verify tokens with a cached key set while keys rotate.
//!
//! The programs are in `tests/verifiers`. `cargo xtask test --only verifiers` builds them and passes their
//! folder in `JETON_VERIFIERS`.
//!
//! The server's clock runs sixty times faster, so that periods and lifetimes are realistic. The programs cache
//! the key set for a sixtieth of the allowed time. Tokens start in the past and end in the future of the
//! programs.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use jeton::{Clock, SystemClock, Timestamp};
use jeton_proto::v1::{RevokeRequest, revoke_request};

use crate::harness::{ISS, TestServer, is_soon, reason};
use crate::raw_http::post_form;

/// Factor of the server's clock.
const SPEED: u32 = 60;
/// Time limit of the test. Two keys follow the first one within 46 s, and later on a busy machine.
const LONGEST: Duration = Duration::from_secs(180);
/// How long the programs cache the key set: `max_age_seconds` of the server's clock.
const KEPT_SECONDS: u32 = 300 / SPEED;
/// Time limit for a result of a program. The first one includes compiling Java.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The shortest pre-publication period, and the shortest rotation that it allows.
const ROTATING: &str = r#"
[[issuer]]
iss = "https://id.example/tenant"
publish_before_use_seconds = 600
max_age_seconds = 300
rotate_every_seconds = 1200
profiles = [{name = "access", alg = "ES256", lifetime_seconds = 7200, audiences = ["api"]}]
"#;

/// A fast clock that starts an hour behind.
struct Fast {
    begun: Instant,
    at: Timestamp,
}

impl Fast {
    fn an_hour_behind() -> Fast {
        Fast {
            begun: Instant::now(),
            at: SystemClock.now().saturating_sub(Duration::from_secs(3600)),
        }
    }
}

impl Clock for Fast {
    fn now(&self) -> Timestamp {
        self.at.saturating_add(self.begun.elapsed() * SPEED)
    }
}

/// A program that verifies tokens, with its rejections.
struct Verifier {
    name: &'static str,
    child: Child,
    tokens: ChildStdin,
    answers: Receiver<String>,
    rejected: Vec<String>,
}

impl Verifier {
    fn start(
        name: &'static str,
        mut program: Command,
        fixture: &TestServer,
        kept: u32,
    ) -> Verifier {
        let url = format!("http://{}/tenant/.well-known/jwks.json", fixture.address());
        let mut child = program
            .args([&url, ISS, "api", &kept.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let tokens = child.stdin.take().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let (answer, answers) = channel();
        thread::spawn(move || {
            let lines = said.lines().map_while(Result::ok);
            lines.for_each(|line| drop(answer.send(line)));
        });
        Verifier {
            name,
            child,
            tokens,
            answers,
            rejected: Vec::new(),
        }
    }

    fn send(&mut self, token: &str) {
        writeln!(self.tokens, "{token}").unwrap();
        self.tokens.flush().unwrap();
    }

    fn receive(&mut self, subject: &str) {
        let answer = self.answers.recv_timeout(TIMEOUT);
        let answer = answer.unwrap_or_else(|error| panic!("{}: {error}", self.name));
        if answer != format!("ok {subject}") {
            self.rejected.push(answer);
        }
    }
}

impl Drop for Verifier {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The programs, and a negative control that caches the key set for longer than allowed.
fn verifiers(fixture: &TestServer) -> (Vec<Verifier>, Verifier) {
    let built = std::env::var_os("JETON_VERIFIERS").map(PathBuf::from);
    let built = built.expect("cargo xtask test --only verifiers sets JETON_VERIFIERS");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verifiers");
    let with = |program: PathBuf, script: &str| {
        let mut command = Command::new(program);
        command.arg(sources.join(script));
        command
    };
    let go = || Command::new(built.join("go/verifier"));
    let node = with("node".into(), "node/verifier.mjs");
    let python = with(built.join("python/bin/python"), "python/verifier.py");
    let mut java = Command::new("java");
    java.arg("-cp").arg(built.join("java/*"));
    java.arg(sources.join("java/Verifier.java"));
    let start = |name, program| Verifier::start(name, program, fixture, KEPT_SECONDS);
    let all = vec![
        start("go", go()),
        start("node", node),
        start("java", java),
        start("python", python),
    ];
    (all, Verifier::start("control", go(), fixture, 3600))
}

#[test]
#[ignore = "needs Go, Node, Java and Python: cargo xtask test --only verifiers"]
fn no_token_is_rejected_while_keys_rotate() {
    let fixture = TestServer::with_clock(ROTATING, Arc::new(Fast::an_hour_behind())).unwrap();
    let (mut verifiers, mut control) = verifiers(&fixture);
    let begun = Instant::now();
    let (mut kids, mut tokens, mut last) = (BTreeSet::new(), 0, String::new());
    while kids.len() < 3 || control.rejected.is_empty() || tokens <= 100 {
        assert!(
            begun.elapsed() < LONGEST,
            "two keys should have followed the first, and the control with a long cache should have rejected a \
             token: {tokens} tokens of {kids:?}, {} rejected by the control",
            control.rejected.len()
        );
        let subject = format!("user{tokens}");
        let token = fixture.issue("access", &subject).token;
        let asked = verifiers.iter_mut().chain([&mut control]);
        asked.for_each(|verifier| verifier.send(&token));
        kids.insert(fixture.verify(&token).unwrap().key_id);
        let asked = verifiers.iter_mut().chain([&mut control]);
        asked.for_each(|verifier| verifier.receive(&subject));
        (tokens, last) = (tokens + 1, token);
        thread::sleep(Duration::from_millis(20));
    }
    println!(
        "{tokens} tokens of {} keys; the control rejected {}",
        kids.len(),
        control.rejected.len()
    );
    for verifier in &verifiers {
        let Verifier { name, rejected, .. } = verifier;
        assert!(
            rejected.is_empty(),
            "{name}: {} rejected, for example {}",
            rejected.len(),
            rejected[0]
        );
    }
    assert_revoked_at_once(&fixture, &last);
}

/// Verification and introspection by the service do not cache.
fn assert_revoked_at_once(fixture: &TestServer, token: &str) {
    let is_active = || {
        let answer = post_form(
            fixture.address(),
            "/tenant/introspect",
            &format!("token={token}"),
        );
        answer.json()["active"].as_bool().unwrap()
    };
    assert!(is_active() && fixture.verify(token).is_ok());
    let request = RevokeRequest {
        what: Some(revoke_request::What::Token(token.to_owned())),
        ..RevokeRequest::default()
    };
    let mut client = fixture.tokens();
    fixture.runtime.block_on(client.revoke(request)).unwrap();
    assert!(is_soon(|| !is_active()));
    let is_rejected = || {
        fixture
            .verify(token)
            .is_err_and(|status| reason(&status) == "TOKEN_REVOKED")
    };
    assert!(is_soon(is_rejected));
}
