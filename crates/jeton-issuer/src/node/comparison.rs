//! The views that are compared with the whole store, and what a comparison finds.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use jeton_store::{Entry, Revision};

use super::lock::lock;
use crate::error::Result;
use crate::keyring::Keyring;
use crate::record::{self, IssuerRecord, SealedKey};
use crate::revocation::{RuleRecord, Stamp, StampText, first_live_minute};
use crate::snapshot::Snapshot;

/// Views that are kept while the first page is read. With more, the comparison is left to the next time.
const VIEWS: usize = 4096;

/// Issuers that a difference names.
const ISSUERS_TOLD: usize = 3;

/// The state of comparisons.
#[derive(Default)]
pub(super) struct Comparison {
    /// The views since the comparison began, if one is under way.
    views: Mutex<Option<Vec<Arc<Snapshot>>>>,
    /// A difference or an unreadable record was found, and not everything has been loaded since.
    has_difference: AtomicBool,
    done: AtomicU64,
    incomplete: AtomicU64,
    differences: AtomicU64,
    last: Mutex<Option<String>>,
}

impl Comparison {
    /// Keeps a new view.
    pub(super) fn see(&self, view: &Arc<Snapshot>) {
        if let Some(views) = &mut *lock(&self.views) {
            // Beyond the limit the first ones are missing, and none is found.
            if views.len() == VIEWS {
                views.clear();
            }
            views.push(view.clone());
        }
    }

    /// Forgets the views: the next one is of everything loaded again, and there is none of the revisions in between.
    pub(super) fn restart(&self) {
        if let Some(views) = &mut *lock(&self.views) {
            views.clear();
        }
    }

    /// Returns whether everything must be loaded again.
    pub(super) fn has_difference(&self) -> bool {
        self.has_difference.load(Ordering::Acquire)
    }

    /// Records that everything must be loaded again.
    pub(super) fn load_again(&self) {
        self.has_difference.store(true, Ordering::Release);
    }

    /// Records that everything has been loaded.
    pub(super) fn loaded(&self) {
        self.has_difference.store(false, Ordering::Release);
    }

    /// Counts a comparison that could not be completed.
    pub(super) fn count_incomplete(&self) {
        self.incomplete.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a complete comparison, and records the difference that it found.
    pub(super) fn count_done(&self, difference: Option<String>) {
        if let Some(what) = difference {
            *lock(&self.last) = Some(what);
            self.differences.fetch_add(1, Ordering::Relaxed);
            self.load_again();
        }
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of complete comparisons.
    pub(super) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// The number of comparisons that could not be completed.
    pub(super) fn incomplete(&self) -> u64 {
        self.incomplete.load(Ordering::Relaxed)
    }

    /// The number of comparisons that found a difference.
    pub(super) fn differences(&self) -> u64 {
        self.differences.load(Ordering::Relaxed)
    }

    /// The last difference.
    pub(super) fn last(&self) -> Option<String> {
        lock(&self.last).clone()
    }

    /// Begins to collect views, with the present one.
    pub(super) fn begin(&self, view: Arc<Snapshot>) {
        *lock(&self.views) = Some(vec![view]);
    }

    /// Ends the collection without a comparison.
    pub(super) fn cancel(&self) {
        *lock(&self.views) = None;
    }

    /// Ends the collection, and returns the view at that revision.
    pub(super) fn view_at(&self, revision: Revision) -> Option<Arc<Snapshot>> {
        let views = lock(&self.views).take()?;
        let is_older = |view: &&Arc<Snapshot>| view.revision <= revision;
        views.iter().rev().find(is_older).cloned()
    }
}

/// What a view lacks or has in another way.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    tokens: u64,
    rules: u64,
    counter: bool,
    issuers: Vec<String>,
}

impl Difference {
    pub(super) fn is_none(&self) -> bool {
        *self == Difference::default()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.tokens > 0 {
            parts.push(format!("revoked tokens missing: {}", self.tokens));
        }
        if self.rules > 0 {
            parts.push(format!("revocation rules missing or older: {}", self.rules));
        }
        if self.counter {
            parts.push("the counter of revocation rules differs".to_owned());
        }
        if !self.issuers.is_empty() {
            let told = self.issuers.iter().take(ISSUERS_TOLD);
            let told: Vec<&str> = told.map(String::as_str).collect();
            parts.push(format!(
                "issuers that differ: {} ({})",
                self.issuers.len(),
                told.join(", ")
            ));
        }
        f.write_str(&parts.join("; "))
    }
}

/// Compares the records of the store, one after the other, with a view.
pub(super) struct Check<'v> {
    view: &'v Snapshot,
    now: i64,
    first_live_minute: u32,
    counter: Stamp,
    issuers: HashMap<String, Parts>,
    found: Difference,
}

