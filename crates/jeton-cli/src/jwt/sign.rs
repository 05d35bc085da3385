use clap::Args;

use crate::claims::{Dialect, Expiry};
use crate::exit::{Failure, Outcome};
use crate::input::Source;
use crate::keyfile::SigningKeyFile;
use crate::output;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton jwt sign --key private.jwk --claims '{\"sub\":\"user-7\",\"aud\":\"api\"}' --expires-in 15m
  jeton jwt sign --key secret.jwk --claims @claims.json --no-expiry
  jeton jwt sign --key rsa.pem --alg RS256 --kid 2026-11 --claims - < claims.json

The claims are one JSON object. An expiry must be chosen: --expires-in, exp in the claims, or
--no-expiry. iat is now unless the claims have it. The key says the algorithm; --alg only names it
for a key that does not.")]
pub(super) struct Sign {
    #[command(flatten)]
    key: SigningKeyFile,

    /// The claims, a JSON object: the text itself, @FILE, or - for standard input
    #[arg(long, value_name = "JSON|@FILE|-")]
    claims: Source,

    #[command(flatten)]
    expiry: Expiry,
}

impl Sign {
    pub(super) fn run(self) -> Outcome {
        let key = self.key.load()?;
        let claims = self.expiry.claims(&self.claims, Dialect::Jwt)?;
        let token = key
            .issue(&claims)
            .map_err(|error| Failure::wrong(error.to_string()))?;
        output::note_size(&token);
        output::line(&token)
    }
}
