//! Compacts the history of etcd.

use std::time::Duration;

use tokio::time::interval;
use tonic::Status;

use super::answer;
use super::api::{CompactionRequest, RangeRequest, WatchCreateRequest};
use super::connection::{Etcd, count, in_time};
use crate::error::{Error, Problem, Result};
use crate::limits;
use crate::revision::Revision;

/// Interval of compaction. Every node does it, and the second finds it done.
const COMPACT_EVERY: Duration = Duration::from_secs(300);

/// Compacts periodically. etcd keeps every old value until it is compacted. Its own compaction is off by
/// default, and the quota would be exhausted.
pub(super) async fn keep_short(etcd: Etcd) {
    let mut due = interval(COMPACT_EVERY);
    loop {
        due.tick().await;
        // A failure is retried in five minutes, and other nodes may have done it. With authentication in
        // etcd only its root user may compact: then the operator must do so.
        if let Ok(newest) = in_time(etcd.newest()).await {
            let before = newest.number().saturating_sub(limits::HISTORY_COMMITS);
            let _ = in_time(etcd.compact(Revision::from_number(before))).await;
        }
    }
}

impl Etcd {
    pub(super) async fn compact(&self, before: Revision) -> Result<()> {
        if before == Revision::START {
            return Ok(());
        }
        let request = CompactionRequest {
            revision: answer::number(before),
            physical: false,
        };
        let compacted = self.asked(|| {
            let mut kv = self.members.kv();
            async move { kv.compact(request).await }
        });
        match compacted.await {
            Ok(_) => Ok(()),
            Err(error) if answer::says(&error, answer::COMPACTED) => Ok(()),
            Err(error) => Err(answer::failure(&error)),
        }
    }

    /// Checks that everything after that revision can still be watched.
    pub(super) async fn remembers(&self, after: Revision) -> Result<()> {
        let then = answer::number(after.max(Revision::from_number(1)));
        match self.get(self.count_at(then)).await {
            Ok(answer) => self.revision_of(answer.header).map(drop),
            Err(error) => Err(self.about_the_past(&error).await),
        }
    }

    /// Converts an error that may be about a revision.
    pub(super) async fn about_the_past(&self, error: &Status) -> Error {
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

    /// Returns the oldest revision that can be read. etcd only reports it to a watch from before it.
    pub(super) async fn oldest(&self) -> Result<Revision> {
        match self.get(self.count_at(1)).await {
            Ok(_) => return Ok(Revision::START),
            Err(error) if answer::says(&error, answer::COMPACTED) => {}
            Err(error) => return Err(answer::failure(&error)),
        }
        let create = WatchCreateRequest {
            key: format!("{}!oldest", self.root).into_bytes(),
            start_revision: 1,
            range_end: Vec::new(),
        };
        let watch = self.asked(|| self.members.watch(create.clone()));
        let mut watch = watch.await.map_err(|error| answer::failure(&error))?;
        loop {
            let message = watch.message().await;
            let message = message.map_err(|error| answer::failure(&error))?;
            match message {
                Some(message) if message.compact_revision > 0 => {
                    return Ok(answer::revision(message.compact_revision));
                }
                Some(message) if !message.canceled => {}
                _ => return Err(answer::interrupted()),
            }
        }
    }

    /// Asks whether a revision can be read.
    fn count_at(&self, revision: i64) -> RangeRequest {
        RangeRequest {
            revision,
            ..count(&self.root)
        }
    }
}
