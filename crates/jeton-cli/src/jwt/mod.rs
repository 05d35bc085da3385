//! `jeton jwt`: issues and verifies JSON Web Tokens (RFC 7519).

mod sign;
mod verify;

use clap::{Args, Subcommand};

pub(crate) use verify::{JwtVerification, JwtVerifyArgs};

use crate::exit::Outcome;

/// Issue and verify JSON Web Tokens (JWT)
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton jwt sign --key private.jwk --claims @claims.json --expires-in 15m
  jeton jwt verify --key public.jwk --audience api @token")]
pub(crate) struct Jwt {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Issue a token and print it
    Sign(sign::Sign),
    /// Verify a token and print its claims
    Verify(verify::Verify),
}

impl Jwt {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::Sign(sign) => sign.run(),
            Command::Verify(verify) => verify.run(),
        }
    }
}
