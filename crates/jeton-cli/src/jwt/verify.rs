use clap::Args;
use jeton::Verified;
use serde::de::IgnoredAny;

use crate::policy_args::PolicyArgs;
use crate::allow::{self, InsecureOption};
use crate::exit::Outcome;
use crate::keyfile::{TokenDecryptionKeyFile, VerifyingKeyFile};
use crate::rejection_hints;
use crate::source::TokenArgument;
use crate::verification_output::{self, Shown};
use crate::verification::{self, JwtPolicy};

/// The allowed that lead somewhere here.
const SUPPORTED: [InsecureOption; 5] = [
    InsecureOption::NoExpiry,
    InsecureOption::WeakKeys,
    InsecureOption::Rsa1_5,
    InsecureOption::Pbes2,
    InsecureOption::Zip,
];

#[derive(Debug, Args)]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &SUPPORTED)), after_help = "\
Examples:
  jeton jwt verify --key public.jwk --issuer https://id.example --audience api eyJhbGciOi…
  jeton jwt verify --key jwks.json --at 2026-11-20T09:00:00Z @token.txt
  jeton jwt verify --key public.pem --alg PS256 --typ at+jwt -
  jeton jwt verify --key author.pub.jwk --decrypt-key private.jwk --audience api @nested

Prints the claims exactly as they stand in the token. Exit code 0: verified; 1: rejected, with the
reason on standard error; 2: the call was wrong, or a key or file could not be used.

The key decides which algorithm is right; what the token's header says is only compared with it. With
--decrypt-key the token must be a signed JWT inside of an encrypted one (RFC 7519, section 11.2).
--allow opens one door each time.")]
pub(super) struct Verify {
    #[command(flatten)]
    key: VerifyingKeyFile,

    #[command(flatten)]
    decryption: TokenDecryptionKeyFile,

    #[command(flatten)]
    policy_args: PolicyArgs,

    /// Take tokens of this media type (typ) only [default: JWT, or none]
    #[arg(long, value_name = "TYPE")]
    typ: Option<String>,

    /// Print the verdict as JSON, also of a token that is rejected
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    token: TokenArgument,
}

impl Verify {
    pub(super) fn run(self) -> Outcome {
        let verdict = self.verdict()?;
        let shown = if self.json { Shown::Json } else { Shown::Line };
        verification_output::show(verdict, &self.policy_args, shown)
    }

    /// What is found of the token; a failure outside of that is not about the token.
    fn verdict(&self) -> Outcome<Outcome<Verified<IgnoredAny>>> {
        let allowed = self.policy_args.allowed(&SUPPORTED)?;
        let signers = self.key.load(&allowed)?;
        let mut skipped = signers.skipped;
        let mut decrypter = None;
        if let Some(file) = self.decryption.file()? {
            let readers = self.decryption.load(&file, &allowed)?;
            skipped = skipped.and(readers.skipped);
            let enc = self.decryption.enc();
            decrypter = Some(verification::decrypter(readers.keys, enc, &allowed));
        }
        let skipped = skipped.list_if(self.key.is_verbose());
        let policy = JwtPolicy {
            policy_args: &self.policy_args,
            typ: self.typ.as_deref(),
        };
        let verifier = policy.verifier(signers.keys, decrypter);
        Ok(self.token.read().and_then(|token| {
            let verified = verifier.verify(&token);
            verified.map_err(|error| rejection_hints::failure_with_keys(error, &token, verifier.command(), &skipped))
        }))
    }
}
