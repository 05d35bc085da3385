use std::path::{Path, PathBuf};

use clap::Args;

use super::members::KeyArgs;
use super::set_file;
use crate::exit::{Failure, Outcome};
use crate::{atomic_file, input, output, private_file};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key set new jwks.json private.jwk
  jeton key set new jwks.json old.jwk next.pem
  jeton key set new jwks.json --alg RS256 rsa.pem
  jeton key set new - private.jwk > jwks.json

The public key of a private key is added. A key without a key id (kid) gets its thumbprint.

An existing file is not replaced. With --symmetric, only its owner can read the new file.")]
pub(super) struct New {
    /// New file (- for standard output)
    #[arg(value_name = "SET")]
    set: PathBuf,

    /// Key files: JWK, JWK Set, PEM or DER (- for standard input)
    #[arg(value_name = "FILE")]
    keys: Vec<PathBuf>,

    #[command(flatten)]
    key_args: KeyArgs,
}

impl New {
    pub(super) fn run(self) -> Outcome {
        let path = &*self.set;
        let is_stdout = path == Path::new("-");
        let argument = set_file::argument(path);
        if !is_stdout && path.symlink_metadata().is_ok() {
            let name = input::name_of(path);
            return Err(
                Failure::error(format!("{name} already exists")).hint(format!(
                    "to add keys to it, run `jeton key set add {argument} FILE`"
                )),
            );
        }
        let members = self.key_args.read(&self.keys)?;
        let is_secret = members.iter().any(|member| member.is_secret);
        let (text, count) = set_file::empty(path).with(&members)?;
        match (is_stdout, is_secret) {
            (true, _) => return output::text(&text),
            (false, true) => private_file::create(path, text.as_bytes(), "it is not replaced")?,
            (false, false) => atomic_file::create(path, text.as_bytes())?,
        }
        let name = input::name_of(path);
        output::status(format_args!("wrote {name}: keys: {count}"));
        Ok(())
    }
}
