//! Verifies the log: every chain, what joins them, and exported files.

use std::collections::BTreeMap;

use jeton_store::{Entry, Store};

use super::entry::{AuditEntry, AuditHead, CHECKPOINT, DROP, MAIN, Walk, broken, chain_of};
use super::export::{missing, other_store};
use super::folder::AuditFolder;
use super::log::{Base, Joined, store_name};
use super::node_chain::NodeHead;
use crate::error::{Error, Result};
use crate::record::{self, audit_bases, audit_head_key, audit_log};

/// How often a verification begins again because entries were dropped meanwhile.
const TRIES: usize = 5;

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditCheck {
    /// Entries that were verified.
    pub entries: u64,
    /// Those of them that are only in exported files.
    pub exported: u64,
}

/// Verifies the log in the store, and returns the number of entries.
///
/// # Errors
///
/// As [`check_audit`].
pub async fn verify_audit(store: &dyn Store) -> Result<u64> {
    Ok(check_audit(store, None).await?.entries)
}

/// Verifies the log, and that it continues the exported segments in a folder. With a folder, every entry since the
/// first one must be in a file or in the store.
///
/// # Errors
///
/// [`Error::Audit`] with the first entry that is missing, changed or does not match the previous one;
/// [`Error::AuditExport`] for a file that is missing, damaged, incomplete or of another store; [`Error::Store`].
pub async fn check_audit(store: &dyn Store, exported: Option<&AuditFolder>) -> Result<AuditCheck> {
    for _ in 0..TRIES {
        let bases = bases(store).await?;
        let mut check = Check {
            bases,
            ..Check::default()
        };
        if let Some(folder) = exported {
            if !folder.store().is_empty() && store_name(store)?.as_deref() != Some(folder.store()) {
                return Err(other_store());
            }
            check.read_files(folder)?;
        }
        let read = check.read_store(store).await?;
        if read == check.bases {
            return check.end(exported.is_some());
        }
    }
    Err(Error::Contended)
}

/// Returns the hash of the last entry of the main chain, hexadecimal, if there is one. Recorded elsewhere, it also
/// detects a rewritten log up to the last checkpoint.
///
/// # Errors
///
/// [`Error::Store`], [`Error::Record`].
pub async fn audit_last_hash(store: &dyn Store) -> Result<Option<String>> {
    let read = store.read(&[audit_head_key()?]).await?;
    let head = read.entries[0].as_ref().map(record::read::<AuditHead>);
    Ok(head.transpose()?.map(|head| head.hash))
}

async fn bases(store: &dyn Store) -> Result<BTreeMap<String, Base>> {
    let mut bases = BTreeMap::new();
    let mut pages = store.scan(&audit_bases()?).await?;
    while let Some(page) = pages.next().await? {
        for entry in page {
            let chain = entry.key.parts().last().unwrap_or_default();
            bases.insert(chain, record::read(&entry)?);
        }
    }
    Ok(bases)
}

/// What is known of one chain.
#[derive(Default)]
struct Known {
    /// The entry before the first one in the store.
    begin: Option<AuditHead>,
    walk: Option<Walk>,
    /// The last entry in files.
    exported: Option<AuditHead>,
    head: Option<AuditHead>,
    is_sealed: bool,
    /// By the last checkpoint.
    joined: Option<AuditHead>,
    /// By the last entry about a drop.
    dropped: Option<AuditHead>,
}

impl Known {
    /// Checks an entry of the store against what else is known of it.
    fn check_marks(&self, chain: &str, base: &AuditHead, last: &AuditHead) -> Result<()> {
        let marks = [Some(base), self.exported.as_ref(), self.joined.as_ref()];
        for mark in marks.into_iter().flatten() {
            if mark.number == last.number && mark != last {
                return Err(broken(chain, last.number));
            }
        }
        Ok(())
    }
}

#[derive(Default)]
struct Check {
    bases: BTreeMap<String, Base>,
    chains: BTreeMap<String, Known>,
    /// The record of the last checkpoints.
    record: Joined,
}

impl Check {
    fn of(&mut self, chain: &str) -> &mut Known {
        self.chains.entry(chain.to_owned()).or_default()
    }

    fn read_files(&mut self, folder: &AuditFolder) -> Result<()> {
        for (chain, segments) in folder.segments() {
            let before = segments.first().map_or(0, |segment| segment.before.number);
            if before > 0 {
                return Err(missing(chain, 1, before));
            }
            for segment in segments {
                for entry in segment.read(folder.path())? {
                    self.note(&entry)?;
                }
                self.of(chain).exported = Some(segment.last.clone());
            }
        }
        Ok(())
    }

