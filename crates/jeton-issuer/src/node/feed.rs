//! Feeds of revocations for external verifiers: a snapshot, then all changes.

use std::future::poll_fn;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use jeton_store::{Key, Moment, Revision};

use super::Node;
use super::inner::Inner;
use super::recent::{Position, Recent, ResumeToken, Revoked};
use super::working::Working;
use crate::error::{Error, Result};
use crate::limits;
use crate::record::rules_of;
use crate::revocation::RevocationRule;

/// A feed of an issuer's revocations, served from this node's memory. It never reads the store. A slow
/// reader holds no resources of the store or of other feeds.
pub struct RevocationFeed {
    node: Weak<Inner>,
    recent: Arc<Recent>,
    iss: String,
    stage: Stage,
    /// The revision reported for the snapshot.
    begun: Revision,
    /// Pages of the snapshot come from newer and newer views. The snapshot is complete once everything up
    /// to this revision has been reported.
    whole_at: Revision,
    is_whole: bool,
    position: Position,
    /// `as_of` of the last update.
    told: Moment,
}

/// The next part, with the last reported position.
#[derive(Debug)]
enum Stage {
    Tokens(Option<(u32, u128)>),
    Rules(Option<Key>),
    Changes,
}

/// An update of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevocationUpdate {
    /// A reader of the whole snapshot and all later updates knows everything up to here.
    pub revision: Revision,
    /// Whether this is a part of the snapshot, or of what a resumed feed has missed, and more parts follow.
    pub is_snapshot: bool,
    /// Revoked tokens: their [hash](crate::token_hash) and the minute of their expiry.
    pub tokens: Vec<(u128, u32)>,
    /// Revocation rules.
    pub rules: Vec<RevocationRule>,
    /// Where a reader resumes that loses its connection after this update. None: a part of the snapshot.
    pub resume_token: Option<ResumeToken>,
    as_of: Moment,
}

impl Node {
    /// Begins a feed of the revocations of an issuer.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`].
    pub fn revocations(&self, iss: &str) -> Result<RevocationFeed> {
        if !self.inner.snapshot.load().issuers.contains_key(iss) {
            return Err(Error::UnknownIssuer);
        }
        // The lock prevents updates in between, so later changes are not missed. Some may be reported
        // twice.
        let _working = self.inner.working();
        let position = self.inner.recent.begin();
        Ok(self.feed(iss, position, Stage::Tokens(None), position.revision))
    }

    /// Resumes a feed after an update, possibly of another node on the same store. It has no snapshot.
    ///
    /// # Errors
    ///
    /// [`Error::PositionLost`]: begin a new feed. [`Error::UnknownIssuer`].
    pub fn resume_revocations(&self, iss: &str, after: &ResumeToken) -> Result<RevocationFeed> {
        if !self.inner.snapshot.load().issuers.contains_key(iss) {
            return Err(Error::UnknownIssuer);
        }
        let (position, newest) = self.inner.recent.resume(after)?;
        // Up to there the reader has missed something, as in a snapshot that is not complete.
        Ok(self.feed(iss, position, Stage::Changes, newest))
    }

    fn feed(
        &self,
        iss: &str,
        position: Position,
        stage: Stage,
        whole_at: Revision,
    ) -> RevocationFeed {
        RevocationFeed {
            node: Arc::downgrade(&self.inner),
            recent: self.inner.recent.clone(),
            iss: iss.to_owned(),
            stage,
            begun: position.revision,
            whole_at,
            is_whole: false,
            told: position.as_of,
            position,
        }
    }
}

impl RevocationFeed {
    /// Returns the next part of the snapshot, then the next changes or a progress report. Dropping the call
    /// before it completes loses nothing.
    ///
    /// # Errors
    ///
    /// [`Error::FellBehind`] if the reader is too slow, and [`Error::Store`] with
    /// [`Compacted`](jeton_store::Error::Compacted) if the node itself missed changes. Begin a new feed
    /// after either. [`Closed`](jeton_store::Error::Closed): the node has stopped.
    pub async fn next(&mut self) -> Result<RevocationUpdate> {
        poll_fn(|context| self.poll(context)).await
    }

