//! Watches over an engine's own history: what the engines that run in this process share.
//!
//! A watch holds a position, not a queue. It looks for what came after its position whenever it is
//! woken, so a slow follower costs the store nothing and can lose nothing but its place in a history
//! that has moved on.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use crate::entry::{Event, Revision};
use crate::error::{Error, Problem, Result};
use crate::key::Prefix;
use crate::moment::Moment;
use crate::pending::Pending;
use crate::store::{Update, Watch};

/// A history that can be followed.
pub(crate) trait History: Send + Sync + 'static {
    /// The first transaction after that revision that touched the prefix, or the newest revision.
    fn after(&self, position: Revision, prefix: &Prefix) -> Result<Found>;

    /// Who waits for it.
    fn followers(&self) -> &Followers;
}

/// What a history has after a position.
pub(crate) struct Found {
    /// Nothing touched the prefix between the position and this revision.
    pub(crate) revision: Revision,
    /// What its transaction changed under the prefix, if it did.
    pub(crate) events: Vec<Event>,
    /// The newest revision of the store, whatever it touched.
    pub(crate) newest: Revision,
}

/// Those who wait for the next transaction.
#[derive(Debug, Default)]
pub(crate) struct Followers(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    wakers: Vec<Waker>,
    /// How often those who hear nothing were told that the store is there.
    beats: u64,
}

impl Followers {
    /// Something happened: everybody looks.
    pub(crate) fn wake(&self) {
        let wakers = std::mem::take(&mut self.lock().wakers);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Nothing happened for a while: everybody hears how far the store is.
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

/// A watch that begins after that revision.
pub(crate) fn watch<H: History>(
    history: &std::sync::Arc<H>,
    prefix: &Prefix,
    after: Revision,
) -> Result<Box<dyn Watch>> {
    // Looks once, so that a revision that is gone is an error here and not only later.
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

/// Does not keep the store open: a folder must be free once its store is dropped.
struct Position<H> {
    history: Weak<H>,
    prefix: Prefix,
    after: Revision,
    beats: u64,
    asked: Option<Asked>,
}

/// The store was asked at that moment, and was that far: what it acknowledged before is no newer.
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
        // Registered first: what happens between looking and waiting wakes it.
        history.followers().register(context.waker());
        let at = Moment::now();
        let found = match history.after(self.after, &self.prefix) {
            Ok(found) => found,
            Err(error) => return Poll::Ready(Err(error)),
        };
        // What did not concern the prefix need not be looked at again.
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

    /// The latest moment before which nothing was acknowledged that is yet to be told. A follower that is
    /// never the first to know, because others write all the time, is told of an earlier look that it has
    /// caught up with.
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

/// Those of the events that concern a prefix.
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