    /// Reads the log at one revision. Returns the bases at that revision.
    async fn read_store(&mut self, store: &dyn Store) -> Result<BTreeMap<String, Base>> {
        let mut bases = BTreeMap::new();
        let mut pages = store.scan(&audit_log()?).await?;
        while let Some(page) = pages.next().await? {
            for entry in &page {
                let parts: Vec<String> = entry.key.parts().collect();
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                let damaged = |error| match error {
                    Error::Record(key) => Error::Audit(format!("record {key}")),
                    other => other,
                };
                match parts.as_slice() {
                    ["a", "_head"] => {
                        self.of(MAIN).head = Some(record::read(entry).map_err(damaged)?);
                    }
                    ["a", "_joined"] => self.record = record::read(entry).map_err(damaged)?,
                    ["a", "_base", chain] => {
                        let base = record::read(entry).map_err(damaged)?;
                        bases.insert((*chain).to_owned(), base);
                    }
                    ["a", "_chain", chain] => {
                        let head: NodeHead = record::read(entry).map_err(damaged)?;
                        self.of(chain).is_sealed = head.is_sealed;
                        self.of(chain).head = Some(head.last);
                    }
                    _ => {
                        let chain = chain_of(&entry.key);
                        let unknown = || Error::Audit(format!("unexpected record {}", entry.key));
                        self.entry(&chain.ok_or_else(unknown)?, entry)?;
                    }
                }
            }
        }
        Ok(bases)
    }

    fn entry(&mut self, chain: &str, entry: &Entry) -> Result<()> {
        let base = self.base(chain);
        let known = self.of(chain);
        let mut walk = match known.walk.take() {
            Some(walk) => walk,
            None => {
                // Up to the base, an interrupted command may have left entries. They are contiguous too.
                let first: Result<AuditEntry> = record::read(entry);
                let first = first
                    .ok()
                    .filter(|first| (1..=base.number + 1).contains(&first.number));
                let first = first.ok_or_else(|| broken(chain, base.number + 1))?;
                let begin = AuditHead {
                    number: first.number - 1,
                    hash: first.previous,
                };
                known.check_marks(chain, &base, &begin)?;
                known.begin = Some(begin.clone());
                Walk::after(chain, begin)
            }
        };
        let read = walk.step(&entry.key, &entry.value)?;
        known.check_marks(chain, &base, &walk.last)?;
        known.walk = Some(walk);
        // The others were noted when the files were read.
        let exported = known.exported.as_ref().map_or(0, |head| head.number);
        if read.number > exported {
            self.note(&read)?;
        }
        Ok(())
    }

    fn base(&self, chain: &str) -> AuditHead {
        self.bases
            .get(chain)
            .map(|base| base.last.clone())
            .unwrap_or_default()
    }

    /// Notes what an entry of the main chain says about other chains.
    fn note(&mut self, entry: &AuditEntry) -> Result<()> {
        let is_checkpoint = entry.act == CHECKPOINT;
        if !entry.chain.is_empty() || !(is_checkpoint || entry.act == DROP) {
            return Ok(());
        }
        for text in &entry.about {
            let (chain, head) =
                AuditHead::read_told(text).ok_or_else(|| broken(MAIN, entry.number))?;
            let known = self.of(chain);
            let before = if is_checkpoint {
                known.joined.replace(head.clone())
            } else {
                known.dropped.replace(head.clone())
            };
            if before.is_some_and(|before| before.number > head.number) {
                return Err(broken(MAIN, entry.number));
            }
        }
        Ok(())
    }

    /// Checks what needs all entries.
    fn end(self, with_files: bool) -> Result<AuditCheck> {
        let mut check = AuditCheck {
            entries: 0,
            exported: 0,
        };
        for (chain, head) in &self.record.heads {
            let known = self.chains.get(chain);
            let is_equal = known.is_some_and(|known| {
                known.head.is_some() && known.joined.as_ref().is_none_or(|joined| joined == head)
            });
            if !is_equal {
                return Err(broken(chain, head.number));
            }
        }
        for (chain, known) in &self.chains {
            let base = self.base(chain);
            let number = |head: &Option<AuditHead>| head.as_ref().map_or(0, |head| head.number);
            let exported = number(&known.exported);
            let last = match (&known.walk, &known.head) {
                (Some(walk), Some(head)) if walk.last == *head => head,
                // All its entries were dropped.
                (None, Some(head)) if *head == base => head,
                (None, None) => {
                    // And its head.
                    let gone = known.dropped.as_ref().or(known.exported.as_ref());
                    let gone = gone.filter(|gone| gone.number >= number(&known.joined));
                    gone.ok_or_else(|| broken(chain, number(&known.joined)))?
                }
                (Some(walk), _) => return Err(broken(chain, walk.last.number)),
                (None, Some(_)) => return Err(broken(chain, base.number + 1)),
            };
            if number(&known.joined) > last.number || exported > last.number {
                return Err(broken(chain, last.number + 1));
            }
            let is_open = known.head.is_some() && !known.is_sealed;
            if is_open && known.joined.is_some() && !self.record.heads.contains_key(chain) {
                return Err(broken(chain, number(&known.joined)));
            }
            if let Some(exported) = &known.exported {
                known.check_marks(chain, &base, exported)?;
            }
            // The drop is in the main chain, unless that part of it was dropped later.
            if known.head.is_some() && known.dropped.as_ref().is_some_and(|told| *told != base) {
                return Err(broken(chain, base.number));
            }
            let begin =
                number(&known.begin).max(if known.walk.is_none() { last.number } else { 0 });
            if with_files && begin > exported {
                return Err(missing(chain, exported + 1, begin));
            }
            let before = if with_files { begin } else { 0 };
            check.exported += before;
            check.entries += last.number - begin + before;
        }
        Ok(check)
    }
}
