use clap::Args;
use jeton::Verified;
use serde::de::IgnoredAny;

use crate::allow::{self, InsecureOption};
use crate::exit::Outcome;
use crate::keyfile::{TokenDecryptionKeyFile, VerifyingKeyFile};
use crate::limit_args::SignedTokenLimits;
use crate::policy_args::PolicyArgs;
use crate::rejection_hints;
use crate::source::TokenArgument;
use crate::verification::{self, JwtPolicy};
use crate::verification_output::{self, Format};

/// The features that --allow enables here.
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
  jeton jwt verify --key public.jwk --audience api eyJhbGciOi…
  jeton jwt verify --key jwks.json --issuer https://id.example @token.txt
  jeton jwt verify --key https://id.example/jwks.json --audience api @token
  jeton jwt verify --discover https://id.example --audience api @token
  jeton jwt verify --key public.pem --alg PS256 --typ at+jwt -
  jeton jwt verify --key author.pub.jwk --decrypt-key private.jwk @nested

Prints the claims exactly as the token contains them.

The key selects the algorithm. The header of the token is only compared with it. With --decrypt-key, the token \
must be a signed JWT inside an encrypted one (a nested JWT, RFC 7519, section 11.2).

Keys from a URL must use https, or http to a loopback host. Redirects are not followed. --discover reads \
ISSUER/.well-known/openid-configuration, or else the metadata of RFC 8414. The time limit is 10 seconds. A proxy is \
taken from HTTPS_PROXY.

Exit codes: 0 verified; 1 rejected, with the reason on standard error; 2 invalid usage, or a key or file \
could not be read.")]
pub(super) struct Verify {
    #[command(flatten)]
    key: VerifyingKeyFile,

    #[command(flatten)]
    decryption: TokenDecryptionKeyFile,

    #[command(flatten)]
    policy_args: PolicyArgs,

    /// Required media type (`typ`) [default: JWT or no typ]
    #[arg(long, value_name = "TYPE")]
    typ: Option<String>,

    /// Print the result as JSON, also for a rejected token
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    limits: SignedTokenLimits,

    #[command(flatten)]
    token: TokenArgument,
}

impl Verify {
    pub(super) fn run(mut self) -> Outcome {
        if let Some(issuer) = self.key.discovered_issuer() {
            self.policy_args.set_default_issuer(issuer);
        }
        let result = self.verify()?;
        let format = if self.json {
            Format::Json
        } else {
            Format::Line
        };
        verification_output::show(result, &self.policy_args, format)
    }

    /// Verifies the token. The outer failure is not about the token.
    fn verify(&self) -> Outcome<Outcome<Verified<IgnoredAny>>> {
        let allowed = self.policy_args.allowed(&SUPPORTED)?;
        let limits = self.limits.limits();
        let signers = self.key.load(&allowed)?;
        let mut skipped = signers.skipped;
        let mut decrypter = None;
        if let Some(file) = self.decryption.file()? {
            let readers = self.decryption.load(&file, &allowed)?;
            skipped = skipped.and(readers.skipped);
            let enc = self.decryption.enc();
            decrypter = Some(verification::decrypter(readers.keys, enc, limits, &allowed));
        }
        let skipped = skipped.list_if(self.key.is_verbose());
        let policy = JwtPolicy {
            policy_args: &self.policy_args,
            typ: self.typ.as_deref(),
        };
        let verifier = policy.verifier(signers.keys, decrypter, limits);
        Ok(self.token.read().and_then(|token| {
            let verified = verifier.verify(&token);
            verified.map_err(|error| {
                rejection_hints::failure_with_keys(error, &token, verifier.command(), &skipped)
            })
        }))
    }
}
