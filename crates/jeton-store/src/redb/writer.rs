//! The writer thread: it makes one redb transaction of all waiting commits, flushes once, and then answers.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use redb::{Database, ReadableTable, Table};

use super::Shared;
use super::tables::{CHECKSUMS, COUNT, ENTRIES, HISTORY, META, NEWEST, OLDEST, error, guarded};
use crate::changes::{self, Tally};
use crate::entry::{Entry, Event};
use crate::error::{Error, Result};
use crate::key::Key;
use crate::limits;
use crate::pending::Completer;
use crate::revision::Revision;
use crate::store::Outcome;
use crate::txn::{Condition, Operation, Txn};

/// A job of the writer.
pub(super) enum Job {
    Write(Txn, Completer<Outcome>),
    /// Checks after a failure whether there is space again.
    MakeWritable(Completer<()>),
}

/// The queue of the writer. Dropping it ends the writer.
#[derive(Debug)]
pub(super) struct Queue(
    // Boxed to keep the preallocated queue small.
    SyncSender<Box<Job>>,
);

impl Queue {
    pub(super) fn send(&self, job: Job) -> Result<()> {
        self.0
            .try_send(Box::new(job))
            .map_err(|refused| match refused {
                TrySendError::Full(_) => Error::Overloaded,
                TrySendError::Disconnected(_) => Error::Closed,
            })
    }
}

pub(super) fn start(shared: Arc<Shared>) -> Result<(Queue, JoinHandle<()>)> {
    let (sender, jobs) = sync_channel(limits::WAITING_TXNS);
    let writer = thread::Builder::new()
        .name("jeton-store".to_owned())
        .spawn(move || run(&shared, &jobs))?;
    Ok((Queue(sender), writer))
}

