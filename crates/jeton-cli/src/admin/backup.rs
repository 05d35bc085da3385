//! `jeton admin backup`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use jeton_issuer::{BackupSummary, DataFolder, back_up};

use super::display;
use super::folder::{FolderArgs, failure};
use crate::exit::Outcome;
use crate::private_file::unwritable;
use crate::{output, private_file};

/// Write the whole store to one file; private keys stay encrypted
///
/// The file contains a consistent snapshot of the store, one line of JSON for each entry. It ends with the number
/// of entries and their hash, so that `restore` detects a truncated or changed file. The key-encryption key is not
/// needed for a backup and not part of it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin backup --output monday.backup
  jeton admin backup --output - | zstd > monday.backup.zst")]
pub(super) struct Backup {
    /// New file, readable only by its owner (- for standard output)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    #[command(flatten)]
    folder: FolderArgs,
}

impl Backup {
    pub(super) fn run(self) -> Outcome {
        let folder = self.folder.open()?;
        let made = if self.output == Path::new("-") {
            back_up(&*folder.store(), display::now(), &mut io::stdout().lock()).map_err(failure)?
        } else {
            write(&folder, &self.output)?
        };
        output::status(format_args!(
            "wrote {} entries at revision {} ({} of the audit log), without the key-encryption key",
            made.entries, made.revision, made.audit_entries
        ));
        Ok(())
    }
}

fn write(folder: &DataFolder, path: &Path) -> Outcome<BackupSummary> {
    let file = private_file::open(path, "backups are never overwritten")?;
    let written = all(folder, &file, path);
    if written.is_err() {
        // A partial file could be mistaken for a backup.
        let _ = fs::remove_file(path);
    }
    written
}

fn all(folder: &DataFolder, file: &File, path: &Path) -> Outcome<BackupSummary> {
    let mut out = BufWriter::new(file);
    let made = back_up(&*folder.store(), display::now(), &mut out).map_err(failure)?;
    out.flush()
        .and_then(|()| file.sync_all())
        .map_err(|error| unwritable(path, &error))?;
    Ok(made)
}
