//! What is in the file, and how redb's errors read in ours.

use std::panic::{self, AssertUnwindSafe};

use redb::TableDefinition;

use crate::error::{Error, Result};

/// A key's bytes, and its value as `changes::value_record` writes it.
pub(super) const ENTRIES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("entries");

/// A revision, and what its transaction changed, as `changes::history_record` writes it.
pub(super) const HISTORY: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("history");

/// Numbers about the whole.
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

/// The format that this version writes. An older one is migrated in `folder.rs`, a newer one refused.
pub(super) const FORMAT_NUMBER: u64 = 1;

/// Runs what reads or writes pages. redb asserts what holds of every tree that it wrote itself: a
/// panic down there means that the file is damaged, and must not take the process with it.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    panic::catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::Damaged("its pages contradict each other".to_owned())))
}

/// redb's many error types are all parts of this one.
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
            "its pages have layout {version}, which no jeton has written"
        )),
        redb::Error::TableDoesNotExist(_)
        | redb::Error::TableTypeMismatch { .. }
        | redb::Error::TableIsMultimap(_) => Error::NotAStore,
        other => Error::Damaged(other.to_string()),
    }
}
