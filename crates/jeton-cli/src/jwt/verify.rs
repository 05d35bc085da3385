use clap::Args;
use jeton::{Verified, jwt};
use serde::de::IgnoredAny;

use crate::demands::Demands;
use crate::exit::Outcome;
use crate::input::Source;
use crate::keyfile::VerifyingKeyFile;
use crate::refusal;
use crate::verdict::{self, Shown};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton jwt verify --key public.jwk --issuer https://id.example --audience api eyJhbGciOi…
  jeton jwt verify --key jwks.json --at 2026-11-20T09:00:00Z @token.txt
  jeton jwt verify --key public.pem --alg PS256 --typ at+jwt -

Prints the claims exactly as they stand in the token. Exit code 0: verified; 1: rejected, with the
reason on standard error; 2: the call was wrong, or a key or file could not be used.

The key decides which algorithm is right; what the token's header says is only compared with it.")]
pub(super) struct Verify {
    #[command(flatten)]
    key: VerifyingKeyFile,

    #[command(flatten)]
    demands: Demands,

    /// Take tokens of this media type (typ) only [default: JWT, or none]
    #[arg(long, value_name = "TYPE")]
    typ: Option<String>,

    /// Print the verdict as JSON, also of a token that is rejected
    #[arg(long)]
    json: bool,

    /// The token: the text itself, @FILE, or - for standard input
    #[arg(value_name = "TOKEN|@FILE|-")]
    token: Source,
}

impl Verify {
    pub(super) fn run(self) -> Outcome {
        let keys = self.key.load()?;
        let mut policy = self.demands.policy();
        if let Some(typ) = &self.typ {
            policy = policy.typ(typ.clone());
        }
        let mut verifier = jwt::Verifier::new(keys, policy);
        if let Some(clock) = self.demands.clock() {
            verifier = verifier.clock(clock);
        }
        let verdict = self.token.token().and_then(|token| {
            let verified: jeton::Result<Verified<IgnoredAny>> = verifier.verify(&token);
            verified.map_err(|error| refusal::of(error, &token))
        });
        let shown = if self.json { Shown::Json } else { Shown::Line };
        verdict::show(verdict, &self.demands, shown)
    }
}
