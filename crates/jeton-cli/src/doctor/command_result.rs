//! Runs the command for a token: the same code with the same keys, policy and time.

use jeton::Verified;
use serde::de::IgnoredAny;

use super::Criteria;
use super::unwrap::is_paseto;
use crate::exit::{Failure, Outcome};
use crate::rejection_hints::{self, Command};
use crate::{paseto, verification};

/// The result of the command for a token.
pub(super) enum CommandResult {
    /// The command succeeds.
    Accepted(&'static str),
    /// The command fails.
    Rejected(&'static str, Failure),
    /// There are no keys, so no command was run.
    NotRun,
}

const JWT: &str = "jeton jwt verify";
const JWE: &str = "jeton jwe decrypt";

/// Runs the command.
pub(super) fn run(token: &str, criteria: &Criteria<'_>) -> CommandResult {
    let (command, found) = match (criteria.keys, criteria.decryption_keys) {
        (None, None) => return CommandResult::NotRun,
        (None, Some(_)) => (JWE, jwe(token, criteria)),
        (Some(_), _) if is_paseto(token) => match is_local(token) {
            true => ("jeton paseto decrypt", paseto(token, criteria)),
            false => ("jeton paseto verify", paseto(token, criteria)),
        },
        (Some(_), _) => (JWT, jwt(token, criteria)),
    };
    match found {
        Ok(()) => CommandResult::Accepted(command),
        Err(failure) => CommandResult::Rejected(command, failure),
    }
}

/// Returns whether a PASETO is encrypted.
pub(super) fn is_local(token: &str) -> bool {
    token.split('.').nth(1) == Some("local")
}

fn jwt(token: &str, criteria: &Criteria<'_>) -> Outcome {
    let keys = criteria.keys.ok_or_else(no_key)?;
    let keys = keys.to_verify(criteria.alg, criteria.allowed)?.keys;
    let decrypter = criteria.decrypter().transpose()?;
    let verifier = criteria.policy.verifier(keys, decrypter, criteria.limits);
    let verified = verifier.verify(token);
    verified
        .map(drop)
        .map_err(|error| rejection_hints::failure(error, token, verifier.command()))
}

fn jwe(token: &str, criteria: &Criteria<'_>) -> Outcome {
    let decrypter = criteria.decrypter().ok_or_else(no_key)??;
    verification::decrypt(&decrypter, token)
        .map(drop)
        .map_err(|error| rejection_hints::failure(error, token, Command::JweDecrypt))
}

fn paseto(token: &str, criteria: &Criteria<'_>) -> Outcome {
    let keys = criteria.keys.ok_or_else(no_key)?;
    let (key, command) = match is_local(token) {
        true => (
            paseto::decrypting(keys, criteria.allowed)?,
            Command::PasetoDecrypt,
        ),
        false => (
            paseto::verifying(keys, criteria.allowed)?,
            Command::PasetoVerify,
        ),
    };
    let policy_args = criteria.policy.policy_args;
    let verifier = verification::paseto(
        &*key,
        policy_args,
        criteria.footer,
        criteria.implicit,
        criteria.limits,
    );
    let verified: jeton::Result<Verified<IgnoredAny>> = verifier.verify(token);
    verified
        .map(drop)
        .map_err(|error| rejection_hints::failure(error, token, command))
}

fn no_key() -> Failure {
    Failure::error("no key: pass --keys")
}
