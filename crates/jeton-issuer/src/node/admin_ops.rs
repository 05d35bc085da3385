//! Administrative operations. Each is written with its audit entry in one transaction, and is visible on
//! this node when it returns.

use jeton_store::{Condition, Entry, Outcome, Revision, Txn, block_on};

use super::Node;
use super::inner::Inner;
use crate::audit::{Act, Chain};
use crate::conflict;
use crate::decision::DecisionTime;
use crate::difference::Difference;
use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::keyring::{Change, Decision, Event, KeyEntry, Keyring, NewKey, decide_without};
use crate::limits;
use crate::record::{
    self, IssuerRecord, SealedKey, audit_head_key, private_key, rule_key, set_key, settings_key,
};
use crate::revocation::{Extent, NewRules, Term};
use crate::secret_key::SecretKey;
use crate::settings::{IssuerSettings, name};

impl Node {
    /// Creates an issuer with its first keys, which sign at once because no verifier has cached a key set.
    /// If several nodes do this at once, one succeeds. The others get [`Error::IssuerExists`] once they see
    /// the issuer.
    ///
    /// # Errors
    ///
    /// [`Error::IssuerExists`], [`Error::Store`], [`Error::Contended`]. [`Error::Stale`]: the issuer
    /// exists, and this node does not see it yet.
    pub fn create_issuer(&self, actor: &str, settings: IssuerSettings) -> Result<()> {
        self.create(actor, &settings, false)
    }

    pub(super) fn create(
        &self,
        actor: &str,
        settings: &IssuerSettings,
        is_configured: bool,
    ) -> Result<()> {
        name("actor", actor)?;
        if self.inner.snapshot.load().issuers.len() >= limits::ISSUERS {
            return Err(Error::rule(
                "issuers",
                format!("{} are here, and a node serves no more", limits::ISSUERS),
            ));
        }
        let issuer = IssuerRecord {
            settings: settings.clone(),
            is_configured,
        };
        self.inner.create_issuer(actor, &issuer)
    }

    /// Publishes a new key of that kind now. It signs after the pre-publication period.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if a new key is published already or no profile uses the kind, and as
    /// [`set_issuer`](Node::set_issuer).
    pub fn rotate(&self, actor: &str, iss: &str, kind: KeyKind) -> Result<()> {
        name("actor", actor)?;
        self.inner.time_for_keys(self.inner.now())?;
        let event = Event::Rotate(kind);
        self.inner
            .keyring_act(actor, iss, "key.rotate", &event, Vec::new())
    }

    /// Removes a compromised key from the key set at once and revokes everything that it signed. Its
    /// successor or a new key signs at once. Verifiers that do not have that key reject its tokens until
    /// they fetch the key set.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownKey`], and as [`set_issuer`](Node::set_issuer).
    pub fn compromised(&self, actor: &str, iss: &str, kid: &str) -> Result<()> {
        name("actor", actor)?;
        let event = Event::Compromised(kid.to_owned());
        self.inner
            .keyring_act(actor, iss, "key.compromised", &event, Vec::new())
    }

    /// Imports a private key: a JWK, a PEM or a PASERK. It is published now and signs after the
    /// pre-publication period.
    ///
    /// # Errors
    ///
    /// [`Error::Token`] if it is not a valid key, and as [`rotate`](Node::rotate).
    pub fn import(&self, actor: &str, iss: &str, kind: KeyKind, text: &str) -> Result<()> {
        name("actor", actor)?;
        self.inner.time_for_keys(self.inner.now())?;
        let key = SecretKey::import(kind, text)?;
        name("kid", &key.kid()?)?;
        let keys = vec![(kind, key)];
        self.inner
            .keyring_act(actor, iss, "key.import", &Event::Import, keys)
    }

    /// Withdraws a published key that does not sign yet. The previous key continues.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it signs or has signed, [`Error::UnknownKey`], and as
    /// [`set_issuer`](Node::set_issuer).
    pub fn retire(&self, actor: &str, iss: &str, kid: &str) -> Result<()> {
        name("actor", actor)?;
        let event = Event::Retire(kid.to_owned());
        self.inner
            .keyring_act(actor, iss, "key.retire", &event, Vec::new())
    }

    /// Runs key maintenance now: publishes, reschedules and deletes keys that are due. A node does this by
    /// itself while its clock is reliable. This call trusts the clock.
    ///
    /// # Errors
    ///
    /// As [`set_issuer`](Node::set_issuer).
    pub fn tick(&self, iss: &str) -> Result<()> {
        self.inner.bring_forward(iss)?;
        self.inner.tick(iss)?;
        self.inner.drop_gone(iss, self.inner.now())
    }

