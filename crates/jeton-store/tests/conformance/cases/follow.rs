//! Cases for watches.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use jeton_store::{
    Error, Event, Mirror, Moment, Problem, Revision, Store, Txn, Update, Watch, block_on,
};

use super::{committed, key, prefix, put};
use crate::threads::{Dice, at_once};
use crate::{Checked, Failed, Subject, ensure};

/// Returns the next update with events, from the transaction of that revision.
fn reported(watch: &mut dyn Watch, expected: Revision) -> Result<Update, Failed> {
    loop {
        let update = block_on(watch.next())?;
        if !update.events.is_empty() {
            return Ok(update);
        }
        ensure!(update.revision < expected, "{expected} was skipped");
    }
}

/// Concurrent writers with puts, deletes and prefix deletes, under the prefix and beside it.
fn write_a_lot(store: &dyn Store) -> Checked {
    at_once(3, |me| {
        let mut dice = Dice::new(me as u64 + 77);
        let mut own = 0u64;
        for step in 0..60 {
            let name = |dice: &mut Dice| {
                let part = if dice.below(4) == 0 { "beside" } else { "w" };
                key(&[part, &dice.below(3).to_string(), &dice.below(5).to_string()])
            };
            let kind = dice.below(8);
            let txn = match kind {
                0 => Txn::new().delete(name(&mut dice)),
                1 => Txn::new().delete_prefix(prefix(&["w", &dice.below(3).to_string()])),
                _ => Txn::new()
                    .put(name(&mut dice), format!("{me}:{step}"))
                    .put(key(&["w", "own", &me.to_string()]), own.to_string()),
            };
            if txn.check().is_ok() {
                committed(store, txn)?;
                own += u64::from(kind > 1);
            }
        }
        Ok(())
    })
}

pub fn watch_reports_all_changes_in_order(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let below = prefix(&["w"]);
    put(&*store, &key(&["w", "0", "0"]), "before")?;
    let mut mirror = block_on(Mirror::load(&*store, &below))?;
    let mut watch = block_on(store.watch(&below, mirror.revision()))?;
    let finished = key(&["w", "own", "finished"]);
    let mut last = mirror.revision();
    std::thread::scope(|scope| {
        let writers = scope.spawn(|| {
            write_a_lot(&*store)?;
            put(&*store, &finished, "yes")
        });
        // The counter of each writer rises by one with each update. The final state would not reveal a
        // skipped change: a later one may have undone it.
        let mut own = [None::<u64>; 3];
        let mut quiet = 0;
        loop {
            let update = block_on(watch.next())?;
            if !update.events.is_empty() {
                ensure!(
                    update.revision > last,
                    "{} is reported after {last}",
                    update.revision
                );
            }
            quiet += usize::from(update.events.is_empty());
            ensure!(quiet < 3, "the last change is never reported");
            last = last.max(update.revision);
            let mut done = false;
            for event in &update.events {
                let Event::Put(entry) = event else { continue };
                ensure!(
                    entry.key.is_under(&below),
                    "reported a change outside the prefix: {}",
                    entry.key
                );
                ensure!(
                    entry.changed == update.revision,
                    "reported with another revision"
                );
                done |= entry.key == finished;
                let parts: Vec<String> = entry.key.parts().collect();
                if let (["w", "own"], Ok(writer)) = (
                    [parts[0].as_str(), parts[1].as_str()],
                    parts[2].parse::<usize>(),
                ) {
                    let step = String::from_utf8(entry.value.clone())
                        .unwrap()
                        .parse()
                        .unwrap();
                    let due = own[writer].map_or(0, |reported| reported + 1);
                    ensure!(
                        step == due,
                        "change {step} of {writer} is reported, expected {due}"
                    );
                    own[writer] = Some(step);
                }
            }
            mirror.follow(&update);
            if done {
                break;
            }
        }
        writers
            .join()
            .map_err(|_| Failed("a writer panicked".to_owned()))??;
        let loaded = block_on(Mirror::load(&*store, &below))?;
        ensure!(
            loaded.entries().eq(mirror.entries()),
            "the follower differs from the store"
        );
        Ok(())
    })
}

pub fn watch_reports_whole_transactions(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let below = prefix(&["whole"]);
    let mut watch = block_on(store.watch(&below, block_on(store.status())?.revision))?;
    for round in 0..10 {
        let txn = (0..10).fold(Txn::new().put(key(&["beside"]), "x"), |txn, i| {
            txn.put(key(&["whole", &i.to_string()]), round.to_string())
        });
        let revision = committed(&*store, txn)?;
        let update = reported(&mut *watch, revision)?;
        ensure!(
            update.revision == revision,
            "reported with revision {}",
            update.revision
        );
        ensure!(
            update.events.len() == 10,
            "{} of 10 changes reported at once",
            update.events.len()
        );
    }
    Ok(())
}

pub fn watch_resumes_at_position(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let below = prefix(&["resume"]);
    let start = block_on(store.status())?.revision;
    let mut revisions = Vec::new();
    for i in 0..12 {
        revisions.push(put(&*store, &key(&["resume", &i.to_string()]), "v")?);
        put(&*store, &key(&["beside"]), "v")?;
    }
    for left_at in 0..revisions.len() {
        let after = if left_at == 0 {
            start
        } else {
            revisions[left_at - 1]
        };
        let mut watch = block_on(store.watch(&below, after))?;
        for expected in &revisions[left_at..] {
            let revision = reported(&mut *watch, *expected)?.revision;
            ensure!(
                revision == *expected,
                "resumed after {after}, expected {expected}, got {revision}"
            );
        }
    }
    Ok(())
}

