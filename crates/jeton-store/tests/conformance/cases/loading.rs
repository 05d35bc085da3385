//! Cases for loads during writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use jeton_store::{
    Event, Key, Loaded, Moment, Operation, Revision, Store, Txn, Update, block_on, limits, load,
};

use super::{committed, key, prefix, put};
use crate::threads::Dice;
use crate::{Checked, Failed, Subject, ensure};

/// Pages of a load.
const PAGES: usize = 12;

/// One of so many entries changes.
const EVERY: usize = 250;

const ENTRIES: usize = PAGES * limits::PAGE_ENTRIES - 7;

/// The changing entries at each revision.
#[derive(Default)]
struct Model {
    now: BTreeMap<Key, Vec<u8>>,
    then: Vec<(Revision, BTreeMap<Key, Vec<u8>>)>,
}

fn number(i: usize) -> String {
    format!("{i:05}")
}

impl Model {
    fn commit(&mut self, store: &dyn Store, txn: Txn) -> Checked {
        let revision = committed(store, txn.clone())?;
        for operation in txn.operations() {
            match operation {
                Operation::Put(key, value) => {
                    self.now.insert(key.clone(), value.clone());
                }
                Operation::Delete(key) => {
                    self.now.remove(key);
                }
                Operation::DeletePrefix(gone) => self.now.retain(|key, _| !key.is_under(gone)),
            }
        }
        self.then.push((revision, self.now.clone()));
        Ok(())
    }

    /// A transaction that touches entries already read and entries not yet read.
    fn change(&mut self, store: &dyn Store, dice: &mut Dice) -> Checked {
        let any = |dice: &mut Dice| {
            let slots = u64::try_from(ENTRIES / EVERY).unwrap();
            let slot = usize::try_from(dice.below(slots)).unwrap();
            number(slot * EVERY)
        };
        let below = |dice: &mut Dice| key(&["load", &any(dice), &dice.below(3).to_string()]);
        let mut txn = Txn::new();
        for _ in 0..=dice.below(5) {
            txn = match dice.below(8) {
                0 | 1 => txn.delete(below(dice)),
                2 => txn.delete_prefix(prefix(&["load", &any(dice)])),
                _ => txn.put(below(dice), dice.below(1_000_000).to_string()),
            };
        }
        match txn.check() {
            Ok(()) => self.commit(store, txn),
            Err(_) => Ok(()),
        }
    }

    fn at(&self, revision: Revision) -> &BTreeMap<Key, Vec<u8>> {
        let behind = self.then.partition_point(|(then, _)| *then <= revision);
        &self.then[behind - 1].1
    }
}

/// The state of a follower after a load.
#[derive(Default)]
struct Follower {
    changing: BTreeMap<Key, Vec<u8>>,
    unchanging: BTreeSet<Key>,
}

impl Follower {
    fn put(&mut self, key: Key, value: Vec<u8>) -> Checked {
        if key.parts().count() == 3 {
            self.changing.insert(key, value);
            return Ok(());
        }
        ensure!(
            !self.unchanging.contains(&key),
            "{key} is loaded more than once"
        );
        self.unchanging.insert(key);
        Ok(())
    }

    fn follow(&mut self, update: Update) -> Checked {
        for event in update.events {
            match event {
                Event::Put(entry) => self.put(entry.key, entry.value)?,
                Event::Deleted(key) => drop(self.changing.remove(&key)),
                Event::DeletedPrefix(gone) => self.changing.retain(|key, _| !key.is_under(&gone)),
            }
        }
        Ok(())
    }
}

