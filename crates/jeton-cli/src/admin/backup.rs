//! `jeton admin backup`.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use jeton_issuer::{BackupSummary, back_up};
use jeton_store::Revision;

use super::display;
use super::target::{ReadArgs, Source};
use crate::exit::Outcome;
use crate::private_file::unwritable;
use crate::{output, private_file};

/// Write the whole store to one file; private keys stay encrypted
///
/// The file contains a consistent snapshot of the store, one line of JSON for each entry. It ends with the number
/// of entries and their hash, so that `restore` detects a truncated or changed file. A backup neither
/// needs nor contains the key-encryption key.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton admin backup --output monday.backup
  jeton admin backup --output - | zstd > monday.backup.zst
  jeton admin backup --server http://127.0.0.1:8421 --output monday.backup
  jeton admin backup --store etcd://127.0.0.1:2379 --output monday.backup

A backup of a running server contains every change that the server acknowledged before the command began.")]
pub(super) struct Backup {
    /// New file, readable only by its owner (- for standard output)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    #[command(flatten)]
    source: ReadArgs,
}

impl Backup {
    pub(super) fn run(self) -> Outcome {
        let source = self.source.open()?;
        let made = if self.output == Path::new("-") {
            all(&source, &mut io::stdout().lock())?
        } else {
            write(&source, &self.output)?
        };
        output::status(format_args!(
            "wrote {} entries at revision {} ({} of the audit log), without the key-encryption key",
            made.entries, made.revision, made.audit_entries
        ));
        Ok(())
    }
}

fn write(source: &Source, path: &Path) -> Outcome<BackupSummary> {
    let file = private_file::open(path, "backups are never overwritten")?;
    let mut out = BufWriter::new(&file);
    let written = all(source, &mut out).and_then(|made| {
        out.flush()
            .and_then(|()| file.sync_all())
            .map_err(|error| unwritable(path, &error))?;
        Ok(made)
    });
    if written.is_err() {
        // A partial file could be mistaken for a backup.
        let _ = fs::remove_file(path);
    }
    written
}

fn all(source: &Source, out: &mut dyn Write) -> Outcome<BackupSummary> {
    match source {
        Source::Store(place) => {
            let store = place.open()?.store();
            back_up(&*store, display::now(), out).map_err(|error| place.failure(error))
        }
        Source::Server(remote) => {
            let made = remote.back_up(out)?;
            Ok(BackupSummary {
                revision: Revision::from_number(made.revision),
                at: made.at,
                entries: made.entries,
                audit_entries: made.audit_entries,
            })
        }
    }
}
