//! `jeton admin backup`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use jeton_issuer::{BackupSummary, DataFolder, back_up};

use super::folder::{Folder, failure};
use super::shown;
use crate::exit::Outcome;
use crate::private_file::unwritable;
use crate::{output, private_file};

/// Write everything into one file; private keys stay encrypted
///
/// The file holds every entry of the store at one moment, a line of JSON each, and ends with their
/// number and hash, so that one that was cut short or changed is refused. The key-encryption key is not
/// in it and not needed for it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin backup --output monday.backup
  jeton admin backup --output - | zstd > monday.backup.zst")]
pub(super) struct Backup {
    /// The new file, which only its owner can read; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    #[command(flatten)]
    folder: Folder,
}

impl Backup {
    pub(super) fn run(self) -> Outcome {
        let folder = self.folder.open()?;
        let made = if self.output == Path::new("-") {
            back_up(&*folder.store(), shown::now(), &mut io::stdout().lock()).map_err(failure)?
        } else {
            write(&folder, &self.output)?
        };
        output::done(format_args!(
            "{} entries at revision {}, {} of them of the audit log; the key-encryption key is not among them",
            made.entries, made.revision, made.audit_entries
        ));
        Ok(())
    }
}

fn write(folder: &DataFolder, path: &Path) -> Outcome<BackupSummary> {
    let file = private_file::open(path, "a backup is never overwritten")?;
    let written = all(folder, &file, path);
    if written.is_err() {
        // Half a backup would be taken for one.
        let _ = fs::remove_file(path);
    }
    written
}

fn all(folder: &DataFolder, file: &File, path: &Path) -> Outcome<BackupSummary> {
    let mut out = BufWriter::new(file);
    let made = back_up(&*folder.store(), shown::now(), &mut out).map_err(failure)?;
    out.flush()
        .and_then(|()| file.sync_all())
        .map_err(|error| unwritable(path, &error))?;
    Ok(made)
}
