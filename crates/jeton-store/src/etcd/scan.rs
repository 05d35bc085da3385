//! Scans page by page, at one revision or at newer ones.

use tokio::runtime::Handle;

use super::answer;
use super::api::RangeRequest;
use super::connection::{Etcd, in_time};
use crate::entry::Entry;
use crate::error::{Error, Result};
use crate::key::Prefix;
use crate::limits;
use crate::pending::{Pending, completion, ready};
use crate::revision::Revision;
use crate::store::Pages;

/// The revision of the pages after the first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pinned {
    /// The revision of the first page.
    Always,
    /// The revision of the page before, or the newest if that was compacted.
    WhileRemembered,
}

struct Scan {
    etcd: Etcd,
    runtime: Handle,
    revision: Revision,
    pinned: Pinned,
    /// First key of the page after next, and the end of the range.
    from: String,
    end: String,
    /// Read ahead.
    page: Option<Vec<Entry>>,
}

/// Begins a scan. The first page determines the revision of the others.
pub(super) async fn begin(
    etcd: Etcd,
    prefix: &Prefix,
    runtime: Handle,
    pinned: Pinned,
) -> Result<Box<dyn Pages>> {
    let (from, end) = etcd.range(prefix);
    let (revision, page) = etcd.page(from.clone(), end.clone(), None).await?;
    let mut scan = Scan {
        etcd,
        runtime,
        revision,
        pinned,
        from,
        end,
        page: None,
    };
    scan.keep(page);
    Ok(Box::new(scan))
}

impl Scan {
    fn keep(&mut self, page: Vec<Entry>) {
        if let Some(last) = page.last() {
            // No key sorts between these two.
            self.from = format!("{}\0", self.etcd.name(&last.key));
        }
        self.page = Some(page);
    }
}

impl Pages for Scan {
    fn revision(&self) -> Revision {
        self.revision
    }

    fn next(&mut self) -> Pending<'_, Option<Vec<Entry>>> {
        if let Some(page) = self.page.take_if(|page| page.len() < limits::PAGE_ENTRIES) {
            // A page that is not full is the last.
            self.page = Some(Vec::new());
            return ready(Ok((!page.is_empty()).then_some(page)));
        }
        Box::pin(async move {
            let (completer, read) = completion();
            let (etcd, revision, pinned) = (self.etcd.clone(), self.revision, self.pinned);
            let (from, end) = (self.from.clone(), self.end.clone());
            self.runtime.spawn(async move {
                let then = etcd.page(from.clone(), end.clone(), Some(revision));
                let page = match in_time(then).await {
                    Ok((_, page)) => Ok((revision, page)),
                    Err(Error::Compacted { .. }) if pinned == Pinned::WhileRemembered => {
                        in_time(etcd.page(from, end, None)).await
                    }
                    Err(error) => Err(error),
                };
                completer.complete(page);
            });
            let (revision, behind) = read.await?;
            self.revision = revision;
            let page = self.page.take();
            self.keep(behind);
            Ok(page)
        })
    }
}

impl Etcd {
    /// Reads entries from a key on, at a revision or at the newest.
    async fn page(
        &self,
        from: String,
        end: String,
        then: Option<Revision>,
    ) -> Result<(Revision, Vec<Entry>)> {
        let range = RangeRequest {
            key: from.into_bytes(),
            range_end: end.into_bytes(),
            limit: i64::try_from(limits::PAGE_ENTRIES).unwrap_or(i64::MAX),
            // 0 is the newest.
            revision: then.map(answer::number).unwrap_or_default(),
            count_only: false,
        };
        let answer = match self.get(range).await {
            Ok(answer) => answer,
            Err(error) => return Err(self.about_the_past(&error).await),
        };
        let revision = self.revision_of(answer.header)?;
        let entries = (answer.kvs.into_iter())
            .map(|pair| answer::entry(&self.root, pair))
            .collect::<Result<_>>()?;
        Ok((revision, entries))
    }
}
