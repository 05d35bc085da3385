use std::path::PathBuf;

use clap::Args;

use super::members::KeyArgs;
use super::set_file::SetFile;
use crate::exit::{Failure, Outcome};
use crate::output;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key set add jwks.json next.jwk
  jeton key set add jwks.json --alg RS256 --kid 2026-12 rsa.pem
  jeton key public next.jwk | jeton key set add jwks.json -

The public key of a private key is added. A key without a key id (kid) gets its thumbprint. A key that is already in \
the set is not added again. Another key with the same id is an error.

The file is replaced in one step and keeps its permissions. Its other keys and members do not change.")]
pub(super) struct Add {
    /// File with the key set
    #[arg(value_name = "SET")]
    set: PathBuf,

    /// Key files: JWK, JWK Set, PEM or DER (- for standard input)
    #[arg(value_name = "FILE", required = true)]
    keys: Vec<PathBuf>,

    #[command(flatten)]
    key_args: KeyArgs,
}

impl Add {
    pub(super) fn run(self) -> Outcome {
        let set = SetFile::read(&self.set)?;
        set.check_ids(Failure::error)?;
        set.check_secrets(self.key_args.accepts_symmetric())?;
        let members = self.key_args.read(&self.keys)?;
        let (text, added) = set.with(&members)?;
        let name = set.name();
        if added > 0 {
            set.replace(&text)?;
        }
        if members.iter().any(|member| member.is_secret) {
            output::note(format_args!(
                "{name}: the set has a symmetric key; do not publish it"
            ));
        }
        let count = set.keys().len() + added;
        output::status(format_args!("{name}: added: {added}, keys: {count}"));
        Ok(())
    }
}
