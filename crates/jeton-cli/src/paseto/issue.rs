use std::path::PathBuf;

use clap::Args;
use jeton::paseto::TokenContext;

use super::context::ContextArgs;
use super::key::{self, IssuingKey};
use crate::allow::{self, AllowArgs};
use crate::claims::{self, ClaimsArgument, ClaimsFormat, Expiry};
use crate::exit::{Failure, Outcome};
use crate::keyfile::KeyFile;
use crate::limit_args::NewTokenSize;
use crate::output;
use crate::source::{self, Source, Text};

pub(super) const SIGN_EXAMPLES: &str = "\
Examples:
  jeton paseto sign --key secret.paserk --claims @claims.json --expires-in 15m
  jeton paseto sign --key secret.paserk --claims @claims.json --footer @footer
  jeton paseto sign --key secret.paserk --implicit tenant-7 @payload.bin

The claims are one JSON object, and what --issuer, --audience, --subject and --claim add to it: exp, nbf and iat are RFC 3339 text, aud is one string. The expiry is required: \
exp in the claims, --expires-in or --no-expiry. If the claims have no iat, it is set to now.

A payload is signed byte by byte.

The key selects the version. Versions 1 and 2 are superseded: they require --allow paseto-v1 or paseto-v2, and \
have no implicit assertion.";

pub(super) const ENCRYPT_EXAMPLES: &str = "\
Examples:
  jeton paseto encrypt --key local.paserk --claims @claims.json --expires-in 15m
  jeton paseto encrypt --key local.paserk --claims @claims.json --footer @footer
  jeton paseto encrypt --key local.paserk --implicit tenant-7 @payload.bin

The claims are one JSON object, and what --issuer, --audience, --subject and --claim add to it: exp, nbf and iat are RFC 3339 text, aud is one string. The expiry is required: \
exp in the claims, --expires-in or --no-expiry. If the claims have no iat, it is set to now.

A payload is encrypted byte by byte.

The key selects the version. Versions 1 and 2 are superseded: they require --allow paseto-v1 or paseto-v2, and \
have no implicit assertion.";

/// The arguments of `paseto sign` and `paseto encrypt`.
#[derive(Debug, Args)]
#[command(mut_arg("allow", |allow| allow::allow_arg(allow, &key::SUPPORTED)))]
pub(super) struct Issue {
    /// PASERK file (- for standard input)
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    #[command(flatten)]
    message: Message,

    #[command(flatten)]
    expiry: Expiry,

    #[command(flatten)]
    context: ContextArgs,

    #[command(flatten)]
    size: NewTokenSize,

    #[command(flatten)]
    allow: AllowArgs,
}

/// The options that a payload excludes.
const OF_CLAIMS: [&str; 8] = [
    "claims",
    "claims_text",
    "issuer",
    "audience",
    "subject",
    "claim",
    "expires_in",
    "no_expiry",
];

#[derive(Debug, Args)]
struct Message {
    #[command(flatten)]
    claims: ClaimsArgument,

    /// Payload instead of claims: as text, @FILE, or - for standard input
    #[arg(value_name = "PAYLOAD|@FILE|-", conflicts_with_all = OF_CLAIMS)]
    payload: Option<Source>,

    /// Payload as text, never read as @FILE or -
    #[arg(long, value_name = "TEXT", conflicts_with = "payload", conflicts_with_all = OF_CLAIMS)]
    text: Option<Text>,
}

impl Message {
    fn payload(&self) -> Option<&Source> {
        source::given(self.payload.as_ref(), self.text.as_ref())
    }
}

impl Issue {
    pub(super) fn sign(self) -> Outcome {
        let allowed = self.allow.check(&key::SUPPORTED)?;
        let key = key::signing(&KeyFile::read_paserk(&self.key)?, &allowed)?;
        self.issue(&*key)
    }

    pub(super) fn encrypt(self) -> Outcome {
        let allowed = self.allow.check(&key::SUPPORTED)?;
        let key = key::encrypting(&KeyFile::read_paserk(&self.key)?, &allowed)?;
        self.issue(&*key)
    }

    fn issue(self, key: &dyn IssuingKey) -> Outcome {
        let footer = self.context.footer()?.unwrap_or_default();
        let implicit = self.context.implicit()?;
        let context = TokenContext::new()
            .footer(&*footer)
            .implicit_assertion(&*implicit);
        let claims = &self.message.claims;
        let token = match self.message.payload() {
            Some(payload) => key.bytes(&payload.bytes()?, context),
            None if !claims.is_given() => {
                return Err(Failure::error("no content: pass --claims or a payload"));
            }
            None => key.claims(&claims.claims(&self.expiry, ClaimsFormat::Paseto)?, context),
        };
        let token = token.map_err(|error| claims::not_issued(error, ClaimsFormat::Paseto))?;
        self.size.check(&token)?;
        output::line(&token)
    }
}
