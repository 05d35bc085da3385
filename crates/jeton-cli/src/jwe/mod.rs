//! `jeton jwe`: encrypt any bytes, and decrypt them (RFC 7516).

mod decrypt;
mod encrypt;

use clap::{Args, Subcommand};

use crate::exit::Outcome;

/// Encrypt any bytes, and decrypt them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key new --alg ECDH-ES -o private.jwk
  jeton key public private.jwk > public.jwk
  jeton jwe encrypt --key public.jwk --enc A256GCM @contract.pdf > contract.jwe
  jeton jwe decrypt --key private.jwk @contract.jwe > contract.pdf

Whoever has a public key can encrypt to it: that a token can be decrypted says nothing about who made
it. For that there are jeton jws, and jeton jwt sign with --encrypt-key.")]
pub(crate) struct Jwe {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Encrypt a plaintext to one key or several
    Encrypt(Box<encrypt::Encrypt>),
    /// Decrypt a token and show exactly its plaintext
    Decrypt(decrypt::Decrypt),
}

impl Jwe {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::Encrypt(encrypt) => encrypt.run(),
            Command::Decrypt(decrypt) => decrypt.run(),
        }
    }
}
