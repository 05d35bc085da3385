//! Recent revocations in memory. All feeds read them, each from its own position.
//!
//! A slow feed costs the store and other feeds nothing. It loses its position when its next changes are no
//! longer kept. They are kept without feeds too: a reader that has lost its connection resumes, also at another node.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use jeton_store::{Entry, Event, Moment, Revision, Update};

use crate::error::{Error, Result};
use crate::limits;
use crate::revocation::{RevocationRule, text_hash};

/// Bytes of an encoded [`ResumeToken`].
const TOKEN_BYTES: usize = 24;

/// A position in the history of a store, for a reader that loses its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResumeToken {
    revision: Revision,
    mark: Mark,
}

impl ResumeToken {
    /// Encodes the token.
    pub fn to_bytes(self) -> [u8; TOKEN_BYTES] {
        let mut bytes = [0; TOKEN_BYTES];
        let numbers = [self.revision.number(), self.mark.revision, self.mark.digest];
        for (into, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            into.copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    /// Decodes a token.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`].
    pub fn from_bytes(bytes: &[u8]) -> Result<ResumeToken> {
        if bytes.len() != TOKEN_BYTES {
            let what = format!("has {} bytes, must have {TOKEN_BYTES}", bytes.len());
            return Err(Error::rule("resume_token", what));
        }
        let mut numbers = bytes.chunks_exact(8).map(|number| {
            let number = number.first_chunk().copied().unwrap_or_default();
            u64::from_be_bytes(number)
        });
        let mut next = || numbers.next().unwrap_or_default();
        Ok(ResumeToken {
            revision: Revision::from_number(next()),
            mark: Mark {
                revision: next(),
                digest: next(),
            },
        })
    }
}

impl Position {
    /// Returns the position for another feed.
    pub(super) fn resume_token(&self) -> ResumeToken {
        ResumeToken {
            revision: self.revision,
            mark: self.mark,
        }
    }
}

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
    /// Changes after this revision are kept.
    oldest: Revision,
    /// The newest transaction with revocations up to `oldest`.
    base: Mark,
    /// The newest transaction with revocations.
    newest: Mark,
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
    mark: Mark,
    iss: Box<str>,
    revoked: Revoked,
}

/// A transaction with revocations, of any issuer: its revision, and a digest of the records that it wrote. Two histories
/// with different revocations have different marks at the same revision. Default: no transaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark {
    revision: u64,
    /// The highest hash of a key, so that order and repetition do not matter.
    digest: u64,
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
    /// The newest transaction with revocations up to this position.
    mark: Mark,
}

impl Mark {
    /// Takes in a record. Other records than revocations are ignored.
    pub(super) fn see(&mut self, entry: &Entry) {
        let (key, revision) = (entry.key.as_str(), entry.changed.number());
        let is_revocation = key.starts_with("/r/") || key.starts_with("/rule/");
        if !is_revocation || revision < self.revision {
            return;
        }
        let digest = text_hash(key);
        *self = Mark { revision, digest }.max(*self);
    }
}

impl Recent {
    /// `newest`: the newest transaction with revocations up to that revision.
    pub(super) fn new(revision: Revision, as_of: Moment, newest: Mark) -> Recent {
        Recent(Mutex::new(State {
            transactions: VecDeque::new(),
            end: 0,
            bytes: 0,
            revision,
            as_of,
            loads: 0,
            oldest: revision,
            base: newest,
            newest,
            feeds: HashMap::new(),
            begun: 0,
            is_closed: false,
        }))
    }

    /// Returns the position of a new feed.
    pub(super) fn begin(&self) -> Position {
        self.lock().begin()
    }

    /// Returns the position of a feed that continues after a token of an earlier one, of this node or of another node
    /// on the same store, and the newest revision.
    pub(super) fn resume(&self, token: &ResumeToken) -> Result<(Position, Revision)> {
        let mut state = self.lock();
        let at = state.find(token)?;
        let newest = state.begin();
        let position = Position {
            at,
            revision: token.revision,
            mark: token.mark,
            ..newest
        };
        Ok((position, newest.revision))
    }

    /// Removes a feed.
    pub(super) fn leave(&self, position: &Position) {
        let waker = self.lock().feeds.remove(&position.feed);
        drop(waker);
    }

    /// Adds an update that the follower has just applied. No feed may begin in between.
    pub(super) fn add(&self, update: &Update) -> Result<()> {
        let (revoked, mark) = by_issuer(update)?;
        let mut state = self.lock();
        state.newest = state.newest.max(mark);
        for (iss, revoked) in revoked {
            state.push(update, mark, iss.into(), revoked);
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
    pub(super) fn restart(&self, revision: Revision, as_of: Moment, newest: Mark) {
        let mut state = self.lock();
        state.transactions = VecDeque::new();
        state.bytes = 0;
        state.loads += 1;
        state.revision = revision;
        (state.oldest, state.base, state.newest) = (revision, newest, newest);
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
    fn begin(&mut self) -> Position {
        self.begun += 1;
        let feed = self.begun;
        self.feeds.insert(feed, None);
        self.end(feed)
    }

    fn end(&self, feed: u64) -> Position {
        Position {
            feed,
            at: self.end,
            loads: self.loads,
            revision: self.revision,
            as_of: self.as_of,
            mark: self.newest,
        }
    }

    /// Returns where the changes after that token begin.
    fn find(&self, token: &ResumeToken) -> Result<u64> {
        let (at, oldest, newest) = (token.revision, self.oldest, self.revision);
        let lost = || Error::PositionLost {
            at: at.number(),
            oldest: oldest.number(),
            newest: newest.number(),
        };
        if at < oldest || at > newest {
            return Err(lost());
        }
        let next = (self.transactions).partition_point(|one| one.revision <= at);
        let before = next
            .checked_sub(1)
            .and_then(|last| self.transactions.get(last));
        // Otherwise the store has another history: it was restored, or is another store.
        if before.map_or(self.base, |one| one.mark) != token.mark {
            return Err(lost());
        }
        let next = self.transactions.get(next);
        Ok(next.map_or(self.end, |one| one.start))
    }

    fn push(&mut self, update: &Update, mark: Mark, iss: Box<str>, revoked: Revoked) {
        let transaction = Transaction {
            start: self.end,
            revision: update.revision,
            as_of: update.as_of,
            mark,
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
            (self.oldest, self.base) = (oldest.revision, oldest.mark);
        }
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
            position.mark = one.mark;
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

/// Returns the revocations of an update by issuer, and its mark. Deletions are of expired ones, which readers detect
/// themselves.
fn by_issuer(update: &Update) -> Result<(HashMap<String, Revoked>, Mark)> {
    let mut revoked: HashMap<String, Revoked> = HashMap::new();
    let mut mark = Mark::default();
    for event in &update.events {
        let Event::Put(entry) = event else { continue };
        mark.see(entry);
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
    Ok((revoked, mark))
}

fn token(entry: &Entry, minute: &str, hash: &str) -> Result<(u128, u32)> {
    match (minute.parse(), u128::from_str_radix(hash, 16)) {
        (Ok(minute), Ok(hash)) => Ok((hash, minute)),
        _ => Err(Error::Record(entry.key.to_string())),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
#[path = "recent_model_test.rs"]
mod model_test;
