//! The next keyring while an event is decided, and the changes that events are made of.

use super::{Change, KeyEntry, NewKey, UNCONFIRMED_PUBLISHED_AT, UNCONFIRMED_SIGNS_FROM, may_sign};
use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::limits::{CLOCK_SKEW_SECONDS, FORMER_REMOTE_KEYS};
use crate::settings::IssuerSettings;

pub(super) struct Next<'a> {
    pub(super) settings: &'a IssuerSettings,
    pub(super) made: Vec<NewKey>,
    pub(super) wanted: Vec<KeyKind>,
    /// Kinds of which no new key can be made.
    pub(super) without: &'a [KeyKind],
    /// Kinds in `without` of which a key is missing.
    pub(super) missing: Vec<KeyKind>,
    pub(super) now: i64,
    /// No verifier can have cached a key set of the issuer.
    pub(super) is_first: bool,
    pub(super) change: Change,
}

impl Next<'_> {
    /// Returns how long verifiers may use a key set fetched under older settings.
    pub(super) fn longest_cache(&self) -> i64 {
        let cached = self
            .change
            .keyring
            .cached
            .filter(|cached| cached.until > self.now);
        cached.map_or(0, |cached| cached.max_age_seconds)
    }

    pub(super) fn publish_now(
        &mut self,
        kind: KeyKind,
        is_meant: impl Fn(&KeyEntry) -> bool,
    ) -> bool {
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
        let replaced_at_once = |key: &&KeyEntry| key.signs_from <= key.published_at;
        // Without a signer, the last key that replaced another at once signs.
        let replacement = match self.change.keyring.signer(kind, now) {
            None if !signs_yet(newest) => moved
                .iter()
                .filter(replaced_at_once)
                .max_by_key(|key| key.signs_from),
            _ => None,
        };
        let replacement = replacement.map(|key| key.kid.clone());
        let at_once = self.at_once();
        let signs_from = match &replacement {
            _ if signs_yet(newest) => newest.signs_from,
            Some(kid) if *kid == newest.kid => at_once,
            _ => now.saturating_add(self.publish_before_use()),
        };
        for key in &moved {
            if key.kid != newest.kid && Some(&key.kid) != replacement.as_ref() && !signs_yet(key) {
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
                if Some(&key.kid) == replacement.as_ref() {
                    key.signs_from = at_once;
                }
                if key.signs_until.is_some_and(is_followed) {
                    key.signs_until = Some(signs_from.max(now));
                }
            }
        });
        self.change.moved.push(newest);
        true
    }

    /// Lets the previous key continue after its successor was withdrawn.
    pub(super) fn give_back(&mut self, withdrawn: &KeyEntry) {
        self.each(|before| {
            if before.kind == withdrawn.kind && before.signs_until == Some(withdrawn.signs_from) {
                before.signs_until = withdrawn.signs_until;
            }
        });
    }

    /// Lets a key of a used kind sign until the next one begins, if there would be a time without a signer.
    ///
    /// A key is followed by the one that begins when it ends. After a clock ahead, and clocks that differ, several
    /// can begin in the same second, or a key can end before it begins. Then an event can move or withdraw a key that
    /// another one needs.
    pub(super) fn close_gaps(&mut self, kind: KeyKind) {
        let signs_somewhere = self.now - CLOCK_SKEW_SECONDS;
        loop {
            let keys = || {
                self.change
                    .keyring
                    .keys
                    .iter()
                    .filter(|key| key.kind == kind)
            };
            let signs = |at: i64| {
                keys().any(|key| {
                    key.signs_from <= at && key.signs_until.is_none_or(|until| at < until)
                })
            };
            let ends = keys().filter_map(|key| Some((key.signs_until?, key.signs_from, &key.kid)));
            let gap = ends
                .filter(|(until, ..)| *until > signs_somewhere && !signs(*until))
                .max_by_key(|(until, from, _)| (-until, *from));
            let Some((until, _, kid)) = gap else {
                return;
            };
            let next = keys()
                .map(|key| key.signs_from)
                .filter(|from| *from > until);
            let (kid, next) = (kid.clone(), next.min());
            self.each(|key| {
                if key.kid == kid {
                    key.signs_until = next;
                }
            });
        }
    }

    /// Adds an unconfirmed key: see [`KeyEntry::is_confirmed`].
    pub(super) fn add_unconfirmed(&mut self, kind: KeyKind) {
        self.add(kind, UNCONFIRMED_SIGNS_FROM);
    }

    /// Returns the pre-publication period, including caches under older settings.
    pub(super) fn publish_before_use(&self) -> i64 {
        let period = self.settings.publish_before_use_seconds();
        period.max(2 * self.longest_cache())
    }

    /// Returns the time from which a key signs at once on every node, also with a clock that is behind.
    pub(super) fn at_once(&self) -> i64 {
        self.now - CLOCK_SKEW_SECONDS
    }

    /// Adds a key that signs from then on and succeeds all keys without a successor.
    pub(super) fn add(&mut self, kind: KeyKind, signs_from: i64) {
        let Some(at) = self.made.iter().position(|key| key.kind == kind) else {
            if self.without.contains(&kind) {
                self.missing.push(kind)
            } else {
                self.wanted.push(kind)
            }
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
            remote: made.remote,
        });
    }

    pub(super) fn remove(&mut self, kid: &str) {
        let former = &mut self.change.keyring.former_remote;
        let keys = self.change.keyring.keys.iter();
        let is_remote = |key: &&KeyEntry| key.kid == kid && key.remote.is_some();
        if keys.into_iter().any(|key| is_remote(&key)) {
            former.push(kid.to_owned());
            let more = former.len().saturating_sub(FORMER_REMOTE_KEYS);
            former.drain(..more);
        }
        self.change.keyring.keys.retain(|key| key.kid != kid);
        self.change.removed.push(kid.to_owned());
    }

    pub(super) fn wants(&self, kind: KeyKind) -> Result<()> {
        if self.settings.kinds().contains(&kind) {
            Ok(())
        } else {
            Err(Error::rule(
                "kind",
                format!("no profile of the issuer uses {kind}"),
            ))
        }
    }

    pub(super) fn found(&self, kid: &str) -> Result<KeyEntry> {
        let found = self.change.keyring.find(kid);
        found.cloned().ok_or(Error::UnknownKey)
    }

    pub(super) fn each(&mut self, change: impl FnMut(&mut KeyEntry)) {
        self.change.keyring.keys.iter_mut().for_each(change);
    }
}
