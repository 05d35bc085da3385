//! The settings of an issuer: given by an administrator, or by a configuration.

use super::acts::Plan;
use super::{Inner, Node};
use crate::difference::Difference;
use crate::error::{Error, Result};
use crate::key_kind::KeyKind;
use crate::keyring::{Decision, Event, Keyring, NewKey, decide};
use crate::limits::{ATTEMPTS, CLOCK_SKEW_SECONDS};
use crate::record::IssuerRecord;
use crate::settings::{IssuerSettings, name};

/// What became of the settings that a configuration has for an issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Configured {
    /// The issuer was not there, and is now.
    Created,
    /// It was there.
    Set {
        /// What was changed.
        applied: Vec<Difference>,
        /// What was not, because tokens could not be issued for a while: a profile keeps its format
        /// until a key of the new one signs.
        kept: Vec<Difference>,
    },
}

impl Node {
    /// Changes an issuer's settings. What its profiles need is made with the next tick. A
    /// configuration that no longer names the issuer is not at fault any more.
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

    /// Gives an issuer the settings that a configuration has for it, as
    /// [`set_issuer`](Node::set_issuer) does, and creates it if it is not there. Nothing is written if
    /// nothing differs. Unlike an administrator's, a change never leaves a profile without a key that
    /// signs: such a profile keeps its `alg` and `encrypt_to`.
    ///
    /// # Errors
    ///
    /// As [`set_issuer`](Node::set_issuer) and [`create_issuer`](Node::create_issuer). Nothing was
    /// changed then.
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
                // By another node at this moment.
                Err(Error::IssuerExists) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Contended)
    }

    /// The issuers that a configuration named, and that no administrator has set since.
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
    /// What the issuer was, and what it is.
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

/// The kinds that would sign on every node, whatever its clock, as soon as those settings are in force.
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
            // It is asked when they would sign: no key is made for that.
            Decision::Make(kinds) => made.extend(kinds.into_iter().map(|kind| NewKey {
                kid: String::new(),
                kind,
                public: None,
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
