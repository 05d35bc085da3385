//! How far back etcd remembers, and that it does not remember for ever.

use std::time::Duration;

use etcd_client::{GetOptions, WatchOptions};
use tokio::time::{interval, sleep};

use super::{Etcd, answer, asked};
use crate::entry::Revision;
use crate::error::{Error, Problem, Result};
use crate::limits;

/// How often history is made shorter. Of several nodes each does it: the second finds it done.
const COMPACT_EVERY: Duration = Duration::from_secs(300);

/// How often a watch is asked how far it is, until it says so.
pub(super) const ASK_AGAIN: Duration = Duration::from_millis(50);

/// etcd keeps every value that ever was until it is told to forget: off by default, and its quota is used
/// up in the end.
pub(super) async fn keep_short(etcd: Etcd) {
    let mut due = interval(COMPACT_EVERY);
    loop {
        due.tick().await;
        // Who fails is back in five minutes, and whoever else runs has done it.
        if let Ok(newest) = etcd.newest().await {
            let before = newest.number().saturating_sub(limits::HISTORY_COMMITS);
            let _ = etcd.compact(Revision::from_number(before)).await;
        }
    }
}

impl Etcd {
    pub(super) async fn compact(&self, before: Revision) -> Result<()> {
        if before == Revision::START {
            return Ok(());
        }
        let number = answer::number(before);
        let compacted = asked(|| {
            let mut kv = self.kv();
            async move { kv.compact(number, None).await }
        });
        match compacted.await {
            Ok(_) => Ok(()),
            Err(error) if answer::says(&error, answer::COMPACTED) => Ok(()),
            Err(error) => Err(answer::failure(&error)),
        }
    }

    /// Whether everything after that revision can still be told.
    pub(super) async fn remembers(&self, after: Revision) -> Result<()> {
        let then = answer::number(after.max(Revision::from_number(1)));
        let options = GetOptions::new().with_count_only().with_revision(then);
        match self.get(&self.root, options).await {
            Ok(_) => Ok(()),
            Err(error) => Err(self.about_the_past(&error).await),
        }
    }

    /// An error that may be about a revision.
    pub(super) async fn about_the_past(&self, error: &etcd_client::Error) -> Error {
        if answer::says(error, answer::FUTURE) {
            return Problem::FutureRevision.into();
        }
        if !answer::says(error, answer::COMPACTED) {
            return answer::failure(error);
        }
        match self.oldest().await {
            Ok(oldest) => Error::Compacted { oldest },
            Err(error) => error,
        }
    }

    /// The oldest revision that can be read. etcd tells it to those alone who watch from before it.
    pub(super) async fn oldest(&self) -> Result<Revision> {
        let options = WatchOptions::new().with_start_revision(1);
        let nothing = format!("{}!oldest", self.root);
        let watch = asked(|| {
            let (mut client, options) = (self.client.watch_client(), options.clone());
            let nothing = nothing.as_str();
            async move { client.watch(nothing, Some(options)).await }
        });
        let mut watch = watch.await.map_err(|error| answer::failure(&error))?;
        loop {
            let message = tokio::select! {
                message = watch.message() => message.map_err(|error| answer::failure(&error))?,
                () = sleep(ASK_AGAIN) => {
                    let asked = watch.request_progress().await;
                    asked.map_err(|error| answer::failure(&error))?;
                    continue;
                }
            };
            let Some(message) = message else {
                return Err(Error::Closed);
            };
            if message.compact_revision() > 0 {
                return Ok(answer::revision(message.compact_revision()));
            }
            // Progress: it has looked at everything from the first revision on.
            if !message.created() && !message.canceled() {
                return Ok(Revision::START);
            }
        }
    }
}
