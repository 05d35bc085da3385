//! Cases for `as_of`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use jeton_store::{Moment, Revision, Store, Update, Watch, block_on, limits};

use super::{key, prefix, put};
use crate::{Checked, Failed, Subject, ensure};

/// Writers stop after this time, even if the test hangs.
const DEADLINE: Duration = Duration::from_secs(60);

/// How far writers may be ahead of the follower.
const AHEAD: u64 = 1000;

/// A commit, and a moment after its acknowledgement.
type Acknowledged = Vec<(Revision, Moment)>;

fn put_and_note(store: &dyn Store, name: &[&str]) -> Result<(Revision, Moment), Failed> {
    let revision = put(store, &key(name), "v")?;
    Ok((revision, Moment::now()))
}

/// Receives updates, each with the moment of arrival, until that revision.
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

/// Checks that everything acknowledged before `as_of` was reported.
fn is_true(heard: &[(Update, Moment)], acknowledged: &Acknowledged) -> Checked {
    let mut reported = Revision::START;
    for (update, after) in heard {
        reported = reported.max(update.revision);
        let Some(as_of) = update.as_of else { continue };
        ensure!(as_of <= *after, "{reported} has an as_of in the future");
        let untold =
            (acknowledged.iter()).find(|(revision, when)| *revision > reported && *when < as_of);
        if let Some((revision, when)) = untold {
            return Err(Failed(format!(
                "{reported} is the newest reported revision, but {revision} was acknowledged {:?} before as_of",
                as_of.duration_since(*when)
            )));
        }
    }
    Ok(())
}

pub fn as_of_follows_all_acknowledged_commits(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let below = prefix(&["fresh"]);
    let start = block_on(store.status())?.revision;
    // A slow follower.
    let mut acknowledged = Vec::new();
    for i in 0..40 {
        let part = if i % 4 == 3 { "beside" } else { "fresh" };
        acknowledged.push(put_and_note(&*store, &[part, &i.to_string()])?);
    }
    let last = put_and_note(&*store, &["fresh", "last"])?;
    acknowledged.push(last);
    let mut watch = block_on(store.watch(&below, start))?;
    is_true(&heard_up_to(&mut *watch, last.0)?, &acknowledged)?;
    // A follower that keeps up with several writers.
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

pub fn as_of_is_time_of_the_question(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let start = put(&*store, &key(&["asked", "1"]), "v")?;
    let mut watch = block_on(store.watch(&prefix(&["asked"]), start))?;
    // Updates wait while nothing reads them.
    thread::sleep(limits::PROGRESS_EVERY + Duration::from_secs(1));
    let written = put_and_note(&*store, &["asked", "2"])?;
    thread::sleep(Duration::from_millis(10));
    is_true(&heard_up_to(&mut *watch, written.0)?, &vec![written])
}

pub fn as_of_advances_while_others_write(subject: &mut dyn Subject) -> Checked {
    let store = subject.store();
    let below = prefix(&["busy"]);
    let start = put(&*store, &key(&["busy", "1"]), "v")?;
    let mut watch = block_on(store.watch(&below, start))?;
    let (begun, done) = (Moment::now(), AtomicBool::new(false));
    let reported = AtomicU64::new(start.number());
    thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|me| {
                let (store, done, reported) = (&store, &done, &reported);
                let me = me.to_string();
                scope.spawn(move || {
                    while !done.load(Ordering::Relaxed) && begun.elapsed() < DEADLINE {
                        let written = put(&**store, &key(&["busy", &me]), "v")?;
                        // Ahead of the follower by a bounded number of commits.
                        let ahead = || written.number() > reported.load(Ordering::Relaxed) + AHEAD;
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
        // The age stays bounded.
        let heard = loop {
            let update = match block_on(watch.next()) {
                Ok(update) => {
                    reported.fetch_max(update.revision.number(), Ordering::Relaxed);
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
