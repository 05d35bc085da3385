use std::path::PathBuf;

use clap::Args;
use jeton::paserk::Paserk;

use crate::exit::{Failure, Outcome};
use crate::keyfile::{Form, Half, KeyFile, LoadError};
use crate::output;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key thumbprint public.jwk
  jeton key thumbprint --uri private.pem
  jeton key thumbprint secret.paserk

A private key and its public key have the same thumbprint. For a set, each line has the thumbprint of one key.")]
pub(super) struct Thumbprint {
    /// Key file (- for standard input)
    #[arg(value_name = "FILE")]
    key: PathBuf,

    /// Print the thumbprint as a URI (RFC 9278)
    #[arg(long)]
    uri: bool,
}

impl Thumbprint {
    pub(super) fn run(self) -> Outcome {
        let file = KeyFile::read(&self.key)?;
        if let Form::Paserk(text) = file.form() {
            if self.uri {
                return Err(Failure::error("--uri is not supported for a PASERK"));
            }
            let paserk =
                Paserk::parse(text).map_err(|error| file.failure(LoadError::from(error)))?;
            return output::line(&paserk.id().to_string());
        }
        let prints = file.each_as(|key| self.of(key))?;
        output::line(&prints.join("\n"))
    }

    fn of(&self, file: &KeyFile) -> Outcome<String> {
        let key = file.any_algorithm()?;
        if key.half() == Half::Symmetric {
            output::note(format_args!(
                "{}: the thumbprint of a symmetric key is a hash of the secret; do not publish it",
                file.name()
            ));
        }
        let thumbprint = key.thumbprint();
        Ok(if self.uri {
            format!("urn:ietf:params:oauth:jwk-thumbprint:sha-256:{thumbprint}")
        } else {
            thumbprint
        })
    }
}
