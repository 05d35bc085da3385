//! What the verb that a token is for says of it: its own code, with the same keys, policy and time.

use jeton::Verified;
use serde::de::IgnoredAny;

use super::Call;
use super::text::is_paseto;
use crate::exit::{Failure, Outcome};
use crate::refusal::{self, Verb};
use crate::{paseto, verification};

/// What a verb says of a token.
pub(super) enum Verdict {
    /// It ends with exit code 0.
    Accepted(&'static str),
    /// It ends with another.
    Rejected(&'static str, Failure),
    /// Without keys there is nothing to run.
    NotAsked,
}

const JWT: &str = "jeton jwt verify";
const JWE: &str = "jeton jwe decrypt";

/// Runs the verb.
pub(super) fn of(token: &str, call: &Call<'_>) -> Verdict {
    let (verb, found) = match (call.keys, call.readers) {
        (None, None) => return Verdict::NotAsked,
        (None, Some(_)) => (JWE, jwe(token, call)),
        (Some(_), _) if is_paseto(token) => match is_local(token) {
            true => ("jeton paseto decrypt", paseto(token, call)),
            false => ("jeton paseto verify", paseto(token, call)),
        },
        (Some(_), _) => (JWT, jwt(token, call)),
    };
    match found {
        Ok(()) => Verdict::Accepted(verb),
        Err(failure) => Verdict::Rejected(verb, failure),
    }
}

/// Whether a PASETO is encrypted.
pub(super) fn is_local(token: &str) -> bool {
    token.split('.').nth(1) == Some("local")
}

fn jwt(token: &str, call: &Call<'_>) -> Outcome {
    let keys = call.keys.ok_or_else(no_key)?;
    let keys = keys.to_verify(call.alg, call.doors)?.keys;
    let decrypter = call.decrypter().transpose()?;
    let verifier = call.policy.verifier(keys, decrypter);
    let verified = verifier.verify(token);
    verified
        .map(drop)
        .map_err(|error| refusal::of(error, token, verifier.verb()))
}

fn jwe(token: &str, call: &Call<'_>) -> Outcome {
    let decrypter = call.decrypter().ok_or_else(no_key)??;
    verification::decrypt(&decrypter, token)
        .map(drop)
        .map_err(|error| refusal::of(error, token, Verb::JweDecrypt))
}

fn paseto(token: &str, call: &Call<'_>) -> Outcome {
    let keys = call.keys.ok_or_else(no_key)?;
    let (key, verb) = match is_local(token) {
        true => (paseto::decrypting(keys, call.doors)?, Verb::PasetoDecrypt),
        false => (paseto::verifying(keys, call.doors)?, Verb::PasetoVerify),
    };
    let demands = call.policy.demands;
    let verifier = verification::paseto(&*key, demands, call.footer, call.implicit);
    let verified: jeton::Result<Verified<IgnoredAny>> = verifier.verify(token);
    verified
        .map(drop)
        .map_err(|error| refusal::of(error, token, verb))
}

fn no_key() -> Failure {
    Failure::wrong("no key was given")
}
