//! Loads a prefix while it changes, and watches it from there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

use crate::entry::{Entry, Event};
use crate::error::{Error, Result};
use crate::key::{Key, Prefix};
use crate::limits;
use crate::moment::Moment;
use crate::pending::Pending;
use crate::revision::Revision;
use crate::store::{Pages, Store, Update, Watch};

/// Approximate memory of a change beside its keys and value, bytes.
const CHANGE_BYTES: usize = 128;

/// The result of [`load`].
pub struct Loaded {
    /// Changes while the pages were read, as one update. Only with it does the loaded data equal the state
    /// of the store at its revision. Its `as_of` is after the load began.
    pub changes: Update,
    /// Reports everything after that.
    pub watch: Box<dyn Watch>,
}

/// Loads everything under a prefix, page by page, and watches it from there without gaps.
///
/// Loading may take longer than the history of the store. So a watch runs from the second page on, and
/// pages may show different revisions ([`scan_unpinned`](Store::scan_unpinned)). They may contradict each
/// other until [`Loaded::changes`] is applied.
///
/// `take` receives the pages. While it works, the watch is not polled: per page it may take as long as
/// [`limits::HISTORY_COMMITS`] commits.
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
/// Those of [`Store::scan`] and [`Watch::next`]. [`Error::Compacted`] if the store writes faster than the
/// caller reads, and [`Error::ChangedTooMuch`] beyond [`limits::LOADING_BYTES`] of changes: load again.
/// Errors of `take` end the load.
pub async fn load<E: From<Error>>(
    store: &dyn Store,
    prefix: &Prefix,
    take: impl FnMut(Vec<Entry>) -> Result<(), E>,
) -> Result<Loaded, E> {
    let asked = Moment::now();
    let pages = store.scan_unpinned(prefix);
    load_pages(store, pages, asked, prefix, take).await
}

/// Loads everything whose keys come after those of a prefix, as [`load`] does. The watch and the changes are
/// those of all keys.
///
/// # Errors
///
/// As [`load`].
pub async fn load_after<E: From<Error>>(
    store: &dyn Store,
    prefix: &Prefix,
    take: impl FnMut(Vec<Entry>) -> Result<(), E>,
) -> Result<Loaded, E> {
    let asked = Moment::now();
    let pages = store.scan_after(prefix, false);
    load_pages(store, pages, asked, &Prefix::all(), take).await
}

async fn load_pages<E: From<Error>>(
    store: &dyn Store,
    pages: Pending<'_, Box<dyn Pages>>,
    asked: Moment,
    prefix: &Prefix,
    mut take: impl FnMut(Vec<Entry>) -> Result<(), E>,
) -> Result<Loaded, E> {
    let mut pages = pages.await?;
    let mut meanwhile = Meanwhile {
        watch: store.watch(prefix, pages.revision()).await?,
        reported: pages.revision(),
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

/// Collects updates of a watch while pages are read.
struct Meanwhile {
    watch: Box<dyn Watch>,
    reported: Revision,
    as_of: Moment,
    changes: Changes,
}

impl Meanwhile {
    /// Takes the updates that are ready, without waiting.
    fn hear(&mut self, context: &mut Context<'_>) -> Result<()> {
        // Bounded: others may write faster than this reads.
        for _ in 0..limits::HISTORY_COMMITS {
            let reported = self.watch.next().as_mut().poll(context);
            match reported {
                Poll::Ready(Ok(update)) => self.add(update)?,
                // `up_to` gets the error again.
                Poll::Ready(Err(Error::Io(..))) | Poll::Pending => break,
                Poll::Ready(Err(error)) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until everything up to that revision has been reported.
    async fn up_to(mut self, revision: Revision) -> Result<Loaded> {
        poll_fn(|context| Poll::Ready(self.hear(context))).await?;
        while self.reported < revision {
            let update = self.watch.next().await?;
            self.add(update)?;
        }
        Ok(Loaded {
            changes: Update {
                revision: self.reported,
                events: self.changes.into_events(),
                as_of: Some(self.as_of),
            },
            watch: self.watch,
        })
    }

    fn add(&mut self, update: Update) -> Result<()> {
        self.reported = self.reported.max(update.revision);
        self.as_of = self.as_of.max(update.as_of.unwrap_or(self.as_of));
        update
            .events
            .into_iter()
            .try_for_each(|event| self.changes.add(event))
    }
}

/// The last change of each changed key.
#[derive(Default)]
struct Changes {
    /// Deleted prefixes.
    prefixes: BTreeSet<Prefix>,
    /// Changed after the prefixes above them were deleted.
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
    // An entry contains the key again.
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
