//! The keys of an issuer and the state machine that publishes, activates and retires them.
//!
//! This module does no I/O and reads no clock. The state of a key is a function of its times and the
//! current time. So it changes on all nodes at the same second, without a write, even if the store is
//! unreachable.

mod decide;
mod event;
#[cfg(test)]
mod model_test;
mod next;

pub use decide::{decide, decide_without};
pub use event::{Change, Decision, Event, NewKey};

use serde::{Deserialize, Serialize};

use crate::key_kind::KeyKind;
use crate::limits::{CLOCK_SKEW_SECONDS, LEEWAY_SECONDS, PROPAGATION_SECONDS, STEADY_SECONDS};
use crate::settings::IssuerSettings;

/// `published_at` of an unconfirmed key: the year 9999, which no clock reaches.
const UNCONFIRMED_PUBLISHED_AT: i64 = 253_370_764_800;
/// `signs_from` of an unconfirmed key: the end of that year.
const UNCONFIRMED_SIGNS_FROM: i64 = 253_402_300_799;

/// The keys of an issuer.
///
/// ```
/// use jeton_issuer::IssuerSettings;
/// use jeton_issuer::keyring::{Decision, Event, Keyring, NewKey, State, decide};
///
/// let settings = IssuerSettings::from_json(r#"{"iss": "i", "profiles":
///     [{"name": "p", "alg": "ES256", "lifetime_seconds": 900, "audiences": ["a"]}]}"#)?;
/// let empty = Keyring::default();
///
/// // The state machine says what it needs, gets it, and says what is to be written.
/// let Decision::Make(kinds) = decide(&settings, &empty, &Event::Tick, &[], 1000)? else { panic!() };
/// let made = NewKey { kid: "1".into(), kind: kinds[0], public: None, remote: None };
/// let Decision::Write(change) = decide(&settings, &empty, &Event::Tick, &[made], 1000)? else { panic!() };
/// assert_eq!(change.keyring.keys()[0].state(1000), State::Signing); // the first signs at once
/// # Ok::<(), jeton_issuer::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(Hash))]
pub struct Keyring {
    keys: Vec<KeyEntry>,
    /// Time from which verifiers may have cached a key set of the issuer, even an empty one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<i64>,
    /// Set when new settings shorten the cache lifetime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cached: Option<Cached>,
    /// Ids of remote keys that have left the keyring. They are still where they are held, and must not sign
    /// again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    former_remote: Vec<String>,
}

/// Key sets that verifiers fetched under older settings and may still use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(Hash))]
struct Cached {
    max_age_seconds: i64,
    until: i64,
}

/// A key of a keyring. Times are seconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(Hash))]
pub struct KeyEntry {
    /// Its id.
    pub kid: String,
    /// Format and algorithm.
    pub kind: KeyKind,
    /// Public key, a JWK or a PASERK. None for a shared secret.
    pub public: Option<String>,
    /// Time of publication in the key set.
    pub published_at: i64,
    /// The first second in which it signs.
    pub signs_from: i64,
    /// The first second in which it no longer signs. None if it has no successor.
    pub signs_until: Option<i64>,
    /// Longest lifetime of a token that it signed.
    pub longest_lifetime: i64,
    /// The label of a key that is held outside the store, for example in an HSM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

/// The state of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// In the key set and not signing yet: verifiers learn the key.
    Published,
    /// In the key set, and signing.
    Signing,
    /// In the key set until its last token has expired.
    Retired,
    /// Its last token has expired. The key is deleted.
    Gone,
}

impl KeyEntry {
    /// Returns the state at that second.
    pub fn state(&self, now: i64) -> State {
        match self.signs_until {
            Some(until) if now >= until => {
                if now < self.gone_at().unwrap_or(i64::MAX) {
                    State::Retired
                } else {
                    State::Gone
                }
            }
            _ if now < self.signs_from => State::Published,
            _ => State::Signing,
        }
    }

    /// Returns whether the signing time of the key is final. A key with a pre-publication period is written
    /// twice: the second time after the first commit. So it never signs too early, even if the commit takes
    /// long or the node stops in between.
    pub fn is_confirmed(&self) -> bool {
        self.published_at < UNCONFIRMED_PUBLISHED_AT
    }

    /// Returns the first second in which none of its tokens can be valid on any node. The last token may be
    /// signed by a clock that is behind, and verified with leeway by another.
    pub fn gone_at(&self) -> Option<i64> {
        let after = self.longest_lifetime + LEEWAY_SECONDS + 2 * CLOCK_SKEW_SECONDS;
        self.signs_until.map(|until| until.saturating_add(after))
    }
}

impl Keyring {
    /// Returns the confirmed keys that sign later by `next`, as they are here.
    pub fn postponed(&self, next: &Keyring) -> Vec<KeyEntry> {
        let is_postponed = |key: &&KeyEntry| {
            let later = next.find(&key.kid);
            key.is_confirmed() && later.is_some_and(|later| later.signs_from > key.signs_from)
        };
        self.keys.iter().filter(is_postponed).cloned().collect()
    }

    /// Returns the keys, oldest first.
    pub fn keys(&self) -> &[KeyEntry] {
        &self.keys
    }

    /// Returns the key that signs at that second.
    pub fn signer(&self, kind: KeyKind, now: i64) -> Option<&KeyEntry> {
        let signing = |key: &&KeyEntry| key.kind == kind && key.state(now) == State::Signing;
        self.keys
            .iter()
            .filter(signing)
            .max_by_key(|key| key.signs_from)
    }

