//! Protections that a test removes, to see that what it judges by notices. A release keeps them all.

use std::collections::BTreeSet;

/// What protects revocations and keys from a wrong history, clock or version.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protection {
    /// A node notices that the store went back, and begins an epoch.
    History,
    /// A node whose clock is apart from those of the majority is not ready.
    Clocks,
    /// No record is written that a running node does not read.
    Versions,
}

impl Protection {
    /// All, with their names.
    pub const ALL: [(&str, Protection); 3] = [
        ("history", Protection::History),
        ("clocks", Protection::Clocks),
        ("versions", Protection::Versions),
    ];
}

/// The protections of a node.
#[derive(Debug, Clone, Default)]
pub(super) struct Protections {
    removed: BTreeSet<Protection>,
}

impl Protections {
    /// Only for tests.
    #[cfg(debug_assertions)]
    pub(super) fn remove(&mut self, one: Protection) {
        self.removed.insert(one);
    }

    pub(super) fn has(&self, one: Protection) -> bool {
        cfg!(not(debug_assertions)) || !self.removed.contains(&one)
    }
}
