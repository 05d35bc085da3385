//! Watches.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use jeton_store::{
    Error, Event, Mirror, Moment, Problem, Revision, Store, Txn, Update, Watch, block_on, limits,
};

use super::{committed, key, prefix, put};
use crate::threads::{Dice, at_once};
use crate::{Checked, Failed, Subject, ensure};

/// The next update that tells something, which the transaction of that revision did.
fn told(watch: &mut dyn Watch, expected: Revision) -> Result<Update, Failed> {
    loop {
        let update = block_on(watch.next())?;
        if !update.events.is_empty() {
            return Ok(update);
        }
        ensure!(
            update.revision < expected,
            "{expected} was passed over in silence"
        );
    }
}

/// Several writers at once, puts, deletes and prefixes, beside and under the prefix.
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

pub fn a_watch_tells_everything_once_in_order(subject: &mut dyn Subject) -> Checked {
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
        // Everything a writer put is told once: its own counter goes up by one and by no more. What is
        // there in the end would not show it: a change that was passed over may have been undone.
        let mut own = [None::<u64>; 3];
        let mut quiet = 0;
        loop {
            let update = block_on(watch.next())?;
            if !update.events.is_empty() {
                ensure!(
                    update.revision > last,
                    "{} is told after {last}",
                    update.revision
                );
            }
            quiet += usize::from(update.events.is_empty());
            ensure!(quiet < 3, "the last change is never told");
            last = last.max(update.revision);
            let mut done = false;
            for event in &update.events {
                let Event::Put(entry) = event else { continue };
                ensure!(
                    entry.key.is_under(&below),
                    "told what was not asked for: {}",
                    entry.key
                );
                ensure!(
                    entry.changed == update.revision,
                    "told under another revision"
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
                    let due = own[writer].map_or(0, |told| told + 1);
                    ensure!(
                        step == due,
                        "change {step} of {writer} is told where {due} is due"
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
            "who followed the watch does not have what the store has"
        );
        Ok(())
    })
}

pub fn a_watch_tells_whole_transactions(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let below = prefix(&["whole"]);
    let mut watch = block_on(store.watch(&below, block_on(store.status())?.revision))?;
    for round in 0..10 {
        let txn = (0..10).fold(Txn::new().put(key(&["beside"]), "x"), |txn, i| {
            txn.put(key(&["whole", &i.to_string()]), round.to_string())
        });
        let revision = committed(&*store, txn)?;
        let update = told(&mut *watch, revision)?;
        ensure!(
            update.revision == revision,
            "told under revision {}",
            update.revision
        );
        ensure!(
            update.events.len() == 10,
            "{} of 10 changes told at once",
            update.events.len()
        );
    }
    Ok(())
}

pub fn a_watch_resumes_where_it_was_left(subject: &mut dyn Subject) -> Checked {
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
            let revision = told(&mut *watch, *expected)?.revision;
            ensure!(
                revision == *expected,
                "resumed after {after}, {expected} came as {revision}"
            );
        }
    }
    Ok(())
}

pub fn a_watch_far_behind_catches_up(subject: &mut dyn Subject) -> Checked {
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
            "{} is told after {last}",
            update.revision
        );
        last = last.max(update.revision);
        seen += update.events.len();
    }
    ensure!(seen == BEHIND, "{seen} of {BEHIND} changes are told");
    Ok(())
}

pub fn a_watch_that_is_not_waited_for_loses_nothing(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let below = prefix(&["drop"]);
    let mut watch = block_on(store.watch(&below, block_on(store.status())?.revision))?;
    for i in 0..30 {
        // Asked, and given up before there is an answer.
        block_on(poll_fn(|context| {
            let mut next = watch.next();
            let early = next.as_mut().poll(context);
            drop(next);
            match early {
                Poll::Ready(Ok(update)) if !update.events.is_empty() => {
                    Poll::Ready(Err(Failed("told something before it happened".to_owned())))
                }
                _ => Poll::Ready(Ok(())),
            }
        }))?;
        let revision = put(&*store, &key(&["drop", &i.to_string()]), "v")?;
        let update = told(&mut *watch, revision)?;
        ensure!(
            update.revision == revision,
            "{revision} was lost with a call that was given up"
        );
    }
    Ok(())
}

pub fn a_watch_of_what_is_forgotten_says_so(subject: &mut dyn Subject) -> Checked {
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
        "a forgotten revision is watched: {asked:?}"
    );
    // One that fell behind says so, unless what it missed is on its way to it already.
    for missed in missed {
        // What it had to say before they were written may be on its way too.
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
    // From a scan on, all is well again.
    let mirror = block_on(Mirror::load(&*store, &below))?;
    let mut watch = block_on(store.watch(&below, mirror.revision()))?;
    let revision = put(&*store, &key(&["old", "2"]), "v")?;
    ensure!(
        told(&mut *watch, revision)?.revision == revision,
        "a watch from a scan on missed a change"
    );
    let oldest = block_on(store.status())?.oldest;
    ensure!(
        block_on(store.watch(&below, oldest)).is_ok(),
        "the oldest revision cannot be watched"
    );
    Ok(())
}

pub fn a_watch_of_the_future_is_refused(subject: &mut dyn Subject) -> Checked {
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

pub fn a_quiet_watch_reports_progress(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let watch = block_on(store.watch(&prefix(&["quiet"]), block_on(store.status())?.revision))?;
    let beside = put(&*store, &key(&["loud"]), "v")?;
    reports_progress(watch, beside)
}

pub fn a_watch_of_a_store_that_is_left_alone_reports_progress(
    subject: &mut dyn Subject,
) -> Checked {
    let store = subject.store();
    let newest = put(&*store, &key(&["quiet", "1"]), "v")?;
    let watch = block_on(store.watch(&prefix(&["quiet"]), newest))?;
    reports_progress(watch, newest)
}

/// Progress that says as of when: without that nobody knows whether the store is there.
fn reports_progress(mut watch: Box<dyn Watch>, newest: Revision) -> Checked {
    let started = Moment::now();
    let (sender, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // The receiver is gone if this took too long.
        while sender.send(block_on(watch.next())).is_ok() {}
    });
    let deadline = limits::PROGRESS_EVERY + Duration::from_secs(3);
    loop {
        let update = heard.recv_timeout(deadline.saturating_sub(started.elapsed()));
        let update =
            update.map_err(|_| Failed(format!("silence for {:?}", started.elapsed())))??;
        ensure!(update.events.is_empty(), "a quiet watch tells changes");
        if update.as_of.is_some_and(|as_of| as_of >= started) {
            ensure!(
                update.revision >= newest,
                "progress is behind what was acknowledged before it"
            );
            return Ok(());
        }
    }
}