    /// Re-encrypts all private keys under the current key-encryption key. Returns how many it changed.
    ///
    /// # Errors
    ///
    /// [`Error::WrongKeyEncryptionKey`] if a key is encrypted under a key that this node does not have.
    pub fn reseal(&self, actor: &str) -> Result<usize> {
        name("actor", actor)?;
        let mut resealed = 0;
        for iss in self.status().issuers {
            let (_, keyring) = self.issuer(&iss)?;
            for key in keyring.keys() {
                resealed += usize::from(self.inner.reseal_one(actor, &iss, &key.kid)?);
            }
        }
        Ok(resealed)
    }
}

/// A planned change of an issuer.
pub(super) struct Plan {
    pub(super) event: Event,
    /// The new issuer record, if it changes.
    pub(super) issuer: Option<IssuerRecord>,
}

/// Returns the description of a change for the audit log.
fn changes(old: &IssuerRecord, new: &IssuerRecord) -> Vec<String> {
    let differences = old.settings.differences(&new.settings);
    let more = differences
        .len()
        .saturating_sub(limits::DIFFERENCES_PER_ENTRY);
    let told = differences.iter().take(limits::DIFFERENCES_PER_ENTRY);
    let mut about: Vec<String> = told.map(Difference::to_string).collect();
    if more > 0 {
        about.push(format!("and {more} more"));
    }
    let yes_or_no = |issuer: &IssuerRecord| if issuer.is_configured { "yes" } else { "no" };
    if old.is_configured != new.is_configured {
        let named = Difference::new("named by the configuration", yes_or_no(old), yes_or_no(new));
        about.push(named.to_string());
    }
    about
}

impl Inner {
    pub(super) fn tick(&self, iss: &str) -> Result<()> {
        self.keyring_act("jeton", iss, "key.tick", &Event::Tick, Vec::new())
    }

    pub(super) fn bring_forward(&self, iss: &str) -> Result<()> {
        let event = Event::BringForward;
        self.keyring_act("jeton", iss, "key.forward", &event, Vec::new())
    }

    pub(super) fn drop_gone(&self, iss: &str, by: i64) -> Result<()> {
        self.keyring_act("jeton", iss, "key.gone", &Event::Over(by), Vec::new())
    }

    fn create_issuer(&self, actor: &str, issuer: &IssuerRecord) -> Result<()> {
        let settings = &issuer.settings;
        let iss = settings.iss();
        let now = self.now();
        let mut keys = Vec::new();
        let Some(change) =
            self.decided(settings, &Keyring::default(), &Event::Tick, &mut keys, now)?
        else {
            return Err(Error::NotReady);
        };
        for attempt in 0..limits::ATTEMPTS {
            conflict::pause(attempt);
            let read =
                block_on(
                    self.store
                        .read(&[settings_key(iss)?, set_key(iss)?, audit_head_key()?]),
                )?;
            let there = read.entries[..2].iter().flatten();
            if let Some(written) = there.map(|entry| entry.changed).max() {
                // A caller that gets this error can use the issuer.
                self.wait_for(written)?;
                return Err(Error::IssuerExists);
            }
            let chain = Chain::read(read.entries[2].as_ref())?;
            let txn = Txn::new()
                .when(settings_key(iss)?, Condition::Absent)
                .when(set_key(iss)?, Condition::Absent)
                .put(settings_key(iss)?, issuer.write());
            let txn = self.with_change(txn, iss, &change, &keys)?;
            let act = Act {
                at: now,
                actor,
                act: "issuer.create",
                iss,
                about: change.added.clone(),
            };
            if let Some(revision) = self.try_commit(chain.append(txn, act)?)? {
                return self.wait_for(revision);
            }
        }
        Err(Error::Contended)
    }

    pub(super) fn keyring_act(
        &self,
        actor: &str,
        iss: &str,
        act: &str,
        event: &Event,
        keys: Vec<(KeyKind, SecretKey)>,
    ) -> Result<()> {
        let plan = |_: &IssuerRecord, _: &Keyring, _| {
            Ok(Plan {
                event: event.clone(),
                issuer: None,
            })
        };
        let mut rule = NewRules::default();
        if let Event::Compromised(kid) = event {
            rule.add(rule_key(iss, "key", kid)?, Extent::All);
        }
        self.decide_and_write(actor, iss, act, keys, &rule, plan)
            .map(drop)
    }

    /// Decides, writes, and waits until this node sees the change. Returns the old and the new record.
    pub(super) fn act(
        &self,
        actor: &str,
        iss: &str,
        act: &str,
        plan: impl Fn(&IssuerRecord, &Keyring, i64) -> Result<Plan>,
    ) -> Result<(IssuerRecord, IssuerRecord)> {
        self.decide_and_write(actor, iss, act, Vec::new(), &NewRules::default(), plan)
    }

