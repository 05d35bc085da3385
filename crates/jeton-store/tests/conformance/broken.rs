//! Engines that each break one guarantee, and the case that must detect it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use jeton_store::{
    Condition, Entry, Key, MemoryStore, Mirror, Moment, Operation, Outcome, Pages, Pending, Prefix,
    Read, Revision, Status, Store, Txn, Update, Watch, block_on, limits,
};
use libtest_mimic::Trial;

use crate::disk::Flush;
use crate::engines::OnDisk;
use crate::{Failed, Make, Power, Subject, cases};

/// Name of the fault, constructor, and the case that guards the guarantee.
const BROKEN: &[(&str, Make, &str)] = &[
    (
        "loses_writes",
        || on(Fault::LosesWrites),
        "read_returns_written_entries",
    ),
    (
        "tears_batches",
        || on(Fault::TearsBatches),
        "transactions_are_atomic_for_readers",
    ),
    (
        "reads_stale",
        || on(Fault::ReadsStale),
        "acknowledged_commit_is_visible_to_all",
    ),
    (
        "watch_skips",
        || on(Fault::WatchSkips),
        "watch_reports_all_changes_in_order",
    ),
    (
        "watch_repeats",
        || on(Fault::WatchRepeats),
        "watch_reports_all_changes_in_order",
    ),
    (
        "watch_splits",
        || on(Fault::WatchSplits),
        "watch_reports_whole_transactions",
    ),
    (
        "watch_skips_on_resume",
        || on(Fault::WatchSkipsOnResume),
        "watch_resumes_at_position",
    ),
    (
        "watch_loses_when_dropped",
        || on(Fault::WatchLosesWhenDropped),
        "watch_with_dropped_calls_loses_nothing",
    ),
    (
        "as_of_always",
        || on(Fault::AsOfAlways),
        "as_of_follows_all_acknowledged_commits",
    ),
    (
        "as_of_in_the_future",
        || on(Fault::AsOfToCome),
        "as_of_follows_all_acknowledged_commits",
    ),
    (
        "as_of_receipt",
        || on(Fault::AsOfReceipt),
        "as_of_is_time_of_the_question",
    ),
    (
        "as_of_never",
        || on(Fault::AsOfNever),
        "quiet_watch_reports_progress",
    ),
    (
        "acknowledges_before_durable",
        never_flushed,
        "acknowledged_commit_survives_power_cut",
    ),
    (
        "checks_then_writes",
        || on(Fault::ChecksThenWrites),
        "no_increment_is_lost",
    ),
    (
        "checks_only_the_first_condition",
        || on(Fault::FirstConditionOnly),
        "every_condition_counts",
    ),
    (
        "scan_shows_later_changes",
        || on(Fault::ScanNotOfOneRevision),
        "scan_is_ordered_at_one_revision",
    ),
    (
        "unpinned_pages_are_newer_than_reported",
        || on(Fault::UnpinnedNewerThanSaid),
        "load_ends_despite_compaction",
    ),
    (
        "unpinned_pages_begin_earlier_than_reported",
        || on(Fault::UnpinnedOlderThanSaid),
        "load_ends_despite_compaction",
    ),
    (
        "accepts_too_much",
        || on(Fault::TakesTooMuch),
        "invalid_transaction_is_rejected",
    ),
];

/// Correct engines that behave like a broken one otherwise does. The case must accept these, so that it
/// detects only the fault.
const SOUND: &[(&str, Make, &str)] = &[(
    "unpinned_pages_and_a_watch_that_lags",
    || on(Fault::None),
    "load_ends_despite_compaction",
)];

/// Checks that the guarding case fails on each broken engine.
pub fn trials() -> Vec<Trial> {
    let sound = |(name, make, guard): &(&'static str, Make, &'static str)| {
        let (make, guard) = (*make, *guard);
        Trial::test(format!("sound::{name}::passes::{guard}"), move || {
            case(guard)(&mut *make()).map_err(|Failed(what)| what.into())
        })
    };
    let trial = |(name, make, guard): &(&'static str, Make, &'static str)| {
        let (make, guard) = (*make, *guard);
        Trial::test(
            format!("broken::{name}::is_found_by::{guard}"),
            move || match case(guard)(&mut *make()) {
                Ok(()) => Err("the suite accepts a broken engine".into()),
                Err(Failed(found)) => {
                    eprintln!("found: {found}");
                    Ok(())
                }
            },
        )
    };
    BROKEN
        .iter()
        .map(trial)
        .chain(SOUND.iter().map(sound))
        .collect()
}

