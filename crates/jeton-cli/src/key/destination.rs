use std::path::{Path, PathBuf};

use clap::Args;

use crate::exit::Outcome;
use crate::{output, private_file};

/// Why an existing file is not replaced.
const NO_OVERWRITE: &str = "key files are never overwritten";

/// Where a key is written.
#[derive(Debug, Args)]
pub(super) struct Destination {
    /// New file, readable only by its owner [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Destination {
    /// Writes a key in text form.
    pub(super) fn text(&self, text: &str) -> Outcome {
        match self.file() {
            Some(path) => private_file::create(path, text.as_bytes(), NO_OVERWRITE),
            None => output::text(text),
        }
    }

    /// Writes a key in binary form.
    pub(super) fn binary(&self, bytes: &[u8]) -> Outcome {
        match self.file() {
            Some(path) => private_file::create(path, bytes, NO_OVERWRITE),
            None => output::binary(bytes),
        }
    }

    /// Returns the file, if the key is not written to standard output.
    pub(super) fn file(&self) -> Option<&Path> {
        self.output
            .as_deref()
            .filter(|path| *path != Path::new("-"))
    }
}