    /// Returns whether a key of that kind signs at that second, or the first key of the kind is in its
    /// pre-publication period. By a clock that is far behind, a key that signs for the others looks published.
    pub fn can_sign(&self, kind: KeyKind, now: i64) -> bool {
        let is_waiting = |key: &KeyEntry| {
            let is_published = key.published_at <= now.saturating_add(CLOCK_SKEW_SECONDS);
            let has_period = key.published_at < key.signs_from;
            key.state(now) == State::Published
                && (!key.is_confirmed() || is_published && has_period)
        };
        let mut keys = self.keys.iter().filter(|key| key.kind == kind);
        self.signer(kind, now).is_some() || keys.any(is_waiting)
    }

    /// Returns whether the key is in the keyring, or was in it as a remote key.
    pub fn knows(&self, kid: &str) -> bool {
        self.find(kid).is_some() || self.former_remote.iter().any(|former| former == kid)
    }

    /// Returns whether the newest key of that kind is held outside the store.
    pub fn is_remote(&self, kind: KeyKind) -> bool {
        (self.newest(kind)).is_some_and(|newest| newest.remote.is_some())
    }

    /// Returns whether the newest key of that kind does not sign yet.
    pub fn has_successor(&self, kind: KeyKind, now: i64) -> bool {
        (self.newest(kind)).is_some_and(|newest| newest.signs_from > now)
    }

    /// Returns the first second at which a [`Tick`](Event::Tick) has work, if there is no new key of the kinds
    /// `without`.
    pub fn next_tick_without(&self, settings: &IssuerSettings, without: &[KeyKind]) -> i64 {
        let kinds = settings.kinds();
        let is_unused = |key: &KeyEntry| !kinds.contains(&key.kind) && key.signs_until.is_none();
        if self.has_unconfirmed() || self.keys.iter().any(is_unused) {
            return i64::MIN;
        }
        let due = |kind: &KeyKind| match self.newest(*kind) {
            Some(key) => next_due(settings, key),
            None => i64::MIN,
        };
        let can_wait = kinds.iter().filter(|kind| !without.contains(kind));
        can_wait.map(due).min().unwrap_or(i64::MAX)
    }

    /// Returns the first second at which a [`Tick`](Event::Tick) has work.
    pub fn next_tick(&self, settings: &IssuerSettings) -> i64 {
        self.next_tick_without(settings, &[])
    }

    /// Returns whether a successor of the newest key of that kind should be published by now.
    pub fn is_due(&self, settings: &IssuerSettings, kind: KeyKind, now: i64) -> bool {
        (self.newest(kind)).is_some_and(|newest| next_due(settings, newest) <= now)
    }

    /// Returns when the successor of a key is published and when it signs. None: the key has a successor, or
    /// no profile uses its kind.
    pub fn succession(&self, settings: &IssuerSettings, key: &KeyEntry) -> Option<(i64, i64)> {
        let is_newest = (self.newest(key.kind)).is_some_and(|newest| newest.kid == key.kid);
        let is_used = settings.kinds().contains(&key.kind);
        (is_newest && is_used && key.is_confirmed()).then(|| {
            let published_at = next_due(settings, key);
            let signs_from = published_at + settings.publish_before_use_seconds();
            (published_at, signs_from)
        })
    }

    /// Returns a used key that was published in the future of this clock: this clock is behind, or another
    /// was ahead.
    pub fn published_in_the_future(
        &self,
        settings: &IssuerSettings,
        now: i64,
    ) -> Option<&KeyEntry> {
        let kinds = settings.kinds();
        let is_used = |key: &KeyEntry| kinds.contains(&key.kind);
        let is_ahead = |key: &KeyEntry| key.is_confirmed() && is_far_ahead(key, now);
        (self.keys.iter()).find(|key| is_ahead(key) && is_used(key))
    }

    /// Returns whether a key is [unconfirmed](KeyEntry::is_confirmed).
    pub fn has_unconfirmed(&self) -> bool {
        self.keys.iter().any(|key| !key.is_confirmed())
    }

    /// Returns whether the last token of any key has expired by that second.
    pub fn has_gone(&self, by: i64) -> bool {
        self.keys.iter().any(|key| key.state(by) == State::Gone)
    }

    fn newest(&self, kind: KeyKind) -> Option<&KeyEntry> {
        let open = |key: &&KeyEntry| key.kind == kind && key.signs_until.is_none();
        self.keys
            .iter()
            .filter(open)
            .max_by_key(|key| key.signs_from)
    }

    fn find(&self, kid: &str) -> Option<&KeyEntry> {
        self.keys.iter().find(|key| key.kid == kid)
    }
}

/// Returns when the successor of a key must be published.
fn next_due(settings: &IssuerSettings, key: &KeyEntry) -> i64 {
    key.signs_from + settings.rotate_every_seconds() - settings.publish_before_use_seconds()
}

/// Returns whether a wrong clock published the key. Steps that do not count as a jump are not enough: by a clock
/// that is behind by so much, a key in use may look new.
fn is_far_ahead(key: &KeyEntry, now: i64) -> bool {
    key.published_at > now + CLOCK_SKEW_SECONDS + STEADY_SECONDS
}

/// Returns whether a node may sign with the key before it knows a decision made now: its clock may be
/// ahead.
fn may_sign(key: &KeyEntry, now: i64) -> bool {
    key.signs_from <= now + CLOCK_SKEW_SECONDS + PROPAGATION_SECONDS
}
