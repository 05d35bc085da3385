//! Revocations for those who verify elsewhere: all that are live, then each as it is made.

use std::collections::VecDeque;
use std::sync::Arc;

use jeton_store::{Entry, Event, Pages, Prefix, Revision, Store, Watch};

use super::Node;
use crate::error::{Error, Result};
use crate::revocation::RevocationRule;

/// Follows an issuer's revocations. What it asks the store may take what the disk takes: it is not
/// for a thread that must not wait.
pub struct RevocationFeed {
    store: Arc<dyn Store>,
    iss: String,
    revision: Revision,
    scans: VecDeque<Box<dyn Pages>>,
    watch: Option<Box<dyn Watch>>,
}

/// What a feed tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevocationNews {
    /// Whoever has been told the whole snapshot and everything since knows all up to here.
    pub revision: Revision,
    /// Whether this is a part of the snapshot, and more of it may follow.
    pub is_snapshot: bool,
    /// Tokens: the [hash](crate::token_hash) and the minute of the expiry.
    pub tokens: Vec<(u128, u32)>,
    /// What is revoked as a whole.
    pub rules: Vec<RevocationRule>,
}

impl Node {
    /// Everything that is revoked of an issuer now, and everything that will be. The answer is a feed;
    /// waiting for it, and for what it tells, is not for a thread that must not wait.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`], [`Error::Store`].
    pub async fn revocations(&self, iss: &str) -> Result<RevocationFeed> {
        if !self.inner.snapshot.load().issuers.contains_key(iss) {
            return Err(Error::UnknownIssuer);
        }
        let store = self.inner.store.clone();
        let tokens = store.scan(&Prefix::of(["r", iss])?).await?;
        // A rule that is made between the two scans is told twice, which does no harm.
        let rules = store.scan(&Prefix::of(["rule", iss])?).await?;
        Ok(RevocationFeed {
            revision: tokens.revision(),
            scans: VecDeque::from([tokens, rules]),
            watch: None,
            iss: iss.to_owned(),
            store,
        })
    }
}

impl RevocationFeed {
    /// The next part of the snapshot; after it the next change, or how far the store is if there was
    /// none for a while.
    ///
    /// # Errors
    ///
    /// [`Error::Store`]; after [`Compacted`](jeton_store::Error::Compacted), which who follows too
    /// slowly gets, a new feed is needed.
    pub async fn next(&mut self) -> Result<RevocationNews> {
        while let Some(pages) = self.scans.front_mut() {
            let Some(page) = pages.next().await? else {
                self.scans.pop_front();
                continue;
            };
            let mut news = self.nothing(self.revision, true);
            for entry in &page {
                self.add(entry, &mut news)?;
            }
            return Ok(news);
        }
        if self.watch.is_none() {
            self.watch = Some(self.store.watch(&Prefix::all(), self.revision).await?);
            // Who waits for the end of the snapshot must not wait for the next change.
            return Ok(self.nothing(self.revision, false));
        }
        let watch = self.watch.as_mut();
        let update = watch.expect("it was made above").next().await?;
        self.revision = self.revision.max(update.revision);
        let mut news = self.nothing(self.revision, false);
        for event in &update.events {
            // What is deleted is over, and the follower can tell by itself.
            if let Event::Put(entry) = event {
                self.add(entry, &mut news)?;
            }
        }
        Ok(news)
    }

    fn nothing(&self, revision: Revision, is_snapshot: bool) -> RevocationNews {
        RevocationNews {
            revision,
            is_snapshot,
            tokens: Vec::new(),
            rules: Vec::new(),
        }
    }

    fn add(&self, entry: &Entry, news: &mut RevocationNews) -> Result<()> {
        let parts: Vec<String> = entry.key.parts().collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["r", iss, minute, hash] if *iss == self.iss => {
                let (Ok(minute), Ok(hash)) = (minute.parse(), u128::from_str_radix(hash, 16))
                else {
                    return Err(Error::Record(entry.key.to_string()));
                };
                news.tokens.push((hash, minute));
            }
            ["rule", iss, _, _] if *iss == self.iss => {
                news.rules.push(RevocationRule::read(entry)?);
            }
            _ => {}
        }
        Ok(())
    }
}

impl std::fmt::Debug for RevocationFeed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RevocationFeed")
            .field("iss", &self.iss)
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}