fn case(name: &str) -> cases::Case {
    let found = cases::ALL.iter().find(|(known, _)| *known == name);
    found.expect("the guard is a case").1
}

/// An engine that reports a flush and does not flush.
fn never_flushed() -> Box<dyn Subject> {
    Box::new(OnDisk::new(Flush::Forgotten))
}

fn on(fault: Fault) -> Box<dyn Subject> {
    Box::new(Broken(Arc::new(Engine {
        sound: MemoryStore::new(),
        fault,
        commits: AtomicU64::new(0),
        before_last: Mutex::new(None),
    })))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    LosesWrites,
    TearsBatches,
    ReadsStale,
    WatchSkips,
    WatchRepeats,
    WatchSplits,
    WatchSkipsOnResume,
    WatchLosesWhenDropped,
    AsOfAlways,
    AsOfToCome,
    AsOfReceipt,
    AsOfNever,
    ChecksThenWrites,
    FirstConditionOnly,
    ScanNotOfOneRevision,
    UnpinnedNewerThanSaid,
    UnpinnedOlderThanSaid,
    TakesTooMuch,
}

/// How long a fault can be seen. A yield is too short: on a busy machine no other thread runs in it.
const EXPOSED: Duration = Duration::from_millis(1);

struct Broken(Arc<Engine>);

impl Subject for Broken {
    fn store(&self) -> Arc<dyn Store> {
        self.0.clone()
    }

    fn cut_power(&mut self) -> Result<Power, Failed> {
        Ok(Power::NothingPromised)
    }

    /// This engine never reports any.
    fn progress_timeout(&self) -> Duration {
        limits::PROGRESS_EVERY + Duration::from_secs(3)
    }
}

/// A correct engine with an injected fault.
#[derive(Debug)]
struct Engine {
    sound: MemoryStore,
    fault: Fault,
    commits: AtomicU64,
    before_last: Mutex<Option<Mirror>>,
}

impl Store for Engine {
    fn read(&self, keys: &[Key]) -> Pending<'_, Read> {
        if let Some(old) = self.before_last.lock().unwrap().as_ref() {
            let find = |key: &Key| old.entries().find(|entry| entry.key == *key).cloned();
            let read = Read {
                revision: old.revision(),
                entries: keys.iter().map(find).collect(),
            };
            return Box::pin(async move { Ok(read) });
        }
        self.sound.read(keys)
    }

    fn scan(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>> {
        let prefix = prefix.clone();
        Box::pin(async move {
            let pages = self.sound.scan(&prefix).await?;
            Ok(match self.fault {
                Fault::ScanNotOfOneRevision => Box::new(LivePages {
                    store: self.sound.clone(),
                    revision: pages.revision(),
                    says_so: false,
                    prefix,
                    last: None,
                }),
                _ => pages,
            })
        })
    }

    fn scan_unpinned(&self, prefix: &Prefix) -> Pending<'_, Box<dyn Pages>> {
        let prefix = prefix.clone();
        Box::pin(async move {
            let pages = self.sound.scan(&prefix).await?;
            Ok::<Box<dyn Pages>, _>(match self.fault {
                Fault::None | Fault::UnpinnedNewerThanSaid => Box::new(LivePages {
                    store: self.sound.clone(),
                    revision: pages.revision(),
                    says_so: self.fault == Fault::None,
                    prefix,
                    last: None,
                }),
                Fault::UnpinnedOlderThanSaid => Box::new(WithoutTheNewest(pages)),
                _ => pages,
            })
        })
    }

    fn commit(&self, txn: Txn) -> Pending<'_, Outcome> {
        Box::pin(async move {
            let count = self.commits.fetch_add(1, Ordering::Relaxed);
            match self.fault {
                Fault::LosesWrites if count % 7 == 5 => {
                    let newest = self.sound.status().await?.revision;
                    Ok(Outcome::Committed(newest))
                }
                Fault::ReadsStale => {
                    let old = Mirror::load(&self.sound, &Prefix::all()).await?;
                    let outcome = self.sound.commit(txn).await;
                    *self.before_last.lock().unwrap() = Some(old);
                    outcome
                }
                Fault::TearsBatches => self.commit_one_by_one(txn, 1).await,
                Fault::TakesTooMuch if txn.check().is_err() => {
                    self.commit_one_by_one(txn, limits::TXN_OPERATIONS).await
                }
                Fault::ChecksThenWrites => self.check_then_write(txn).await,
                Fault::FirstConditionOnly => {
                    let first = txn.conditions().first().cloned();
                    let bare = first
                        .into_iter()
                        .fold(Txn::new(), |txn, (key, condition)| txn.when(key, condition));
                    self.sound
                        .commit(with_operations(bare, txn.operations()))
                        .await
                }
                _ => self.sound.commit(txn).await,
            }
        })
    }

    fn watch(&self, prefix: &Prefix, after: Revision) -> Pending<'_, Box<dyn Watch>> {
        let prefix = prefix.clone();
        Box::pin(async move {
            let newest = self.sound.status().await?.revision;
            let resumed = after < newest && after > Revision::START;
            let after = match self.fault {
                Fault::WatchSkipsOnResume if resumed => Revision::from_number(after.number() + 2),
                _ => after,
            };
            let mut sound = self.sound.watch(&prefix, after).await?;
            sound = match self.fault {
                Fault::AsOfReceipt => Box::new(Queue::of(sound)),
                Fault::None | Fault::UnpinnedNewerThanSaid => Box::new(Lagging {
                    watch: sound,
                    arrived: VecDeque::new(),
                }),
                _ => sound,
            };
            Ok(Box::new(BrokenWatch {
                sound,
                fault: self.fault,
                reported: 0,
                again: None,
                asked: Revision::START,
                store: self.sound.clone(),
                prefix,
            }) as Box<dyn Watch>)
        })
    }

    fn status(&self) -> Pending<'_, Status> {
        self.sound.status()
    }
}

