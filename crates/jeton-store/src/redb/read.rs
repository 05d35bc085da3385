//! Reads of the last flushed state.

use std::fs;
use std::path::Path;

use redb::{Database, Range, ReadTransaction, ReadableDatabase};

use super::Shared;
use super::tables::{CHECKSUMS, COUNT, ENTRIES, HISTORY, META, NEWEST, OLDEST, error, guarded};
use crate::changes::{self, Tally};
use crate::entry::Entry;
use crate::error::{Error, Problem, Result};
use crate::follow::{self, Followers, Found, History};
use crate::key::{Key, Prefix};
use crate::limits;
use crate::pending::{Pending, ready};
use crate::revision::Revision;
use crate::store::{Pages, Read, Status};

pub(super) fn read(database: &Database, keys: &[Key]) -> Result<Read> {
    if keys.len() > limits::READ_KEYS {
        return Err(Problem::TooManyKeys.into());
    }
    guarded(|| {
        let read = database.begin_read().map_err(error)?;
        let table = read.open_table(ENTRIES).map_err(error)?;
        let mut entries = Vec::with_capacity(keys.len());
        for key in keys {
            let bytes = key.as_str().as_bytes();
            let found = table.get(bytes).map_err(error)?;
            entries.push(
                found
                    .map(|value| changes::entry(bytes, value.value()))
                    .transpose()?,
            );
        }
        Ok(Read {
            revision: number(&read, NEWEST)?,
            entries,
        })
    })
}

pub(super) fn scan(database: &Database, prefix: &Prefix) -> Result<Box<dyn Pages>> {
    let is_whole = *prefix == Prefix::all();
    range(database, prefix.as_str(), &prefix.end(), is_whole)
}

pub(super) fn scan_after(database: &Database, prefix: &Prefix) -> Result<Box<dyn Pages>> {
    range(database, &prefix.end(), &Prefix::all().end(), false)
}

fn range(database: &Database, from: &str, end: &str, is_whole: bool) -> Result<Box<dyn Pages>> {
    guarded(|| {
        let read = database.begin_read().map_err(error)?;
        let table = read.open_table(ENTRIES).map_err(error)?;
        let range = table
            .range(from.as_bytes()..end.as_bytes())
            .map_err(error)?;
        Ok(Box::new(Snapshot {
            revision: number(&read, NEWEST)?,
            range,
            expected: if is_whole { Some(tally(&read)?) } else { None },
            seen: Tally::default(),
        }) as Box<dyn Pages>)
    })
}

pub(super) fn status(database: &Database, file: Option<&Path>) -> Result<Status> {
    guarded(|| {
        let read = database.begin_read().map_err(error)?;
        Ok(Status {
            engine: "redb",
            revision: number(&read, NEWEST)?,
            oldest: number(&read, OLDEST)?,
            bytes: file.map(fs::metadata).transpose()?.map(|file| file.len()),
        })
    })
}

struct Snapshot {
    revision: Revision,
    range: Range<'static, &'static [u8], &'static [u8]>,
    /// Expected tally, if the whole store is scanned.
    expected: Option<Tally>,
    seen: Tally,
}

impl Pages for Snapshot {
    fn revision(&self) -> Revision {
        self.revision
    }

    fn next(&mut self) -> Pending<'_, Option<Vec<Entry>>> {
        ready(guarded(|| {
            let mut page = Vec::new();
            for entry in self.range.by_ref().take(limits::PAGE_ENTRIES) {
                let (key, value) = entry.map_err(|e| reopened(error(e)))?;
                self.seen.add(value.value());
                page.push(changes::entry(key.value(), value.value())?);
            }
            if page.is_empty() && self.expected.is_some_and(|expected| expected != self.seen) {
                return Err(Error::Damaged("entries are missing".to_owned()));
            }
            Ok((!page.is_empty()).then_some(page))
        }))
    }
}

/// Reports a scan that ended because the store was reopened after a failed write.
fn reopened(error: Error) -> Error {
    match error {
        Error::Closed => Error::Failed,
        other => other,
    }
}

impl History for Shared {
    fn after(&self, position: Revision, prefix: &Prefix) -> Result<Found> {
        let after = |database: &Database| {
            let read = database.begin_read().map_err(error)?;
            let (oldest, newest) = (number(&read, OLDEST)?, number(&read, NEWEST)?);
            if position < oldest {
                return Err(Error::Compacted { oldest });
            }
            let history = read.open_table(HISTORY).map_err(error)?;
            for record in history.range(position.number() + 1..).map_err(error)? {
                let (revision, record) = record.map_err(error)?;
                let revision = Revision::from_number(revision.value());
                let events = changes::events(revision, record.value())?;
                let events = follow::under(prefix, &events);
                if !events.is_empty() {
                    return Ok(Found {
                        revision,
                        events,
                        newest,
                    });
                }
            }
            Ok(Found {
                revision: newest,
                events: Vec::new(),
                newest,
            })
        };
        match self.with(|database| guarded(|| after(database))) {
            // The store cannot be read, and nothing is written either: a follower that is up to date stays
            // so.
            Err(Error::Full | Error::Failed) if position >= self.newest() => Ok(Found {
                revision: position,
                events: Vec::new(),
                newest: position,
            }),
            ended => ended,
        }
    }

    fn followers(&self) -> &Followers {
        &self.followers
    }
}

fn tally(read: &ReadTransaction) -> Result<Tally> {
    Ok(Tally {
        entries: number(read, COUNT)?.number(),
        checksums: number(read, CHECKSUMS)?.number(),
    })
}

fn number(read: &ReadTransaction, name: &str) -> Result<Revision> {
    let meta = read.open_table(META).map_err(error)?;
    let number = meta.get(name).map_err(error)?;
    let number =
        number.ok_or_else(|| Error::Damaged(format!("the number of its {name} is gone")))?;
    Ok(Revision::from_number(number.value()))
}
