//! Reads the log: the entries of all chains, and of exported files, by their times.

use std::collections::VecDeque;
use std::path::PathBuf;

use jeton_store::{Entry, Pages, Prefix, Store, block_on};

use super::entry::{AuditEntry, MAIN, chain_of};
use super::folder::{AuditFolder, Segment};
use super::node_chain::NodeHead;
use crate::error::{Error, Result};
use crate::record::{self, node_heads};

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
    /// The chain: `main`, or that of a node.
    pub chain: Option<String>,
    /// The first second.
    pub since: Option<i64>,
    /// The last second.
    pub until: Option<i64>,
    /// Only entries with a higher number in their chain.
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
            && is(&self.chain, entry.chain_name())
            && is_act
            && is_about
            && self.since.is_none_or(|since| entry.at >= since)
            && self.until.is_none_or(|until| entry.at <= until)
    }
}

/// Passes the matching entries to `each`, oldest first, until `each` returns false. Entries of one chain keep their
/// order.
///
/// # Errors
///
/// [`Error::Store`], [`Error::Record`].
pub async fn read_audit(
    store: &dyn Store,
    filter: &AuditFilter,
    each: &mut (dyn FnMut(AuditEntry) -> bool + Send),
) -> Result<()> {
    let mut chains = vec![(i64::MIN, Cursor::of(MAIN))];
    let mut pages = store.scan(&node_heads()?).await?;
    while let Some(page) = pages.next().await? {
        for entry in page {
            let head: NodeHead = record::read(&entry)?;
            let name = entry.key.parts().last().unwrap_or_default();
            chains.push((head.began, Cursor::of(&name)));
        }
    }
    let mut merged = Merged::of(Some(store), chains);
    let mut newest = Newest::of(filter);
    while let Some(entry) = merged.next_matching(filter).await? {
        if !newest.pass(entry, each) {
            return Ok(());
        }
    }
    newest.end(each);
    Ok(())
}

/// Passes the matching entries of a folder, and those that only `source` has: a store or a server, which passes its
/// entries to the given function. Oldest first, until `each` returns false.
///
/// # Errors
///
/// [`Error::AuditExport`] for a file that cannot be read, converted by `failed`, and the errors of `source`.
pub fn read_audit_with<E>(
    folder: &AuditFolder,
    filter: &AuditFilter,
    each: &mut (dyn FnMut(AuditEntry) -> bool + Send),
    failed: impl Fn(Error) -> E,
    source: impl FnOnce(&mut (dyn FnMut(AuditEntry) -> bool + Send)) -> Result<(), E>,
) -> Result<(), E> {
    let ends = folder.ends_of_all();
    let chains = folder.segments().iter().map(|(chain, segments)| {
        let began = segments.first().map_or(i64::MIN, |segment| segment.began);
        let cursor = Cursor {
            files: segments.iter().cloned().collect(),
            folder: folder.path().to_owned(),
            ..Cursor::of(chain)
        };
        (began, cursor)
    });
    let mut files = Merged::of(None, chains.collect());
    let mut newest = Newest::of(filter);
    let mut front = block_on(files.next_matching(filter)).map_err(&failed)?;
    let mut goes_on = true;
    let mut failure = None;
    source(&mut |entry| {
        if (ends.get(entry.chain_name())).is_some_and(|end| entry.number <= end.number) {
            return true;
        }
        while let Some(older) = front.take_if(|older| older.at <= entry.at) {
            goes_on = newest.pass(older, each);
            match block_on(files.next_matching(filter)) {
                Ok(next) => front = next,
                Err(error) => failure = Some(error),
            }
            if !goes_on || failure.is_some() {
                return false;
            }
        }
        goes_on = newest.pass(entry, each);
        goes_on
    })?;
    if let Some(error) = failure {
        return Err(failed(error));
    }
    while goes_on && let Some(entry) = front {
        goes_on = newest.pass(entry, each);
        front = block_on(files.next_matching(filter)).map_err(&failed)?;
    }
    if goes_on {
        newest.end(each);
    }
    Ok(())
}

/// Keeps the newest entries, if the filter asks for them.
struct Newest {
    count: Option<usize>,
    kept: VecDeque<AuditEntry>,
}

impl Newest {
    fn of(filter: &AuditFilter) -> Newest {
        Newest {
            count: filter.last,
            kept: VecDeque::new(),
        }
    }

