//! Creates files that only their owner can read: keys, backups, pages with a token.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use crate::exit::{Failure, Outcome};
use crate::redact;

/// Creates an empty file. An existing file is an error with this `reason`.
pub(crate) fn open(path: &Path, reason: &str) -> Outcome<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::error(format!(
            "{} already exists: {reason}",
            redact::name_of(path)
        )),
        _ => unwritable(path, &error),
    })
}

/// Creates a file with this content. If that fails, no file remains.
pub(crate) fn create(path: &Path, bytes: &[u8], reason: &str) -> Outcome {
    let mut file = open(path, reason)?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(|error| {
            // A partial file is useless, and would block the next attempt.
            let _ = fs::remove_file(path);
            unwritable(path, &error)
        })
}

/// Returns the failure for a file that cannot be written.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::error(format!("cannot write {}: {error}", redact::name_of(path)))
}
