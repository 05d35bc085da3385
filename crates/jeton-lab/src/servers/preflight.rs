//! Before anything is measured: does a server do what it is measured for?
//!
//! All servers have the same keys, so a token that verifies with them verifies with every other
//! server's. What is wrong is a finding, in words.

use std::time::{Duration, Instant};

use super::keys::Keys;
use super::loader::{Call, Checker, End, Token, ask};
use super::process::Running;
use super::{Algorithm, loader};
use crate::runner::empty_key::is_signed_with_an_empty_key;
use crate::stop::Stop;

/// How long a server may take until it signs with the keys that it was given: jeton publishes a key
/// before it signs.
const SETTLE_LIMIT: Duration = Duration::from_secs(10);
/// Tokens that are looked at: enough to see that subjects follow each other.
const TOKENS: usize = 3;
/// No server knows it.
const UNKNOWN_ALGORITHM: &str = "none";

/// Everything that is wrong with a server, and whether it has to be started again.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) findings: Vec<String>,
    pub(crate) signs_with_empty_key: bool,
    pub(crate) died: bool,
}

/// Looks at a server that has just been started.
pub(crate) fn look(running: &mut Running, keys: &Keys, stop: &Stop) -> Result<Seen, String> {
    let mut seen = Seen::default();
    let mut alike = true;
    for algorithm in Algorithm::ALL {
        match tokens(running, keys.checker(algorithm)?, algorithm, stop) {
            Ok(subjects) => alike &= subjects.iter().all(|s| *s == subjects[0]),
            Err(Wrong::EmptyKey(subjects)) => {
                alike &= subjects.iter().all(|s| *s == subjects[0]);
                seen.signs_with_empty_key = true;
                seen.findings.push(format!(
                    "signs {algorithm} with an empty key: its tokens do not verify with the key that \
                     it was given and every other server has, and anybody can make them"
                ));
            }
            Err(Wrong::Other(what)) => {
                seen.findings.push(what);
                alike = false;
            }
        }
    }
    if alike {
        let same = "gives every token the same subject";
        seen.findings.push(same.to_owned());
    }
    if let Ok(Token { .. }) = ask(running.address, &Call::generate_jwt_with(UNKNOWN_ALGORITHM)) {
        seen.findings.push(format!(
            "answers the algorithm `{UNKNOWN_ALGORITHM}` with a token"
        ));
    }
    // A process that a call ends takes a moment to be gone.
    std::thread::sleep(Duration::from_millis(200));
    if running.obituary().is_some() || loader_lost(running) {
        seen.died = true;
        seen.findings.push(format!(
            "ends when it is asked for the algorithm `{UNKNOWN_ALGORITHM}`: one call stops it for \
             everybody"
        ));
    }
    Ok(seen)
}

enum Wrong {
    /// With the subjects of its tokens.
    EmptyKey(Vec<String>),
    Other(String),
}

/// The subjects of some tokens that are as they must be.
fn tokens(
    running: &Running,
    checker: Checker,
    algorithm: Algorithm,
    stop: &Stop,
) -> Result<Vec<String>, Wrong> {
    let call = Call::generate_jwt(algorithm);
    let began = Instant::now();
    loop {
        let answers: Result<Vec<Token>, End> =
            (0..TOKENS).map(|_| ask(running.address, &call)).collect();
        let answers = answers
            .map_err(|end| Wrong::Other(format!("answers {algorithm} with: {}", end.name())))?;
        let subjects = || answers.iter().map(|a| a.sub.clone()).collect();
        let wrong = answers
            .iter()
            .find_map(|a| checker.check(&a.answer()).err());
        let Some(wrong) = wrong else {
            return Ok(subjects());
        };
        if answers
            .iter()
            .all(|a| is_signed_with_an_empty_key(algorithm.name(), &a.jwt))
        {
            return Err(Wrong::EmptyKey(subjects()));
        }
        if began.elapsed() > SETTLE_LIMIT || stop.requested() {
            return Err(Wrong::Other(format!(
                "its {algorithm} tokens do not verify with the key that it was given: {wrong}"
            )));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Nobody listens any more.
fn loader_lost(running: &Running) -> bool {
    let asked = loader::ask(running.address, &Call::generate_jwt(Algorithm::Es256));
    asked == Err(End::NotConnected)
}
