//! What is kept, when it changed, and how a follower keeps up.

use std::collections::BTreeMap;
use std::fmt;

use crate::key::{Key, Prefix};

/// A moment in a store's life. Each transaction that changed something has one of its own, greater
/// than those before. Its number says nothing else: engines may leave gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(u64);

impl Revision {
    /// Before everything.
    pub const START: Revision = Revision(0);

    /// The moment with this number, which a store gave.
    pub const fn from_number(number: u64) -> Revision {
        Revision(number)
    }

    /// Its number, to be sent or written down.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A key, its value, and when it was last written.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is called.
    pub key: Key,
    /// What was written.
    pub value: Vec<u8>,
    /// The transaction that wrote it: what [`Condition::Unchanged`](crate::Condition::Unchanged)
    /// compares.
    pub changed: Revision,
}

impl fmt::Debug for Entry {
    /// Values may hold secrets: only their length is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("key", &self.key)
            .field("value_bytes", &self.value.len())
            .field("changed", &self.changed)
            .finish()
    }
}

/// One change, as a watch tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// An entry was written.
    Put(Entry),
    /// An entry is gone.
    Deleted(Key),
    /// All entries of a prefix are gone. What [`Txn::delete_prefix`](crate::Txn::delete_prefix)
    /// dropped is told like this, or as one [`Deleted`](Event::Deleted) for every entry that was
    /// there, as the engine can: a minute of revocations may be a million entries.
    DeletedPrefix(Prefix),
}

/// What a follower has seen: the entries of a prefix, kept up with a watch.
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
    /// Everything under the prefix, as it stands at one revision.
    ///
    /// # Errors
    ///
    /// As [`load`](crate::load()).
    pub async fn load(store: &dyn crate::Store, prefix: &Prefix) -> crate::Result<Mirror> {
        Ok(Mirror::load_and_watch(store, prefix).await?.0)
    }

    /// The same, and a watch that tells everything after that.
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

    /// Follows one update of a watch that began at [`revision`](Mirror::revision).
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

    /// The entries, in order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// How far it has followed.
    pub fn revision(&self) -> Revision {
        self.revision
    }
}
