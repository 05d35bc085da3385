//! Entries, revisions and events, and a copy of a prefix that follows a watch.

use std::collections::BTreeMap;
use std::fmt;

use crate::key::{Key, Prefix};

/// A revision of a store. Each transaction that changed something has its own, greater than those before.
/// The number has no other meaning: engines may leave gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(u64);

impl Revision {
    /// The revision before the first transaction.
    pub const START: Revision = Revision(0);

    /// Creates the revision with this number, which a store returned earlier.
    pub const fn from_number(number: u64) -> Revision {
        Revision(number)
    }

    /// Returns the number, for example to send or store it.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

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

/// A copy of the entries of a prefix, kept up to date by a watch.
///
/// ```
/// use jeton_store::{Key, MemoryStore, Mirror, Prefix, Store, Txn, block_on};
///
/// let store = MemoryStore::new();
/// let key = Key::of(["r", "1"])?;
/// block_on(store.commit(Txn::new().put(key.clone(), "x")))?;
///
/// let mirror = block_on(Mirror::load(&store, &Prefix::of(["r"])?))?;
/// assert_eq!(mirror.entries().count(), 1);
/// # Ok::<(), jeton_store::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mirror {
    entries: BTreeMap<Key, Entry>,
    revision: Revision,
}

impl Mirror {
    /// Loads everything under the prefix at one revision.
    ///
    /// # Errors
    ///
    /// As [`load`](crate::load()).
    pub async fn load(store: &dyn crate::Store, prefix: &Prefix) -> crate::Result<Mirror> {
        Ok(Mirror::load_and_watch(store, prefix).await?.0)
    }

    /// Loads the prefix and returns a watch that reports everything after it.
    ///
    /// # Errors
    ///
    /// As [`load`](crate::load()).
    pub async fn load_and_watch(
        store: &dyn crate::Store,
        prefix: &Prefix,
    ) -> crate::Result<(Mirror, Box<dyn crate::Watch>)> {
        let mut mirror = Mirror::default();
        let loaded = crate::load(store, prefix, |page| {
            let keyed = page.into_iter().map(|entry| (entry.key.clone(), entry));
            mirror.entries.extend(keyed);
            Ok::<_, crate::Error>(())
        });
        let crate::Loaded { changes, watch } = loaded.await?;
        mirror.follow(&changes);
        Ok((mirror, watch))
    }

    /// Applies one update of a watch that began at [`revision`](Mirror::revision).
    pub fn follow(&mut self, update: &crate::Update) {
        for event in &update.events {
            match event {
                Event::Put(entry) => {
                    self.entries.insert(entry.key.clone(), entry.clone());
                }
                Event::Deleted(key) => {
                    self.entries.remove(key);
                }
                Event::DeletedPrefix(prefix) => self.entries.retain(|key, _| !key.is_under(prefix)),
            }
        }
        self.revision = self.revision.max(update.revision);
    }

    /// Returns the entries in key order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// Returns the revision of the copy.
    pub fn revision(&self) -> Revision {
        self.revision
    }
}
