//! A new file for its owner's eyes: a key, a backup, a page that shows a token.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use crate::exit::{Failure, Outcome};
use crate::redact;

/// Makes it, with nothing in it. One that is there is left alone, for a `reason` that is said.
pub(crate) fn open(path: &Path, reason: &str) -> Outcome<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::error(format!(
            "{} is there already, and {reason}",
            redact::name_of(path)
        )),
        _ => unwritable(path, &error),
    })
}

/// Makes it, whole or not at all.
pub(crate) fn create(path: &Path, bytes: &[u8], reason: &str) -> Outcome {
    let mut file = open(path, reason)?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(|error| {
            // Half a key helps nobody, and would be in the way of the next try.
            let _ = fs::remove_file(path);
            unwritable(path, &error)
        })
}

/// What is said of a file that cannot be written.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::error(format!(
        "cannot write {}: {error}",
        redact::name_of(path)
    ))
}
