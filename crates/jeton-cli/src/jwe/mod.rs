//! `jeton jwe`: encrypts and decrypts arbitrary payloads (RFC 7516).

mod decrypt;
mod encrypt;

use clap::{Args, Subcommand};

use crate::exit::Outcome;

/// Encrypt and decrypt arbitrary payloads (JWE)
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key new --alg ECDH-ES -o private.jwk
  jeton key public private.jwk > public.jwk
  jeton jwe encrypt --key public.jwk @document.pdf > document.jwe
  jeton jwe decrypt --key private.jwk @document.jwe > document.pdf

Anyone who has the public key can encrypt, so a decrypted token does not prove who created it. To prove that, \
use jeton jws, or jeton jwt sign with --encrypt-key.")]
pub(crate) struct Jwe {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Encrypt a plaintext and print the token
    Encrypt(Box<encrypt::Encrypt>),
    /// Decrypt a token and print its plaintext
    Decrypt(Box<decrypt::Decrypt>),
}

impl Jwe {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::Encrypt(encrypt) => encrypt.run(),
            Command::Decrypt(decrypt) => decrypt.run(),
        }
    }
}
