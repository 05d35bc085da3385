//! Verifies the token that is shown, if the caller passed keys: with the code of the verifying commands.

use clap::Args;
use jeton::error::codes;

use crate::command_result::{self, CommandResult, Criteria, CriteriaArgs, SUPPORTED};
use crate::exit::{Failure, Outcome};
use crate::keyfile::VerifyingKeyFile;

/// The keys and the policy for the verdict.
#[derive(Debug, Args)]
#[command(
    mut_group("key_source", |group| group.required(false)),
    mut_arg("key", |key| key.help(KEY_HELP)),
    mut_arg("alg", |alg| alg.requires("key_source")),
    mut_arg("verbose", |verbose| verbose.requires("key_source")),
)]
pub(super) struct VerdictArgs {
    #[command(flatten)]
    key: VerifyingKeyFile,

    #[command(flatten)]
    criteria: CriteriaArgs,
}

const KEY_HELP: &str = "Verify the token too, with this key or key set: JWK, JWK Set, PEM, DER or PASERK (- for standard input); or the URL of a key set; repeat it for several";

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
    /// Requires the issuer whose keys are discovered, if the caller named no other.
    pub(super) fn require_discovered_issuer(&mut self) {
        if let Some(issuer) = self.key.discovered_issuer() {
            self.criteria.policy_args.set_default_issuer(issuer);
        }
    }

    pub(super) fn criteria(&self) -> &CriteriaArgs {
        &self.criteria
    }

    /// Verifies a token; returns `None` without keys. A key that cannot be used is an error of the call.
    pub(super) fn verdict(&self, token: &str) -> Outcome<Option<Verdict>> {
        let args = &self.criteria;
        let allowed = args.policy_args.allowed(&SUPPORTED)?;
        let keys = self.key.file_if_given()?;
        let decryption_keys = args.decryption.file()?;
        let footer = args.context.footer()?;
        let implicit = args.context.implicit()?;
        let criteria = Criteria {
            policy: args.policy(),
            allowed: &allowed,
            keys: keys.as_ref(),
            alg: self.key.alg(),
            decryption: &args.decryption,
            decryption_keys: decryption_keys.as_ref(),
            footer: footer.as_ref().map(|footer| footer.as_slice()),
            implicit: &implicit,
            limits: args.limits.limits(),
        };
        if let Some(keys) = keys.as_ref().filter(|_| self.key.is_verbose())
            && let Ok(loaded) = keys.to_verify(self.key.alg(), &allowed)
        {
            loaded.skipped.note();
        }
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
                let code = failure.reason_code();
                let of_key = [
                    codes::TOKEN_INVALID_SIGNATURE,
                    codes::TOKEN_DECRYPTION_FAILED,
                ];
                let may_be_another_key = of_key.iter().any(|of_key| code == Some(of_key.name()));
                Ok(Some(Verdict::Rejected {
                    command,
                    failure: self.key.suggest_doctor(may_be_another_key, failure),
                }))
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
