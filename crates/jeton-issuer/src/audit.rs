//! The audit chain: a log of operations in which each entry contains the hash of the previous one.

use std::collections::VecDeque;

use aws_lc_rs::digest;
use jeton_store::{Condition, Entry, Prefix, Revision, Store, Txn};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::hex::hex;
use crate::record::{self, audit_head_key, audit_key};

/// An entry of the audit chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Number of the entry, from 1.
    pub number: u64,
    /// Seconds since 1970, by the clock of the node that wrote it.
    pub at: i64,
    /// The actor.
    pub actor: String,
    /// The operation, for example `key.rotate`.
    pub act: String,
    /// The issuer.
    pub iss: String,
    /// What the operation affected: ids and hashes, no secrets or tokens.
    pub about: Vec<String>,
    /// SHA-256 of the previous entry as stored, hexadecimal. Empty for the first entry.
    pub previous: String,
}

/// The last entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    number: u64,
    hash: String,
}

/// An operation to append.
pub(crate) struct Act<'a> {
    pub(crate) at: i64,
    pub(crate) actor: &'a str,
    pub(crate) act: &'a str,
    pub(crate) iss: &'a str,
    pub(crate) about: Vec<String>,
}

/// The head of the chain in the store.
pub(crate) struct Chain {
    head: Head,
    changed: Option<Revision>,
}

impl Chain {
    pub(crate) fn read(entry: Option<&Entry>) -> Result<Chain> {
        Ok(Chain {
            head: entry.map(record::read).transpose()?.unwrap_or_default(),
            changed: entry.map(|entry| entry.changed),
        })
    }

    /// Adds the operation to a transaction, which conflicts if the chain has grown.
    pub(crate) fn append(&self, txn: Txn, act: Act<'_>) -> Result<Txn> {
        let entry = AuditEntry {
            number: self.head.number + 1,
            at: act.at,
            actor: act.actor.to_owned(),
            act: act.act.to_owned(),
            iss: act.iss.to_owned(),
            about: act.about,
            previous: self.head.hash.clone(),
        };
        let bytes = record::write(&entry);
        let head = Head {
            number: entry.number,
            hash: hash(&bytes),
        };
        let unchanged = match self.changed {
            Some(revision) => Condition::Unchanged(revision),
            None => Condition::Absent,
        };
        Ok(txn
            .when(audit_head_key()?, unchanged)
            .put(audit_head_key()?, record::write(&head))
            .put(audit_key(entry.number)?, bytes))
    }
}

/// Which entries [`read_audit`] returns. Every condition that is set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The issuer.
    pub iss: Option<String>,
    /// The actor.
    pub actor: Option<String>,
    /// The operation. `key.*` matches all that begin with `key.`.
    pub act: Option<String>,
    /// One of the texts of [`AuditEntry::about`]. A key id also matches `+ID`, `-ID` and `~ID`.
    pub about: Option<String>,
    /// The first second.
    pub since: Option<i64>,
    /// The last second.
    pub until: Option<i64>,
    /// Only entries with a higher number.
    pub after: u64,
    /// Only that many of the newest matching entries.
    pub last: Option<usize>,
}

impl AuditFilter {
    fn matches(&self, entry: &AuditEntry) -> bool {
        let is = |wanted: &Option<String>, text: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == text)
        };
        let is_act = self
            .act
            .as_deref()
            .is_none_or(|wanted| match wanted.strip_suffix('*') {
                Some(begin) => entry.act.starts_with(begin),
                None => entry.act == wanted,
            });
        let is_about = self.about.as_deref().is_none_or(|wanted| {
            let bare = |text: &str| text.trim_start_matches(['+', '-', '~']) == wanted;
            (entry.about.iter()).any(|text| text == wanted || bare(text))
        });
        entry.number > self.after
            && is(&self.iss, &entry.iss)
            && is(&self.actor, &entry.actor)
            && is_act
            && is_about
            && self.since.is_none_or(|since| entry.at >= since)
            && self.until.is_none_or(|until| entry.at <= until)
    }
}

/// Passes the matching entries to `each`, oldest first, until `each` returns false.
///
/// # Errors
///
/// [`Error::Store`], [`Error::Record`].
pub async fn read_audit(
    store: &dyn Store,
    filter: &AuditFilter,
    each: &mut (dyn FnMut(AuditEntry) -> bool + Send),
) -> Result<()> {
    let mut pages = store.scan(&Prefix::of(["a"])?).await?;
    let mut newest = VecDeque::new();
    while let Some(page) = pages.next().await? {
        for entry in page {
            if entry.key == audit_head_key()? {
                continue;
            }
            let entry: AuditEntry = record::read(&entry)?;
            if !filter.matches(&entry) {
                continue;
            }
            let Some(last) = filter.last else {
                if !each(entry) {
                    return Ok(());
                }
                continue;
            };
            newest.push_back(entry);
            if newest.len() > last {
                newest.pop_front();
            }
        }
    }
    for entry in newest {
        if !each(entry) {
            break;
        }
    }
    Ok(())
}

/// Verifies the whole chain and returns the number of entries.
///
/// # Errors
///
/// [`Error::Audit`] with the first entry that is missing, changed or does not match the previous one.
pub async fn verify_audit(store: &dyn Store) -> Result<u64> {
    let mut pages = store.scan(&Prefix::of(["a"])?).await?;
    let mut last = Head::default();
    let mut head = None;
    while let Some(page) = pages.next().await? {
        for entry in page {
            if entry.key == audit_head_key()? {
                head = Some(record::read::<Head>(&entry)?);
                continue;
            }
            let number = last.number + 1;
            let broken = Error::Audit(number);
            let read: AuditEntry = record::read(&entry).map_err(|_| broken.clone())?;
            if read.number != number
                || read.previous != last.hash
                || entry.key != audit_key(number)?
            {
                return Err(broken);
            }
            last = Head {
                number,
                hash: hash(&entry.value),
            };
        }
    }
    if head.unwrap_or_default() != last {
        return Err(Error::Audit(last.number));
    }
    Ok(last.number)
}

/// Returns the hash of the last entry, hexadecimal, if there is one. Recorded elsewhere, it also detects a
/// rewritten chain.
///
/// # Errors
///
/// [`Error::Store`], [`Error::Record`].
pub async fn audit_last_hash(store: &dyn Store) -> Result<Option<String>> {
    let read = store.read(&[audit_head_key()?]).await?;
    let head = read.entries[0].as_ref().map(record::read::<Head>);
    Ok(head.transpose()?.map(|head| head.hash))
}

fn hash(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// Returns the time of a chain entry, by the clock of its writer. None: not an entry, or one that
/// [`verify_audit`] reports as damaged.
pub(crate) fn written_at(entry: &Entry) -> Option<i64> {
    #[derive(Deserialize)]
    struct Written {
        record: At,
    }
    #[derive(Deserialize)]
    struct At {
        at: i64,
    }
    if !entry.key.as_str().starts_with("/a/") {
        return None;
    }
    let written = serde_json::from_slice::<Written>(&entry.value).ok();
    written.map(|written| written.record.at)
}

/// Reads the last entry of the chain, if there is one.
pub(crate) async fn newest(store: &dyn Store) -> Result<Option<Entry>> {
    let read = store.read(&[audit_head_key()?]).await?;
    let head = read.entries[0].as_ref().map(record::read::<Head>);
    let Some(head) = head.transpose()? else {
        return Ok(None);
    };
    let mut read = store.read(&[audit_key(head.number)?]).await?;
    Ok(read.entries.pop().flatten())
}
