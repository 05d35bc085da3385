use std::collections::BTreeMap;

use crate::entry::{Entry, Event};
use crate::error::{Error, Result};
use crate::key::{Key, Prefix};
use crate::load::{Loaded, load};
use crate::revision::Revision;
use crate::store::{Store, Update, Watch};

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
    pub async fn load(store: &dyn Store, prefix: &Prefix) -> Result<Mirror> {
        Ok(Mirror::load_and_watch(store, prefix).await?.0)
    }

    /// Loads the prefix and returns a watch that reports everything after it.
    ///
    /// # Errors
    ///
    /// As [`load`](crate::load()).
    pub async fn load_and_watch(
        store: &dyn Store,
        prefix: &Prefix,
    ) -> Result<(Mirror, Box<dyn Watch>)> {
        let mut mirror = Mirror::default();
        let loaded = load(store, prefix, |page| {
            let keyed = page.into_iter().map(|entry| (entry.key.clone(), entry));
            mirror.entries.extend(keyed);
            Ok::<_, Error>(())
        });
        let Loaded { changes, watch } = loaded.await?;
        mirror.follow(&changes);
        Ok((mirror, watch))
    }

    /// Applies one update of a watch that began at [`revision`](Mirror::revision).
    pub fn follow(&mut self, update: &Update) {
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
