//! Runs the command for a token: the same code with the same keys, policy and time. `doctor` and `inspect` report its
//! result.

use clap::Args;
use jeton::jwe::Decrypter;
use jeton::key::Alg;
use jeton::{Limits, Verified};
use serde::de::IgnoredAny;

use crate::allow::{Allowed, InsecureOption};
use crate::exit::{Failure, Outcome};
use crate::keyfile::{KeyFile, TokenDecryptionKeyFile};
use crate::limit_args::SignedTokenLimits;
use crate::paseto::ContextArgs;
use crate::policy_args::PolicyArgs;
use crate::rejection_hints::{self, Command};
use crate::verification::JwtPolicy;
use crate::{paseto, verification};

/// The features that --allow enables: those of the verifying commands.
pub(crate) const SUPPORTED: [InsecureOption; 7] = [
    InsecureOption::NoExpiry,
    InsecureOption::WeakKeys,
    InsecureOption::Rsa1_5,
    InsecureOption::Pbes2,
    InsecureOption::Zip,
    InsecureOption::PasetoV1,
    InsecureOption::PasetoV2,
];

/// What the verifying commands require of a token, except the keys.
#[derive(Debug, Args)]
pub(crate) struct CriteriaArgs {
    #[command(flatten)]
    pub(crate) decryption: TokenDecryptionKeyFile,

    #[command(flatten)]
    pub(crate) policy_args: PolicyArgs,

    /// Required media type (`typ`); repeat it to accept one of several [default: JWT or no typ]
    #[arg(long, value_name = "TYPE")]
    pub(crate) typ: Vec<String>,

    #[command(flatten)]
    pub(crate) context: ContextArgs,

    #[command(flatten)]
    pub(crate) limits: SignedTokenLimits,
}

impl CriteriaArgs {
    pub(crate) fn policy(&self) -> JwtPolicy<'_> {
        JwtPolicy {
            policy_args: &self.policy_args,
            typ: &self.typ,
        }
    }
}

/// The keys and the policy for a token.
pub(crate) struct Criteria<'a> {
    pub(crate) policy: JwtPolicy<'a>,
    pub(crate) allowed: &'a Allowed,
    pub(crate) keys: Option<&'a KeyFile>,
    pub(crate) alg: Option<Alg>,
    pub(crate) decryption: &'a TokenDecryptionKeyFile,
    /// The file of `decryption`.
    pub(crate) decryption_keys: Option<&'a KeyFile>,
    /// The required footer of a PASETO.
    pub(crate) footer: Option<&'a [u8]>,
    /// The implicit assertion of a PASETO.
    pub(crate) implicit: &'a [u8],
    pub(crate) limits: Limits,
}

impl Criteria<'_> {
    /// Returns the decrypter, if the caller passed a decryption key.
    pub(crate) fn decrypter(&self) -> Option<Outcome<Decrypter>> {
        let decryption_keys = self.decryption_keys?;
        let loaded = self.decryption.load(decryption_keys, self.allowed);
        Some(loaded.map(|loaded| {
            let enc = self.decryption.enc();
            verification::decrypter(loaded.keys, enc, self.limits, self.allowed)
        }))
    }
}

/// The result of the command for a token.
pub(crate) enum CommandResult {
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
pub(crate) fn run(token: &str, criteria: &Criteria<'_>) -> CommandResult {
    let (command, found) = match (criteria.keys, criteria.decryption_keys) {
        (None, None) => return CommandResult::NotRun,
        (None, Some(_)) => (JWE, jwe(token, criteria)),
        (Some(_), _) if is_paseto(token) => {
            if is_local(token) {
                ("jeton paseto decrypt", paseto(token, criteria))
            } else {
                ("jeton paseto verify", paseto(token, criteria))
            }
        }
        (Some(_), _) => (JWT, jwt(token, criteria)),
    };
    match found {
        Ok(()) => CommandResult::Accepted(command),
        Err(failure) => CommandResult::Rejected(command, failure),
    }
}

/// Returns whether a PASETO is encrypted.
pub(crate) fn is_local(token: &str) -> bool {
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
    let (key, command) = if is_local(token) {
        (
            paseto::decrypting(keys, criteria.allowed)?,
            Command::PasetoDecrypt,
        )
    } else {
        (
            paseto::verifying(keys, criteria.allowed)?,
            Command::PasetoVerify,
        )
    };
    let policy_args = criteria.policy.policy_args;
    let verifier = paseto::verifier(
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

/// Returns whether a text has the form of a PASETO.
pub(crate) fn is_paseto(token: &str) -> bool {
    matches!(token.as_bytes(), [b'v', b'1'..=b'4', b'.', ..])
}

fn no_key() -> Failure {
    Failure::error("no key: pass --key")
}