    /// The same with given keys, and with the rules to write if a key is revoked.
    fn decide_and_write(
        &self,
        actor: &str,
        iss: &str,
        act: &str,
        mut keys: Vec<(KeyKind, SecretKey)>,
        rule: &NewRules,
        plan: impl Fn(&IssuerRecord, &Keyring, i64) -> Result<Plan>,
    ) -> Result<(IssuerRecord, IssuerRecord)> {
        let mut names = vec![settings_key(iss)?, set_key(iss)?, audit_head_key()?];
        names.extend(rule.reads()?);
        for attempt in 0..limits::ATTEMPTS {
            conflict::pause(attempt);
            let now = self.now();
            let decision = DecisionTime::new(now);
            let seen = self.seen();
            let read = block_on(self.store.read(&names))?;
            self.check_history(read.revision, seen)?;
            let [Some(settings), Some(set), head, found @ ..] = read.entries.as_slice() else {
                return Err(Error::UnknownIssuer);
            };
            let stored = IssuerRecord::read(settings)?;
            let keyring: Keyring = record::read(set)?;
            let Plan { event, issuer } = plan(&stored, &keyring, now)?;
            let issuer = issuer.unwrap_or_else(|| stored.clone());
            // What is refused without this time was refused before.
            let by = self.time_for_keys(now).unwrap_or(now);
            let decided = self.decided(&issuer.settings, &keyring, &event, &mut keys, by)?;
            if decided.is_none() && issuer == stored {
                // Another node may just have done it.
                self.wait_for(settings.changed.max(set.changed))?;
                return Ok((stored, issuer));
            }
            let unchanged = |txn: Txn, entry: &Entry| {
                txn.when(entry.key.clone(), Condition::Unchanged(entry.changed))
            };
            let mut txn = unchanged(unchanged(Txn::new(), settings), set);
            let mut about = changes(&stored, &issuer);
            if issuer != stored {
                txn = txn.put(settings_key(iss)?, issuer.write());
            }
            if let Some(change) = &decided {
                txn = self.with_change(txn, iss, change, &keys)?;
                about.extend(change.added.iter().map(|kid| format!("+{kid}")));
                about.extend(change.removed.iter().map(|kid| format!("-{kid}")));
                about.extend(change.moved.iter().map(|kid| format!("~{kid}")));
                if let Some((_, until)) = change.revoked {
                    // Counted from the time of the newest audit entry: see `Term::of_tokens`.
                    let until = until.saturating_add(self.not_behind(now) - now);
                    let begins = self.begins_epoch();
                    txn = rule.put(txn, found, read.revision, Term { now, until }, begins)?;
                }
            }
            let act = Act {
                at: now,
                actor,
                act,
                iss,
                about,
            };
            let txn = Chain::read(head.as_ref())?.append(txn, act)?;
            if decision.late_by(self.now()).is_some() {
                continue;
            }
            if let Some(revision) = self.try_commit(txn)? {
                if decided
                    .as_ref()
                    .is_some_and(|change| change.revoked.is_some())
                {
                    self.history.has_begun();
                }
                let late_by = decision.late_by(self.now());
                self.wait_for(revision)?;
                if let Some(change) = decided {
                    let late = late_by.map(|by| (by, keyring.postponed(&change.keyring)));
                    self.follow_up(actor, iss, rule, change, late)?;
                }
                return Ok((stored, issuer));
            }
        }
        Err(Error::Contended)
    }

    /// Writes what follows a commit: a correction if it was late, and the confirmation of new keys. If this
    /// node stops before, [`Event::Tick`] on any node confirms the keys.
    fn follow_up(
        &self,
        actor: &str,
        iss: &str,
        rule: &NewRules,
        change: Change,
        late: Option<(i64, Vec<KeyEntry>)>,
    ) -> Result<()> {
        let has_unconfirmed = change.keyring.has_unconfirmed();
        let write = |act: &str, event: Event| {
            let plan = |_: &IssuerRecord, _: &Keyring, _| {
                Ok(Plan {
                    event: event.clone(),
                    issuer: None,
                })
            };
            self.decide_and_write(actor, iss, act, Vec::new(), rule, plan)
                .map(drop)
        };
        if let Some((by, postponed)) = late {
            let event = Event::CommittedLate {
                by,
                revoked: change.revoked,
                postponed,
            };
            write("key.late", event)?;
        }
        if has_unconfirmed {
            write("key.confirm", Event::Confirm)?;
        }
        Ok(())
    }

