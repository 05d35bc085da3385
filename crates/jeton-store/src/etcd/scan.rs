//! A scan: page by page, of one revision or of newer and newer ones.

use etcd_client::GetOptions;
use tokio::runtime::Handle;

use super::answer;
use super::connection::{Etcd, in_time};
use crate::entry::{Entry, Revision};
use crate::error::{Error, Result};
use crate::key::Prefix;
use crate::limits;
use crate::pending::{Pending, completion, ready};
use crate::store::Pages;

/// Which revision the pages after the first show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pinned {
    /// That of the first.
    Always,
    /// That of the one before, or the newest where that has been compacted.
    WhileRemembered,
}

struct Scan {
    etcd: Etcd,
    runtime: Handle,
    revision: Revision,
    pinned: Pinned,
    /// The first key of the page after next, and of what is behind the last.
    from: String,
    end: String,
    /// Read and not yet asked for.
    page: Option<Vec<Entry>>,
}

/// The first page says of which revision all the others are.
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
            // No key is between this and what is behind it.
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
            // It was not full, so it is the last, and stays so.
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
    /// The entries from one key on, as they were then or as they are.
    async fn page(
        &self,
        from: String,
        end: String,
        then: Option<Revision>,
    ) -> Result<(Revision, Vec<Entry>)> {
        let mut options = GetOptions::new()
            .with_range(end)
            .with_limit(i64::try_from(limits::PAGE_ENTRIES).unwrap_or(i64::MAX));
        if let Some(then) = then {
            options = options.with_revision(answer::number(then));
        }
        let answer = match self.get(&from, options).await {
            Ok(answer) => answer,
            Err(error) => return Err(self.about_the_past(&error).await),
        };
        let entries = (answer.kvs().iter())
            .map(|pair| answer::entry(&self.root, pair))
            .collect::<Result<_>>()?;
        Ok((answer::revision_of(answer.header())?, entries))
    }
}
