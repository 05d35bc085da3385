//! The preflight: checks that a server does what is measured.
//!
//! All servers have the same keys, so a token that verifies with them verifies with every other
//! server's. Each fault is a finding, as text.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::gateway;
use super::keys::Keys;
use super::loader::{Answer, Checker, End, HttpRequest, Request, ask, ask_once};
use super::process::Running;
use super::public_keys::public_keys;
use jeton_lab_fixtures::empty_key::is_signed_with_an_empty_key;
use jeton_lab_harness::Stop;
use jeton_lab_model::servers::{Algorithm, Call};

/// The time limit until a server signs with the given keys: jeton publishes a key before it signs.
const SETTLE_LIMIT: Duration = Duration::from_secs(10);
/// The number of checked tokens on one connection: enough to see that subjects differ. Each process
/// of a cluster has its own list of subjects and starts at its beginning.
const TOKENS: usize = 3;
/// An algorithm that no server supports.
const UNKNOWN_ALGORITHM: &str = "none";

/// Everything that is wrong with a server, and what was found out.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    pub(crate) findings: Vec<String>,
    /// The server must be started again.
    pub(crate) died: bool,
    /// It is a gateway that checks tokens and lets a revoked one pass.
    pub(crate) passes_revoked: bool,
    /// The files for verifying its tokens.
    checkers: BTreeMap<Algorithm, PathBuf>,
}

impl Checked {
    /// Returns the file for verifying the tokens of this call, if there are tokens that can be
    /// verified.
    pub(crate) fn checker(&self, call: Call, algorithm: Algorithm) -> Option<&Path> {
        let file = self
            .checkers
            .get(&algorithm)
            .filter(|_| call.gives_tokens());
        file.map(PathBuf::as_path)
    }
}

/// The preflight of a server that has just started.
pub(crate) struct Preflight<'a> {
    pub(crate) running: &'a mut Running,
    /// Whether it must reject requests without a valid token, if it is a gateway.
    pub(crate) has_check: bool,
    pub(crate) keys: &'a Keys,
    /// The folder for the server's public keys.
    pub(crate) folder: &'a Path,
    pub(crate) stop: &'a Stop,
}