impl Engine {
    async fn commit_one_by_one(&self, txn: Txn, size: usize) -> jeton_store::Result<Outcome> {
        let mut outcome = Outcome::Committed(self.sound.status().await?.revision);
        let conditions = txn.conditions().iter().cloned();
        let mut part =
            conditions.fold(Txn::new(), |txn, (key, condition)| txn.when(key, condition));
        for operations in txn.operations().chunks(size) {
            outcome = self.sound.commit(with_operations(part, operations)).await?;
            if matches!(outcome, Outcome::Conflict(_)) {
                return Ok(outcome);
            }
            part = Txn::new();
            std::thread::sleep(EXPOSED);
        }
        Ok(outcome)
    }

    async fn check_then_write(&self, txn: Txn) -> jeton_store::Result<Outcome> {
        for (key, condition) in txn.conditions() {
            let read = self.sound.read(std::slice::from_ref(key)).await?;
            let changed = read.entries[0].as_ref().map(|entry| entry.changed);
            let holds = match condition {
                Condition::Absent => changed.is_none(),
                Condition::Present => changed.is_some(),
                Condition::Unchanged(since) => changed == Some(*since),
            };
            if !holds {
                return Ok(Outcome::Conflict(read.revision));
            }
        }
        std::thread::sleep(EXPOSED);
        self.sound
            .commit(with_operations(Txn::new(), txn.operations()))
            .await
    }
}

fn with_operations(txn: Txn, operations: &[Operation]) -> Txn {
    operations
        .iter()
        .cloned()
        .fold(txn, |txn, operation| match operation {
            Operation::Put(key, value) => txn.put(key, value),
            Operation::Delete(key) => txn.delete(key),
            Operation::DeletePrefix(prefix) => txn.delete_prefix(prefix),
        })
}

/// Reads the newest state for every page.
struct LivePages {
    store: MemoryStore,
    revision: Revision,
    /// Whether it reports the revision of the newest page.
    says_so: bool,
    prefix: Prefix,
    last: Option<Key>,
}

impl Pages for LivePages {
    fn revision(&self) -> Revision {
        self.revision
    }

