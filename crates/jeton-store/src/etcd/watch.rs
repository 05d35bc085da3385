//! Watches etcd, with a heartbeat that has asked a majority.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::answer;
use super::api::event::EventType;
use super::api::{WatchCreateRequest, WatchResponse};
use super::connection::{Etcd, in_time};
use super::members::Watching;
use crate::entry::Event;
use crate::error::{Error, Problem, Result};
use crate::key::Prefix;
use crate::limits;
use crate::moment::Moment;
use crate::pending::Pending;
use crate::revision::Revision;
use crate::store::{Update, Watch};

/// Updates that wait for a slow follower. Beyond that, etcd waits.
const WAITING: usize = 64;

/// Interval of questions to the majority: twice within what a follower is promised.
const HEARTBEAT: Duration = Duration::from_secs(limits::PROGRESS_EVERY.as_secs() / 2);

/// Interval of progress requests to a member.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// Delay before a watch with a lost connection resumes.
const RESUME_DELAY: Duration = Duration::from_millis(500);

struct Following(mpsc::Receiver<Result<Update>>);

/// The task that fills a [`Following`].
struct Pump {
    etcd: Etcd,
    from: String,
    end: String,
    reported: Revision,
    /// When an update or an interruption was last reported.
    heard: Instant,
    updates: mpsc::Sender<Result<Update>>,
}

/// A majority was asked at that moment and had that revision.
#[derive(Clone, Copy)]
struct Majority {
    asked: Moment,
    newest: Revision,
}

/// Why a stream of etcd ended.
enum Ended {
    /// The follower is gone.
    Unheard,
    /// It can be resumed.
    Interrupted,
    /// It cannot be resumed.
    Failed(Error),
}

pub(super) async fn begin(etcd: Etcd, prefix: &Prefix, after: Revision) -> Result<Box<dyn Watch>> {
    etcd.remembers(after).await?;
    let (from, end) = etcd.range(prefix);
    let (updates, following) = mpsc::channel(WAITING);
    let pump = Pump {
        etcd,
        from,
        end,
        reported: after,
        heard: Instant::now(),
        updates,
    };
    tokio::spawn(pump.run());
    Ok(Box::new(Following(following)))
}

impl Watch for Following {
    fn next(&mut self) -> Pending<'_, Update> {
        Box::pin(async move { self.0.recv().await.unwrap_or(Err(Error::Closed)) })
    }
}

impl Pump {
    /// Resumes the stream while there is a follower, so that a broken connection needs no new load.
    async fn run(mut self) {
        loop {
            match self.follow().await {
                Ended::Unheard => return,
                Ended::Interrupted => {}
                Ended::Failed(error) => {
                    let _ = self.updates.send(Err(error)).await;
                    return;
                }
            }
            if self.heard.elapsed() >= limits::PROGRESS_EVERY {
                self.heard = Instant::now();
                if self.updates.send(Err(answer::interrupted())).await.is_err() {
                    return;
                }
            }
            tokio::select! {
                () = self.updates.closed() => return,
                () = sleep(RESUME_DELAY) => {}
            }
        }
    }

    async fn follow(&mut self) -> Ended {
        // An etcd restored from an older backup has not reached this revision.
        match in_time(self.etcd.remembers(self.reported)).await {
            Ok(()) => {}
            Err(Error::Io(..)) => return Ended::Interrupted,
            Err(error) => return Ended::Failed(error),
        }
        let create = WatchCreateRequest {
            key: self.from.clone().into_bytes(),
            range_end: self.end.clone().into_bytes(),
            start_revision: answer::number(self.reported).saturating_add(1),
        };
        let watch = self.etcd.asked(|| self.etcd.members.watch(create.clone()));
        let Ok(Ok(mut stream)) = timeout(limits::ETCD_READ, watch).await else {
            return Ended::Interrupted;
        };
        let Err(ended) = self.pass_on(&mut stream).await;
        ended
    }