impl Preflight<'_> {
    /// Checks everything that the run will call.
    pub(crate) fn check(&mut self, asked: &[(Call, Algorithm)]) -> Result<Checked, String> {
        let mut seen = Checked::default();
        if asked.iter().any(|(call, _)| *call == Call::GenerateJwt) {
            self.check_generate_jwt(&mut seen)?;
        }
        if asked.iter().any(|(call, _)| call.is_of_a_gateway()) {
            let address = self.running.address;
            let gateway =
                gateway::check(address, self.keys, self.has_check, SETTLE_LIMIT, self.stop)?;
            seen.findings.extend(gateway.findings);
            seen.passes_revoked = gateway.passes_revoked;
        }
        let is_other = |call: Call| call != Call::GenerateJwt && !call.is_of_a_gateway();
        for &(call, algorithm) in asked.iter().filter(|(call, _)| is_other(*call)) {
            if let Err(what) = self.check_call(call, algorithm, &mut seen) {
                seen.findings.push(what);
            }
        }
        Ok(seen)
    }

    fn check_generate_jwt(&mut self, seen: &mut Checked) -> Result<(), String> {
        let mut alike = true;
        for algorithm in Algorithm::REPORT {
            let Some((checker, file)) = self.checker(algorithm)? else {
                continue;
            };
            let is_same = |subjects: &[String]| subjects.iter().all(|s| *s == subjects[0]);
            match self.tokens(&checker, algorithm) {
                Ok(subjects) => {
                    alike &= is_same(&subjects);
                    seen.checkers.insert(algorithm, file);
                }
                Err(Wrong::EmptyKey(subjects)) => {
                    alike &= is_same(&subjects);
                    seen.findings.push(format!(
                        "signs {algorithm} with an empty key: its tokens do not verify with the configured key, \
                         and anyone can make such tokens"
                    ));
                }
                Err(Wrong::Other(what)) => {
                    seen.findings.push(what);
                    seen.checkers.insert(algorithm, file);
                    alike = false;
                }
            }
        }
        if alike {
            let same = "every token has the same subject";
            seen.findings.push(same.to_owned());
        }
        self.check_unknown_algorithm(seen);
        Ok(())
    }

    fn check_unknown_algorithm(&mut self, seen: &mut Checked) {
        let unknown = Request::generate_jwt_with(UNKNOWN_ALGORITHM);
        let answered = ask_once(self.running.address, &unknown.http);
        if answered.is_ok_and(|body| Answer::read(unknown.call, &body).is_ok()) {
            seen.findings.push(format!(
                "returns a token for the unknown algorithm `{UNKNOWN_ALGORITHM}`"
            ));
        }
        // A process that a call ends takes a moment to exit.
        std::thread::sleep(Duration::from_millis(200));
        if self.running.end_reason().is_some() || is_gone(self.running.address) {
            seen.died = true;
            seen.findings.push(format!(
                "exits on a call with the unknown algorithm `{UNKNOWN_ALGORITHM}`: one call stops the server for \
                 all clients"
            ));
        }
    }

    /// Returns the subjects of some valid tokens.
    fn tokens(&self, checker: &Checker, algorithm: Algorithm) -> Result<Vec<String>, Wrong> {
        let request = Request::generate_jwt(algorithm);
        let began = Instant::now();
        loop {
            let bodies = ask(self.running.address, &request.http, TOKENS);
            let answers = bodies
                .and_then(|bodies| {
                    bodies
                        .iter()
                        .map(|body| token(request.call, body))
                        .collect()
                })
                .map_err(|end| {
                    Wrong::Other(format!(
                        "a call with {algorithm} ended with: {}",
                        end.name()
                    ))
                });
            let answers: Vec<(String, String)> = answers?;
            let subjects = || answers.iter().map(|(_, sub)| sub.clone()).collect();
            let mut wrong = answers
                .iter()
                .filter_map(|(t, sub)| checker.check(t, sub).err());
            let Some(wrong) = wrong.next() else {
                return Ok(subjects());
            };
            if answers
                .iter()
                .all(|(token, _)| is_signed_with_an_empty_key(algorithm.name(), token))
            {
                return Err(Wrong::EmptyKey(subjects()));
            }
            if began.elapsed() > SETTLE_LIMIT || self.stop.requested() {
                return Err(Wrong::Other(unverified(algorithm, &wrong)));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Makes one call. Its token must verify, if it has one and the lab has a key for it.
    fn check_call(
        &self,
        call: Call,
        algorithm: Algorithm,
        seen: &mut Checked,
    ) -> Result<(), String> {
        let target = self.running.address;
        let answered = |end: End| format!("{call} with {algorithm} ended with: {}", end.name());
        let checker = self.checker(algorithm)?;
        let began = Instant::now();
        loop {
            let request = Request::prepare(target, call, algorithm).map_err(answered)?;
            let body = match ask_once(target, &request.http) {
                Err(end) if end == End::right(call) => return Ok(()),
                answer => answer.map_err(answered)?,
            };
            let answer = Answer::read(call, &body).map_err(answered)?;
            let wrong = checker
                .as_ref()
                .zip(answer.token)
                .map(|((checker, file), token)| {
                    seen.checkers.insert(algorithm, file.clone());
                    checker.check(token, answer.sub)
                });
            let Some(Err(wrong)) = wrong else {
                return Ok(());
            };
            if began.elapsed() > SETTLE_LIMIT || self.stop.requested() {
                return Err(unverified(algorithm, &wrong));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Returns the keys of an algorithm: those of the run where it has some, otherwise the server's
    /// public keys. None where only the server can have the key.
    fn checker(&self, algorithm: Algorithm) -> Result<Option<(Checker, PathBuf)>, String> {
        let file = match self.keys.checker_file(algorithm) {
            Some(file) => file,
            None if algorithm == Algorithm::V4Local => return Ok(None),
            None => self.public_keys(algorithm)?,
        };
        let keys = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        Ok(Some((Checker::read(algorithm, &keys)?, file)))
    }

    /// Writes the server's public keys to a file.
    fn public_keys(&self, algorithm: Algorithm) -> Result<PathBuf, String> {
        let answered =
            |end: End| format!("the call for its public keys ended with: {}", end.name());
        let body = ask_once(self.running.address, &HttpRequest::keys()).map_err(answered)?;
        let keys = public_keys(&body, algorithm).ok_or_else(|| answered(End::Garbage))?;
        let file = self.folder.join(format!("public-{algorithm}"));
        std::fs::write(&file, keys).map_err(|e| format!("{}: {e}", file.display()))?;
        Ok(file)
    }
}

enum Wrong {
    /// With the subjects of its tokens.
    EmptyKey(Vec<String>),
    Other(String),
}

/// Returns a token and its subject.
fn token(call: Call, body: &Bytes) -> Result<(String, String), End> {
    let answer = Answer::read(call, body)?;
    let token = answer.token.ok_or(End::Garbage)?;
    Ok((token.to_owned(), answer.sub.to_owned()))
}

fn unverified(algorithm: Algorithm, why: &str) -> String {
    format!("its {algorithm} tokens do not verify with the configured key: {why}")
}

/// Returns whether nothing listens any more.
fn is_gone(address: SocketAddr) -> bool {
    let asked = ask_once(address, &Request::generate_jwt(Algorithm::Es256).http);
    asked == Err(End::NotConnected)
}
