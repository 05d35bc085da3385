use std::path::PathBuf;

use clap::Args;
use jeton::error::Rejection;
use jeton::paseto::PasetoVerifier;
use jeton::{Limits, Verified};
use serde::de::IgnoredAny;

use super::context::ContextArgs;
use super::key::{self, AcceptingKey};
use crate::allow::{self, InsecureOption};
use crate::exit::Outcome;
use crate::keyfile::KeyFile;
use crate::limit_args::TokenSize;
use crate::output;
use crate::policy_args::PolicyArgs;
use crate::rejection_hints::{self, Command};
use crate::token_argument::{PastedHint, TokenArgument, TokenInput};
use crate::verification_output::{self, Format};

pub(super) const VERIFY_EXAMPLES: &str = "\
Examples:
  jeton paseto verify --key public.paserk --audience api v4.public.…
  jeton paseto verify --key public.paserk --footer @footer @token
  jeton paseto verify --key public.paserk --raw @token > payload.bin

Prints the claims exactly as the token contains them, and a line break. The claims exp (required), nbf and iat are \
verified. With --raw, only the signature is verified, and exactly the bytes of the payload are printed. Without --footer, any footer is accepted.

The key selects the version. Versions 1 and 2 are superseded: they require --allow paseto-v1 or paseto-v2, and \
have no implicit assertion.

Exit codes: 0 verified; 1 rejected, with the reason on standard error; 2 invalid usage, or a key or file \
could not be read.";

pub(super) const DECRYPT_EXAMPLES: &str = "\
Examples:
  jeton paseto decrypt --key local.paserk --audience api v4.local.…
  jeton paseto decrypt --key local.paserk --footer @footer @token
  jeton paseto decrypt --key local.paserk --raw @token > payload.bin

Prints the claims exactly as the token contains them, and a line break. The claims exp (required), nbf and iat are \
verified. With --raw, only the encryption is authenticated, and exactly the bytes of the payload are printed. Without --footer, any footer is accepted.

The key selects the version. Versions 1 and 2 are superseded: they require --allow paseto-v1 or paseto-v2, and \
have no implicit assertion.

Exit codes: 0 verified; 1 rejected, with the reason on standard error; 2 invalid usage, or a key or file \
could not be read.";

/// The features that --allow enables here.
const SUPPORTED: [InsecureOption; 3] = [
    InsecureOption::NoExpiry,
    InsecureOption::PasetoV1,
    InsecureOption::PasetoV2,
];

/// The arguments of `paseto verify` and `paseto decrypt`.
#[derive(Debug, Args)]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)))]
pub(super) struct VerifyArgs {
    /// PASERK file (- for standard input)
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    #[command(flatten)]
    context: ContextArgs,

    #[command(flatten)]
    policy_args: PolicyArgs,

    /// Print any payload, without verifying it as claims
    #[arg(long, conflicts_with_all = ["issuer", "audience", "leeway", "at", "json"])]
    raw: bool,

    /// Print the result as JSON, also for a rejected token
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    size: TokenSize,

    #[command(flatten)]
    token: TokenArgument,
}

impl VerifyArgs {
    pub(super) fn verify(self) -> Outcome {
        let allowed = self.policy_args.allowed(&SUPPORTED)?;
        let key = key::verifying(&KeyFile::read_paserk(&self.key)?, &allowed)?;
        self.run(&*key, Command::PasetoVerify)
    }

    pub(super) fn decrypt(self) -> Outcome {
        let allowed = self.policy_args.allowed(&SUPPORTED)?;
        let key = key::decrypting(&KeyFile::read_paserk(&self.key)?, &allowed)?;
        self.run(&*key, Command::PasetoDecrypt)
    }

    fn run(&self, key: &dyn AcceptingKey, command: Command) -> Outcome {
        let hint = if self.raw {
            PastedHint::Inspect
        } else {
            PastedHint::Verify
        };
        let verification = PasetoVerification {
            key,
            command,
            context: &self.context,
            policy_args: &self.policy_args,
            limits: self.size.limits(),
            json: self.json,
            token: TokenInput::Exact {
                argument: &self.token,
                hint,
                limits: self.size.limits(),
            },
        };
        if self.raw {
            verification.print_payload()
        } else {
            verification.run()
        }
    }
}

/// Returns a verifier for PASETOs. Without `footer`, any footer is accepted.
pub(crate) fn verifier(
    key: &dyn AcceptingKey,
    policy_args: &PolicyArgs,
    footer: Option<&[u8]>,
    implicit: &[u8],
    limits: Limits,
) -> PasetoVerifier {
    let mut verifier = PasetoVerifier::new(key.keys(), policy_args.policy())
        .implicit_assertion(implicit)
        .limits(limits);
    if let Some(footer) = footer {
        verifier = verifier.footer(footer);
    }
    if let Some(clock) = policy_args.clock() {
        verifier = verifier.clock(clock);
    }
    verifier
}

/// The verification of a PASETO, for each command that does it.
pub(crate) struct PasetoVerification<'a> {
    pub(crate) key: &'a dyn AcceptingKey,
    pub(crate) command: Command,
    pub(crate) context: &'a ContextArgs,
    pub(crate) policy_args: &'a PolicyArgs,
    pub(crate) limits: Limits,
    pub(crate) json: bool,
    pub(crate) token: TokenInput<'a>,
}

impl PasetoVerification<'_> {
    /// Verifies only the signature or the encryption, and prints the payload.
    fn print_payload(&self) -> Outcome {
        let (key, command, limits) = (self.key, self.command, self.limits);
        let footer = self.context.footer()?;
        let implicit = self.context.implicit()?;
        let checked = self.token.check(|token| {
            let opened = key.open(token, &implicit, limits).and_then(|opened| {
                let is_other = footer.is_some_and(|footer| *footer != opened.footer());
                if is_other {
                    Err(Rejection::FooterMismatch.into())
                } else {
                    Ok(opened)
                }
            });
            opened.map_err(|error| rejection_hints::failure(error, token, command))
        });
        output::payload(checked.result?.message())
    }

    /// Verifies the token and prints its claims.
    pub(crate) fn run(&self) -> Outcome {
        let (key, command, limits) = (self.key, self.command, self.limits);
        let footer = self.context.footer()?;
        let implicit = self.context.implicit()?;
        let footer = footer.as_ref().map(|footer| footer.as_slice());
        let verifier = verifier(key, self.policy_args, footer, &implicit, limits);
        let checked = self.token.check(|token| {
            let verified: jeton::Result<Verified<IgnoredAny>> = verifier.verify(token);
            verified.map_err(|error| rejection_hints::failure(error, token, command))
        });
        let format = if self.json {
            Format::Json
        } else {
            Format::Line
        };
        verification_output::show(checked, self.policy_args, format)
    }
}
