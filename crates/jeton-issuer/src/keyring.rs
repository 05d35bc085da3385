//! An issuer's keys and their times: what decides when a key is published, signs and goes.
//!
//! Nothing here does I/O or looks at a clock. A key's state is a function of its times and of now, so
//! it changes on every node at the same second without anything being written, also while the store
//! is away.

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

/// `published_at` of a key that is not confirmed: the year 9999, which no clock reaches.
const UNCONFIRMED_PUBLISHED_AT: i64 = 253_370_764_800;
/// `signs_from` of a key that is not confirmed: the end of that year.
const UNCONFIRMED_SIGNS_FROM: i64 = 253_402_300_799;

/// An issuer's keys.
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
    /// Since when verifiers may have cached a key set of the issuer, be it empty by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<i64>,
    /// Set when the settings allow shorter caching than before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cached: Option<Cached>,
}

/// Key sets that verifiers fetched under older settings, and may still have.
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
    /// What it is for.
    pub kind: KeyKind,
    /// Its public half, a JWK or a PASERK, if it has one.
    pub public: Option<String>,
    /// Since when it is in the key set.
    pub published_at: i64,
    /// The first second in which it signs.
    pub signs_from: i64,
    /// The first second in which it no longer does; none while it has no successor.
    pub signs_until: Option<i64>,
    /// The longest that a token it signed may live.
    pub longest_lifetime: i64,
}

/// What a key is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// In the key set, and not signing yet: verifiers learn of it.
    Published,
    /// In the key set, and signing.
    Signing,
    /// In the key set until its last token has expired.
    Retired,
    /// No longer.
    Gone,
}

/// A key that was made for a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// Its id.
    pub kid: String,
    /// What it is for.
    pub kind: KeyKind,
    /// Its public half, if it has one.
    pub public: Option<String>,
}

/// What happened, or is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Time passed: publish what is due, and retire what no profile uses any more.
    Tick,
    /// The settings are others than before, and those allowed verifiers to cache for so long. Then as
    /// [`Tick`](Event::Tick).
    Settings {
        /// `max_age_seconds` of the settings before.
        max_age_before: i64,
    },
    /// By every clock that counts that second is over: drop the keys whose last token has expired by
    /// then. Not a part of [`Tick`](Event::Tick), because what is dropped does not come back: a clock
    /// that jumps ahead must not decide it.
    Over(i64),
    /// By every clock that counts, keys that were published in the future were published by a clock that was
    /// wrong: they are published now, and sign after the lead. Otherwise nothing would rotate until then.
    /// Not a part of [`Tick`](Event::Tick): a clock that is behind must not decide it.
    BringForward,
    /// A new key of that kind is to be published now and to sign after the lead. One that was published in
    /// the future is brought forward instead.
    Rotate(KeyKind),
    /// That key is in wrong hands: out of the key set at once, and another one signs at once.
    Compromised(String),
    /// That key is not to sign: one that is published goes, and whoever signs goes on. One that signs
    /// can only be followed, with [`Rotate`](Event::Rotate).
    Retire(String),
    /// The keys that were handed over come from elsewhere: published now, signing after the lead.
    Import,
    /// Keys that are [not confirmed](KeyEntry::is_confirmed) are in the key set by now: they sign after the
    /// lead. [`Tick`](Event::Tick) does so too.
    Confirm,
    /// What was decided last was committed that many seconds later: what it ended ended later by as much.
    CommittedLate {
        /// Seconds between the decision and the end of its commit.
        by: i64,
        /// What [`Change::revoked`] was.
        revoked: Option<(String, i64)>,
    },
}

/// What follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Nothing.
    Nothing,
    /// Keys of these kinds are to be made, and the same to be asked again with them.
    Make(Vec<KeyKind>),
    /// This is to be written in one transaction, if the keyring is still what it was.
    Write(Change),
}

/// What is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The keyring from now on.
    pub keyring: Keyring,
    /// Those of the new keys that are in it.
    pub added: Vec<String>,
    /// The keys whose records go.
    pub removed: Vec<String>,
    /// The keys that were brought forward or confirmed.
    pub moved: Vec<String>,
    /// A key whose tokens are no longer honoured, and until when that must be remembered.
    pub revoked: Option<(String, i64)>,
}