/// The records of one issuer.
#[derive(Default)]
struct Parts {
    issuer: Option<IssuerRecord>,
    keyring: Option<Keyring>,
    kids: HashSet<String>,
}

impl<'v> Check<'v> {
    pub(super) fn new(view: &'v Snapshot, now: i64) -> Check<'v> {
        Check {
            view,
            now,
            first_live_minute: first_live_minute(now),
            counter: Stamp::default(),
            issuers: HashMap::new(),
            found: Difference::default(),
        }
    }

    /// A view may have more revocations than the store: a node keeps them until they end by its own clock.
    pub(super) fn entry(&mut self, entry: &Entry) -> Result<()> {
        let parts: Vec<String> = entry.key.parts().collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["i", iss] => self.parts(iss).issuer = Some(IssuerRecord::read(entry)?),
            ["k", iss, "_set"] => self.parts(iss).keyring = Some(record::read(entry)?),
            ["k", iss, named] => {
                record::read::<SealedKey>(entry)?;
                if let Some(kid) = record::kid_of(named) {
                    self.parts(iss).kids.insert(kid.to_owned());
                }
            }
            ["r", iss, minute, hash] => {
                if let (Ok(minute), Ok(hash)) = (minute.parse(), u128::from_str_radix(hash, 16))
                    && minute >= self.first_live_minute
                    && !self.view.revocations.contains(iss, minute, hash)
                {
                    self.found.tokens += 1;
                }
            }
            ["rule", iss, kind, name] => {
                let rule: RuleRecord = record::read(entry)?;
                let known = self.view.rules.get(iss, kind, name);
                // The known rule may be stronger, and does not change if it takes in the stored one.
                let is_known = known.is_some() && Some(rule.over_known(known)) == known;
                if rule.until > self.now && !is_known {
                    self.found.rules += 1;
                }
            }
            ["c", "rules"] => self.counter = record::read(entry)?,
            _ => {}
        }
        Ok(())
    }

    pub(super) fn end(mut self) -> Difference {
        self.found.counter = StampText::from(self.counter) != self.view.stamp;
        let mut differing: Vec<String> = Vec::new();
        for (iss, parts) in &self.issuers {
            let known = self.view.issuers.get(iss.as_str());
            let is_same = match (&parts.issuer, &parts.keyring, known) {
                (Some(issuer), Some(keyring), Some(known)) => {
                    let kids: HashSet<&str> = known.kids().collect();
                    issuer.settings == known.settings
                        && issuer.is_configured == known.is_configured
                        && *keyring == known.keyring
                        && parts.kids.len() == kids.len()
                        && parts.kids.iter().all(|kid| kids.contains(kid.as_str()))
                }
                (Some(_), Some(_), None) | (_, _, Some(_)) => false,
                // An issuer without all of its records is not served.
                (_, _, None) => true,
            };
            if !is_same {
                differing.push(iss.clone());
            }
        }
        let known = self.view.issuers.keys();
        let extra = known.filter(|iss| !self.issuers.contains_key(&***iss));
        differing.extend(extra.map(ToString::to_string));
        differing.sort();
        self.found.issuers = differing;
        self.found
    }

    fn parts(&mut self, iss: &str) -> &mut Parts {
        self.issuers.entry(iss.to_owned()).or_default()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn revision_that_a_reload_has_passed_has_no_view() {
        let view = |number| {
            Arc::new(Snapshot {
                revision: Revision::from_number(number),
                ..Snapshot::default()
            })
        };
        let found = |is_reload, revision| {
            let comparison = Comparison::default();
            *lock(&comparison.views) = Some(vec![view(10)]);
            if is_reload {
                comparison.restart();
            }
            comparison.see(&view(20));
            let found = comparison.view_at(Revision::from_number(revision));
            found.map(|view| view.revision.number())
        };
        // A follower that sees 10 and then 20 has seen every change between.
        assert_eq!([found(false, 15), found(false, 20)], [Some(10), Some(20)]);
        assert_eq!([found(true, 15), found(true, 20)], [None, Some(20)]);
    }
}
