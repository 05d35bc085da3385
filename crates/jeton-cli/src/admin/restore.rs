//! `jeton admin restore`.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;
use jeton_issuer::restore;

use super::folder::{Folder, failure};
use super::display;
use crate::exit::{Failure, Outcome};
use crate::output;

/// Make a new folder of a backup
///
/// Nothing is there before the whole backup has been read and found sound: its hash, its records and
/// the audit chain. What happened after the backup was made is not in it: what was revoked since then
/// has to be revoked again. That also rejects the tokens that were issued since then.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin restore monday.backup --data restored
  zstd -d < monday.backup.zst | jeton admin restore - --data restored

Put the key-encryption key into the folder, as the file key-encryption-key with mode 600, or name it
where it is: --key-encryption-key.")]
pub(super) struct Restore {
    /// The backup; - is standard input
    #[arg(value_name = "FILE")]
    backup: PathBuf,

    #[command(flatten)]
    folder: Folder,
}

impl Restore {
    pub(super) fn run(self) -> Outcome {
        let path = self.folder.path();
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
            "{} entries of {}, revision {}, are in {}",
            restored.entries,
            display::moment(restored.at),
            restored.revision,
            path.display()
        ));
        let folder = self.folder.open()?;
        let needed = folder.sealed_under().map_err(failure)?;
        if !needed.is_empty() && !folder.has_key_file() {
            output::note(format_args!(
                "the private keys are encrypted under {}: put it at {}",
                needed.join(" and "),
                folder.key_file().display()
            ));
        }
        Ok(())
    }
}
