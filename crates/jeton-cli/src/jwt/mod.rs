//! `jeton jwt`: issue and verify JSON Web Tokens (RFC 7519).

mod sign;
mod verify;

use clap::{Args, Subcommand};

use crate::exit::Outcome;

/// Issue and verify JSON Web Tokens.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton jwt sign --key private.jwk --claims @claims.json --expires-in 15m > token
  jeton jwt verify --key public.jwk --issuer https://id.example --audience api @token")]
pub(crate) struct Jwt {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Issue a token with these claims
    Sign(sign::Sign),
    /// Verify a token and show its claims
    Verify(verify::Verify),
}

impl Jwt {
    pub(crate) fn run(self) -> Outcome {
        match self.verb {
            Verb::Sign(sign) => sign.run(),
            Verb::Verify(verify) => verify.run(),
        }
    }
}
