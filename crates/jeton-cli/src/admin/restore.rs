//! `jeton admin restore`.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use jeton_issuer::{
    BackupSummary, DataFolder, Error, IfUnfinished, MigrateError, MigrationEntry, MigrationSource,
    MigrationTarget, Missing, restore,
};

use super::display;
use super::etcd::EtcdPlace;
use super::failure::{FINISHED_ELSEWHERE, OTHER_KEY, failure, unfilled};
use super::folder::{FolderArgs, user};
use crate::exit::{Failure, Outcome};
use crate::output;

/// Create a data folder from a backup, or a store in etcd
///
/// The store is created only after the whole backup has been verified: its hash, its records and the audit chain.
/// Changes since the backup are lost. Repeat the revocations: they also affect the tokens that were issued since the
/// backup.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin restore monday.backup --data restored
  zstd -d < monday.backup.zst | jeton admin restore - --data restored
  jeton admin restore monday.backup --store etcd://127.0.0.1:2379/restored

Copy the key-encryption key to the file key-encryption-key in the folder, with mode 600, or pass \
--key-encryption-key to later commands. A store in etcd is first built in the folder for temporary files.")]
pub(super) struct Restore {
    /// Backup file (- for standard input)
    #[arg(value_name = "FILE")]
    backup: PathBuf,

    #[command(flatten)]
    folder: FolderArgs,
}

impl Restore {
    pub(super) fn run(self) -> Outcome {
        let place = self.folder.place()?;
        let restored = match place.etcd() {
            None => self.restore(&place.path)?,
            Some(etcd) => self.fill(etcd)?,
        };
        let opened = place.open()?;
        output::status(format_args!(
            "restored {} entries of {}, revision {}, to {}",
            restored.entries,
            display::moment(restored.at),
            restored.revision,
            opened.name()
        ));
        opened.note_key()
    }

    fn restore(&self, path: &Path) -> Outcome<BackupSummary> {
        let restored = if self.backup == Path::new("-") {
            restore(path, &mut io::stdin().lock(), display::now())
        } else {
            let file = File::open(&self.backup).map_err(|error| {
                Failure::error(format!("cannot read {}: {error}", self.backup.display()))
            })?;
            restore(path, &mut BufReader::new(file), display::now())
        };
        restored.map_err(failure)
    }

    /// Restores to a temporary folder, and moves that to the etcd.
    fn fill(&self, etcd: &EtcdPlace) -> Outcome<BackupSummary> {
        let (address, access) = (etcd.address()?, etcd.access()?);
        let folder = tempfile::tempdir().map_err(|error| {
            Failure::error(format!("cannot create a temporary folder: {error}"))
        })?;
        let path = folder.path().join("restored");
        let restored = self.restore(&path)?;
        let opened = DataFolder::open(&path, Missing::Refuse, Duration::ZERO).map_err(failure)?;
        let store = opened.store();
        let source = MigrationSource::check(&*store).map_err(failure)?;
        let target = MigrationTarget::etcd(&address, access, &source)
            .map_err(|error| unfilled(error, Some(address.root())))?;
        let entry = MigrationEntry {
            actor: &user(),
            at: display::now(),
            from: &format!("a backup of {}", display::moment(restored.at)),
        };
        // A part is of this backup, or of another one of the same store: it is completed in either case.
        let copied = source.copy_to(target, IfUnfinished::Continue, entry, &mut |_, _| {});
        copied.map_err(|error| {
            let hint = match error {
                Error::Migrate(MigrateError::OtherKey(_)) => OTHER_KEY,
                Error::Migrate(MigrateError::FinishedElsewhere) => FINISHED_ELSEWHERE,
                _ => "no server opens the part: run the command again",
            };
            Failure::error(error.to_string()).hint(hint)
        })?;
        Ok(restored)
    }
}
