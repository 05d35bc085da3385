//! `jeton jws`: sign any bytes, and verify them (RFC 7515).

mod sign;
mod verify;

use clap::{Args, Subcommand};

use crate::exit::Outcome;

/// Sign any bytes, and verify them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton jws sign --key private.jwk @contract.pdf > contract.jws
  jeton jws verify --key public.jwk @contract.jws > contract.pdf
  jeton jws sign --key private.jwk --detached @contract.pdf > contract.sig
  jeton jws verify --key public.jwk --detached @contract.pdf @contract.sig > /dev/null

For claims with an expiry there is jeton jwt.")]
pub(crate) struct Jws {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Sign a payload
    Sign(sign::Sign),
    /// Verify a token and show exactly its payload
    Verify(verify::Verify),
}

impl Jws {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::Sign(sign) => sign.run(),
            Command::Verify(verify) => verify.run(),
        }
    }
}