    /// Forwards the events of the stream. A member that is cut off would answer for itself. So each
    /// heartbeat asks the majority first. The follower is up to date as of that question once this member
    /// has sent everything up to the revision of the majority.
    async fn pass_on(&mut self, stream: &mut Watching) -> Result<Infallible, Ended> {
        let mut beat = interval(HEARTBEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut ask = interval(ASK_AGAIN);
        ask.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut awaited: Option<Majority> = None;
        loop {
            tokio::select! {
                () = self.updates.closed() => return Err(Ended::Unheard),
                message = stream.message() => {
                    let Ok(Some(message)) = message else {
                        return Err(Ended::Interrupted);
                    };
                    for update in self.updates_of(message)? {
                        self.report(update).await?;
                    }
                    self.heard = Instant::now();
                }
                _ = beat.tick(), if awaited.is_none() => {
                    let asked = Moment::now();
                    let newest = in_time(self.etcd.newest()).await;
                    let newest = newest.map_err(|_| Ended::Interrupted)?;
                    // A majority has everything that any member has reported, unless it was restored.
                    if newest < self.reported {
                        return Err(Ended::Failed(Problem::FutureRevision.into()));
                    }
                    awaited = Some(Majority { asked, newest });
                }
                _ = ask.tick(), if awaited.is_some() => {
                    // A member that is behind keeps sending. One that sends nothing is abandoned.
                    if self.heard.elapsed() > limits::ETCD_ANSWER {
                        return Err(Ended::Interrupted);
                    }
                    let asked = timeout(limits::ETCD_READ, stream.request_progress()).await;
                    asked.map_err(|_| Ended::Interrupted)?.map_err(|_| Ended::Interrupted)?;
                }
            }
            // A member reports nothing for a watch whose first revision it has not reached.
            if let Some(Majority { asked, newest }) = awaited
                && newest <= self.reported
            {
                awaited = None;
                self.heard = Instant::now();
                self.report(Update {
                    revision: self.reported,
                    events: Vec::new(),
                    as_of: Some(asked),
                })
                .await?;
            }
        }
    }

    async fn report(&mut self, update: Update) -> Result<(), Ended> {
        self.reported = self.reported.max(update.revision);
        let sent = self.updates.send(Ok(update)).await;
        sent.map_err(|_| Ended::Unheard)
    }

    /// Converts a message to one update per transaction. etcd never splits one between two messages.
    fn updates_of(&self, message: WatchResponse) -> Result<Vec<Update>, Ended> {
        let newest = self.etcd.revision_of(message.header);
        let newest = newest.map_err(Ended::Failed)?;
        if message.compact_revision > 0 {
            let oldest = answer::revision(message.compact_revision);
            return Err(Ended::Failed(Error::Compacted { oldest }));
        }
        if message.canceled {
            return Err(Ended::Interrupted);
        }
        let mut updates: Vec<Update> = Vec::new();
        for event in message.events {
            let kind = event.r#type();
            let Some(pair) = event.kv else { continue };
            let revision = answer::revision(pair.mod_revision);
            let reported = match kind {
                EventType::Put => answer::entry(&self.etcd.root, pair).map(Event::Put),
                EventType::Delete => answer::key(&self.etcd.root, &pair.key).map(Event::Deleted),
            };
            let reported = reported.map_err(Ended::Failed)?;
            match updates.last_mut() {
                Some(update) if update.revision == revision => update.events.push(reported),
                _ => updates.push(not_the_newest(revision, vec![reported])),
            }
        }
        // Without events it is progress, except the message that the watch has begun.
        if updates.is_empty() && !message.created {
            updates.push(not_the_newest(newest, Vec::new()));
        }
        Ok(updates)
    }
}

/// Creates an update without `as_of`: one member may be behind.
fn not_the_newest(revision: Revision, events: Vec<Event>) -> Update {
    Update {
        revision,
        events,
        as_of: None,
    }
}
