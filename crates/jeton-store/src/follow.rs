//! Watches over the history of an engine in this process.
//!
//! A watch holds a position, not a queue. When it is woken it reads what came after its position. So a slow
//! follower costs the store no memory. It only loses its position when the history is trimmed.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use crate::entry::Event;
use crate::error::{Error, Problem, Result};
use crate::key::Prefix;
use crate::moment::Moment;
use crate::pending::Pending;
use crate::revision::Revision;
use crate::store::{Update, Watch};

/// A history that watches can read.
pub(crate) trait History: Send + Sync + 'static {
    /// Returns the first transaction after that revision that touched the prefix, or the newest revision.
    fn after(&self, position: Revision, prefix: &Prefix) -> Result<Found>;

    /// Returns the waiting watches.
    fn followers(&self) -> &Followers;
}

/// The part of a history after a position.
pub(crate) struct Found {
    /// No transaction between the position and this revision touched the prefix.
    pub(crate) revision: Revision,
    /// The changes of its transaction under the prefix, if there are any.
    pub(crate) events: Vec<Event>,
    /// The newest revision of the store, on any key.
    pub(crate) newest: Revision,
}

/// Watches that wait for the next transaction.
#[derive(Debug, Default)]
pub(crate) struct Followers(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    wakers: Vec<Waker>,
    /// How many progress reports idle watches were sent.
    beats: u64,
}

impl Followers {
    /// Wakes all watches because something changed.
    pub(crate) fn wake(&self) {
        let wakers = std::mem::take(&mut self.lock().wakers);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Wakes all watches to report progress.
    pub(crate) fn beat(&self) {
        self.lock().beats += 1;
        self.wake();
    }

    fn beats(&self) -> u64 {
        self.lock().beats
    }

    fn register(&self, waker: &Waker) {
        let mut waiting = self.lock();
        if !waiting.wakers.iter().any(|known| known.will_wake(waker)) {
            waiting.wakers.push(waker.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins a watch after that revision.
pub(crate) fn watch<H: History>(
    history: &std::sync::Arc<H>,
    prefix: &Prefix,
    after: Revision,
) -> Result<Box<dyn Watch>> {
    // Reads once, so that a trimmed revision is an error now and not only later.
    let seen = history.after(after, prefix)?;
    if seen.revision < after {
        return Err(Problem::FutureRevision.into());
    }
    Ok(Box::new(Position {
        history: std::sync::Arc::downgrade(history),
        prefix: prefix.clone(),
        after,
        beats: history.followers().beats(),
        asked: None,
    }))
}

/// Holds no strong reference: the folder must be free once its store is dropped.
struct Position<H> {
    history: Weak<H>,
    prefix: Prefix,
    after: Revision,
    beats: u64,
    asked: Option<Asked>,
}

/// The store was asked at that moment and had that revision. What it acknowledged before is not newer.
#[derive(Clone, Copy)]
struct Asked {
    at: Moment,
    newest: Revision,
}

impl<H: History> Watch for Position<H> {
    fn next(&mut self) -> Pending<'_, Update> {
        Box::pin(poll_fn(|context| self.poll(context)))
    }
}

impl<H: History> Position<H> {
    fn poll(&mut self, context: &Context<'_>) -> Poll<Result<Update>> {
        let Some(history) = self.history.upgrade() else {
            return Poll::Ready(Err(Error::Closed));
        };
        // Registers before reading, so that no change in between is missed.
        history.followers().register(context.waker());
        let at = Moment::now();
        let found = match history.after(self.after, &self.prefix) {
            Ok(found) => found,
            Err(error) => return Poll::Ready(Err(error)),
        };
        if found.newest < self.after {
            return Poll::Ready(Err(Problem::FutureRevision.into()));
        }
        // Skips what does not concern the prefix.
        self.after = self.after.max(found.revision);
        let newest = found.newest;
        let as_of = self.as_of(Asked { at, newest });
        let beats = history.followers().beats();
        if found.events.is_empty() && beats == self.beats {
            return Poll::Pending;
        }
        self.beats = beats;
        Poll::Ready(Ok(Update {
            revision: found.revision,
            events: found.events,
            as_of,
        }))
    }

    /// Returns the latest moment before which every acknowledged change has been reported. While others
    /// write continuously, a follower never has the newest revision. It then gets the moment of an earlier
    /// question that it has caught up with.
    fn as_of(&mut self, now: Asked) -> Option<Moment> {
        if self.after >= now.newest {
            self.asked = None;
            return Some(now.at);
        }
        let asked = *self.asked.get_or_insert(now);
        if self.after < asked.newest {
            return None;
        }
        self.asked = Some(now);
        Some(asked.at)
    }
}

/// Returns the events that concern a prefix.
pub(crate) fn under(prefix: &Prefix, events: &[Event]) -> Vec<Event> {
    let touched = |event: &&Event| match event {
        Event::Put(entry) => entry.key.is_under(prefix),
        Event::Deleted(key) => key.is_under(prefix),
        Event::DeletedPrefix(gone) => {
            gone.as_str().starts_with(prefix.as_str()) || prefix.as_str().starts_with(gone.as_str())
        }
    };
    events.iter().filter(touched).cloned().collect()
}
