//! Cases for power cuts.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use jeton_store::{Mirror, Revision, Txn, block_on};

use super::{committed, contents, key, prefix, put};
use crate::{Checked, Power, Subject, ensure};

/// Writers stop after this time, even if the test hangs.
const STEPS: usize = 2_000;

pub fn acknowledged_commit_survives_power_cut(subject: &mut dyn Subject) -> Checked {
    for cut in 0..subject.cuts() {
        let store = subject.store();
        let acknowledged = Mutex::new(Vec::<(String, Revision)>::new());
        let stop = AtomicBool::new(false);
        let survived = thread::scope(|scope| {
            let writers = [0, 1, 2, 3].map(|writer| {
                let (store, acknowledged, stop) = (&store, &acknowledged, &stop);
                scope.spawn(move || {
                    for step in 0..STEPS {
                        let name = key(&["p", &cut.to_string(), &format!("{writer}-{step}")]);
                        let Ok(revision) = put(&**store, &name, "v") else {
                            break;
                        };
                        acknowledged
                            .lock()
                            .unwrap()
                            .push((name.as_str().to_owned(), revision));
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                })
            });
            // On a busy machine, the writers begin late.
            while acknowledged.lock().unwrap().is_empty()
                && writers.iter().any(|writer| !writer.is_finished())
            {
                thread::yield_now();
            }
            thread::sleep(Duration::from_millis(4 + cut));
            // Commits acknowledged before the power cut, while others are in progress.
            let before = acknowledged.lock().unwrap().clone();
            let power = subject.cut_power();
            stop.store(true, Ordering::Relaxed);
            power.map(|power| (power, before))
        });
        let (power, before) = survived?;
        if power == Power::NothingPromised {
            return Ok(());
        }
        let store = subject.store();
        let found = contents(&*store, &prefix(&["p", &cut.to_string()]))?;
        let found: std::collections::HashSet<_> = found.into_iter().map(|(key, _)| key).collect();
        let lost = before
            .iter()
            .filter(|(key, _)| !found.contains(key))
            .count();
        ensure!(
            lost == 0,
            "{lost} of {} acknowledged writes are lost in cut {cut}",
            before.len()
        );
        let newest = block_on(store.status())?.revision;
        let highest = before.iter().map(|(_, revision)| *revision).max();
        ensure!(
            highest <= Some(newest),
            "the store is at {newest}, it was at {highest:?}"
        );
    }
    Ok(())
}

pub fn power_cut_leaves_whole_transactions(subject: &mut dyn Subject) -> Checked {
    const PARTS: usize = 20;
    for cut in 0..subject.cuts() {
        let store = subject.store();
        let (has_committed, stop) = (AtomicBool::new(false), AtomicBool::new(false));
        let name = format!("cut{cut}");
        let power = thread::scope(|scope| {
            let writers = [0, 1].map(|writer| {
                let (store, has_committed, stop, name) = (&store, &has_committed, &stop, &name);
                scope.spawn(move || {
                    for step in 0..STEPS {
                        let txn = (0..PARTS).fold(Txn::new(), |txn, part| {
                            let id = format!("{writer}-{step}");
                            txn.put(key(&[name, &id, &part.to_string()]), vec![b'x'; 300])
                        });
                        if stop.load(Ordering::Relaxed) || committed(&**store, txn).is_err() {
                            break;
                        }
                        has_committed.store(true, Ordering::Relaxed);
                    }
                })
            });
            while !has_committed.load(Ordering::Relaxed)
                && writers.iter().any(|writer| !writer.is_finished())
            {
                thread::yield_now();
            }
            thread::sleep(Duration::from_millis(3 + cut));
            let power = subject.cut_power();
            stop.store(true, Ordering::Relaxed);
            power
        })?;
        if power == Power::NothingPromised {
            return Ok(());
        }
        let store = subject.store();
        let found = contents(&*store, &prefix(&[&name]))?.len();
        ensure!(
            found % PARTS == 0,
            "{found} entries remain of transactions with {PARTS}"
        );
        // The watch continues from there.
        put(&*store, &key(&["on", &name]), "v")?;
    }
    Ok(())
}

pub fn watch_resumes_after_power_cut(subject: &mut dyn Subject) -> Checked {
    let below = prefix(&["after"]);
    let store = subject.store();
    for i in 0..5 {
        put(&*store, &key(&["after", &i.to_string()]), "v")?;
    }
    let mut mirror = block_on(Mirror::load(&*store, &below))?;
    for i in 3..9 {
        put(&*store, &key(&["after", &i.to_string()]), "w")?;
    }
    drop(store);
    if subject.cut_power()? == Power::NothingPromised {
        return Ok(());
    }
    let store = subject.store();
    let mut watch = block_on(store.watch(&below, mirror.revision()))?;
    let newest = block_on(store.status())?.revision;
    while mirror.revision() < newest {
        mirror.follow(&block_on(watch.next())?);
    }
    let loaded = block_on(Mirror::load(&*store, &below))?;
    ensure!(
        loaded.entries().eq(mirror.entries()),
        "a resumed follower missed a change"
    );
    ensure!(loaded.entries().count() == 9, "the store lost entries");
    Ok(())
}
