//! `jeton key`: make, show and convert keys.

mod convert;
mod destination;
mod ed25519;
mod new;
mod public;
mod thumbprint;

use clap::{Args, Subcommand};

use crate::exit::Outcome;

/// Make, show and convert keys.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key new --alg ES256 --kid 2026-11 -o private.jwk
  jeton key public private.jwk > public.jwk
  jeton key thumbprint public.jwk
  jeton key convert --to pem private.jwk -o private.pem

A key file is a JWK, a JWK Set, PEM, DER or a PASERK; what it is shows in its content.")]
pub(crate) struct Key {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a new key: a private JWK, or a PASERK
    New(new::New),
    /// Show the public half of a key, or of every key of a set
    Public(public::Public),
    /// Show a key's thumbprint (RFC 7638), or the id of a PASERK
    Thumbprint(thumbprint::Thumbprint),
    /// Write a key in another form; a private key stays private
    Convert(convert::Convert),
}

impl Key {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::New(new) => new.run(),
            Command::Public(public) => public.run(),
            Command::Thumbprint(thumbprint) => thumbprint.run(),
            Command::Convert(convert) => convert.run(),
        }
    }
}
