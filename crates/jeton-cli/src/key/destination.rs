use std::path::{Path, PathBuf};

use clap::Args;

use crate::exit::Outcome;
use crate::{output, private_file};

/// Why a file that is there is left alone: it may be somebody's key.
const NEVER: &str = "a key is never overwritten";

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
            Some(path) => private_file::create(path, text.as_bytes(), NEVER),
            None => output::text(text),
        }
    }

    /// Writes a key's bytes.
    pub(super) fn binary(&self, bytes: &[u8]) -> Outcome {
        match self.file() {
            Some(path) => private_file::create(path, bytes, NEVER),
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
