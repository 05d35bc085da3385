use std::path::PathBuf;

use clap::Args;
use jeton::Verified;
use jeton::error::Rejection;
use serde::de::IgnoredAny;

use super::context::ContextArgs;
use super::key::{self, OpeningKey};
use crate::policy_args::PolicyArgs;
use crate::allow::{self, InsecureOption};
use crate::exit::Outcome;
use crate::keyfile::KeyFile;
use crate::output;
use crate::rejection_hints::{self, Command};
use crate::source::TokenArgument;
use crate::verification_output::{self, Shown};
use crate::verification;

pub(super) const VERIFY_EXAMPLES: &str = "\
Examples:
  jeton paseto verify --key public.paserk --issuer https://id.example --audience api v4.public.…
  jeton paseto verify --key public.paserk --footer '{\"kid\":\"k4.pid.…\"}' --implicit tenant-7 @token
  jeton paseto verify --key public.paserk --raw @token > payload.bin

Prints exactly the payload's bytes. exp, nbf and iat are checked, and exp must be there; with --raw
only the signature is, and the payload may be anything. Any footer is taken unless --footer says
which. Exit code 0: verified; 1: rejected, with the reason on standard error; 2: the call was wrong,
or a key or file could not be used.

The key says the version. Those of versions 1 and 2, which were superseded, need
--allow paseto-v1 or paseto-v2, and have no implicit assertions.";

pub(super) const DECRYPT_EXAMPLES: &str = "\
Examples:
  jeton paseto decrypt --key local.paserk --issuer https://id.example --audience api v4.local.…
  jeton paseto decrypt --key local.paserk --footer '{\"kid\":\"k4.lid.…\"}' --implicit tenant-7 @token
  jeton paseto decrypt --key local.paserk --raw @token > payload.bin

Prints exactly the payload's bytes. exp, nbf and iat are checked, and exp must be there; with --raw
only the token's own authenticity is, and the payload may be anything. Any footer is taken unless
--footer says which. Exit code 0: verified; 1: rejected, with the reason on standard error; 2: the
call was wrong, or a key or file could not be used.

The key says the version. Those of versions 1 and 2, which were superseded, need
--allow paseto-v1 or paseto-v2, and have no implicit assertions.";

/// The allowed that lead somewhere here.
const SUPPORTED: [InsecureOption; 3] = [InsecureOption::NoExpiry, InsecureOption::PasetoV1, InsecureOption::PasetoV2];

/// What both ways of verifying take.
#[derive(Debug, Args)]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)))]
pub(super) struct VerifyArgs {
    /// The key, a PASERK; - is standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    #[command(flatten)]
    context: ContextArgs,

    #[command(flatten)]
    policy_args: PolicyArgs,

    /// Do not read the payload as claims: print it, whatever it is, and check no expiry
    #[arg(long, conflicts_with_all = ["issuer", "audience", "leeway", "at", "json"])]
    raw: bool,

    /// Print the verdict as JSON, also of a token that is rejected
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    token: TokenArgument,
}

impl VerifyArgs {
    pub(super) fn verify(self) -> Outcome {
        let allowed = self.policy_args.allowed(&SUPPORTED)?;
        let key = key::verifying(&KeyFile::read(&self.key)?, &allowed)?;
        self.run(&*key, Command::PasetoVerify)
    }

    pub(super) fn decrypt(self) -> Outcome {
        let allowed = self.policy_args.allowed(&SUPPORTED)?;
        let key = key::decrypting(&KeyFile::read(&self.key)?, &allowed)?;
        self.run(&*key, Command::PasetoDecrypt)
    }

    fn run(&self, key: &dyn OpeningKey, command: Command) -> Outcome {
        let footer = self.context.footer()?;
        let implicit = self.context.implicit()?;
        if self.raw {
            let token = self.token.read()?;
            let opened = key
                .open(&token, &implicit)
                .map_err(|error| rejection_hints::failure(error, &token, command))?;
            if footer.is_some_and(|footer| *footer != opened.footer()) {
                return Err(rejection_hints::failure(Rejection::FooterMismatch.into(), &token, command));
            }
            return output::payload(opened.message());
        }
        let footer = footer.as_ref().map(|footer| footer.as_slice());
        let verifier = verification::paseto(key, &self.policy_args, footer, &implicit);
        let verdict = self.token.read().and_then(|token| {
            let verified: jeton::Result<Verified<IgnoredAny>> = verifier.verify(&token);
            verified.map_err(|error| rejection_hints::failure(error, &token, command))
        });
        let shown = if self.json { Shown::Json } else { Shown::Exact };
        verification_output::show(verdict, &self.policy_args, shown)
    }
}
