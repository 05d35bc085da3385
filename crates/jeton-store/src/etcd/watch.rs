//! A watch: what etcd tells, and a heartbeat that is worth something.

use std::collections::VecDeque;
use std::time::Duration;

use etcd_client::{EventType, WatchOptions, WatchResponse, WatchStream};
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior, interval, sleep};

use super::history::ASK_AGAIN;
use super::{Etcd, answer, in_time};
use crate::entry::{Event, Revision};
use crate::error::{Error, Result};
use crate::key::Prefix;
use crate::limits;
use crate::pending::Pending;
use crate::store::{Update, Watch};

/// Updates that wait for a slow follower; behind them etcd waits.
const WAITING: usize = 64;

/// How often the majority is asked how far it is. Twice within what a follower is promised.
const HEARTBEAT: Duration = Duration::from_secs(limits::PROGRESS_EVERY.as_secs() / 2);

/// How long a watch that has lost its connection rests before it goes on from where it was.
const REST: Duration = Duration::from_millis(500);

struct Following(mpsc::Receiver<Result<Update>>);

/// What goes on behind a [`Following`].
struct Pump {
    etcd: Etcd,
    from: String,
    end: String,
    told: Revision,
    updates: mpsc::Sender<Result<Update>>,
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
    /// Takes the stream up again for as long as somebody listens: a follower that hears nothing knows that it
    /// is behind, and need not load everything again for a connection that broke.
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
        let Ok(mut stream) = client.watch(self.from.as_str(), Some(options)).await else {
            return Ended::Interrupted;
        };
        let mut beat = interval(HEARTBEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            match self.turn(&mut stream, &mut beat).await {
                Ok(updates) => {
                    for update in updates {
                        self.told = self.told.max(update.revision);
                        if self.updates.send(Ok(update)).await.is_err() {
                            return Ended::Unheard;
                        }
                    }
                }
                Err(ended) => return ended,
            }
        }
    }

    /// Waits for what comes next: a message, a heartbeat, or that nobody listens.
    async fn turn(
        &self,
        stream: &mut WatchStream,
        beat: &mut Interval,
    ) -> Result<VecDeque<Update>, Ended> {
        tokio::select! {
            () = self.updates.closed() => Err(Ended::Unheard),
            message = stream.message() => match message {
                Ok(Some(message)) => self.updates_of(&message),
                Ok(None) | Err(_) => Err(Ended::Interrupted),
            },
            _ = beat.tick() => {
                // A member that is cut off would answer for itself. This one asks the majority first, and
                // then its own member, whose answer comes when it has told everything up to there.
                let newest = in_time(self.etcd.newest()).await.map_err(|_| Ended::Interrupted)?;
                self.catch_up(stream, newest).await
            }
        }
    }

    /// Everything up to that revision.
    async fn catch_up(
        &self,
        stream: &mut WatchStream,
        newest: Revision,
    ) -> Result<VecDeque<Update>, Ended> {
        let mut updates = VecDeque::new();
        // A member says nothing of a watch whose first revision it has not reached, and there is nothing to say.
        if newest <= self.told {
            updates.push_back(Update {
                revision: self.told,
                events: Vec::new(),
            });
            return Ok(updates);
        }
        let caught_up = in_time(async {
            loop {
                let asked = stream.request_progress().await;
                asked.map_err(|error| answer::failure(&error))?;
                // A member that has not caught up itself says nothing to that.
                let message = tokio::select! {
                    message = stream.message() => message.map_err(|error| answer::failure(&error))?,
                    () = sleep(ASK_AGAIN) => continue,
                };
                match self.updates_of(&message.ok_or(Error::Closed)?) {
                    Ok(told) => updates.extend(told),
                    Err(ended) => return Ok(Some(ended)),
                }
                if updates
                    .back()
                    .is_some_and(|last: &Update| last.revision >= newest)
                {
                    return Ok(None);
                }
            }
        })
        .await;
        // What was told on the way and did not arrive whole is told again from where the follower is.
        match caught_up {
            Ok(None) => Ok(updates),
            Ok(Some(ended)) => Err(ended),
            Err(_) => Err(Ended::Interrupted),
        }
    }

    /// What a message tells, a transaction at a time. etcd never parts one between two messages.
    fn updates_of(&self, message: &WatchResponse) -> Result<VecDeque<Update>, Ended> {
        if message.compact_revision() > 0 {
            let oldest = answer::revision(message.compact_revision());
            return Err(Ended::Failed(Error::Compacted { oldest }));
        }
        if message.canceled() {
            return Err(Ended::Interrupted);
        }
        let mut updates: VecDeque<Update> = VecDeque::new();
        for event in message.events() {
            let Some(pair) = event.kv() else { continue };
            let revision = answer::revision(pair.mod_revision());
            let told = match event.event_type() {
                EventType::Put => answer::entry(&self.etcd.root, pair).map(Event::Put),
                EventType::Delete => answer::key(&self.etcd.root, pair.key()).map(Event::Deleted),
            };
            let told = told.map_err(Ended::Failed)?;
            match updates.back_mut() {
                Some(update) if update.revision == revision => update.events.push(told),
                _ => updates.push_back(Update {
                    revision,
                    events: vec![told],
                }),
            }
        }
        // Without events it is progress, but for the word that the watch has begun.
        if updates.is_empty() && !message.created() {
            let revision = answer::revision_of(message.header()).map_err(Ended::Failed)?;
            updates.push_back(Update {
                revision,
                events: Vec::new(),
            });
        }
        Ok(updates)
    }
}