pub fn watch_far_behind_catches_up(subject: &mut dyn Subject) -> Checked {
    const BEHIND: usize = 5_000;
    let store = subject.store();
    let below = prefix(&["far"]);
    let start = block_on(store.status())?.revision;
    let waiting: Vec<_> = (0..BEHIND)
        .map(|i| store.commit(Txn::new().put(key(&["far", &i.to_string()]), "v")))
        .collect();
    for pending in waiting {
        block_on(pending)?;
    }
    let mut watch = block_on(store.watch(&below, start))?;
    let mut seen = 0;
    let mut last = start;
    while seen < BEHIND {
        let update = block_on(watch.next())?;
        ensure!(
            update.events.is_empty() || update.revision > last,
            "{} is reported after {last}",
            update.revision
        );
        last = last.max(update.revision);
        seen += update.events.len();
    }
    ensure!(seen == BEHIND, "{seen} of {BEHIND} changes are reported");
    Ok(())
}

pub fn watch_with_dropped_calls_loses_nothing(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let below = prefix(&["drop"]);
    let mut watch = block_on(store.watch(&below, block_on(store.status())?.revision))?;
    for i in 0..30 {
        // The call is dropped before it completes.
        block_on(poll_fn(|context| {
            let mut next = watch.next();
            let early = next.as_mut().poll(context);
            drop(next);
            match early {
                Poll::Ready(Ok(update)) if !update.events.is_empty() => Poll::Ready(Err(Failed(
                    "reported a change before it happened".to_owned(),
                ))),
                _ => Poll::Ready(Ok(())),
            }
        }))?;
        let revision = put(&*store, &key(&["drop", &i.to_string()]), "v")?;
        let update = reported(&mut *watch, revision)?;
        ensure!(
            update.revision == revision,
            "{revision} was lost with a dropped call"
        );
    }
    Ok(())
}

pub fn watch_of_compacted_revision_fails(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let below = prefix(&["old"]);
    let start = block_on(store.status())?.revision;
    let mut early = block_on(store.watch(&below, start))?;
    let missed = [
        put(&*store, &key(&["old", "1"]), "v")?,
        put(&*store, &key(&["old", "1"]), "w")?,
    ];
    subject.compact();
    let compacted = |error: &Error| matches!(error, Error::Compacted { .. });
    let asked = block_on(store.watch(&below, start)).err();
    ensure!(
        asked.as_ref().is_some_and(compacted),
        "a compacted revision is watched: {asked:?}"
    );
    // A watch that fell behind fails, unless what it missed is already on its way.
    for missed in missed {
        // Earlier updates may be on their way too.
        let next = loop {
            match block_on(early.next()) {
                Ok(update) if update.events.is_empty() && update.revision < missed => {}
                next => break next,
            }
        };
        match next {
            Err(error) if compacted(&error) => break,
            Ok(update) if update.revision == missed && !update.events.is_empty() => {}
            other => {
                return Err(Failed(format!(
                    "a watch that fell behind says {other:?} where {missed} is due"
                )));
            }
        }
    }
    // A watch from a new scan works.
    let mirror = block_on(Mirror::load(&*store, &below))?;
    let mut watch = block_on(store.watch(&below, mirror.revision()))?;
    let revision = put(&*store, &key(&["old", "2"]), "v")?;
    ensure!(
        reported(&mut *watch, revision)?.revision == revision,
        "a watch after a scan missed a change"
    );
    let oldest = block_on(store.status())?.oldest;
    ensure!(
        block_on(store.watch(&below, oldest)).is_ok(),
        "the oldest revision cannot be watched"
    );
    Ok(())
}

pub fn watch_of_future_revision_is_rejected(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let newest = put(&*store, &key(&["future"]), "v")?;
    let future = Revision::from_number(newest.number() + 1000);
    let asked = block_on(store.watch(&prefix(&["future"]), future)).err();
    ensure!(
        asked == Some(Error::Invalid(Problem::FutureRevision)),
        "a revision that was never reached is watched: {asked:?}"
    );
    Ok(())
}

pub fn quiet_watch_reports_progress(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let watch = block_on(store.watch(&prefix(&["quiet"]), block_on(store.status())?.revision))?;
    let beside = put(&*store, &key(&["loud"]), "v")?;
    reports_progress(watch, beside, subject.progress_timeout())
}

pub fn idle_store_watch_reports_progress(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let newest = put(&*store, &key(&["quiet", "1"]), "v")?;
    let watch = block_on(store.watch(&prefix(&["quiet"]), newest))?;
    reports_progress(watch, newest, subject.progress_timeout())
}

/// Waits for progress with `as_of`. Without it nobody knows whether the store is reachable.
fn reports_progress(mut watch: Box<dyn Watch>, newest: Revision, timeout: Duration) -> Checked {
    let started = Moment::now();
    let (sender, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // The receiver is gone if this took too long.
        while sender.send(block_on(watch.next())).is_ok() {}
    });
    loop {
        let update = heard.recv_timeout(timeout.saturating_sub(started.elapsed()));
        let update =
            update.map_err(|_| Failed(format!("silence for {:?}", started.elapsed())))??;
        ensure!(update.events.is_empty(), "a quiet watch reports changes");
        if update.as_of.is_some_and(|as_of| as_of >= started) {
            ensure!(
                update.revision >= newest,
                "progress is older than an earlier acknowledgement"
            );
            return Ok(());
        }
    }
}
