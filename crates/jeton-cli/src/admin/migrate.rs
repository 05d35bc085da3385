//! `jeton admin migrate`.

use clap::Args;
use jeton_issuer::{RECORD_SCHEMA, check_records};
use jeton_store::{RedbStore, block_on};

use super::folder::{FolderArgs, failure};
use crate::exit::Outcome;
use crate::output;

/// Upgrade the store to the format of this version
///
/// A store of a newer version is an error and is not changed. Make a backup first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin backup --output before.backup
  jeton admin migrate")]
pub(super) struct Migrate {
    #[command(flatten)]
    folder: FolderArgs,
}

impl Migrate {
    pub(super) fn run(self) -> Outcome {
        // Opening fails for a newer format, and there is no older format.
        let folder = self.folder.place()?.open()?;
        let records = block_on(check_records(&*folder.store())).map_err(failure)?;
        output::line(&format!(
            "nothing to do: the store has format {} and its {records} records have schemas up to \
             {RECORD_SCHEMA}, which are the newest",
            RedbStore::FORMAT
        ))
    }
}
