//! `jeton key`: creates and converts keys.

mod convert;
mod destination;
mod ed25519;
mod import;
mod kid;
mod new;
mod public;
mod set;
mod thumbprint;

use clap::{Args, Subcommand};

use crate::exit::Outcome;

/// Create and convert keys
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key new --alg ES256 -o private.jwk
  jeton key import --secret-file secret.txt --alg HS256 -o secret.jwk
  jeton key public private.jwk > public.jwk
  jeton key set new jwks.json private.jwk
  jeton key thumbprint public.jwk
  jeton key convert --to pem private.jwk -o private.pem

A key file is a JWK, a JWK Set, PEM, DER or a PASERK. The format is detected by its content.")]
pub(crate) struct Key {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create a key: a private JWK or a PASERK
    New(new::New),
    /// Convert a key of another format, a secret or a certificate to a JWK
    Import(import::Import),
    Set(set::Set),
    /// Print the public key of a private key, or of every key of a set
    Public(public::Public),
    /// Print the thumbprint of a key (RFC 7638) or the id of a PASERK
    Thumbprint(thumbprint::Thumbprint),
    /// Convert a key to another format
    Convert(convert::Convert),
}

impl Key {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::New(new) => new.run(),
            Command::Import(import) => import.run(),
            Command::Set(set) => set.run(),
            Command::Public(public) => public.run(),
            Command::Thumbprint(thumbprint) => thumbprint.run(),
            Command::Convert(convert) => convert.run(),
        }
    }
}