fn run(shared: &Shared, jobs: &Receiver<Box<Job>>) {
    let mut beaten = Instant::now();
    loop {
        let wait = limits::PROGRESS_EVERY.saturating_sub(beaten.elapsed());
        match jobs.recv_timeout(wait) {
            Ok(first) => {
                let waiting = jobs.try_iter().take(limits::GROUP_TXNS - 1);
                write_group(
                    shared,
                    std::iter::once(first)
                        .chain(waiting)
                        .map(|job| *job)
                        .collect(),
                );
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if beaten.elapsed() >= limits::PROGRESS_EVERY {
            beaten = Instant::now();
            shared.followers.beat();
        }
    }
}

fn write_group(shared: &Shared, jobs: Vec<Job>) {
    let writable = shared.make_writable();
    let (mut txns, mut replies) = (Vec::new(), Vec::new());
    for job in jobs {
        match job {
            Job::Write(txn, reply) => {
                txns.push(txn);
                replies.push(reply);
            }
            Job::MakeWritable(reply) => reply.complete(writable.clone()),
        }
    }
    if txns.is_empty() {
        return;
    }
    let written = writable.and_then(|()| {
        let written = shared.with(|database| guarded(|| commit(database, &txns)));
        if let Err(error) = &written {
            // It is unknown whether the disk has it.
            shared.fail(error);
        }
        written
    });
    // Everything acknowledged below is on the disk.
    match written {
        Ok(outcomes) => {
            for outcome in &outcomes {
                shared.has_flushed(outcome.revision());
            }
            let answers = replies.into_iter().zip(outcomes);
            answers.for_each(|(reply, outcome)| reply.complete(Ok(outcome)));
        }
        Err(error) => replies
            .into_iter()
            .for_each(|reply| reply.complete(Err(error.clone()))),
    }
    shared.followers.wake();
}

fn commit(database: &Database, txns: &[Txn]) -> Result<Vec<Outcome>> {
    let mut write = database.begin_write().map_err(error)?;
    // The store opens quickly after a kill. Two-phase commit makes a torn page of the last commit harmless,
    // even if an attacker wrote it.
    write.set_quick_repair(true);
    let mut outcomes = Vec::with_capacity(txns.len());
    let changed = {
        let mut tables = Tables {
            entries: write.open_table(ENTRIES).map_err(error)?,
            history: write.open_table(HISTORY).map_err(error)?,
            newest: Revision::START,
            tally: Tally::default(),
        };
        let mut meta = write.open_table(META).map_err(error)?;
        let before = number(&meta, NEWEST)?;
        tables.newest = before;
        tables.tally = Tally {
            entries: number(&meta, COUNT)?.number(),
            checksums: number(&meta, CHECKSUMS)?.number(),
        };
        for txn in txns {
            outcomes.push(tables.apply(txn)?);
        }
        if tables.newest > before {
            meta.insert(NEWEST, tables.newest.number()).map_err(error)?;
            meta.insert(COUNT, tables.tally.entries).map_err(error)?;
            meta.insert(CHECKSUMS, tables.tally.checksums)
                .map_err(error)?;
            tables.forget_old(&mut meta)?;
        }
        tables.newest > before
    };
    if changed {
        write.commit().map_err(error)?;
    } else {
        write.abort().map_err(error)?;
    }
    Ok(outcomes)
}

struct Tables<'t> {
    entries: Table<'t, &'static [u8], &'static [u8]>,
    history: Table<'t, u64, &'static [u8]>,
    newest: Revision,
    tally: Tally,
}

impl Tables<'_> {
    fn apply(&mut self, txn: &Txn) -> Result<Outcome> {
        for (key, condition) in txn.conditions() {
            if !self.holds(key, *condition)? {
                return Ok(Outcome::Conflict(self.newest));
            }
        }
        let revision = Revision::from_number(self.newest.number() + 1);
        let mut events = Vec::with_capacity(txn.operations().len());
        for operation in txn.operations() {
            events.extend(self.change(operation, revision)?);
        }
        if !events.is_empty() {
            self.newest = revision;
            let record = changes::history_record(revision, &events);
            self.history
                .insert(revision.number(), record.as_slice())
                .map_err(error)?;
        }
        Ok(Outcome::Committed(self.newest))
    }

    fn holds(&self, key: &Key, condition: Condition) -> Result<bool> {
        let bytes = key.as_str().as_bytes();
        let found = self.entries.get(bytes).map_err(error)?;
        let found = found
            .map(|value| changes::entry(bytes, value.value()))
            .transpose()?;
        let changed = found.map(|entry| entry.changed);
        Ok(match condition {
            Condition::Absent => changed.is_none(),
            Condition::Present => changed.is_some(),
            Condition::Unchanged(since) => changed == Some(since),
        })
    }

    fn change(&mut self, operation: &Operation, revision: Revision) -> Result<Option<Event>> {
        Ok(match operation {
            Operation::Put(key, value) => {
                let record = changes::value_record(key.as_str(), revision, value);
                let old = self
                    .entries
                    .insert(key.as_str().as_bytes(), record.as_slice())
                    .map_err(error)?;
                if let Some(old) = old {
                    self.tally.remove(old.value());
                }
                self.tally.add(&record);
                Some(Event::Put(Entry {
                    key: key.clone(),
                    value: value.clone(),
                    changed: revision,
                }))
            }
            Operation::Delete(key) => {
                let gone = self
                    .entries
                    .remove(key.as_str().as_bytes())
                    .map_err(error)?;
                gone.map(|old| {
                    self.tally.remove(old.value());
                    Event::Deleted(key.clone())
                })
            }
            Operation::DeletePrefix(prefix) => {
                let end = prefix.end();
                let mut tally = self.tally;
                self.entries
                    .retain_in(prefix.as_str().as_bytes()..end.as_bytes(), |_, old| {
                        tally.remove(old);
                        false
                    })
                    .map_err(error)?;
                let gone = tally != self.tally;
                self.tally = tally;
                gone.then(|| Event::DeletedPrefix(prefix.clone()))
            }
        })
    }

    /// Drops history beyond the limit.
    fn forget_old(&mut self, meta: &mut Table<'_, &'static str, u64>) -> Result<()> {
        let keep = self.newest.number().saturating_sub(limits::HISTORY_COMMITS);
        let oldest = number(meta, OLDEST)?.number();
        if keep <= oldest {
            return Ok(());
        }
        self.history
            .retain_in(oldest..=keep, |_, _| false)
            .map_err(error)?;
        meta.insert(OLDEST, keep).map_err(error)?;
        Ok(())
    }
}

fn number(meta: &Table<'_, &'static str, u64>, name: &str) -> Result<Revision> {
    let number = meta.get(name).map_err(error)?;
    let number =
        number.ok_or_else(|| Error::Damaged(format!("the number of its {name} is gone")))?;
    Ok(Revision::from_number(number.value()))
}
