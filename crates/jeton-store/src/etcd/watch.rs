//! A watch: what etcd tells, and a heartbeat that is worth something.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use etcd_client::{EventType, WatchOptions, WatchResponse, WatchStream};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::answer;
use super::connection::{Etcd, in_time};
use crate::entry::{Event, Revision};
use crate::error::{Error, Result};
use crate::key::Prefix;
use crate::limits;
use crate::moment::Moment;
use crate::pending::Pending;
use crate::store::{Update, Watch};

/// Updates that wait for a slow follower; behind them etcd waits.
const WAITING: usize = 64;

/// How often the majority is asked how far it is. Twice within what a follower is promised.
const HEARTBEAT: Duration = Duration::from_secs(limits::PROGRESS_EVERY.as_secs() / 2);

/// How often a member is asked how far it has come, until it says so.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// How long a watch that has lost its connection rests before it goes on from where it was.
const REST: Duration = Duration::from_millis(500);

struct Following(mpsc::Receiver<Result<Update>>);

/// What goes on behind a [`Following`].
struct Pump {
    etcd: Etcd,
    from: String,
    end: String,
    told: Revision,
    /// When something was last heard, or that nothing was last said.
    heard: Instant,
    updates: mpsc::Sender<Result<Update>>,
}

/// A majority was asked at that moment, and was that far.
#[derive(Clone, Copy)]
struct Majority {
    asked: Moment,
    newest: Revision,
}

/// How a stream of etcd's ended.
enum Ended {
    /// Nobody listens any more.
    Unheard,
    /// It can be taken up again.
    Interrupted,
    /// It cannot.
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
        told: after,
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
    /// Takes the stream up again for as long as somebody listens: a follower need not load everything again
    /// for a connection that broke.
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
                () = sleep(REST) => {}
            }
        }
    }

    async fn follow(&mut self) -> Ended {
        // A store that was put back to an older backup has not reached what was told.
        match in_time(self.etcd.remembers(self.told)).await {
            Ok(()) => {}
            Err(Error::Io(..)) => return Ended::Interrupted,
            Err(error) => return Ended::Failed(error),
        }
        let options = WatchOptions::new()
            .with_range(self.end.as_str())
            .with_start_revision(answer::number(self.told).saturating_add(1));
        let client = self.etcd.client.watch_client();
        let mut client = client.max_decoding_message_size(limits::ETCD_MESSAGE_BYTES);
        let watch = client.watch(self.from.as_str(), Some(options));
        let Ok(Ok(mut stream)) = timeout(limits::ETCD_READ, watch).await else {
            return Ended::Interrupted;
        };
        let Err(ended) = self.pass_on(&mut stream).await;
        ended
    }

    /// Hands on what the stream tells, as it comes. A member that is cut off would answer for itself, so at
    /// every heartbeat the majority is asked first; the follower has everything as of then when this member
    /// has told everything up to where the majority was.
    async fn pass_on(&mut self, stream: &mut WatchStream) -> Result<Infallible, Ended> {
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
                    for update in self.updates_of(&message)? {
                        self.tell(update).await?;
                    }
                    self.heard = Instant::now();
                }
                _ = beat.tick(), if awaited.is_none() => {
                    let asked = Moment::now();
                    let newest = in_time(self.etcd.newest()).await;
                    let newest = newest.map_err(|_| Ended::Interrupted)?;
                    awaited = Some(Majority { asked, newest });
                }
                _ = ask.tick(), if awaited.is_some() => {
                    // One that is far behind goes on telling; one that tells nothing is left.
                    if self.heard.elapsed() > limits::ETCD_ANSWER {
                        return Err(Ended::Interrupted);
                    }
                    let asked = timeout(limits::ETCD_READ, stream.request_progress()).await;
                    asked.map_err(|_| Ended::Interrupted)?.map_err(|_| Ended::Interrupted)?;
                }
            }
            // A member says nothing of a watch whose first revision it has not reached, and then there is
            // nothing to say.
            if let Some(Majority { asked, newest }) = awaited
                && newest <= self.told
            {
                awaited = None;
                self.heard = Instant::now();
                self.tell(Update {
                    revision: self.told,
                    events: Vec::new(),
                    as_of: Some(asked),
                })
                .await?;
            }
        }
    }

    async fn tell(&mut self, update: Update) -> Result<(), Ended> {
        self.told = self.told.max(update.revision);
        let sent = self.updates.send(Ok(update)).await;
        sent.map_err(|_| Ended::Unheard)
    }

    /// What a message tells, a transaction at a time. etcd never parts one between two messages.
    fn updates_of(&self, message: &WatchResponse) -> Result<Vec<Update>, Ended> {
        if message.compact_revision() > 0 {
            let oldest = answer::revision(message.compact_revision());
            return Err(Ended::Failed(Error::Compacted { oldest }));
        }
        if message.canceled() {
            return Err(Ended::Interrupted);
        }
        let mut updates: Vec<Update> = Vec::new();
        for event in message.events() {
            let Some(pair) = event.kv() else { continue };
            let revision = answer::revision(pair.mod_revision());
            let told = match event.event_type() {
                EventType::Put => answer::entry(&self.etcd.root, pair).map(Event::Put),
                EventType::Delete => answer::key(&self.etcd.root, pair.key()).map(Event::Deleted),
            };
            let told = told.map_err(Ended::Failed)?;
            match updates.last_mut() {
                Some(update) if update.revision == revision => update.events.push(told),
                _ => updates.push(not_the_newest(revision, vec![told])),
            }
        }
        // Without events it is progress, but for the word that the watch has begun.
        if updates.is_empty() && !message.created() {
            let revision = answer::revision_of(message.header()).map_err(Ended::Failed)?;
            updates.push(not_the_newest(revision, Vec::new()));
        }
        Ok(updates)
    }
}

/// For all that one member knows.
fn not_the_newest(revision: Revision, events: Vec<Event>) -> Update {
    Update {
        revision,
        events,
        as_of: None,
    }
}
