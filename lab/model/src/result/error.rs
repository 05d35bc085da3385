//! Errors of result files, as sentences.

use std::fmt::Display;
use std::path::Path;

/// The size limit of a result file after decompression: 64 MB. A thousand rounds of a thousand rows
/// take 20 MB.
pub const RESULT_BYTES_MAX: u64 = 64_000_000;

/// The folder cannot be created or written.
pub(super) fn unwritable(path: &Path, why: impl Display) -> String {
    let path = path.display();
    format!("cannot write to {path}: {why}; choose another folder with --out DIR")
}

pub(super) fn file_unwritable(path: &Path, why: impl Display) -> String {
    format!("cannot write {}: {why}", path.display())
}

pub(super) fn unreadable(path: &Path, why: impl Display) -> String {
    format!("cannot read {}: {why}", path.display())
}

/// The file ends before its content does.
pub(super) fn cut_short(path: &Path) -> String {
    let path = path.display();
    format!("{path} is incomplete: its end is missing; run the lab again")
}

/// The file is not JSON, or not a result.
pub(super) fn no_result(path: &Path, why: impl Display) -> String {
    format!("{} is not a result of the lab: {why}", path.display())
}
