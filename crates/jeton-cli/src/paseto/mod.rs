//! `jeton paseto`: issues and verifies PASETOs, signed (`public`) and encrypted (`local`).

mod context;
mod issue;
mod key;
mod verify;

use clap::{Args, Subcommand};

pub(crate) use context::ContextArgs;
pub(crate) use key::{decrypting, signing, verifying};
pub(crate) use verify::{PasetoVerification, verifier};

use crate::exit::Outcome;

/// Issue and verify PASETOs
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key new --paseto v4.public -o secret.paserk
  jeton key public secret.paserk > public.paserk
  jeton paseto sign --key secret.paserk --claims @claims.json --expires-in 15m
  jeton paseto verify --key public.paserk --audience api @token

Sign if other parties verify the token. Encrypt if only the issuer reads it.")]
pub(crate) struct Paseto {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Issue a signed token (v4.public, v3.public) with a k4.secret or k3.secret key
    #[command(after_help = issue::SIGN_EXAMPLES)]
    Sign(issue::Issue),
    /// Verify a signed token (v4.public, v3.public) with a k4.public or k3.public key
    #[command(after_help = verify::VERIFY_EXAMPLES)]
    Verify(verify::VerifyArgs),
    /// Issue an encrypted token (v4.local, v3.local) with a k4.local or k3.local key
    #[command(after_help = issue::ENCRYPT_EXAMPLES)]
    Encrypt(issue::Issue),
    /// Decrypt and verify an encrypted token (v4.local, v3.local) with a k4.local or k3.local key
    #[command(after_help = verify::DECRYPT_EXAMPLES)]
    Decrypt(verify::VerifyArgs),
}

impl Paseto {
    pub(crate) fn run(self) -> Outcome {
        match self.command {
            Command::Sign(issue) => issue.sign(),
            Command::Verify(verify) => verify.verify(),
            Command::Encrypt(issue) => issue.encrypt(),
            Command::Decrypt(verify) => verify.decrypt(),
        }
    }
}
