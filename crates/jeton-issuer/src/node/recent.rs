//! Recent revocations in memory. All feeds read them, each from its own position.
//!
//! A slow feed costs the store and other feeds nothing. It loses its position when its next changes are no
//! longer kept.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use jeton_store::{Entry, Event, Moment, Revision, Update};

use crate::error::{Error, Result};
use crate::limits;
use crate::revocation::RevocationRule;

/// Revocations of recent transactions.
#[derive(Debug)]
pub(super) struct Recent(Mutex<State>);

#[derive(Debug)]
struct State {
    transactions: VecDeque<Transaction>,
    /// Bytes ever added. Positions use this count.
    end: u64,
    /// Bytes kept now.
    bytes: usize,
    /// Revision up to which the store was followed.
    revision: Revision,
    /// Moment up to which the store was followed.
    as_of: Moment,
    /// Number of reloads. Changes during a reload are not kept.
    loads: u64,
    /// Feeds with their wakers.
    feeds: HashMap<u64, Option<Waker>>,
    /// Number of feeds ever begun.
    begun: u64,
    is_closed: bool,
}

/// Revocations of one issuer in one transaction.
#[derive(Debug)]
struct Transaction {
    start: u64,
    revision: Revision,
    as_of: Option<Moment>,
    iss: Box<str>,
    revoked: Revoked,
}

/// Tokens, as hash and minute of expiry, and rules.
#[derive(Debug, Default)]
pub(super) struct Revoked {
    pub(super) tokens: Vec<(u128, u32)>,
    pub(super) rules: Vec<RevocationRule>,
}

/// Position of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    feed: u64,
    at: u64,
    loads: u64,
    pub(super) revision: Revision,
    pub(super) as_of: Moment,
}

impl Recent {
    pub(super) fn new(revision: Revision, as_of: Moment) -> Recent {
        Recent(Mutex::new(State {
            transactions: VecDeque::new(),
            end: 0,
            bytes: 0,
            revision,
            as_of,
            loads: 0,
            feeds: HashMap::new(),
            begun: 0,
            is_closed: false,
        }))
    }

    /// Returns the position of a new feed.
    pub(super) fn begin(&self) -> Position {
        let mut state = self.lock();
        state.begun += 1;
        let feed = state.begun;
        state.feeds.insert(feed, None);
        state.end(feed)
    }

    /// Removes a feed. Without feeds nothing is kept.
    pub(super) fn leave(&self, position: &Position) {
        let mut state = self.lock();
        let waker = state.feeds.remove(&position.feed);
        if state.feeds.is_empty() {
            state.forget();
        }
        drop(state);
        drop(waker);
    }

    /// Adds an update that the follower has just applied. No feed may begin in between.
    pub(super) fn add(&self, update: &Update) -> Result<()> {
        let has_feeds = !self.lock().feeds.is_empty();
        let revoked = if has_feeds {
            by_issuer(update)?
        } else {
            HashMap::new()
        };
        let mut state = self.lock();
        // The last feed may have ended.
        if !state.feeds.is_empty() {
            for (iss, revoked) in revoked {
                state.push(update, iss.into(), revoked);
            }
        }
        state.revision = state.revision.max(update.revision);
        if let Some(as_of) = update.as_of {
            state.as_of = state.as_of.max(as_of);
        }
        self.wake(state);
        Ok(())
    }

    /// Records a reload at that revision. Changes before it were not reported, so all feeds must begin
    /// again.
    pub(super) fn restart(&self, revision: Revision, as_of: Moment) {
        let mut state = self.lock();
        state.forget();
        state.loads += 1;
        state.revision = revision;
        state.as_of = state.as_of.max(as_of);
        self.wake(state);
    }

