//! Verifies the token that is shown, if the caller passed keys: with the code of the verifying commands.

use std::path::PathBuf;

use clap::Args;
use jeton::key::Alg;

use crate::algorithm;
use crate::command_result::{self, CommandResult, Criteria, CriteriaArgs, SUPPORTED};
use crate::exit::{Failure, Outcome};
use crate::keyfile::KeyFile;

/// The keys and the policy for the verdict.
#[derive(Debug, Args)]
pub(super) struct VerdictArgs {
    /// Verify the token with this key or key set too: JWK, JWK Set, PEM, DER or PASERK (- for standard input)
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    /// Algorithm, required if the key has no `alg` (RSA, oct)
    #[arg(
        long,
        value_name = "NAME",
        requires = "key",
        value_parser = algorithm::signing(),
        hide_possible_values = true
    )]
    alg: Option<Alg>,

    #[command(flatten)]
    criteria: CriteriaArgs,
}

/// The result of the command that verifies the token.
pub(super) enum Verdict {
    Verified {
        command: &'static str,
        /// What the caller did not require.
        unchecked: Option<&'static str>,
    },
    Rejected {
        command: &'static str,
        failure: Failure,
    },
}

impl VerdictArgs {
    pub(super) fn criteria(&self) -> &CriteriaArgs {
        &self.criteria
    }

    /// Verifies a token; returns `None` without keys. A key that cannot be used is an error of the call.
    pub(super) fn verdict(&self, token: &str) -> Outcome<Option<Verdict>> {
        let args = &self.criteria;
        let allowed = args.policy_args.allowed(&SUPPORTED)?;
        let keys = self.key.as_deref().map(KeyFile::read).transpose()?;
        let decryption_keys = args.decryption.file()?;
        let footer = args.context.footer()?;
        let implicit = args.context.implicit()?;
        let criteria = Criteria {
            policy: args.policy(),
            allowed: &allowed,
            keys: keys.as_ref(),
            alg: self.alg,
            decryption: &args.decryption,
            decryption_keys: decryption_keys.as_ref(),
            footer: footer.as_ref().map(|footer| footer.as_slice()),
            implicit: &implicit,
            limits: args.limits.limits(),
        };
        match command_result::run(token, &criteria) {
            CommandResult::NotRun => Ok(None),
            CommandResult::Accepted(command) => Ok(Some(Verdict::Verified {
                command,
                unchecked: keys
                    .is_some()
                    .then(|| args.policy_args.unchecked())
                    .flatten(),
            })),
            CommandResult::Rejected(_, failure) if failure.rejection().is_none() => Err(failure),
            CommandResult::Rejected(command, failure) => {
                Ok(Some(Verdict::Rejected { command, failure }))
            }
        }
    }
}

impl Verdict {
    pub(super) fn is_verified(&self) -> bool {
        matches!(self, Verdict::Verified { .. })
    }

    /// Returns the verdict as a sentence without its full stop.
    pub(super) fn text(&self) -> String {
        match self {
            Verdict::Verified { command, .. } => format!("verified: {command} accepts it"),
            Verdict::Rejected { command, failure } => {
                format!("rejected: {command}: {}", failure.message())
            }
        }
    }

    /// Returns what was not checked, or what to do about the rejection.
    pub(super) fn detail(&self) -> Option<&str> {
        match self {
            Verdict::Verified { unchecked, .. } => *unchecked,
            Verdict::Rejected { failure, .. } => failure.hint_text(),
        }
    }
}