    /// Returns a progress report, for readers that need one while [`next`](RevocationFeed::next) waits.
    pub fn progress(&self) -> RevocationUpdate {
        self.news(!self.is_whole, Revoked::default())
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<Result<RevocationUpdate>> {
        loop {
            match self.page() {
                Err(error) => return Poll::Ready(Err(error)),
                Ok(Some(page)) => return Poll::Ready(Ok(self.news(true, page))),
                Ok(None) => match self.stage {
                    Stage::Tokens(_) => self.stage = Stage::Rules(None),
                    Stage::Rules(_) => self.stage = Stage::Changes,
                    Stage::Changes => return self.changes(context),
                },
            }
        }
    }

    /// Reads the next page of the snapshot from the newest view.
    fn page(&mut self) -> Result<Option<Revoked>> {
        let closed = || Error::Store(jeton_store::Error::Closed);
        match &mut self.stage {
            Stage::Tokens(behind) => {
                let node = self.node.upgrade().ok_or_else(closed)?;
                let snapshot = node.snapshot.load();
                let most = limits::FEED_MESSAGE_BYTES / size_of::<(u128, u32)>();
                let index = snapshot.revocations.of(&self.iss);
                let tokens = index.map_or_else(Vec::new, |index| index.page(*behind, most));
                let Some((hash, minute)) = tokens.last() else {
                    return Ok(None);
                };
                *behind = Some((*minute, *hash));
                self.whole_at = self.whole_at.max(snapshot.revision);
                let rules = Vec::new();
                Ok(Some(Revoked { tokens, rules }))
            }
            Stage::Rules(behind) => {
                let node = self.node.upgrade().ok_or_else(closed)?;
                let working = node.working();
                let page = rules_behind(&working, &self.iss, behind.as_ref())?;
                let Some((last, rules)) = page else {
                    return Ok(None);
                };
                *behind = Some(last);
                self.whole_at = self.whole_at.max(working.snapshot.revision);
                let tokens = Vec::new();
                Ok(Some(Revoked { tokens, rules }))
            }
            Stage::Changes => Ok(None),
        }
    }

    fn changes(&mut self, context: &Context<'_>) -> Poll<Result<RevocationUpdate>> {
        let next = self
            .recent
            .next(&mut self.position, &self.iss, context.waker());
        let revoked = match next {
            Err(error) => return Poll::Ready(Err(error)),
            Ok(revoked) => revoked,
        };
        // A part of the snapshot may be newer than this update. The snapshot is complete only at its
        // revision.
        let is_snapshot = self.position.revision < self.whole_at;
        // The end of the snapshot is reported without waiting for a change.
        let is_due = !self.is_whole || self.position.as_of >= self.told + limits::FEED_PROGRESS;
        if revoked.is_none() && (is_snapshot || !is_due) {
            return Poll::Pending;
        }
        self.is_whole = !is_snapshot;
        self.told = self.position.as_of;
        Poll::Ready(Ok(self.news(is_snapshot, revoked.unwrap_or_default())))
    }

    fn news(&self, is_snapshot: bool, revoked: Revoked) -> RevocationUpdate {
        RevocationUpdate {
            revision: if is_snapshot {
                self.begun
            } else {
                self.position.revision
            },
            is_snapshot,
            tokens: revoked.tokens,
            rules: revoked.rules,
            as_of: self.position.as_of,
            resume_token: (!is_snapshot).then(|| self.position.resume_token()),
        }
    }
}

/// Returns the next rules of an issuer in key order, and the last key. None: no more rules.
fn rules_behind(
    working: &Working,
    iss: &str,
    behind: Option<&Key>,
) -> Result<Option<(Key, Vec<RevocationRule>)>> {
    let all = rules_of(iss)?;
    // Sorts before every kind of rule, and after the rules of issuers with shorter names.
    let first = Key::of(["rule", iss, "!"])?;
    let behind = behind.unwrap_or(&first);
    let (mut rules, mut last) = (Vec::new(), None);
    let mut bytes = 0;
    for key in working
        .rules
        .range((Excluded(behind), Unbounded))
        .map(|(key, _)| key)
    {
        if !key.is_under(&all) || bytes >= limits::FEED_MESSAGE_BYTES {
            break;
        }
        let mut parts = key.parts().skip(2);
        let (Some(kind), Some(name)) = (parts.next(), parts.next()) else {
            return Err(Error::Record(key.to_string()));
        };
        let record = working.snapshot.rules.get(iss, &kind, &name);
        // A new reader knows no rule that could end.
        if let Some(record) = record.filter(|record| !record.is_ended) {
            let rule = RevocationRule::new(kind, name, record);
            bytes += rule.bytes();
            rules.push(rule);
        }
        last = Some(key.clone());
    }
    Ok(last.map(|last| (last, rules)))
}

impl RevocationUpdate {
    /// Returns the age of the view: everything revoked before it has been reported by this update or
    /// earlier ones.
    pub fn age(&self) -> Duration {
        self.as_of.elapsed()
    }
}

impl Drop for RevocationFeed {
    fn drop(&mut self) {
        self.recent.leave(&self.position);
    }
}

impl std::fmt::Debug for RevocationFeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RevocationFeed")
            .field("iss", &self.iss)
            .field("revision", &self.position.revision)
            .finish_non_exhaustive()
    }
}
