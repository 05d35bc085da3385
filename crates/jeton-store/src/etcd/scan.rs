//! Scans page by page, at one revision or at newer ones.

use tokio::runtime::Handle;

use super::answer;
use super::api::RangeRequest;
use super::connection::{Etcd, in_time};
use super::window::Window;
use crate::entry::Entry;
use crate::error::{Error, Result};
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
    /// Read ahead: the page, and where to go on. None after the last page.
    ahead: Option<Read>,
}

struct Read {
    page: Vec<Entry>,
    /// None: this page is the last.
    rest: Option<Window>,
}

/// Begins a scan. The first page determines the revision of the others.
pub(super) async fn begin(
    etcd: Etcd,
    (from, end): (String, String),
    runtime: Handle,
    pinned: Pinned,
) -> Result<Box<dyn Pages>> {
    let (revision, read) = etcd.page(Window::new(from, end), None).await?;
    Ok(Box::new(Scan {
        etcd,
        runtime,
        revision,
        pinned,
        ahead: Some(read),
    }))
}

impl Pages for Scan {
    fn revision(&self) -> Revision {
        self.revision
    }

    fn next(&mut self) -> Pending<'_, Option<Vec<Entry>>> {
        let Some(window) = self.ahead.as_ref().and_then(|read| read.rest.clone()) else {
            let page = self.ahead.take().map(|read| read.page);
            return ready(Ok(page.filter(|page| !page.is_empty())));
        };
        Box::pin(async move {
            let (completer, read) = completion();
            let (etcd, mut revision, pinned) = (self.etcd.clone(), self.revision, self.pinned);
            self.runtime.spawn(async move {
                completer.complete(
                    etcd.behind(window, &mut revision, pinned)
                        .await
                        .map(|read| (revision, read)),
                );
            });
            let (revision, behind) = read.await?;
            self.revision = revision;
            let page = self.ahead.replace(behind).map(|read| read.page);
            Ok(page)
        })
    }
}

impl Etcd {
    /// Reads windows up to one that has entries, or to the last.
    async fn behind(
        &self,
        mut window: Window,
        revision: &mut Revision,
        pinned: Pinned,
    ) -> Result<Read> {
        loop {
            let then = self.page(window.clone(), Some(*revision));
            let read = match in_time(then).await {
                Err(Error::Compacted { .. }) if pinned == Pinned::WhileRemembered => {
                    let (newer, read) = in_time(self.page(window, None)).await?;
                    *revision = newer;
                    read
                }
                then => then?.1,
            };
            match read.rest {
                Some(rest) if read.page.is_empty() => window = rest,
                rest => return Ok(Read { rest, ..read }),
            }
        }
    }

    /// Reads the entries of a window, at a revision or at the newest.
    async fn page(&self, mut window: Window, then: Option<Revision>) -> Result<(Revision, Read)> {
        let (key, range_end) = window.range();
        let range = RangeRequest {
            key,
            range_end,
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
        let ends = answer.kvs.first().zip(answer.kvs.last());
        let ends = ends.map(|(first, last)| (&first.key[..], &last.key[..]));
        let has_rest = window.advance(ends, answer.count.unsigned_abs());
        let page = (answer.kvs.into_iter())
            .map(|pair| answer::entry(&self.root, pair))
            .collect::<Result<_>>()?;
        let rest = has_rest.then_some(window);
        Ok((revision, Read { page, rest }))
    }
}
