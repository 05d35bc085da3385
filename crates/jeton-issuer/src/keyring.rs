//! The keys of an issuer and the state machine that publishes, activates and retires them.
//!
//! This module does no I/O and reads no clock. The state of a key is a function of its times and the
//! current time. So it changes on all nodes at the same second, without a write, even if the store is
//! unreachable.

#[cfg(test)]
mod model;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::limits::{
    self, CLOCK_SKEW_SECONDS, ISSUE_WITHOUT_STORE_MAX, LEEWAY_SECONDS, PROPAGATION_SECONDS,
    RULE_AFTER_SECONDS,
};
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
/// let made = NewKey { kid: "1".into(), kind: kinds[0], public: None };
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

/// A key that was created for a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// Its id.
    pub kid: String,
    /// Format and algorithm.
    pub kind: KeyKind,
    /// Public key, if it has one.
    pub public: Option<String>,
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
    /// Confirms [unconfirmed](KeyEntry::is_confirmed) keys, which are in the key set by now: they sign
    /// after the pre-publication period. [`Tick`](Event::Tick) does this too.
    Confirm,
    /// The last decision was committed this many seconds late: whatever it ended was in effect for that
    /// much longer.
    CommittedLate {
        /// Seconds between the decision and the end of the commit.
        by: i64,
        /// [`Change::revoked`] of the decision.
        revoked: Option<(String, i64)>,
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

    /// Returns whether a key of that kind signs or will sign.
    pub fn has_key(&self, kind: KeyKind, now: i64) -> bool {
        let is_of_use = |key: &KeyEntry| {
            key.kind == kind && matches!(key.state(now), State::Published | State::Signing)
        };
        self.keys.iter().any(is_of_use)
    }

    /// Returns the first second at which a [`Tick`](Event::Tick) has work.
    pub fn next_tick(&self, settings: &IssuerSettings) -> i64 {
        let kinds = settings.kinds();
        let is_unused = |key: &KeyEntry| !kinds.contains(&key.kind) && key.signs_until.is_none();
        if self.has_unconfirmed() || self.keys.iter().any(is_unused) {
            return i64::MIN;
        }
        let due = |kind: &KeyKind| match self.newest(*kind) {
            Some(key) => next_due(settings, key),
            None => i64::MIN,
        };
        kinds.iter().map(due).min().unwrap_or(i64::MAX)
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

/// Decides what an event at that second requires, given the keys created for it.
///
/// The result depends only on the arguments, so all nodes decide the same. The store resolves conflicts.
///
/// # Errors
///
/// [`Error::Invalid`] if the event is not allowed, [`Error::UnknownKey`].
pub fn decide(
    settings: &IssuerSettings,
    keyring: &Keyring,
    event: &Event,
    made: &[NewKey],
    now: i64,
) -> Result<Decision> {
    let mut next = Next {
        settings,
        made: made.to_vec(),
        wanted: Vec::new(),
        now,
        is_first: keyring.since.is_none() && keyring.keys.is_empty(),
        change: Change {
            keyring: keyring.clone(),
            added: Vec::new(),
            removed: Vec::new(),
            moved: Vec::new(),
            revoked: None,
        },
    };
    next.note_lifetimes();
    match event {
        Event::Tick => {
            next.confirm_all();
            next.tick();
        }
        Event::Settings { max_age_before } => {
            next.note_caches(*max_age_before);
            next.tick();
        }
        Event::Over(by) => next.drop_gone(*by),
        Event::BringForward => {
            for kind in settings.kinds() {
                next.bring_forward(kind);
            }
        }
        Event::Rotate(kind) => next.rotate(*kind)?,
        Event::Compromised(kid) => next.compromised(kid)?,
        Event::Retire(kid) => next.retire(kid)?,
        Event::Import => next.import()?,
        Event::Confirm => next.confirm_all(),
        Event::CommittedLate { by, revoked } => next.committed_late(*by, revoked.as_ref()),
    }
    if !next.wanted.is_empty() {
        return Ok(Decision::Make(next.wanted));
    }
    if next.change.keyring.keys.len() > limits::KEYS_PER_ISSUER {
        return Err(Error::rule(
            "keys",
            format!(
                "the issuer would have more than {} keys: wait until a retired key is deleted",
                limits::KEYS_PER_ISSUER
            ),
        ));
    }
    if next.change.keyring == *keyring && next.change.revoked.is_none() {
        return Ok(Decision::Nothing);
    }
    Ok(Decision::Write(next.change))
}

/// Returns when the successor of a key must be published.
fn next_due(settings: &IssuerSettings, key: &KeyEntry) -> i64 {
    key.signs_from + settings.rotate_every_seconds() - settings.publish_before_use_seconds()
}

/// Returns whether a wrong clock published the key.
fn is_far_ahead(key: &KeyEntry, now: i64) -> bool {
    key.published_at > now + CLOCK_SKEW_SECONDS
}

/// Returns whether a node may sign with the key before it knows a decision made now: its clock may be
/// ahead.
fn may_sign(key: &KeyEntry, now: i64) -> bool {
    key.signs_from <= now + CLOCK_SKEW_SECONDS + PROPAGATION_SECONDS
}

struct Next<'a> {
    settings: &'a IssuerSettings,
    made: Vec<NewKey>,
    wanted: Vec<KeyKind>,
    now: i64,
    /// No verifier can have cached a key set of the issuer.
    is_first: bool,
    change: Change,
}

impl Next<'_> {
    /// Extends the retention of keys whose profile has a longer lifetime now, never shortens it. A node
    /// whose clock is behind still signs with a key that is retired here.
    fn note_lifetimes(&mut self) {
        let signs_somewhere = self.now - CLOCK_SKEW_SECONDS;
        for key in &mut self.change.keyring.keys {
            if key.signs_until.is_none_or(|until| until > signs_somewhere) {
                let longest = self.settings.longest_lifetime_seconds(key.kind);
                key.longest_lifetime = key.longest_lifetime.max(longest);
            }
        }
    }

    /// Notes the previous cache lifetime. A verifier that fetched the key set just now keeps it for that
    /// long. The pre-publication period covers nodes that do not know the new settings yet.
    fn note_caches(&mut self, max_age_before: i64) {
        if max_age_before <= self.settings.max_age_seconds() {
            return;
        }
        let longest = self.longest_cache().max(max_age_before);
        self.change.keyring.cached = Some(Cached {
            max_age_seconds: longest,
            until: self.now.saturating_add(longest + CLOCK_SKEW_SECONDS),
        });
    }

    /// Returns how long verifiers may use a key set fetched under older settings.
    fn longest_cache(&self) -> i64 {
        let cached = self
            .change
            .keyring
            .cached
            .filter(|cached| cached.until > self.now);
        cached.map_or(0, |cached| cached.max_age_seconds)
    }

    fn tick(&mut self) {
        self.retire_unused();
        for kind in self.settings.kinds() {
            match self.change.keyring.newest(kind) {
                Some(key) if next_due(self.settings, key) <= self.now => self.add_unconfirmed(kind),
                Some(_) => {}
                None => self.add_first(kind),
            }
        }
    }

    fn rotate(&mut self, kind: KeyKind) -> Result<()> {
        self.wants(kind)?;
        if self.bring_forward(kind) {
            return Ok(());
        }
        match self.change.keyring.newest(kind) {
            Some(key) if key.signs_from > self.now => {
                let signs = match key.is_confirmed() {
                    true => format!("signs from {}", key.signs_from),
                    false => "its signing time is being set".to_owned(),
                };
                return Err(Error::rule(
                    "kind",
                    format!("a new {kind} key is published already, and {signs}"),
                ));
            }
            _ => self.add_unconfirmed(kind),
        }
        Ok(())
    }

    /// Reschedules the newest key that a clock far ahead published: it counts as published now, although
    /// verifiers have had it for longer. The others are removed, as they never signed by this clock.
    fn bring_forward(&mut self, kind: KeyKind) -> bool {
        let now = self.now;
        self.publish_now(kind, |key| key.is_confirmed() && is_far_ahead(key, now))
    }

    /// Confirms keys: they have been in the key set since the commit that added them.
    fn confirm_all(&mut self) {
        for kind in self.settings.kinds() {
            self.publish_now(kind, |key| !key.is_confirmed());
        }
    }

    fn publish_now(&mut self, kind: KeyKind, is_meant: impl Fn(&KeyEntry) -> bool) -> bool {
        let now = self.now;
        let is_moved = |key: &KeyEntry| key.kind == kind && is_meant(key);
        let moved: Vec<KeyEntry> = (self.change.keyring.keys.iter())
            .filter(|key| is_moved(key))
            .cloned()
            .collect();
        let Some(newest) = moved.iter().max_by_key(|key| key.signs_from) else {
            return false;
        };
        let signs_yet = |key: &KeyEntry| may_sign(key, now);
        let replaced_at_once = newest.signs_from <= newest.published_at;
        let signs_from = match self.change.keyring.signer(kind, now) {
            _ if signs_yet(newest) => newest.signs_from,
            None if replaced_at_once => self.at_once(),
            _ => now.saturating_add(self.publish_before_use()),
        };
        for key in &moved {
            if key.kid != newest.kid && !signs_yet(key) {
                self.remove(&key.kid);
            }
        }
        let is_followed = |until: i64| moved.iter().any(|key| key.signs_from == until);
        let newest = newest.kid.clone();
        self.each(|key| {
            if key.kid == newest {
                key.published_at = now;
                key.signs_from = signs_from;
            } else if key.kind == kind {
                if is_meant(key) {
                    key.published_at = now;
                }
                if key.signs_until.is_some_and(is_followed) {
                    key.signs_until = Some(signs_from.max(now));
                }
            }
        });
        self.change.moved.push(newest);
        true
    }

    fn compromised(&mut self, kid: &str) -> Result<()> {
        let key = self.found(kid)?;
        self.remove(kid);
        let longest = key.longest_lifetime + RULE_AFTER_SECONDS;
        self.change.revoked = Some((kid.to_owned(), self.now.saturating_add(longest)));
        match key.state(self.now) {
            State::Published => {
                self.give_back(&key);
                let is_used = self.settings.kinds().contains(&key.kind);
                // A node whose clock is ahead has signed with it, and has no other key.
                let signs_somewhere = key.signs_from <= self.now + CLOCK_SKEW_SECONDS;
                let signer = self.change.keyring.signer(key.kind, self.now);
                if is_used && signs_somewhere && signer.is_none() {
                    self.replace_at_once(&key);
                }
            }
            _ if self.settings.kinds().contains(&key.kind) => self.replace_at_once(&key),
            _ => {}
        }
        Ok(())
    }

    /// Replaces a compromised key at once. Verifiers with a cached key set reject tokens of an unknown key,
    /// so this needs an explicit command. A published successor is known to some or all. It signs on every
    /// node, even if its time has only come by some clocks.
    fn replace_at_once(&mut self, gone: &KeyEntry) {
        let at_once = self.at_once();
        match gone.signs_until {
            None => self.add(gone.kind, at_once),
            Some(until) => {
                let now = self.now;
                self.each(|key| {
                    if key.kind == gone.kind && key.signs_from == until {
                        key.signs_from = key.signs_from.min(at_once);
                        if !key.is_confirmed() {
                            key.published_at = now;
                        }
                    }
                });
            }
        }
    }

    /// Extends retention after a late commit. Until they saw the change, other nodes signed with the
    /// retired or compromised key, and verifiers cached under the older settings.
    fn committed_late(&mut self, by: i64, revoked: Option<&(String, i64)>) {
        let decided_at = self.now.saturating_sub(by) - CLOCK_SKEW_SECONDS;
        self.each(|key| {
            if key.signs_until.is_some_and(|until| until >= decided_at) {
                key.longest_lifetime = key.longest_lifetime.saturating_add(by);
            }
        });
        if let Some(cached) = &mut self.change.keyring.cached {
            cached.until = cached.until.saturating_add(by);
        }
        self.change.revoked = revoked.map(|(kid, until)| (kid.clone(), until.saturating_add(by)));
    }

    fn retire(&mut self, kid: &str) -> Result<()> {
        let key = self.found(kid)?;
        let refused = |rule: String| Err(Error::rule("kid", rule));
        match key.state(self.now) {
            State::Published if !may_sign(&key, self.now) => {
                self.remove(kid);
                self.give_back(&key);
                Ok(())
            }
            State::Published => refused(format!(
                "it signs from {}, and a node whose clock is ahead may sign with it before it has heard of \
                 this: rotate when it signs",
                key.signs_from
            )),
            State::Signing => refused(
                "it signs: rotate, and it retires by itself when the new key has been published for \
                 long enough; report a compromised key as compromised"
                    .to_owned(),
            ),
            State::Retired | State::Gone => refused(format!(
                "it is retired already, and is deleted when its last token has expired, at {}",
                key.gone_at().unwrap_or(i64::MAX)
            )),
        }
    }

    fn import(&mut self) -> Result<()> {
        for key in self.made.clone() {
            if self.change.keyring.find(&key.kid).is_some() {
                return Err(Error::rule("kid", "the issuer has a key with this id"));
            }
            self.wants(key.kind)?;
            match self.change.keyring.newest(key.kind) {
                Some(next) if next.signs_from > self.now => {
                    return Err(Error::rule(
                        "kind",
                        "a new key is published already: import after it signs",
                    ));
                }
                _ => self.add_unconfirmed(key.kind),
            }
        }
        Ok(())
    }

    /// Retires keys that no profile uses. A key that has not begun to sign is removed at once.
    fn retire_unused(&mut self) {
        let kinds = self.settings.kinds();
        let unused = self.change.keyring.keys.clone();
        for key in unused.iter().filter(|key| !kinds.contains(&key.kind)) {
            if !may_sign(key, self.now) {
                self.remove(&key.kid);
            } else if key.signs_until.is_none_or(|until| until > self.now) {
                let until = Some(self.now.max(key.signs_from));
                // A node that does not know the change signs for as long as it may issue without the store.
                let unaware = ISSUE_WITHOUT_STORE_MAX.as_secs().cast_signed();
                self.each(|other| {
                    if other.kid == key.kid {
                        other.signs_until = until;
                        other.longest_lifetime = other.longest_lifetime.saturating_add(unaware);
                    }
                });
            }
        }
    }

    /// Lets the previous key continue after its successor was withdrawn.
    fn give_back(&mut self, withdrawn: &KeyEntry) {
        self.each(|before| {
            if before.kind == withdrawn.kind && before.signs_until == Some(withdrawn.signs_from) {
                before.signs_until = withdrawn.signs_until;
            }
        });
    }

    /// Adds the first key of a kind. The first keys of an issuer sign at once, because no verifier has
    /// cached a key set. A further kind waits for the pre-publication period. A recently retired key that
    /// is still published continues instead.
    fn add_first(&mut self, kind: KeyKind) {
        if self.is_first {
            return self.add(kind, self.at_once());
        }
        let everywhere = [self.now, self.now + CLOCK_SKEW_SECONDS];
        let is_there = |key: &&KeyEntry| {
            key.kind == kind && everywhere.iter().all(|now| key.state(*now) != State::Gone)
        };
        let keys = self.change.keyring.keys.iter();
        let Some(last) = keys
            .filter(is_there)
            .max_by_key(|key| key.signs_from)
            .cloned()
        else {
            return self.add_unconfirmed(kind);
        };
        let longest = self.settings.longest_lifetime_seconds(kind);
        let keys = self.change.keyring.keys.iter();
        let others = keys.filter(is_there).filter(|key| key.kid != last.kid);
        // The previous key continues until the last one begins.
        let before = others
            .max_by_key(|key| key.signs_from)
            .map(|key| key.kid.clone());
        let has_begun = last.signs_from <= self.at_once();
        self.each(|key| {
            if key.kid == last.kid {
                key.signs_until = None;
            } else if !has_begun && Some(&key.kid) == before.as_ref() {
                key.signs_until = Some(last.signs_from);
            } else {
                return;
            }
            key.longest_lifetime = key.longest_lifetime.max(longest);
        });
    }

    /// Adds an unconfirmed key: see [`KeyEntry::is_confirmed`].
    fn add_unconfirmed(&mut self, kind: KeyKind) {
        self.add(kind, UNCONFIRMED_SIGNS_FROM);
    }

    /// Returns the pre-publication period, including caches under older settings.
    fn publish_before_use(&self) -> i64 {
        let period = self.settings.publish_before_use_seconds();
        period.max(2 * self.longest_cache())
    }

    /// Returns the time from which a key signs at once on every node, also with a clock that is behind.
    fn at_once(&self) -> i64 {
        self.now - CLOCK_SKEW_SECONDS
    }

    /// Adds a key that signs from then on and succeeds all keys without a successor.
    fn add(&mut self, kind: KeyKind, signs_from: i64) {
        let Some(at) = self.made.iter().position(|key| key.kind == kind) else {
            self.wanted.push(kind);
            return;
        };
        let made = self.made.remove(at);
        self.each(|before| {
            if before.kind == kind && before.signs_until.is_none() {
                before.signs_until = Some(signs_from);
            }
        });
        self.change.added.push(made.kid.clone());
        self.change.keyring.since.get_or_insert(self.now);
        self.change.keyring.keys.push(KeyEntry {
            kid: made.kid,
            kind,
            public: made.public,
            published_at: match signs_from {
                UNCONFIRMED_SIGNS_FROM => UNCONFIRMED_PUBLISHED_AT,
                _ => self.now,
            },
            signs_from,
            signs_until: None,
            longest_lifetime: self.settings.longest_lifetime_seconds(kind),
        });
    }

    fn drop_gone(&mut self, by: i64) {
        let gone = |key: &&KeyEntry| key.state(by) == State::Gone;
        let gone: Vec<String> = (self.change.keyring.keys.iter().filter(gone))
            .map(|key| key.kid.clone())
            .collect();
        gone.iter().for_each(|kid| self.remove(kid));
    }

    fn remove(&mut self, kid: &str) {
        self.change.keyring.keys.retain(|key| key.kid != kid);
        self.change.removed.push(kid.to_owned());
    }

    fn wants(&self, kind: KeyKind) -> Result<()> {
        match self.settings.kinds().contains(&kind) {
            true => Ok(()),
            false => Err(Error::rule(
                "kind",
                format!("no profile of the issuer uses {kind}"),
            )),
        }
    }

    fn found(&self, kid: &str) -> Result<KeyEntry> {
        let found = self.change.keyring.find(kid);
        found.cloned().ok_or(Error::UnknownKey)
    }

    fn each(&mut self, change: impl FnMut(&mut KeyEntry)) {
        self.change.keyring.keys.iter_mut().for_each(change);
    }
}