    fn pass(&mut self, entry: AuditEntry, each: &mut dyn FnMut(AuditEntry) -> bool) -> bool {
        let Some(count) = self.count else {
            return each(entry);
        };
        self.kept.push_back(entry);
        if self.kept.len() > count {
            self.kept.pop_front();
        }
        true
    }

    fn end(self, each: &mut dyn FnMut(AuditEntry) -> bool) {
        for entry in self.kept {
            if !each(entry) {
                break;
            }
        }
    }
}

/// Several chains. One is open from the time of its first entry to its last one, so few are open at once.
struct Merged<'s> {
    store: Option<&'s dyn Store>,
    /// The latest first.
    waiting: Vec<(i64, Cursor)>,
    open: Vec<Cursor>,
}

impl<'s> Merged<'s> {
    fn of(store: Option<&'s dyn Store>, mut chains: Vec<(i64, Cursor)>) -> Merged<'s> {
        chains.sort_by(|(one, a), (other, b)| (other, &b.chain).cmp(&(one, &a.chain)));
        Merged {
            store,
            waiting: chains,
            open: Vec::new(),
        }
    }

    async fn next_matching(&mut self, filter: &AuditFilter) -> Result<Option<AuditEntry>> {
        while let Some(entry) = self.next().await? {
            if filter.matches(&entry) {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    async fn next(&mut self) -> Result<Option<AuditEntry>> {
        loop {
            let fronts = self.open.iter().enumerate();
            let fronts = fronts.filter_map(|(index, cursor)| Some((cursor.rank()?, index)));
            let oldest = fronts.min();
            let begins = self.waiting.last().map(|(began, _)| *began);
            match (oldest, begins) {
                (Some(((at, ..), index)), begins) if begins.is_none_or(|began| began > at) => {
                    let cursor = &mut self.open[index];
                    let entry = cursor.ready.pop_front();
                    if !cursor.fill(self.store).await? {
                        self.open.swap_remove(index);
                    }
                    return Ok(entry);
                }
                (_, Some(_)) => {
                    if let Some((_, mut cursor)) = self.waiting.pop()
                        && cursor.fill(self.store).await?
                    {
                        self.open.push(cursor);
                    }
                }
                (_, None) => return Ok(None),
            }
        }
    }
}

/// The entries of one chain: those of its files, or those of the store.
struct Cursor {
    chain: String,
    files: VecDeque<Segment>,
    folder: PathBuf,
    pages: Option<Box<dyn Pages>>,
    has_ended: bool,
    ready: VecDeque<AuditEntry>,
}

impl Cursor {
    fn of(chain: &str) -> Cursor {
        Cursor {
            chain: chain.to_owned(),
            files: VecDeque::new(),
            folder: PathBuf::new(),
            pages: None,
            has_ended: false,
            ready: VecDeque::new(),
        }
    }

    /// The order of chains: by the next entry. In the same second, the main chain is the first.
    fn rank(&self) -> Option<(i64, bool, &str)> {
        let front = self.ready.front()?;
        Some((front.at, self.chain != MAIN, self.chain.as_str()))
    }

    /// Makes entries ready. False: there are no more.
    async fn fill(&mut self, store: Option<&dyn Store>) -> Result<bool> {
        while self.ready.is_empty() && !self.has_ended {
            if let Some(segment) = self.files.pop_front() {
                self.ready.extend(segment.read(&self.folder)?);
            } else if let Some(pages) = &mut self.pages {
                match pages.next().await? {
                    Some(page) => self.take(page)?,
                    None => self.has_ended = true,
                }
            } else if let Some(store) = store {
                let prefix = if self.chain == MAIN {
                    record::audit_log()?
                } else {
                    Prefix::of(["a", &self.chain])?
                };
                self.pages = Some(store.scan(&prefix).await?);
            } else {
                self.has_ended = true;
            }
        }
        Ok(!self.ready.is_empty())
    }

    fn take(&mut self, page: Vec<Entry>) -> Result<()> {
        for entry in page {
            // Other records follow the entries of the main chain.
            if chain_of(&entry.key).as_deref() != Some(self.chain.as_str()) {
                self.has_ended = true;
                break;
            }
            self.ready.push_back(record::read(&entry)?);
        }
        Ok(())
    }
}