impl KeyEntry {
    /// What it is doing at that second.
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

    /// Whether it is known when it signs. A key that is to be published for a while before it signs is written
    /// twice: the second time when the first is committed. So it never signs too early, however long the
    /// commit took, and whichever node stopped meanwhile.
    pub fn is_confirmed(&self) -> bool {
        self.published_at < UNCONFIRMED_PUBLISHED_AT
    }

    /// The first second in which no token of it can be valid on any node: signed at the last second,
    /// by a clock that is behind, and verified with leeway by another that is.
    pub fn gone_at(&self) -> Option<i64> {
        let after = self.longest_lifetime + LEEWAY_SECONDS + 2 * CLOCK_SKEW_SECONDS;
        self.signs_until.map(|until| until.saturating_add(after))
    }
}

impl Keyring {
    /// Its keys, oldest first.
    pub fn keys(&self) -> &[KeyEntry] {
        &self.keys
    }

    /// The key that signs at that second.
    pub fn signer(&self, kind: KeyKind, now: i64) -> Option<&KeyEntry> {
        let signing = |key: &&KeyEntry| key.kind == kind && key.state(now) == State::Signing;
        self.keys
            .iter()
            .filter(signing)
            .max_by_key(|key| key.signs_from)
    }

    /// Whether there is a key of that kind that signs or is to.
    pub fn has_key(&self, kind: KeyKind, now: i64) -> bool {
        let is_of_use = |key: &KeyEntry| {
            key.kind == kind && matches!(key.state(now), State::Published | State::Signing)
        };
        self.keys.iter().any(is_of_use)
    }

    /// The first second at which a [`Tick`](Event::Tick) has something to do.
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

    /// A key in use that was published in the future by that clock: it is behind, or another was ahead.
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

    /// Whether a key is [not confirmed](KeyEntry::is_confirmed) yet.
    pub fn has_unconfirmed(&self) -> bool {
        self.keys.iter().any(|key| !key.is_confirmed())
    }

    /// Whether the last token of a key has expired by that second.
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

/// What is to be done about an event, at that second, with the keys that were made for it.
///
/// The same state, event and time give the same answer on every node; which of several nodes wins is
/// the store's business.
///
/// # Errors
///
/// [`Error::Invalid`] if the event asks for what must not be, [`Error::UnknownKey`].
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
                "the issuer has {} keys, and verifiers are to take no more: wait until a retired one is gone",
                limits::KEYS_PER_ISSUER
            ),
        ));
    }
    if next.change.keyring == *keyring && next.change.revoked.is_none() {
        return Ok(Decision::Nothing);
    }
    Ok(Decision::Write(next.change))
}

/// When the successor of a key is to be published.
fn next_due(settings: &IssuerSettings, key: &KeyEntry) -> i64 {
    key.signs_from + settings.rotate_every_seconds() - settings.lead_seconds()
}

/// No clock that is right published it.
fn is_far_ahead(key: &KeyEntry, now: i64) -> bool {
    key.published_at > now + CLOCK_SKEW_SECONDS
}

/// Before every node has heard of what is decided at that second, one whose clock is ahead signs with it.
fn may_sign(key: &KeyEntry, now: i64) -> bool {
    key.signs_from <= now + CLOCK_SKEW_SECONDS + PROPAGATION_SECONDS
}

struct Next<'a> {
    settings: &'a IssuerSettings,
    made: Vec<NewKey>,
    wanted: Vec<KeyKind>,
    now: i64,
    /// Nobody can have cached a key set of the issuer.
    is_first: bool,
    change: Change,
}

