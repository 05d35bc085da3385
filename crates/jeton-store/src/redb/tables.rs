//! Tables of the file, and conversion of errors of redb.

use std::panic::{self, AssertUnwindSafe};

use redb::TableDefinition;

use crate::error::{Error, Result};

/// Maps key bytes to a value encoded by `changes::value_record`.
pub(super) const ENTRIES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("entries");

/// Maps a revision to its changes, encoded by `changes::history_record`.
pub(super) const HISTORY: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("history");

/// Numbers about the whole store.
pub(super) const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

/// In `META`: the format of everything in the file.
pub(super) const FORMAT: &str = "format";
/// In `META`: the newest transaction.
pub(super) const NEWEST: &str = "newest";
/// In `META`: history begins after this transaction.
pub(super) const OLDEST: &str = "oldest";

/// In `META`: how many entries there are.
pub(super) const COUNT: &str = "entries";
/// In `META`: the sum of their checksums.
pub(super) const CHECKSUMS: &str = "checksums";

/// The format that this version writes. `folder.rs` migrates older ones; newer ones are rejected.
pub(super) const FORMAT_NUMBER: u64 = 1;

/// Runs work on pages. redb asserts invariants of its own trees: a panic there means that the file is
/// damaged, and must not end the process.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    panic::catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::Damaged("pages contradict each other".to_owned())))
}

/// Converts all error types of redb.
pub(super) fn error(error: impl Into<redb::Error>) -> Error {
    match error.into() {
        redb::Error::DatabaseAlreadyOpen => Error::InUse,
        redb::Error::Io(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            Error::Damaged("the file is shorter than it says".to_owned())
        }
        redb::Error::Io(error) => error.into(),
        redb::Error::PreviousIo | redb::Error::TransactionPoisoned => Error::Failed,
        redb::Error::DatabaseClosed => Error::Closed,
        redb::Error::Corrupted(what) if what.contains("magic number") => Error::NotAStore,
        redb::Error::Corrupted(what) => Error::Damaged(what),
        redb::Error::UpgradeRequired(version) => Error::Damaged(format!(
            "pages have layout {version}, which jeton never writes"
        )),
        redb::Error::TableDoesNotExist(_)
        | redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableIsMultimap(_) => Error::NotAStore,
        other => Error::Damaged(other.to_string()),
    }
}
