//! Changes settings of issuers, by an administrator or by a configuration file.

use super::Node;
use super::admin_ops::Plan;
use super::inner::Inner;
use crate::difference::Difference;
use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::keyring::{Decision, Event, Keyring, NewKey, decide};
use crate::limits::{ATTEMPTS, CLOCK_SKEW_SECONDS};
use crate::record::IssuerRecord;
use crate::settings::{IssuerSettings, name};

/// The result of applying a configuration to an issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Configured {
    /// The issuer was created.
    Created,
    /// The issuer existed.
    Set {
        /// Applied changes.
        applied: Vec<Difference>,
        /// Changes not applied, because tokens could not be issued for a while: a profile keeps its format
        /// until a key of the new format signs.
        kept: Vec<Difference>,
    },
}

impl Node {
    /// Changes the settings of an issuer. The next tick creates the keys that its profiles need. The issuer
    /// no longer counts as named by a configuration file.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownIssuer`], [`Error::Store`], [`Error::Contended`]; [`Error::Invalid`] if the
    /// issuer would have too many keys.
    pub fn set_issuer(&self, actor: &str, settings: &IssuerSettings) -> Result<()> {
        name("actor", actor)?;
        let plan = |_: &IssuerRecord, _: &Keyring, _| {
            Ok(IssuerRecord {
                settings: settings.clone(),
                is_configured: false,
            })
        };
        self.inner.set(actor, settings.iss(), plan).map(drop)
    }

    /// Applies the settings of a configuration file as [`set_issuer`](Node::set_issuer) does, and creates
    /// the issuer if it is missing. Writes nothing if nothing differs. Unlike a change by an administrator,
    /// it never leaves a profile without an active key: such a profile keeps its `alg` and `encrypt_to`.
    ///
    /// # Errors
    ///
    /// As [`set_issuer`](Node::set_issuer) and [`create_issuer`](Node::create_issuer). Nothing was changed
    /// then.
    pub fn configure(&self, actor: &str, settings: &IssuerSettings) -> Result<Configured> {
        name("actor", actor)?;
        let iss = settings.iss();
        let plan = |stored: &IssuerRecord, keyring: &Keyring, now| {
            let signing = signing_kinds(&stored.settings, settings, keyring, now)?;
            Ok(IssuerRecord {
                settings: settings.keeping_formats(&stored.settings, &signing)?,
                is_configured: true,
            })
        };
        for _ in 0..ATTEMPTS {
            match self.inner.set(actor, iss, plan) {
                Ok((old, new)) => {
                    return Ok(Configured::Set {
                        applied: old.settings.differences(&new.settings),
                        kept: new.settings.differences(settings),
                    });
                }
                Err(Error::UnknownIssuer) => {}
                Err(error) => return Err(error),
            }
            match self.create(actor, settings, true) {
                Ok(()) => return Ok(Configured::Created),
                // Another node just created it.
                Err(Error::IssuerExists) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Contended)
    }

    /// Returns the issuers that a configuration file named and no administrator has changed since.
    pub fn configured_issuers(&self) -> Vec<String> {
        let snapshot = self.inner.snapshot.load();
        let configured = snapshot
            .issuers
            .iter()
            .filter(|(_, view)| view.is_configured);
        let mut names: Vec<String> = configured.map(|(iss, _)| iss.to_string()).collect();
        names.sort();
        names
    }
}

impl Inner {
    /// Returns the old and the new record.
    fn set(
        &self,
        actor: &str,
        iss: &str,
        record: impl Fn(&IssuerRecord, &Keyring, i64) -> Result<IssuerRecord>,
    ) -> Result<(IssuerRecord, IssuerRecord)> {
        self.act(actor, iss, "issuer.set", |stored, keyring, now| {
            let max_age_before = stored.settings.max_age_seconds();
            Ok(Plan {
                event: Event::Settings { max_age_before },
                issuer: Some(record(stored, keyring, now)?),
            })
        })
    }
}

/// Returns the kinds that would sign on every node, with any clock, as soon as those settings apply.
fn signing_kinds(
    old: &IssuerSettings,
    new: &IssuerSettings,
    keyring: &Keyring,
    now: i64,
) -> Result<Vec<KeyKind>> {
    let max_age_before = old.max_age_seconds();
    let event = Event::Settings { max_age_before };
    let mut made: Vec<NewKey> = Vec::new();
    let then = loop {
        match decide(new, keyring, &event, &made, now)? {
            Decision::Nothing => break keyring.clone(),
            Decision::Write(change) => break change.keyring,
            // Only the signing time matters: no key is created.
            Decision::Make(kinds) => made.extend(kinds.into_iter().map(|kind| NewKey {
                kid: String::new(),
                kind,
                public: None,
                remote: None,
            })),
        }
    };
    let everywhere = [now - CLOCK_SKEW_SECONDS, now, now + CLOCK_SKEW_SECONDS];
    let signs = |kind: &KeyKind| {
        everywhere
            .iter()
            .all(|at| then.signer(*kind, *at).is_some())
    };
    Ok(new.kinds().into_iter().filter(signs).collect())
}
