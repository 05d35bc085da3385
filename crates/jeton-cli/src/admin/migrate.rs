//! `jeton admin migrate`.

use clap::Args;
use jeton_issuer::{RECORD_SCHEMA, check_records};
use jeton_store::{RedbStore, block_on};

use super::folder::{Folder, failure};
use crate::exit::Outcome;
use crate::output;

/// Bring the store of an older jeton to this one's format
///
/// A store of a newer jeton is refused and left as it is. Make a backup first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin backup --output before.backup
  jeton admin migrate")]
pub(super) struct Migrate {
    #[command(flatten)]
    folder: Folder,
}

impl Migrate {
    pub(super) fn run(self) -> Outcome {
        // Opening refuses what is newer; no older format has ever been written.
        let folder = self.folder.open()?;
        let records = block_on(check_records(&*folder.store())).map_err(failure)?;
        output::line(&format!(
            "nothing to do: the store has format {}, its {records} records schema {RECORD_SCHEMA}, the \
             newest that this jeton knows",
            RedbStore::FORMAT
        ))
    }
}