    fn next(&mut self) -> Pending<'_, Option<Vec<Entry>>> {
        Box::pin(async {
            let mirror = Mirror::load(&self.store, &self.prefix).await?;
            let page: Vec<Entry> = mirror
                .entries()
                .filter(|entry| self.last.as_ref().is_none_or(|last| entry.key > *last))
                .take(limits::PAGE_ENTRIES)
                .cloned()
                .collect();
            self.last = page.last().map(|entry| entry.key.clone());
            if self.says_so {
                self.revision = mirror.revision();
            }
            Ok((!page.is_empty()).then_some(page))
        })
    }
}

/// Shows the state before the revision that it reports.
struct WithoutTheNewest(Box<dyn Pages>);

impl Pages for WithoutTheNewest {
    fn revision(&self) -> Revision {
        self.0.revision()
    }

    fn next(&mut self) -> Pending<'_, Option<Vec<Entry>>> {
        Box::pin(async {
            let revision = self.0.revision();
            let mut page = self.0.next().await?;
            if let Some(page) = &mut page {
                page.retain(|entry| entry.changed < revision);
            }
            Ok(page)
        })
    }
}

struct BrokenWatch {
    sound: Box<dyn Watch>,
    fault: Fault,
    reported: u64,
    again: Option<Update>,
    asked: Revision,
    store: MemoryStore,
    prefix: Prefix,
}

impl Watch for BrokenWatch {
    fn next(&mut self) -> Pending<'_, Update> {
        Box::pin(async move {
            if let Some(again) = self.again.take() {
                return Ok(again);
            }
            if self.fault == Fault::WatchLosesWhenDropped {
                // Advances before it waits, and starts there on the next call.
                let now = self.store.status().await?.revision;
                if self.asked > Revision::START {
                    self.sound = self.store.watch(&self.prefix, now).await?;
                }
                self.asked = now;
            }
            loop {
                let mut update = self.sound.next().await?;
                self.asked = Revision::START;
                update.as_of = match self.fault {
                    Fault::AsOfAlways => Some(Moment::now()),
                    Fault::AsOfToCome => update.as_of.map(|as_of| as_of + Duration::from_secs(5)),
                    Fault::AsOfReceipt => update.as_of.map(|_| Moment::now()),
                    Fault::AsOfNever => None,
                    _ => update.as_of,
                };
                if update.events.is_empty() {
                    return Ok(update);
                }
                self.reported += 1;
                match self.fault {
                    Fault::WatchSkips if self.reported % 9 == 5 => continue,
                    Fault::WatchRepeats if self.reported % 9 == 5 => {
                        self.again = Some(update.clone())
                    }
                    Fault::WatchSplits if update.events.len() > 1 => {
                        let rest = update.events.split_off(1);
                        self.again = Some(Update {
                            revision: update.revision,
                            events: rest,
                            as_of: update.as_of,
                        });
                    }
                    _ => {}
                }
                return Ok(update);
            }
        })
    }
}

/// Updates that were not received yet.
struct Queue(Mutex<Receiver<jeton_store::Result<Update>>>);

impl Queue {
    fn of(mut watch: Box<dyn Watch>) -> Queue {
        let (sender, reported) = channel();
        // Ends with the store or the receiver.
        std::thread::spawn(move || while sender.send(block_on(watch.next())).is_ok() {});
        Queue(Mutex::new(reported))
    }
}

/// The newest updates are delayed.
struct Lagging {
    watch: Box<dyn Watch>,
    arrived: VecDeque<Update>,
}

/// Delayed updates.
const ON_THE_WAY: usize = 100;

impl Watch for Lagging {
    fn next(&mut self) -> Pending<'_, Update> {
        let mut waits = false;
        Box::pin(poll_fn(move |context| {
            loop {
                match self.watch.next().as_mut().poll(context) {
                    Poll::Ready(Ok(update)) => self.arrived.push_back(update),
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => break,
                }
            }
            if waits || self.arrived.len() > ON_THE_WAY {
                if let Some(update) = self.arrived.pop_front() {
                    return Poll::Ready(Ok(update));
                }
            } else if !self.arrived.is_empty() {
                context.waker().wake_by_ref();
            }
            waits = true;
            Poll::Pending
        }))
    }
}

impl Watch for Queue {
    fn next(&mut self) -> Pending<'_, Update> {
        let reported = self.0.lock().unwrap().recv();
        Box::pin(std::future::ready(
            reported.unwrap_or(Err(jeton_store::Error::Closed)),
        ))
    }
}