/// Everything is rewritten during the load, so that the history no longer has its first revision when it
/// ends.
pub fn load_ends_despite_compaction(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let (mut model, mut dice) = (Model::default(), Dice::new(20));
    for batch in (0..ENTRIES).step_by(128) {
        let txn = (batch..ENTRIES.min(batch + 128)).fold(Txn::new(), |txn, i| {
            txn.put(key(&["load", &number(i)]), "v")
        });
        committed(&*store, txn)?;
    }
    for _ in 0..100 {
        model.change(&*store, &mut dice)?;
    }
    let last = Txn::new().put(key(&["load", &number(1), "last"]), "before the load");
    model.commit(&*store, last)?;
    let mut follower = Follower::default();
    let mut pages = 0;
    let begun = Moment::now();
    let loaded = block_on(load(&*store, &prefix(&["load"]), |page| {
        ensure!(
            !page.is_empty() && page.len() <= limits::PAGE_ENTRIES,
            "a page of {} entries",
            page.len()
        );
        for entry in page {
            follower.put(entry.key, entry.value)?;
        }
        pages += 1;
        for _ in 0..10 {
            model.change(&*store, &mut dice)?;
        }
        subject.forget_a_part();
        for _ in 0..10 {
            model.change(&*store, &mut dice)?;
        }
        Ok::<_, Failed>(())
    }))?;
    ensure!(pages >= PAGES, "{pages} pages");
    let Loaded { changes, mut watch } = loaded;
    let revision = changes.revision;
    ensure!(
        changes
            .as_of
            .is_some_and(|as_of| begun <= as_of && as_of <= Moment::now()),
        "as_of is before the load began"
    );
    follower.follow(changes)?;
    ensure!(
        follower.unchanging.len() == ENTRIES,
        "{} of {ENTRIES} entries were loaded",
        follower.unchanging.len()
    );
    ensure!(
        follower.changing == *model.at(revision),
        "the loaded state differs from the store at its revision"
    );
    // A watch continues from there.
    for _ in 0..50 {
        model.change(&*store, &mut dice)?;
    }
    let last = put(&*store, &key(&["load", "99999"]), "v")?;
    loop {
        let update = block_on(watch.next())?;
        let is_last = update.revision >= last;
        follower.follow(update)?;
        if is_last {
            break;
        }
    }
    ensure!(
        follower.changing == model.now,
        "the follower differs from the store"
    );
    Ok(())
}

/// Writers change an early and a late entry in one transaction: the loaded state has both or neither.
pub fn load_during_writes_has_one_revision(subject: &mut dyn Subject) -> Checked {
    const BETWEEN: usize = 3 * limits::PAGE_ENTRIES;
    let store = subject.store();
    let below = prefix(&["pair"]);
    for batch in (0..BETWEEN).step_by(128) {
        let txn = (batch..BETWEEN.min(batch + 128)).fold(Txn::new(), |txn, i| {
            txn.put(key(&["pair", "between", &number(i)]), "v")
        });
        committed(&*store, txn)?;
    }
    let ends = |writer: usize| ["a", "z"].map(|end| key(&["pair", end, &writer.to_string()]));
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                let (store, is_done) = (&store, &is_done);
                scope.spawn(move || {
                    for step in 0.. {
                        let txn = match step % 5 {
                            4 => ends(writer).into_iter().fold(Txn::new(), Txn::delete),
                            _ => (ends(writer).into_iter())
                                .fold(Txn::new(), |txn, key| txn.put(key, step.to_string())),
                        };
                        committed(&**store, txn)?;
                        if is_done.load(Ordering::Relaxed) {
                            break;
                        }
                        // Without a disk the writer would outrun the follower.
                        thread::sleep(Duration::from_micros(50));
                    }
                    Ok::<_, Failed>(())
                })
            })
            .collect();
        let mut load_and_look = |round: usize| {
            let mut pages = 0;
            let mut mirror = BTreeMap::new();
            let loaded = block_on(load(&*store, &below, |page| {
                mirror.extend(page.into_iter().map(|entry| (entry.key, entry.value)));
                pages += 1;
                if pages == 1 && round % 2 == 1 {
                    subject.forget_a_part();
                }
                Ok::<_, Failed>(())
            }))?;
            for event in loaded.changes.events {
                match event {
                    Event::Put(entry) => drop(mirror.insert(entry.key, entry.value)),
                    Event::Deleted(key) => drop(mirror.remove(&key)),
                    Event::DeletedPrefix(gone) => mirror.retain(|key, _| !key.is_under(&gone)),
                }
            }
            for writer in 0..3 {
                let [early, late] = ends(writer).map(|key| mirror.get(&key));
                ensure!(
                    early == late,
                    "load {round} has a part of a transaction: {early:?}, {late:?}"
                );
            }
            Ok(())
        };
        let looked = (0..20).try_for_each(&mut load_and_look);
        is_done.store(true, Ordering::Relaxed);
        for writer in writers {
            writer.join().unwrap()?;
        }
        looked
    })
}
