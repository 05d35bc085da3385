//! What a watch says of how fresh it is.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use jeton_store::{Moment, Revision, Store, Update, Watch, block_on, limits};

use super::{key, prefix, put};
use crate::{Checked, Failed, Subject, ensure};

/// A writer never goes on for ever, whatever becomes of the test.
const DEADLINE: Duration = Duration::from_secs(60);

/// How far writers may be ahead of who follows.
const AHEAD: u64 = 1000;

/// What was acknowledged, and when at the latest.
type Acknowledged = Vec<(Revision, Moment)>;

fn put_and_note(store: &dyn Store, name: &[&str]) -> Result<(Revision, Moment), Failed> {
    let revision = put(store, &key(name), "v")?;
    Ok((revision, Moment::now()))
}

/// Hears updates, each with the moment after it came, until that revision has been told.
fn heard_up_to(watch: &mut dyn Watch, revision: Revision) -> Result<Vec<(Update, Moment)>, Failed> {
    let mut heard = Vec::new();
    loop {
        let update = block_on(watch.next())?;
        let is_last = update.revision >= revision;
        heard.push((update, Moment::now()));
        if is_last {
            return Ok(heard);
        }
    }
}

/// Whoever believes `as_of` has been told everything that was acknowledged before it.
fn is_true(heard: &[(Update, Moment)], acknowledged: &Acknowledged) -> Checked {
    let mut told = Revision::START;
    for (update, after) in heard {
        told = told.max(update.revision);
        let Some(as_of) = update.as_of else { continue };
        ensure!(as_of <= *after, "{told} is told as of a moment to come");
        let untold =
            (acknowledged.iter()).find(|(revision, when)| *revision > told && *when < as_of);
        if let Some((revision, when)) = untold {
            return Err(Failed(format!(
                "{told} is the newest as of a moment, and {revision} was acknowledged {:?} before it",
                as_of.duration_since(*when)
            )));
        }
    }
    Ok(())
}

pub fn as_of_is_told_with_all_that_was_acknowledged_before(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let below = prefix(&["fresh"]);
    let start = block_on(store.status())?.revision;
    // A follower that is behind.
    let mut acknowledged = Vec::new();
    for i in 0..40 {
        let part = if i % 4 == 3 { "beside" } else { "fresh" };
        acknowledged.push(put_and_note(&*store, &[part, &i.to_string()])?);
    }
    let last = put_and_note(&*store, &["fresh", "last"])?;
    acknowledged.push(last);
    let mut watch = block_on(store.watch(&below, start))?;
    is_true(&heard_up_to(&mut *watch, last.0)?, &acknowledged)?;
    // And one that keeps up with several writers.
    let acknowledged = Mutex::new(Vec::new());
    thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|me| {
                let (store, acknowledged) = (&store, &acknowledged);
                scope.spawn(move || {
                    for i in 0..100 {
                        let part = if i % 5 == 0 { "beside" } else { "fresh" };
                        let name = format!("{me}-{i}");
                        let noted = put_and_note(&**store, &[part, &name])?;
                        acknowledged.lock().unwrap().push(noted);
                    }
                    Ok::<_, Failed>(())
                })
            })
            .collect();
        let mut heard = Vec::new();
        while !writers.iter().all(thread::ScopedJoinHandle::is_finished) {
            let update = block_on(watch.next())?;
            heard.push((update, Moment::now()));
        }
        for writer in writers {
            writer.join().unwrap()?;
        }
        let last = put_and_note(&*store, &["fresh", "last"])?;
        heard.extend(heard_up_to(&mut *watch, last.0)?);
        is_true(&heard, &acknowledged.lock().unwrap())
    })
}

pub fn as_of_is_when_the_store_was_asked(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let start = put(&*store, &key(&["asked", "1"]), "v")?;
    let mut watch = block_on(store.watch(&prefix(&["asked"]), start))?;
    // Nobody listens, and what is told meanwhile waits.
    thread::sleep(limits::PROGRESS_EVERY + Duration::from_secs(1));
    let written = put_and_note(&*store, &["asked", "2"])?;
    thread::sleep(Duration::from_millis(10));
    is_true(&heard_up_to(&mut *watch, written.0)?, &vec![written])
}

pub fn as_of_goes_on_while_others_write(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let below = prefix(&["busy"]);
    let start = put(&*store, &key(&["busy", "1"]), "v")?;
    let mut watch = block_on(store.watch(&below, start))?;
    let (begun, done) = (Moment::now(), AtomicBool::new(false));
    let told = AtomicU64::new(start.number());
    thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|me| {
                let (store, done, told) = (&store, &done, &told);
                let me = me.to_string();
                scope.spawn(move || {
                    while !done.load(Ordering::Relaxed) && begun.elapsed() < DEADLINE {
                        let written = put(&**store, &key(&["busy", &me]), "v")?;
                        // Ahead of who follows, and not out of its sight.
                        let ahead = || written.number() > told.load(Ordering::Relaxed) + AHEAD;
                        while ahead() && !done.load(Ordering::Relaxed) {
                            thread::yield_now();
                        }
                    }
                    Ok::<_, Failed>(())
                })
            })
            .collect();
        let mut fresh = 0;
        let mut last = begun;
        // Its age does not grow without bound: again and again it is told to be younger.
        let heard = loop {
            let update = match block_on(watch.next()) {
                Ok(update) => {
                    told.fetch_max(update.revision.number(), Ordering::Relaxed);
                    update
                }
                Err(error) => break Err(error.into()),
            };
            if update.as_of.is_some_and(|as_of| as_of > last) {
                last = Moment::now();
                fresh += 1;
            }
            if fresh == 3 {
                break Ok(());
            }
            if begun.elapsed() >= DEADLINE {
                break Err(Failed(format!(
                    "as of a moment {fresh} times, while others write"
                )));
            }
        };
        done.store(true, Ordering::Relaxed);
        for writer in writers {
            writer.join().unwrap()?;
        }
        heard
    })
}
