//! What each event does to a keyring.

use super::next::Next;
use super::{
    Cached, Change, Decision, Event, KeyEntry, Keyring, NewKey, State, is_far_ahead, may_sign,
    next_due,
};
use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::limits::{self, CLOCK_SKEW_SECONDS, ISSUE_WITHOUT_STORE_MAX, RULE_AFTER_SECONDS};
use crate::settings::IssuerSettings;

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
    decide_without(settings, keyring, event, made, &[], now)
}

/// Decides like [`decide`], if no new key of some kinds can be made: they are remote, and the operator has not
/// named a new one. A key that is due for rotation then continues to sign.
///
/// # Errors
///
/// As [`decide`], and [`Error::Invalid`] if the event requires a key of such a kind.
pub fn decide_without(
    settings: &IssuerSettings,
    keyring: &Keyring,
    event: &Event,
    made: &[NewKey],
    without: &[KeyKind],
    now: i64,
) -> Result<Decision> {
    let mut next = Next {
        settings,
        made: made.to_vec(),
        wanted: Vec::new(),
        without,
        missing: Vec::new(),
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
        Event::CommittedLate {
            by,
            revoked,
            postponed,
        } => {
            next.committed_late(*by, revoked.as_ref());
            next.continue_postponed(postponed);
        }
    }
    if !next.wanted.is_empty() {
        return Ok(Decision::Make(next.wanted));
    }
    for kind in settings.kinds() {
        next.close_gaps(kind);
    }
    if let Some(kind) = next
        .missing
        .iter()
        .find(|kind| next.cannot_wait(event, **kind))
    {
        return Err(Error::rule("kind", no_new_key(*kind)));
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

fn no_new_key(kind: KeyKind) -> String {
    format!(
        "there is no new {kind} key, and keys of this issuer and kind are held in an HSM: create a key pair there \
         under a new label, and name it under `pkcs11.key` in the configuration"
    )
}

impl Next<'_> {
    /// Returns whether the event fails without a new key of that kind. A rotation that is due can wait.
    fn cannot_wait(&self, event: &Event, kind: KeyKind) -> bool {
        match event {
            Event::Tick => self.is_first,
            Event::Settings { .. } => self.change.keyring.newest(kind).is_none(),
            _ => true,
        }
    }

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
                let signs = if key.is_confirmed() {
                    format!("signs from {}", key.signs_from)
                } else {
                    "its signing time is being set".to_owned()
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

    /// Lets keys that were postponed by a late commit sign as they did before, if they may have begun. Verifiers
    /// need them, so they must not count as keys that have never signed.
    fn continue_postponed(&mut self, postponed: &[KeyEntry]) {
        let now = self.now;
        for before in postponed.iter().filter(|before| may_sign(before, now)) {
            let Some(later) = self.change.keyring.find(&before.kid) else {
                continue;
            };
            let (kind, signs_from) = (later.kind, later.signs_from);
            self.each(|key| {
                if key.kid == before.kid {
                    key.signs_from = key.signs_from.min(before.signs_from);
                } else if key.kind == kind && key.signs_until == Some(signs_from) {
                    key.signs_until = Some(before.signs_from.min(signs_from));
                }
            });
        }
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

    fn drop_gone(&mut self, by: i64) {
        let gone = |key: &&KeyEntry| key.state(by) == State::Gone;
        let gone: Vec<String> = (self.change.keyring.keys.iter().filter(gone))
            .map(|key| key.kid.clone())
            .collect();
        gone.iter().for_each(|kid| self.remove(kid));
    }
}
