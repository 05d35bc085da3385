//! `jeton jws`: signs and verifies arbitrary payloads (RFC 7515).

mod sign;
mod verify;

use clap::{Args, Subcommand};

pub(crate) use verify::JwsVerification;

use crate::exit::Outcome;

/// Sign and verify arbitrary payloads (JWS)
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton jws sign --key private.jwk @document.pdf > document.jws
  jeton jws verify --key public.jwk @document.jws > document.pdf
  jeton jws sign --key private.jwk --detached @document.pdf > document.sig
  jeton jws verify --key public.jwk --detached @document.pdf @document.sig

For claims with an expiry, use jeton jwt.")]
pub(crate) struct Jws {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Sign a payload and print the token
    Sign(sign::Sign),
    /// Verify a token and print its payload
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