impl Next<'_> {
    /// A profile whose tokens live longer now makes its keys stay longer, never shorter. A node whose
    /// clock is behind still signs with a key that has retired by this one.
    fn note_lifetimes(&mut self) {
        let signs_somewhere = self.now - CLOCK_SKEW_SECONDS;
        for key in &mut self.change.keyring.keys {
            if key.signs_until.is_none_or(|until| until > signs_somewhere) {
                let longest = self.settings.longest_lifetime_seconds(key.kind);
                key.longest_lifetime = key.longest_lifetime.max(longest);
            }
        }
    }

    /// Who fetched the key set just now under the settings before does not ask again for that long. Who will
    /// from a node that has not heard of the new ones asks again within any lead.
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

    /// How long a verifier may not ask for the key set, by settings before these.
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
                Some(key) if next_due(self.settings, key) <= self.now => self.add_after_lead(kind),
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
                    false => "is about to be given the time from which it signs".to_owned(),
                };
                return Err(Error::rule(
                    "kind",
                    format!("a new {kind} key is published already, and {signs}"),
                ));
            }
            _ => self.add_after_lead(kind),
        }
        Ok(())
    }

    /// The newest of the keys that a clock far ahead published counts as published now: verifiers have had it
    /// for longer. The others were never to sign by this clock, and go.
    fn bring_forward(&mut self, kind: KeyKind) -> bool {
        let now = self.now;
        self.publish_now(kind, |key| key.is_confirmed() && is_far_ahead(key, now))
    }

    /// The keys have been in the key set since the transaction that added them was committed.
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
            _ => now.saturating_add(self.lead()),
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
                // By a clock that is ahead it signed already, and alone.
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

    /// Verifiers that cache refuse tokens of a key that they have not seen: that is the price, and it
    /// is why this is asked for by name. A successor that is published has been seen by some or all.
    /// One that signs by this clock may not do so yet by another.
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

    /// Other nodes went by what was before until they saw the change. A key that it retired signed for as much
    /// longer, verifiers cached under older settings for as much longer, and a compromised key signed for as
    /// much longer.
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
                 long enough; if it is in wrong hands, say that it is compromised"
                    .to_owned(),
            ),
            State::Retired | State::Gone => refused(format!(
                "it is retired already, and goes when its last token has expired, at {}",
                key.gone_at().unwrap_or(i64::MAX)
            )),
        }
    }

    fn import(&mut self) -> Result<()> {
        for key in self.made.clone() {
            if self.change.keyring.find(&key.kid).is_some() {
                return Err(Error::rule("kid", "the issuer has a key of this id"));
            }
            self.wants(key.kind)?;
            match self.change.keyring.newest(key.kind) {
                Some(next) if next.signs_from > self.now => {
                    return Err(Error::rule(
                        "kind",
                        "a new key is published already: import when it signs",
                    ));
                }
                _ => self.add_after_lead(key.kind),
            }
        }
        Ok(())
    }

    /// What no profile uses signs no more; a key that has not begun to is gone at once.
    fn retire_unused(&mut self) {
        let kinds = self.settings.kinds();
        let unused = self.change.keyring.keys.clone();
        for key in unused.iter().filter(|key| !kinds.contains(&key.kind)) {
            if !may_sign(key, self.now) {
                self.remove(&key.kid);
            } else if key.signs_until.is_none_or(|until| until > self.now) {
                let until = Some(self.now.max(key.signs_from));
                // A node that has not heard that no profile uses it signs for as long as it issues.
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

    /// Somebody was to take over and will not: whoever signs now goes on.
    fn give_back(&mut self, withdrawn: &KeyEntry) {
        self.each(|before| {
            if before.kind == withdrawn.kind && before.signs_until == Some(withdrawn.signs_from) {
                before.signs_until = withdrawn.signs_until;
            }
        });
    }

    /// A kind that nobody signs with. The issuer's first keys sign at once, as nobody has cached an
    /// older set; a kind that comes to others waits for the lead like any new key. One that was given
    /// up lately and is still published goes on instead.
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
            return self.add_after_lead(kind);
        };
        let longest = self.settings.longest_lifetime_seconds(kind);
        let keys = self.change.keyring.keys.iter();
        let others = keys.filter(is_there).filter(|key| key.kid != last.kid);
        // Whoever signed before a key that has not begun goes on until it does.
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

    /// When it signs is decided when it is in the key set: see [`KeyEntry::is_confirmed`].
    fn add_after_lead(&mut self, kind: KeyKind) {
        self.add(kind, UNCONFIRMED_SIGNS_FROM);
    }

    /// How long a key is published before it signs, also for verifiers that fetched under older settings.
    fn lead(&self) -> i64 {
        let lead = self.settings.lead_seconds();
        lead.max(2 * self.longest_cache())
    }

    /// From when a key signs at once: also on a node whose clock is behind.
    fn at_once(&self) -> i64 {
        self.now - CLOCK_SKEW_SECONDS
    }

    /// A key that signs from then on, and takes over from those that have no successor.
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
