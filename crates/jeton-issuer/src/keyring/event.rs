//! Events of a keyring, and what a decision returns.

use super::{KeyEntry, Keyring};
use crate::key_kind::KeyKind;

/// A key that was created for a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// Its id.
    pub kid: String,
    /// Format and algorithm.
    pub kind: KeyKind,
    /// Public key, if it has one.
    pub public: Option<String>,
    /// Its label, if it is held outside the store.
    pub remote: Option<String>,
}

/// An event or a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Time passed: publishes keys that are due, and retires keys that no profile uses.
    Tick,
    /// The settings changed. Then as [`Tick`](Event::Tick).
    Settings {
        /// `max_age_seconds` of the previous settings.
        max_age_before: i64,
    },
    /// Deletes keys whose last token has expired by that second, which is in the past for every relevant
    /// clock. Not part of [`Tick`](Event::Tick), because deletion is final: a clock that jumps ahead must
    /// not decide it.
    Over(i64),
    /// Reschedules keys that a wrong clock published in the future: published now, signing after the
    /// pre-publication period. Otherwise rotation would stop until then. Not part of [`Tick`](Event::Tick):
    /// a clock that is behind must not decide it.
    BringForward,
    /// Publishes a new key of that kind now. It signs after the pre-publication period. A key published in
    /// the future is rescheduled instead.
    Rotate(KeyKind),
    /// The key is compromised: it is removed from the key set at once, and another key signs at once.
    Compromised(String),
    /// Withdraws a published key. The previous key continues. A key that signs can only be replaced with
    /// [`Rotate`](Event::Rotate).
    Retire(String),
    /// Imports the given keys: published now, signing after the pre-publication period.
    Import,
    /// Confirms [unconfirmed](super::KeyEntry::is_confirmed) keys, which are in the key set by now: they sign
    /// after the pre-publication period. [`Tick`](Event::Tick) does this too.
    Confirm,
    /// The last decision was committed this many seconds late: whatever it ended was in effect for that
    /// much longer.
    CommittedLate {
        /// Seconds between the decision and the end of the commit.
        by: i64,
        /// [`Change::revoked`] of the decision.
        revoked: Option<(String, i64)>,
        /// [`Keyring::postponed`]: the keys that the decision postponed, as they were before.
        postponed: Vec<KeyEntry>,
    },
}

/// The outcome of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Nothing to do.
    Nothing,
    /// Create keys of these kinds, and decide again with them.
    Make(Vec<KeyKind>),
    /// Write this change in one transaction, on condition that the keyring is unchanged.
    Write(Change),
}

/// A change of a keyring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The new keyring.
    pub keyring: Keyring,
    /// Ids of new keys.
    pub added: Vec<String>,
    /// Ids of deleted keys.
    pub removed: Vec<String>,
    /// Ids of rescheduled or confirmed keys.
    pub moved: Vec<String>,
    /// A revoked key, and until when the revocation must be kept.
    pub revoked: Option<(String, i64)>,
}
