//! Compares the view of the node with the whole store, at intervals.
//!
//! The view follows a watch. If the watch lost an event, nothing else would tell: the node would go on to accept a
//! revoked token. So the node reads the store at one revision, and compares its own view at the same revision. A
//! difference is repaired by loading everything again.

use std::sync::Weak;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use jeton_store::{Error as StoreError, block_on};

use super::comparison::{Check, Difference};
use super::inner::Inner;
use crate::error::{Error, Result};
use crate::record::audit_log;

/// Compares at intervals until the node is dropped, which disconnects `ended`.
pub(super) fn run(node: &Weak<Inner>, interval: Duration, ended: &Receiver<()>) {
    while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
        let Some(node) = node.upgrade() else { return };
        node.compare();
    }
}

impl Inner {
    fn compare(&self) {
        let comparison = &self.comparison;
        if comparison.has_difference() {
            return;
        }
        let difference = match self.difference() {
            Ok(Some(difference)) => difference,
            incomplete => {
                comparison.count_incomplete();
                // The follower may never have seen this record. It loads everything again until it can be read. Without
                // an answer of the store, the view becomes stale.
                if let Err(error) = incomplete
                    && is_unreadable(&error)
                {
                    self.working().fault = Some(error.to_string());
                    comparison.load_again();
                }
                return;
            }
        };
        let what = (!difference.is_none()).then(|| difference.to_string());
        if let Some(what) = &what {
            // Until everything is loaded, the node is not ready.
            self.working().fault = Some(format!("the view differs from the store: {what}"));
        }
        comparison.count_done(what);
    }

    /// Compares once. None: this node does not have the view of that revision.
    fn difference(&self) -> Result<Option<Difference>> {
        {
            // With this lock no view is published in between.
            let _working = self.working();
            self.comparison.begin(self.snapshot.load_full());
        }
        let begun = audit_log().and_then(|log| Ok(block_on(self.store.scan_after(&log, true))?));
        let begun = begun.and_then(|pages| {
            self.wait_for(pages.revision())?;
            Ok(pages)
        });
        let mut pages = match begun {
            Ok(pages) => pages,
            Err(error) => {
                self.comparison.cancel();
                return Err(error);
            }
        };
        let Some(view) = self.comparison.view_at(pages.revision()) else {
            return Ok(None);
        };
        let mut check = Check::new(&view, self.now());
        while let Some(page) = block_on(pages.next())? {
            for entry in &page {
                check.entry(entry)?;
            }
        }
        Ok(Some(check.end()))
    }
}

/// Returns whether a record of the store is damaged or newer than this version.
fn is_unreadable(error: &Error) -> bool {
    matches!(
        error,
        Error::Record(_) | Error::NewerRecord { .. } | Error::Store(StoreError::Damaged(_))
    )
}
