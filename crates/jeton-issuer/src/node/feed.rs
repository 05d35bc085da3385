//! Revocations for those who verify elsewhere: all that are live, then each as it is made.

use std::future::poll_fn;
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use jeton_store::{Key, Moment, Revision};

use super::follower::Working;
use super::recent::{Position, Recent, Revoked};
use super::{Inner, Node};
use crate::error::{Error, Result};
use crate::limits;
use crate::record::rules_of;
use crate::revocation::RevocationRule;

/// Follows an issuer's revocations, as this node knows them: it asks the store for nothing, and whoever
/// reads it slowly or not at all holds nothing of the store and of other feeds.
pub struct RevocationFeed {
    node: Weak<Inner>,
    recent: Arc<Recent>,
    iss: String,
    stage: Stage,
    /// The revision that the snapshot is told as.
    begun: Revision,
    /// The snapshot's pages were read from newer and newer views: the snapshot is whole when everything up
    /// to here has been told.
    whole_at: Revision,
    is_whole: bool,
    position: Position,
    /// What the last news was as of.
    told: Moment,
}

/// What is told next, behind what was told last.
#[derive(Debug)]
enum Stage {
    Tokens(Option<(u32, u128)>),
    Rules(Option<Key>),
    Changes,
}

/// What a feed tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevocationNews {
    /// Whoever has been told the whole snapshot and everything since knows all up to here.
    pub revision: Revision,
    /// Whether this is a part of the snapshot, and more of it follows.
    pub is_snapshot: bool,
    /// Tokens: the [hash](crate::token_hash) and the minute of the expiry.
    pub tokens: Vec<(u128, u32)>,
    /// What is revoked as a whole.
    pub rules: Vec<RevocationRule>,
    as_of: Moment,
}

impl Node {
    /// Everything that is revoked of an issuer now, and everything that will be.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`].
    pub fn revocations(&self, iss: &str) -> Result<RevocationFeed> {
        if !self.inner.snapshot.load().issuers.contains_key(iss) {
            return Err(Error::UnknownIssuer);
        }
        // Nothing is applied meanwhile: what comes behind the position is not in the snapshot yet, or is told
        // twice.
        let _working = self.inner.working();
        let position = self.inner.recent.begin();
        Ok(RevocationFeed {
            node: Arc::downgrade(&self.inner),
            recent: self.inner.recent.clone(),
            iss: iss.to_owned(),
            stage: Stage::Tokens(None),
            begun: position.revision,
            whole_at: position.revision,
            is_whole: false,
            told: position.as_of,
            position,
        })
    }
}

impl RevocationFeed {
    /// The next part of the snapshot; after it the next changes, or how far the node is if there was none for
    /// a while. A call that is dropped before it answered loses nothing.
    ///
    /// # Errors
    ///
    /// [`Error::FellBehind`] for who follows too slowly, and [`Error::Store`] with
    /// [`Compacted`](jeton_store::Error::Compacted) if the node itself has missed what happened: after
    /// either a new feed is needed. With [`Closed`](jeton_store::Error::Closed) the node is gone.
    pub async fn next(&mut self) -> Result<RevocationNews> {
        poll_fn(|context| self.poll(context)).await
    }

    /// That nothing is new, and as of when: for who wants to be told while [`next`](RevocationFeed::next)
    /// has nothing to tell.
    pub fn progress(&self) -> RevocationNews {
        self.news(!self.is_whole, Revoked::default())
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<Result<RevocationNews>> {
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

    /// The next page of the snapshot, from the node's newest view.
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

    fn changes(&mut self, context: &Context<'_>) -> Poll<Result<RevocationNews>> {
        let next = self
            .recent
            .next(&mut self.position, &self.iss, context.waker());
        let revoked = match next {
            Err(error) => return Poll::Ready(Err(error)),
            Ok(revoked) => revoked,
        };
        // A part of the snapshot may be newer than what is told here: not before its revision all is told.
        let is_snapshot = self.position.revision < self.whole_at;
        // Who waits for the end of the snapshot must not wait for the next change.
        let is_due = !self.is_whole || self.position.as_of >= self.told + limits::FEED_PROGRESS;
        if revoked.is_none() && (is_snapshot || !is_due) {
            return Poll::Pending;
        }
        self.is_whole = !is_snapshot;
        self.told = self.position.as_of;
        Poll::Ready(Ok(self.news(is_snapshot, revoked.unwrap_or_default())))
    }

    fn news(&self, is_snapshot: bool, revoked: Revoked) -> RevocationNews {
        RevocationNews {
            revision: match is_snapshot {
                true => self.begun,
                false => self.position.revision,
            },
            is_snapshot,
            tokens: revoked.tokens,
            rules: revoked.rules,
            as_of: self.position.as_of,
        }
    }
}

/// The next rules of an issuer, in the order of their keys, and the last one's key. None: there are no more.
fn rules_behind(
    working: &Working,
    iss: &str,
    behind: Option<&Key>,
) -> Result<Option<(Key, Vec<RevocationRule>)>> {
    let all = rules_of(iss)?;
    // Before every kind of rule, and behind the rules of issuers whose names are shorter.
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
        if let Some(record) = working.snapshot.rules.get(iss, &kind, &name) {
            let rule = RevocationRule::new(kind, name, record);
            bytes += rule.bytes();
            rules.push(rule);
        }
        last = Some(key.clone());
    }
    Ok(last.map(|last| (last, rules)))
}

impl RevocationNews {
    /// How old what is told is by now: everything that was revoked before then has been told, with this and
    /// what came before it.
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
