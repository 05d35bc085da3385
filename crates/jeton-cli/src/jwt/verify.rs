use clap::Args;
use jeton::Verified;
use jeton::error::Rejection;
use serde::de::IgnoredAny;

use crate::allow::{self, Allowed, InsecureOption};
use crate::exit::Outcome;
use crate::keyfile::{TokenDecryptionKeyFile, VerifyingKeyFile};
use crate::limit_args::SignedTokenLimits;
use crate::policy_args::PolicyArgs;
use crate::rejection_hints;
use crate::token_argument::{Checked, PastedHint, TokenArgument, TokenInput};
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

Prints the claims exactly as the token contains them. White space at the ends of the token is removed and nothing \
else. For pasted text, use jeton verify.

The key selects the algorithm. The header of the token is only compared with it. With --decrypt-key, the token \
must be a signed JWT inside an encrypted one (a nested JWT, RFC 7519, section 11.2).

Keys from a URL must use https, or http to a loopback host. Redirects are not followed. --discover reads \
ISSUER/.well-known/openid-configuration, or else the metadata of RFC 8414. The time limit is 10 seconds. A proxy is \
taken from HTTPS_PROXY.

Exit codes: 0 verified; 1 rejected, with the reason on standard error; 2 invalid usage, or a key or file \
could not be read.")]
pub(super) struct Verify {
    #[command(flatten)]
    args: JwtVerifyArgs,

    #[command(flatten)]
    token: TokenArgument,
}

/// The arguments of each command that verifies a JWT.
#[derive(Debug, Args)]
pub(crate) struct JwtVerifyArgs {
    #[command(flatten)]
    pub(crate) key: VerifyingKeyFile,

    #[command(flatten)]
    pub(crate) decryption: TokenDecryptionKeyFile,

    #[command(flatten)]
    pub(crate) policy_args: PolicyArgs,

    /// Required media type (`typ`); repeat it to accept one of several [default: JWT or no typ]
    #[arg(long, value_name = "TYPE")]
    pub(crate) typ: Vec<String>,

    /// Print the result as JSON, also for a rejected token
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) limits: SignedTokenLimits,
}

/// The verification of a JWT, for each command that does it.
pub(crate) struct JwtVerification<'a> {
    pub(crate) args: &'a JwtVerifyArgs,
    pub(crate) allowed: Allowed,
    pub(crate) token: TokenInput<'a>,
}

impl JwtVerifyArgs {
    /// Requires the issuer whose keys are discovered, if the caller named no other.
    pub(crate) fn require_discovered_issuer(&mut self) {
        if let Some(issuer) = self.key.discovered_issuer() {
            self.policy_args.set_default_issuer(issuer);
        }
    }
}

impl Verify {
    pub(super) fn run(mut self) -> Outcome {
        self.args.require_discovered_issuer();
        JwtVerification {
            args: &self.args,
            allowed: self.args.policy_args.allowed(&SUPPORTED)?,
            token: TokenInput::Exact {
                argument: &self.token,
                hint: PastedHint::Verify,
                limits: self.args.limits.limits(),
            },
        }
        .run()
    }
}

impl JwtVerification<'_> {
    /// Verifies the token and prints its claims.
    pub(crate) fn run(&self) -> Outcome {
        let checked = self.verify()?;
        let format = if self.args.json {
            Format::Json
        } else {
            Format::Line
        };
        verification_output::show(checked, &self.args.policy_args, format)
    }

    /// Verifies the token. The outer failure is not about the token.
    fn verify(&self) -> Outcome<Checked<Verified<IgnoredAny>>> {
        let (args, allowed) = (self.args, &self.allowed);
        let limits = args.limits.limits();
        let signers = args.key.load(allowed)?;
        let mut skipped = signers.skipped;
        let mut decrypter = None;
        if let Some(file) = args.decryption.file()? {
            let readers = args.decryption.load(&file, allowed)?;
            skipped = skipped.and(readers.skipped);
            let enc = args.decryption.enc();
            decrypter = Some(verification::decrypter(readers.keys, enc, limits, allowed));
        }
        let skipped = skipped.list_if(args.key.is_verbose());
        let policy = JwtPolicy {
            policy_args: &args.policy_args,
            typ: &args.typ,
        };
        let verifier = policy.verifier(signers.keys, decrypter, limits);
        Ok(self.token.check(|token| {
            let verified = verifier.verify(token);
            verified.map_err(|error| {
                let is_signature = error.rejection() == Some(&Rejection::Signature);
                let command = verifier.command();
                let failure = rejection_hints::failure_with_keys(error, token, command, &skipped);
                args.key.suggest_doctor(is_signature, failure)
            })
        }))
    }
}