    /// Runs the state machine and creates the keys that it requires. Keys of an attempt that lost a
    /// conflict are used in the next one.
    fn decided(
        &self,
        settings: &IssuerSettings,
        keyring: &Keyring,
        event: &Event,
        keys: &mut Vec<(KeyKind, SecretKey)>,
        now: i64,
    ) -> Result<Option<Change>> {
        let mut without = Vec::new();
        loop {
            let made = keys.iter().map(|(kind, key)| {
                Ok(NewKey {
                    kid: key.kid()?,
                    kind: *kind,
                    public: key.public_text(),
                    remote: key.label().map(str::to_owned),
                })
            });
            let made = made.collect::<Result<Vec<_>>>()?;
            match decide_without(settings, keyring, event, &made, &without, now)? {
                Decision::Nothing => return Ok(None),
                Decision::Write(change) => return Ok(Some(change)),
                Decision::Make(kinds) => {
                    for kind in kinds {
                        match self.new_key(settings.iss(), kind, keyring, event)? {
                            Some(key) => keys.push((kind, key)),
                            None => without.push(kind),
                        }
                    }
                }
            }
        }
    }

    fn with_change(
        &self,
        mut txn: Txn,
        iss: &str,
        change: &Change,
        keys: &[(KeyKind, SecretKey)],
    ) -> Result<Txn> {
        txn = txn.put(set_key(iss)?, record::write(&change.keyring));
        for (kind, key) in keys {
            let kid = key.kid()?;
            if change.added.contains(&kid) {
                let reader = &self.options.keys;
                let sealed = SealedKey::seal(&reader.keks[0], iss, &kid, *kind, key)?;
                // An unreadable record would stop every node.
                sealed.open(reader, iss, &kid)?;
                let is_remote = key.label().is_some();
                txn = txn.put(private_key(iss, &kid)?, sealed.write(is_remote));
            }
        }
        for kid in &change.removed {
            txn = txn.delete(private_key(iss, kid)?);
        }
        Ok(txn)
    }

    pub(super) fn try_commit(&self, txn: Txn) -> Result<Option<Revision>> {
        Ok(match self.commit(txn)? {
            Outcome::Committed(revision) => Some(revision),
            Outcome::Conflict(_) => None,
        })
    }

    fn reseal_one(&self, actor: &str, iss: &str, kid: &str) -> Result<bool> {
        for attempt in 0..limits::ATTEMPTS {
            conflict::pause(attempt);
            let read = block_on(
                self.store
                    .read(&[private_key(iss, kid)?, audit_head_key()?]),
            )?;
            let [Some(entry), head] = read.entries.as_slice() else {
                return Ok(false);
            };
            let sealed: SealedKey = record::read(entry)?;
            let keys = &self.options.keys;
            let kek = &keys.keks[0];
            if sealed.under == kek.id() {
                return Ok(false);
            }
            let text = sealed.open_text(&keys.keks, iss, kid)?;
            let again = SealedKey::seal_text(kek, iss, kid, sealed.kind, &text)?;
            let is_remote = SecretKey::read(keys, sealed.kind, &text)?.label().is_some();
            let txn = Txn::new()
                .when(entry.key.clone(), Condition::Unchanged(entry.changed))
                .put(entry.key.clone(), again.write(is_remote));
            let act = Act {
                at: self.now(),
                actor,
                act: "key.reseal",
                iss,
                about: vec![kid.to_owned()],
            };
            if let Some(revision) =
                self.try_commit(Chain::read(head.as_ref())?.append(txn, act)?)?
            {
                self.wait_for(revision)?;
                return Ok(true);
            }
        }
        Err(Error::Contended)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use jeton::SystemClock;
    use jeton_store::MemoryStore;

    use crate::{Error, IssuerSettings, KeyEncryptionKey, Node, Options, limits};

    #[test]
    fn create_issuer_beyond_limit_is_rejected() {
        let options = Options::new(KeyEncryptionKey::generate().unwrap());
        let store = Arc::new(MemoryStore::new());
        let node = Node::start(store, options, Arc::new(SystemClock)).unwrap();
        let create = |iss: &str| {
            let settings = format!(
                r#"{{"iss": "{iss}", "profiles":
                    [{{"name": "p", "alg": "HS256", "lifetime_seconds": 900, "audiences": ["a"]}}]}}"#
            );
            node.create_issuer("me", IssuerSettings::from_json(&settings).unwrap())
        };
        create("first").unwrap();
        // Only the number of issuers matters here.
        let mut snapshot = (**node.inner.snapshot.load()).clone();
        let view = snapshot.issuers["first"].clone();
        for number in 1..limits::ISSUERS {
            snapshot
                .issuers
                .insert(number.to_string().into(), view.clone());
        }
        snapshot.issuers.remove("1");
        node.inner.snapshot.store(Arc::new(snapshot.clone()));
        create("last").unwrap();
        snapshot.issuers.insert("1".into(), view);
        node.inner.snapshot.store(Arc::new(snapshot));
        let refused = create("one more").unwrap_err();
        assert!(matches!(&refused, Error::Invalid(rule) if rule.field == "issuers"));
    }
}
