use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::exit::{Failure, Outcome};
use crate::output;

/// Where a key is written.
#[derive(Debug, Args)]
pub(super) struct Destination {
    /// Write to a new file that only its owner can read, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Destination {
    /// Writes a key's text.
    pub(super) fn text(&self, text: &str) -> Outcome {
        match self.file() {
            Some(path) => create(path, text.as_bytes()),
            None => output::text(text),
        }
    }

    /// Writes a key's bytes.
    pub(super) fn binary(&self, bytes: &[u8]) -> Outcome {
        match self.file() {
            Some(path) => create(path, bytes),
            None => output::binary(bytes),
        }
    }

    /// The file, if it is one.
    pub(super) fn file(&self) -> Option<&Path> {
        self.output
            .as_deref()
            .filter(|path| *path != Path::new("-"))
    }
}

/// Makes a file for its owner's eyes. One that is there is left alone: it may be somebody's key.
fn create(path: &Path, bytes: &[u8]) -> Outcome {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::wrong(format!(
            "{} is there already, and a key is never overwritten",
            path.display()
        )),
        _ => unwritable(path, &error),
    })?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(|error| {
            // Half a key helps nobody, and would be in the way of the next try.
            let _ = fs::remove_file(path);
            unwritable(path, &error)
        })
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::wrong(format!("cannot write {}: {error}", path.display()))
}
