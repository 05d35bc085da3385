//! Errors of result files.

use std::path::PathBuf;
use std::{fmt, io};

use super::SCHEMA;

/// The size limit of a result file after decompression: 64 MB. A thousand rounds of a thousand rows
/// take 20 MB.
pub const RESULT_BYTES_MAX: u64 = 64_000_000;

/// An error of a result file or its folder.
#[derive(Debug)]
pub enum FileError {
    /// The folder cannot be created or written.
    Unwritable(PathBuf, io::Error),
    /// A file cannot be written.
    FileUnwritable(PathBuf, io::Error),
    /// The file cannot be read.
    Unreadable(PathBuf, io::Error),
    /// The file is larger than [`RESULT_BYTES_MAX`](super::RESULT_BYTES_MAX).
    TooLarge(PathBuf),
    /// The file ends before its content does.
    CutShort(PathBuf),
    /// The file is not JSON, or not a result.
    NoResult(PathBuf, String),
    /// The file has another schema version.
    Schema(PathBuf, u64),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unwritable(path, e) => write!(
                f,
                "cannot write to {}: {e}; choose another folder with --out DIR",
                path.display()
            ),
            Self::FileUnwritable(path, e) => write!(f, "cannot write {}: {e}", path.display()),
            Self::Unreadable(path, e) => write!(f, "cannot read {}: {e}", path.display()),
            Self::TooLarge(path) => write!(
                f,
                "{}: larger than {} MB, the limit for result files",
                path.display(),
                RESULT_BYTES_MAX / 1_000_000
            ),
            Self::CutShort(path) => write!(
                f,
                "{} is incomplete: its end is missing; run the lab again",
                path.display()
            ),
            Self::NoResult(path, why) => {
                write!(f, "{} is not a result of the lab: {why}", path.display())
            }
            Self::Schema(path, found) => write!(
                f,
                "{} has schema {found}, this jeton reads {SCHEMA}; read it with the version that wrote it",
                path.display()
            ),
        }
    }
}

impl std::error::Error for FileError {}
