//! Reads two stores side by side, in key order.

use std::cmp::Ordering;
use std::vec::IntoIter;

use jeton_store::{Entry, Pages, Prefix, Revision, Store, block_on};

use crate::error::Result;

/// A key, and where it has an entry.
pub(super) enum Pair {
    /// Only in the source.
    Missing(Entry),
    /// Only in the target.
    Extra(Entry),
    /// In the source and in the target.
    Both(Entry, Entry),
}

/// All entries of two stores, each at one revision.
pub(super) struct Merge {
    source: Entries,
    target: Entries,
}

impl Merge {
    pub(super) fn of(source: &dyn Store, target: &dyn Store) -> Result<Merge> {
        Ok(Merge {
            source: Entries::of(source)?,
            target: Entries::of(target)?,
        })
    }

    /// Returns the revision of the source.
    pub(super) fn source_revision(&self) -> Revision {
        self.source.pages.revision()
    }

    pub(super) fn next(&mut self) -> Result<Option<Pair>> {
        self.source.fill()?;
        self.target.fill()?;
        let (source, target) = (self.source.peek(), self.target.peek());
        let order = match (source, target) {
            (None, None) => return Ok(None),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(source), Some(target)) => source.key.cmp(&target.key),
        };
        let mut source = || self.source.page.next();
        Ok(match order {
            Ordering::Less => source().map(Pair::Missing),
            Ordering::Greater => self.target.page.next().map(Pair::Extra),
            Ordering::Equal => source()
                .zip(self.target.page.next())
                .map(|(source, target)| Pair::Both(source, target)),
        })
    }
}

/// The entries of one store.
pub(super) struct Entries {
    pages: Box<dyn Pages>,
    page: IntoIter<Entry>,
    has_ended: bool,
}

impl Entries {
    pub(super) fn of(store: &dyn Store) -> Result<Entries> {
        Ok(Entries {
            pages: block_on(store.scan(&Prefix::all()))?,
            page: Vec::new().into_iter(),
            has_ended: false,
        })
    }

    pub(super) fn next(&mut self) -> Result<Option<Entry>> {
        self.fill()?;
        Ok(self.page.next())
    }

    fn peek(&self) -> Option<&Entry> {
        self.page.as_slice().first()
    }

    /// Reads the next page if this one has ended.
    fn fill(&mut self) -> Result<()> {
        while self.page.as_slice().is_empty() && !self.has_ended {
            match block_on(self.pages.next())? {
                Some(page) => self.page = page.into_iter(),
                None => self.has_ended = true,
            }
        }
        Ok(())
    }
}
