//! The arguments that name a key.

use std::path::PathBuf;

use clap::Args;
use jeton::key::{Alg, Keys};

use super::{KeyFile, Signer};
use crate::algorithm::algorithm;
use crate::exit::Outcome;

/// The key that a token is signed with.
#[derive(Debug, Args)]
pub(crate) struct SigningKeyFile {
    /// The private or symmetric key: JWK, JWK Set, PEM or DER; - is standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// The algorithm, for a key that does not say it (RSA, oct)
    #[arg(long, value_name = "NAME", value_parser = algorithm)]
    alg: Option<Alg>,

    /// Choose the key of a set by its id, or give a key without an id this one
    #[arg(long, value_name = "ID")]
    kid: Option<String>,
}

/// The key or keys that a token is verified with.
#[derive(Debug, Args)]
pub(crate) struct VerifyingKeyFile {
    /// The public or symmetric key, or a set of them: JWK, JWK Set, PEM or DER; - is standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    /// The algorithm, for a key that does not say it (RSA, oct)
    #[arg(long, value_name = "NAME", value_parser = algorithm)]
    alg: Option<Alg>,
}

impl SigningKeyFile {
    pub(crate) fn load(&self) -> Outcome<Signer> {
        KeyFile::read(&self.key)?.to_sign(self.alg, self.kid.as_deref())
    }
}

impl VerifyingKeyFile {
    pub(crate) fn load(&self) -> Outcome<Keys> {
        KeyFile::read(&self.key)?.to_verify(self.alg)
    }
}
