//! `jeton admin restore`.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;
use jeton_issuer::{restore, sealed_under};

use super::display;
use super::folder::{FolderArgs, OpenStore, failure};
use crate::exit::{Failure, Outcome};
use crate::output;

/// Create a data folder from a backup
///
/// The folder is created only after the whole backup has been verified: its hash, its records and the audit chain.
/// Changes since the backup are lost: repeat the revocations. That also revokes the tokens that were issued
/// since the backup.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin restore monday.backup --data restored
  zstd -d < monday.backup.zst | jeton admin restore - --data restored

Copy the key-encryption key to the file key-encryption-key in the folder, with mode 600, or pass \
--key-encryption-key to later commands.")]
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
        let path = place.folder_only()?;
        let restored = if self.backup == Path::new("-") {
            restore(path, &mut io::stdin().lock(), display::now())
        } else {
            let file = File::open(&self.backup).map_err(|error| {
                Failure::error(format!("cannot read {}: {error}", self.backup.display()))
            })?;
            restore(path, &mut BufReader::new(file), display::now())
        };
        let restored = restored.map_err(failure)?;
        output::status(format_args!(
            "restored {} entries of {}, revision {}, to {}",
            restored.entries,
            display::moment(restored.at),
            restored.revision,
            path.display()
        ));
        note_key(&place.open()?)
    }
}

/// Says which key-encryption key a new folder needs.
pub(super) fn note_key(opened: &OpenStore) -> Outcome {
    let needed = sealed_under(&*opened.store()).map_err(failure)?;
    if needed.is_empty() {
        return Ok(());
    }
    let needed = needed.join(" and ");
    match opened {
        OpenStore::Folder(folder) if folder.has_key_file() => {}
        OpenStore::Folder(folder) => output::note(format_args!(
            "the private keys are encrypted under {needed}: copy this key-encryption key to {}",
            folder.key_file().display()
        )),
        OpenStore::Etcd { .. } => output::note(format_args!(
            "the private keys are encrypted under {needed}: give this key-encryption key to every server"
        )),
    }
    Ok(())
}
