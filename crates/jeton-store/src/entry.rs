//! Entries, and the events of a watch.

use std::fmt;

use crate::key::{Key, Prefix};
use crate::revision::Revision;

/// A key, its value, and the revision that wrote it.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// The value.
    pub value: Vec<u8>,
    /// The revision that wrote it. [`Condition::Unchanged`](crate::Condition::Unchanged) compares this.
    pub changed: Revision,
}

impl fmt::Debug for Entry {
    /// Shows only the length of the value: it may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("key", &self.key)
            .field("value_bytes", &self.value.len())
            .field("changed", &self.changed)
            .finish()
    }
}

/// A change that a watch reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// An entry was written.
    Put(Entry),
    /// An entry was deleted.
    Deleted(Key),
    /// All entries of a prefix were deleted by [`Txn::delete_prefix`](crate::Txn::delete_prefix). An engine
    /// reports this, or one [`Deleted`](Event::Deleted) per entry. A minute of revocations may have a
    /// million entries.
    DeletedPrefix(Prefix),
}
