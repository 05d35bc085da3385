//! Loading a prefix that goes on changing, so that it can be followed from there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

use crate::entry::{Entry, Event, Revision};
use crate::error::{Error, Result};
use crate::key::{Key, Prefix};
use crate::limits;
use crate::moment::Moment;
use crate::store::{Store, Update, Watch};

/// What a change takes in memory beside its keys and value, bytes, about.
const CHANGE_BYTES: usize = 128;

/// What [`load`] ends with.
pub struct Loaded {
    /// What happened while the pages were read, as one update: with it, and not before, what was loaded is
    /// what the store held at its revision. It is as of a moment after the load began.
    pub changes: Update,
    /// Tells everything after that.
    pub watch: Box<dyn Watch>,
}

/// Loads everything under a prefix, page by page, and follows it from there without a gap.
///
/// Loading may take longer than the store remembers: a watch runs from before the second page on, and pages
/// may show different revisions ([`scan_unpinned`](Store::scan_unpinned)). So they may contradict each other
/// until [`Loaded::changes`] is applied.
///
/// `take` is given the pages. While it works nothing is heard of the store: with a page it may take as long as
/// [`limits::HISTORY_COMMITS`] commits do.
///
/// ```
/// use jeton_store::{Key, MemoryStore, Prefix, Store, Txn, block_on, load};
///
/// let store = MemoryStore::new();
/// block_on(store.commit(Txn::new().put(Key::of(["r", "1"])?, "x")))?;
///
/// let mut entries = Vec::new();
/// let loaded = block_on(load(&store, &Prefix::all(), |page| {
///     entries.extend(page);
///     Ok::<_, jeton_store::Error>(())
/// }))?;
/// assert_eq!(entries.len(), 1);
/// assert!(loaded.changes.events.is_empty());
/// # Ok::<(), jeton_store::Error>(())
/// ```
///
/// # Errors
///
/// Those of [`Store::scan`] and [`Watch::next`]. [`Error::Compacted`] only if the store was faster than who
/// follows, [`Error::ChangedTooMuch`] beyond [`limits::LOADING_BYTES`] of changes: load again. And those of
/// `take`, which end it.
pub async fn load<E: From<Error>>(
    store: &dyn Store,
    prefix: &Prefix,
    mut take: impl FnMut(Vec<Entry>) -> Result<(), E>,
) -> Result<Loaded, E> {
    let asked = Moment::now();
    let mut pages = store.scan_unpinned(prefix).await?;
    let mut meanwhile = Meanwhile {
        watch: store.watch(prefix, pages.revision()).await?,
        told: pages.revision(),
        as_of: asked,
        changes: Changes::default(),
    };
    loop {
        let page = {
            let mut page = pages.next();
            poll_fn(|context| match meanwhile.hear(context) {
                Ok(()) => page.as_mut().poll(context),
                Err(error) => Poll::Ready(Err(error)),
            })
            .await?
        };
        match page {
            Some(page) => take(page)?,
            None => break,
        }
    }
    Ok(meanwhile.up_to(pages.revision()).await?)
}

/// What a watch tells while something else is read.
struct Meanwhile {
    watch: Box<dyn Watch>,
    told: Revision,
    as_of: Moment,
    changes: Changes,
}

impl Meanwhile {
    /// Takes what the watch has to tell, and waits for no more.
    fn hear(&mut self, context: &mut Context<'_>) -> Result<()> {
        // No more than was there when this began: others may write faster than this reads.
        for _ in 0..limits::HISTORY_COMMITS {
            let told = self.watch.next().as_mut().poll(context);
            match told {
                Poll::Ready(Ok(update)) => self.add(update)?,
                // Whoever waits for it in the end is told again.
                Poll::Ready(Err(Error::Io(..))) | Poll::Pending => break,
                Poll::Ready(Err(error)) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until everything up to that revision has been told.
    async fn up_to(mut self, revision: Revision) -> Result<Loaded> {
        poll_fn(|context| Poll::Ready(self.hear(context))).await?;
        while self.told < revision {
            let update = self.watch.next().await?;
            self.add(update)?;
        }
        Ok(Loaded {
            changes: Update {
                revision: self.told,
                events: self.changes.into_events(),
                as_of: Some(self.as_of),
            },
            watch: self.watch,
        })
    }

    fn add(&mut self, update: Update) -> Result<()> {
        self.told = self.told.max(update.revision);
        self.as_of = self.as_of.max(update.as_of.unwrap_or(self.as_of));
        update
            .events
            .into_iter()
            .try_for_each(|event| self.changes.add(event))
    }
}

/// What became of each key that was changed: the last of its changes is enough.
#[derive(Default)]
struct Changes {
    /// Each with whatever was below it before.
    prefixes: BTreeSet<Prefix>,
    /// Changed after the prefixes that they are under were deleted.
    keys: BTreeMap<Key, Option<Entry>>,
    bytes: usize,
}

impl Changes {
    fn add(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Put(entry) => self.set(entry.key.clone(), Some(entry)),
            Event::Deleted(key) => self.set(key, None),
            Event::DeletedPrefix(prefix) => {
                let bytes = &mut self.bytes;
                self.keys.retain(|key, change| {
                    let is_gone = key.is_under(&prefix);
                    if is_gone {
                        *bytes -= size(key, change.as_ref());
                    }
                    !is_gone
                });
                let added = prefix.as_str().len() + CHANGE_BYTES;
                if self.prefixes.insert(prefix) {
                    self.bytes += added;
                }
            }
        }
        match self.bytes {
            bytes if bytes > limits::LOADING_BYTES => Err(Error::ChangedTooMuch { bytes }),
            _ => Ok(()),
        }
    }

    fn set(&mut self, key: Key, change: Option<Entry>) {
        self.bytes += size(&key, change.as_ref());
        if let Some(before) = self.keys.get(&key) {
            self.bytes -= size(&key, before.as_ref());
        }
        self.keys.insert(key, change);
    }

    fn into_events(self) -> Vec<Event> {
        let prefixes = self.prefixes.into_iter().map(Event::DeletedPrefix);
        let keys = self.keys.into_iter().map(|(key, change)| match change {
            Some(entry) => Event::Put(entry),
            None => Event::Deleted(key),
        });
        prefixes.chain(keys).collect()
    }
}

fn size(key: &Key, change: Option<&Entry>) -> usize {
    // An entry has the key again.
    let entry = change.map_or(0, |entry| entry.key.as_str().len() + entry.value.len());
    key.as_str().len() + entry + CHANGE_BYTES
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded")
            .field("changes", &self.changes)
            .finish_non_exhaustive()
    }
}
