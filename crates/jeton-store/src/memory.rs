//! A store in memory, for the tests of other crates.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::entry::{Entry, Event};
use crate::error::{Error, Problem, Result};
use crate::follow::{self, Followers, Found, History};
use crate::key::{Key, Prefix};
use crate::limits;
use crate::pending::{Pending, ready};
use crate::revision::Revision;
use crate::store::{Outcome, Pages, Read, Status, Store, Watch};
use crate::txn::{Condition, Operation, Txn};

/// A store in memory: its data is lost when it is dropped. It passes the conformance suite except for
/// durability. For tests only.
///
/// ```
/// use jeton_store::{Key, MemoryStore, Store, Txn, block_on};
///
/// let store = MemoryStore::new();
/// block_on(store.commit(Txn::new().put(Key::of(["a"])?, "1")))?;
/// # Ok::<(), jeton_store::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct MemoryStore(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    followers: Followers,
}

#[derive(Debug, Clone)]
struct State {
    entries: BTreeMap<Key, Entry>,
    history: VecDeque<(Revision, Vec<Event>)>,
    newest: Revision,
    oldest: Revision,
}

struct Snapshot {
    revision: Revision,
    entries: std::vec::IntoIter<Entry>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        MemoryStore::new()
    }
}

impl MemoryStore {
    /// Creates an empty store. Clones share it.
    pub fn new() -> MemoryStore {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                entries: BTreeMap::new(),
                history: VecDeque::new(),
                newest: Revision::START,
                oldest: Revision::START,
            }),
            followers: Followers::default(),
        });
        let beating = Arc::downgrade(&shared);
        thread::spawn(move || {
            loop {
                thread::sleep(limits::PROGRESS_EVERY);
                let Some(shared) = beating.upgrade() else {
                    break;
                };
                shared.followers.beat();
            }
        });
        MemoryStore(shared)
    }

    /// Copies the store at this moment, like a snapshot of a volume.
    pub fn copy(&self) -> MemoryStore {
        let copy = MemoryStore::new();
        *copy.state() = self.state().clone();
        copy
    }

    /// Restores the store from such a copy while it is in use: it goes back.
    pub fn go_back_to(&self, copy: &MemoryStore) {
        let before = copy.state().clone();
        *self.state() = before;
        self.0.followers.wake();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state()
    }

    fn snapshot(&self, is_in: impl Fn(&Key) -> bool) -> Box<dyn Pages> {
        let state = self.state();
        let entries = state.entries.values().filter(|entry| is_in(&entry.key));
        Box::new(Snapshot {
            revision: state.newest,
            entries: entries.cloned().collect::<Vec<_>>().into_iter(),
        })
    }
}

impl Store for MemoryStore {
    fn read(&self, keys: &[Key]) -> Pending<'_, Read> {
        if keys.len() > limits::READ_KEYS {
            return ready(Err(Problem::TooManyKeys.into()));
        }
        let state = self.state();
        ready(Ok(Read {
            revision: state.newest,
            entries: keys
                .iter()
                .map(|key| state.entries.get(key).cloned())
                .collect(),
        }))
    }

    fn scan(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>> {
        ready(Ok(self.snapshot(|key| key.is_under(prefix))))
    }

    fn scan_after(&self, prefix: &Prefix, _is_pinned: bool) -> Pending<'_, Box<dyn Pages>> {
        let from = prefix.end();
        ready(Ok(self.snapshot(|key| key.as_str() >= from.as_str())))
    }

    fn commit(&self, txn: Txn) -> Pending<'_, Outcome> {
        let outcome = txn.check().map(|()| self.state().commit(txn));
        if matches!(outcome, Ok(Outcome::Committed(_))) {
            self.0.followers.wake();
        }
        ready(outcome)
    }

    fn watch(&self, prefix: &Prefix, after: Revision) -> Pending<'_, Box<dyn Watch>> {
        ready(follow::watch(&self.0, prefix, after))
    }

    fn status(&self) -> Pending<'_, Status> {
        let state = self.state();
        ready(Ok(Status {
            engine: "memory",
            revision: state.newest,
            oldest: state.oldest,
            bytes: None,
        }))
    }
}

impl Pages for Snapshot {
    fn revision(&self) -> Revision {
        self.revision
    }

    fn next(&mut self) -> Pending<'_, Option<Vec<Entry>>> {
        let page: Vec<Entry> = self.entries.by_ref().take(limits::PAGE_ENTRIES).collect();
        ready(Ok((!page.is_empty()).then_some(page)))
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl History for Shared {
    fn after(&self, position: Revision, prefix: &Prefix) -> Result<Found> {
        let state = self.state();
        if position < state.oldest {
            return Err(Error::Compacted {
                oldest: state.oldest,
            });
        }
        let from = state
            .history
            .partition_point(|(revision, _)| *revision <= position);
        for (revision, events) in state.history.range(from..) {
            let events = follow::under(prefix, events);
            if !events.is_empty() {
                return Ok(Found {
                    revision: *revision,
                    events,
                    newest: state.newest,
                });
            }
        }
        Ok(Found {
            revision: state.newest,
            events: Vec::new(),
            newest: state.newest,
        })
    }

    fn followers(&self) -> &Followers {
        &self.followers
    }
}

impl State {
    fn commit(&mut self, txn: Txn) -> Outcome {
        if !txn
            .conditions()
            .iter()
            .all(|(key, condition)| self.holds(key, *condition))
        {
            return Outcome::Conflict(self.newest);
        }
        let revision = Revision::from_number(self.newest.number() + 1);
        let mut events = Vec::new();
        for operation in txn.operations() {
            events.extend(self.change(operation, revision));
        }
        if !events.is_empty() {
            self.newest = revision;
            self.history.push_back((revision, events));
        }
        while self.history.len() as u64 > limits::HISTORY_COMMITS {
            if let Some((gone, _)) = self.history.pop_front() {
                self.oldest = gone;
            }
        }
        Outcome::Committed(self.newest)
    }

    fn holds(&self, key: &Key, condition: Condition) -> bool {
        let changed = self.entries.get(key).map(|entry| entry.changed);
        match condition {
            Condition::Absent => changed.is_none(),
            Condition::Present => changed.is_some(),
            Condition::Unchanged(since) => changed == Some(since),
        }
    }

    fn change(&mut self, operation: &Operation, revision: Revision) -> Option<Event> {
        match operation {
            Operation::Put(key, value) => {
                let entry = Entry {
                    key: key.clone(),
                    value: value.clone(),
                    changed: revision,
                };
                self.entries.insert(key.clone(), entry.clone());
                Some(Event::Put(entry))
            }
            Operation::Delete(key) => self
                .entries
                .remove(key)
                .map(|entry| Event::Deleted(entry.key)),
            Operation::DeletePrefix(prefix) => {
                // The smallest matching key is not shorter than the first byte range of the prefix.
                let start = Key::parse(prefix.as_str().trim_end_matches('/')).ok();
                let from = start.map_or(Bound::Unbounded, Bound::Excluded);
                let gone: Vec<Key> = self
                    .entries
                    .range((from, Bound::Unbounded))
                    .map(|(key, _)| key)
                    .filter(|key| key.is_under(prefix))
                    .cloned()
                    .collect();
                gone.iter().for_each(|key| {
                    self.entries.remove(key);
                });
                (!gone.is_empty()).then(|| Event::DeletedPrefix(prefix.clone()))
            }
        }
    }
}
