use clap::Args;
use jeton::jws;

use crate::exit::Outcome;
use crate::input::Source;
use crate::keyfile::VerifyingKeyFile;
use crate::{output, refusal};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton jws verify --key public.jwk eyJhbGciOi…
  jeton jws verify --key jwks.json @contract.jws > contract.pdf

Prints exactly the payload's bytes; nothing in them is looked at. For claims with an expiry there is
jeton jwt. Exit code 0: verified; 1: rejected, with the reason on standard error; 2: the call was
wrong, or a key or file could not be used.")]
pub(super) struct Verify {
    #[command(flatten)]
    key: VerifyingKeyFile,

    /// The token: the text itself, @FILE, or - for standard input
    #[arg(value_name = "TOKEN|@FILE|-")]
    token: Source,
}

impl Verify {
    pub(super) fn run(self) -> Outcome {
        let verifier = jws::Verifier::new(self.key.load()?);
        let token = self.token.token()?;
        let verified = verifier
            .verify(&token)
            .map_err(|error| refusal::of(error, &token))?;
        output::payload(verified.payload())
    }
}
