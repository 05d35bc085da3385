//! The one cause of what a node cannot do.

use std::sync::{Mutex, PoisonError};

/// Why a node cannot do something. Of several causes it names the one that explains most: a store that does not answer
/// cannot be written either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// The store has sent nothing for [`STORE_SILENT`](crate::limits::STORE_SILENT), or for the freshness bound if that
    /// is less: it is stopped, too slow, or cannot be reached.
    StoreSilent,
    /// A record cannot be read, or a thread ended: the view may miss changes.
    ViewIncomplete,
    /// The clock is apart from those of the majority of nodes.
    ClockApart,
    /// The disk or the quota of the store is full.
    StoreFull,
    /// An earlier write failed, or the store is damaged.
    StoreFailed,
    /// Remote keys cannot sign.
    RemoteKeys,
    /// There is no issuer.
    NoIssuer,
    /// A profile has no key.
    NoKey,
    /// Work that is due has failed.
    Maintenance,
}

impl Cause {
    /// Every cause, the one that explains most first.
    pub const ALL: [Cause; 9] = [
        Cause::StoreSilent,
        Cause::ViewIncomplete,
        Cause::ClockApart,
        Cause::StoreFull,
        Cause::StoreFailed,
        Cause::RemoteKeys,
        Cause::NoIssuer,
        Cause::NoKey,
        Cause::Maintenance,
    ];

    /// Returns the name for metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Cause::StoreSilent => "store_silent",
            Cause::ViewIncomplete => "view_incomplete",
            Cause::ClockApart => "clock_apart",
            Cause::StoreFull => "store_full",
            Cause::StoreFailed => "store_failed",
            Cause::RemoteKeys => "remote_keys",
            Cause::NoIssuer => "no_issuer",
            Cause::NoKey => "no_key",
            Cause::Maintenance => "maintenance",
        }
    }

    /// Returns what is wrong, without values. The text of a fault begins with it, unless the fault has more to say.
    pub fn sentence(self) -> &'static str {
        match self {
            Cause::StoreSilent => "the store does not answer",
            Cause::ViewIncomplete => "the view of the store may miss changes",
            Cause::ClockApart => "the clock is apart from those of the other servers",
            Cause::StoreFull => "no space left for the store",
            Cause::StoreFailed => "the store does not write",
            Cause::RemoteKeys => "keys in the HSM cannot sign",
            Cause::NoIssuer => "there is no issuer",
            Cause::NoKey => "a profile has no key",
            Cause::Maintenance => "work that is due has failed",
        }
    }
}

/// Since when a node has its cause.
#[derive(Debug, Default)]
pub(super) struct Since(Mutex<Option<(Cause, i64)>>);

impl Since {
    /// Returns since when, seconds since 1970. A new cause began at that second.
    pub(super) fn of(&self, cause: Option<Cause>, begun: i64) -> Option<i64> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (cause, *known) {
            (Some(cause), Some((known, since))) if known == cause => return Some(since),
            (cause, _) => *known = cause.map(|cause| (cause, begun)),
        }
        cause.map(|_| begun)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_is_kept_until_the_cause_changes() {
        let since = Since::default();
        assert_eq!(since.of(None, 1), None);
        assert_eq!(since.of(Some(Cause::StoreFull), 2), Some(2));
        assert_eq!(since.of(Some(Cause::StoreFull), 3), Some(2));
        assert_eq!(since.of(Some(Cause::StoreSilent), 4), Some(4));
        assert_eq!(since.of(None, 5), None);
        assert_eq!(since.of(Some(Cause::StoreSilent), 6), Some(6));
    }

    #[test]
    fn names_are_unique() {
        let names = Cause::ALL.map(Cause::name);
        let unique: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
    }
}
