//! Gateways: the tokens that they are sent, and which of them they let pass.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jeton::Claims;
use jeton::key::SigningKey;
use zeroize::Zeroizing;

use super::keys::{Keys, es256, write_secret};
use super::loader::{AUDIENCE, Answer, End, HttpRequest, SUBJECT, ask_once};
use jeton_lab_harness::Stop;
use jeton_lab_model::servers::Call;

/// The issuer of the tokens, as the configurations of the gateways name it.
const ISSUER: &str = "https://id.example";
/// The `jti` that `servers/gateway/ready.sh` revokes.
const REVOKED: &str = "revoked-by-the-lab";
/// How many tokens follow each other before the first comes again. Envoy's cache has 100 unless it is configured.
const DIFFERENT: usize = 20_000;
/// The lifetime of the tokens, longer than any run.
const LIFETIME: Duration = Duration::from_hours(12);

/// Why a revoked token is not measured.
pub(super) const PASSES_REVOKED: &str = "lets a revoked token pass: it checks signatures and claims, and knows no \
                                         revocations. A request with a revoked token costs what any other costs";

/// Claims that every gateway accepts.
fn claims(id: &str) -> Claims<'_, ()> {
    let claims = Claims::registered().issuer(ISSUER).subject(SUBJECT);
    claims.audience(AUDIENCE).token_id(id).expires_in(LIFETIME)
}

fn signed(key: &SigningKey, claims: &Claims<'_, ()>) -> Result<String, String> {
    let failed = |error| format!("cannot sign the tokens for gateways: {error}");
    key.issue(claims).map_err(failed)
}

impl Keys {
    /// Writes the tokens for each call of a gateway.
    pub(super) fn make_tokens(&self) -> Result<(), String> {
        let one = signed(&self.signing, &claims("one"))?;
        let revoked = signed(&self.signing, &claims(REVOKED))?;
        let mut different = Zeroizing::new(String::new());
        for number in 0..DIFFERENT {
            different.push_str(&signed(&self.signing, &claims(&number.to_string()))?);
            different.push('\n');
        }
        for (call, tokens) in [
            (Call::Pass, &one),
            (Call::PassRevoked, &revoked),
            (Call::PassDifferent, &*different),
        ] {
            write_secret(&self.file(call.name()), tokens.as_bytes())?;
        }
        Ok(())
    }

    /// Returns the file with the tokens for this call; none if a server issues them.
    pub(super) fn tokens(&self, call: Call) -> Option<PathBuf> {
        call.is_of_a_gateway().then(|| self.file(call.name()))
    }

    /// Returns tokens that every check must reject, and what is wrong with each.
    fn wrong_tokens(&self) -> Result<[(&'static str, String); 3], String> {
        let own = |claims| signed(&self.signing, &claims);
        let other = es256().map_err(|error| format!("cannot generate a key: {error}"))?;
        let hour = Duration::from_hours(1);
        Ok([
            ("with a forged token", signed(&other, &claims("forged"))?),
            (
                "with an expired token",
                own(claims("expired").issued_ago(hour * 2).expires_in(hour))?,
            ),
            (
                "with a token for another audience",
                own(claims("audience").audience("another"))?,
            ),
        ])
    }
}

/// What a gateway lets pass.
#[derive(Debug, Default)]
pub(super) struct Gateway {
    pub(super) findings: Vec<String>,
    /// It checks tokens, and a revoked one passes.
    pub(super) passes_revoked: bool,
}

/// Sends requests to a gateway, the first until it passes or this time is over. `has_check` is false for a gateway that
/// shows the cost without a check.
pub(super) fn check(
    address: SocketAddr,
    keys: &Keys,
    has_check: bool,
    limit: Duration,
    stop: &Stop,
) -> Result<Gateway, String> {
    let mut seen = Gateway::default();
    let valid = signed(&keys.signing, &claims("valid"))?;
    let began = Instant::now();
    while let Err(end) = passed(address, Some(&valid)) {
        if began.elapsed() > limit || stop.requested() {
            let end = end.name();
            let what = format!("a request with a valid token does not pass: {end}");
            seen.findings.push(what);
            return Ok(seen);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    if !has_check {
        return Ok(seen);
    }
    let wrong = keys.wrong_tokens()?;
    let wrong = wrong.iter().map(|(what, token)| (*what, Some(&**token)));
    for (what, token) in [("without a token", None)].into_iter().chain(wrong) {
        match passed(address, token) {
            Ok(()) => seen.findings.push(format!("lets a request {what} pass")),
            Err(End::Http(401 | 403)) => {}
            Err(end) => {
                let end = end.name();
                seen.findings
                    .push(format!("a request {what} ended with: {end}"));
            }
        }
    }
    let revoked = signed(&keys.signing, &claims(REVOKED))?;
    seen.passes_revoked = passed(address, Some(&revoked)).is_ok();
    Ok(seen)
}

/// Sends a request, and returns how it ended if it did not pass.
fn passed(address: SocketAddr, token: Option<&str>) -> Result<(), End> {
    let http = HttpRequest::get(token).map_err(|_| End::Garbage)?;
    Answer::read(Call::Pass, &ask_once(address, &http)?).map(|_| ())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use jeton::Policy;
    use jeton::jwt::JwtVerifier;
    use serde::de::IgnoredAny;

    use super::*;

    #[test]
    fn tokens_of_a_run_are_what_they_are_called() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::make(folder.path()).unwrap();
        keys.make_tokens().unwrap();
        let verifier = JwtVerifier::new(
            keys.signing.verifying_key().clone(),
            Policy::new(ISSUER, AUDIENCE),
        );
        let verify = |token: &str| verifier.verify::<IgnoredAny>(token);
        for call in [Call::Pass, Call::PassDifferent, Call::PassRevoked] {
            let tokens = std::fs::read_to_string(keys.tokens(call).unwrap()).unwrap();
            let mut lines: Vec<&str> = tokens.lines().collect();
            let all = lines.len();
            let last = verify(lines[all - 1]).unwrap();
            assert_eq!(last.token_id() == Some(REVOKED), call == Call::PassRevoked);
            lines.sort_unstable();
            lines.dedup();
            let expected = if call == Call::PassDifferent {
                DIFFERENT
            } else {
                1
            };
            assert_eq!((all, lines.len()), (expected, expected), "{call}");
        }
        for (what, token) in keys.wrong_tokens().unwrap() {
            assert!(verify(&token).is_err(), "{what}");
        }
        assert_eq!(keys.tokens(Call::Verify), None);
    }
}
