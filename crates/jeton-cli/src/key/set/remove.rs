use std::path::PathBuf;

use clap::Args;

use super::set_file::SetFile;
use crate::exit::{Failure, Outcome};
use crate::output;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton key set remove jwks.json --kid 2026-11

Remove a key after the last token that it signed has expired, because verifiers then reject its tokens.

The file is replaced in one step and keeps its permissions. Its other keys and members do not change.")]
pub(super) struct Remove {
    /// File with the key set
    #[arg(value_name = "SET")]
    set: PathBuf,

    /// Key id (`kid`) of the keys to remove
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    kid: String,
}

impl Remove {
    pub(super) fn run(self) -> Outcome {
        let mut set = SetFile::read(&self.set)?;
        let name = set.name();
        let removed = set.remove(&self.kid);
        if removed == 0 {
            return Err(
                Failure::error(format!("{name}: no key has this key id (kid)")).hint(format!(
                    "to list the key ids, run `jeton key set list {}`",
                    set.argument()
                )),
            );
        }
        let (text, _) = set.with(&[])?;
        set.replace(&text)?;
        let count = set.keys().len();
        output::status(format_args!("{name}: removed: {removed}, keys: {count}"));
        Ok(())
    }
}