    /// Closes all feeds because the node has stopped.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        self.wake(state);
    }

    /// Returns the issuer's revocations after the position, about one message, and advances it. None: at
    /// the end. The waker is woken later.
    pub(super) fn next(
        &self,
        position: &mut Position,
        iss: &str,
        waker: &Waker,
    ) -> Result<Option<Revoked>> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(jeton_store::Error::Closed.into());
        }
        if position.loads != state.loads {
            let oldest = state.revision;
            return Err(jeton_store::Error::Compacted { oldest }.into());
        }
        let revoked = state.read(position, iss)?;
        if !revoked.is_empty() {
            return Ok(Some(revoked));
        }
        let replaced = state.feeds.insert(position.feed, Some(waker.clone()));
        // Waking may drop a feed, which needs the lock.
        drop(state);
        drop(replaced);
        Ok(None)
    }

    fn wake(&self, mut state: MutexGuard<'_, State>) {
        let wakers: Vec<Waker> = state.feeds.values_mut().filter_map(Option::take).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn end(&self, feed: u64) -> Position {
        Position {
            feed,
            at: self.end,
            loads: self.loads,
            revision: self.revision,
            as_of: self.as_of,
        }
    }

    fn push(&mut self, update: &Update, iss: Box<str>, revoked: Revoked) {
        let transaction = Transaction {
            start: self.end,
            revision: update.revision,
            as_of: update.as_of,
            iss,
            revoked,
        };
        let bytes = transaction.bytes();
        self.end += bytes as u64;
        self.bytes += bytes;
        self.transactions.push_back(transaction);
        while self.bytes > limits::FEED_HISTORY_BYTES {
            let Some(oldest) = self.transactions.pop_front() else {
                break;
            };
            self.bytes -= oldest.bytes();
        }
    }

    fn forget(&mut self) {
        self.transactions = VecDeque::new();
        self.bytes = 0;
    }

    fn read(&self, position: &mut Position, iss: &str) -> Result<Revoked> {
        let behind = self.end.saturating_sub(position.at);
        if behind > self.bytes as u64 {
            return Err(Error::FellBehind {
                bytes: behind,
                limit: limits::FEED_HISTORY_BYTES,
            });
        }
        let mut revoked = Revoked::default();
        let mut bytes = 0;
        let first = (self.transactions).partition_point(|one| one.start < position.at);
        for one in self.transactions.range(first..) {
            if bytes >= limits::FEED_MESSAGE_BYTES {
                return Ok(revoked);
            }
            position.at = one.start + one.bytes() as u64;
            position.revision = one.revision;
            position.as_of = one
                .as_of
                .map_or(position.as_of, |at| at.max(position.as_of));
            if *one.iss == *iss {
                bytes += one.revoked.bytes();
                revoked.tokens.extend(&one.revoked.tokens);
                revoked.rules.extend(one.revoked.rules.iter().cloned());
            }
        }
        *position = self.end(position.feed);
        Ok(revoked)
    }
}

impl Transaction {
    fn bytes(&self) -> usize {
        size_of::<Transaction>() + self.iss.len() + self.revoked.bytes()
    }
}

impl Revoked {
    pub(super) fn is_empty(&self) -> bool {
        self.tokens.is_empty() && self.rules.is_empty()
    }

    /// Returns the size in memory.
    fn bytes(&self) -> usize {
        let rules = self.rules.iter().map(RevocationRule::bytes);
        self.tokens.len() * size_of::<(u128, u32)>() + rules.sum::<usize>()
    }
}

/// Returns the revocations of an update by issuer. Deletions are of expired ones, which readers detect
/// themselves.
fn by_issuer(update: &Update) -> Result<HashMap<String, Revoked>> {
    let mut revoked: HashMap<String, Revoked> = HashMap::new();
    for event in &update.events {
        let Event::Put(entry) = event else { continue };
        let parts: Vec<String> = entry.key.parts().collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["r", iss, minute, hash] => {
                let token = token(entry, minute, hash)?;
                let of_issuer = revoked.entry((*iss).to_owned()).or_default();
                of_issuer.tokens.push(token);
            }
            ["rule", iss, _, _] => {
                let rule = RevocationRule::read(entry)?;
                let of_issuer = revoked.entry((*iss).to_owned()).or_default();
                of_issuer.rules.push(rule);
            }
            _ => {}
        }
    }
    for of_issuer in revoked.values_mut() {
        of_issuer.tokens.shrink_to_fit();
        of_issuer.rules.shrink_to_fit();
    }
    Ok(revoked)
}

fn token(entry: &Entry, minute: &str, hash: &str) -> Result<(u128, u32)> {
    match (minute.parse(), u128::from_str_radix(hash, 16)) {
        (Ok(minute), Ok(hash)) => Ok((hash, minute)),
        _ => Err(Error::Record(entry.key.to_string())),
    }
}
