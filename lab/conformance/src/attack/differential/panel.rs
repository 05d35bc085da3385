//! All drivers together, and their verdicts on one token.

use crate::attack::fixtures::Stage;
use crate::attack::run::Event;
use crate::attack::run_trial::order_of;
use crate::attack::session::{Reply, Session, Stopped};
use crate::attack::trial::Claims;
use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::{Built, Driver};
use jeton_lab_harness::protocol::Fault;
use jeton_lab_model::protocol::{Hello, Keys};

use super::change::Changed;

/// Whether each driver accepts: its id with its library's version.
pub(super) type Verdicts = Vec<(String, bool)>;

/// The drivers.
pub(super) struct Panel<'a> {
    members: Vec<Member<'a>>,
}

struct Member<'a> {
    name: String,
    hello: Hello,
    session: Session<'a>,
}

impl<'a> Panel<'a> {
    /// Starts the drivers and keeps those that answer `hello`. Reports the others.
    pub(super) fn of(
        drivers: &'a [(&Driver, Built)],
        stop: &'a Stop,
        tell: &mut dyn FnMut(Event<'_>),
    ) -> Self {
        let members = drivers.iter().filter_map(|(driver, built)| {
            let mut session = Session::new(built, stop);
            let hello = match session.hello() {
                Ok(hello) => hello,
                Err(Fault::Stopped) => return None,
                Err(fault) => {
                    let reason = format!("hello failed: {fault:?}");
                    tell(Event::Unavailable {
                        driver: &driver.id,
                        reason: &reason,
                    });
                    return None;
                }
            };
            Some(Member {
                name: format!("{} {}", driver.id, hello.version),
                hello,
                session,
            })
        });
        Self {
            members: members.collect(),
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.members.iter().map(|m| m.name.clone()).collect()
    }

    /// Returns the verdicts of the drivers that offer this. A changed key goes only to drivers
    /// whose library reads its text, and changed claims only to those whose library reads them.
    /// Otherwise the driver itself would be tested. A driver that does not answer in time has no verdict.
    pub(super) fn ask(&mut self, question: &Question<'_>) -> Result<Verdicts, Stopped> {
        self.ask_those(question, |_| true)
    }

    /// Returns the verdicts of the drivers with these names, each from a new process. A library may keep what it
    /// computed for an earlier key: the JDK keeps the blinding values of an RSA modulus until the garbage
    /// collector removes them, so a key with another exponent is accepted or spoils the next key.
    pub(super) fn ask_anew(
        &mut self,
        question: &Question<'_>,
        names: &[String],
    ) -> Result<Verdicts, Stopped> {
        let named = |name: &String| names.contains(name);
        for member in self.members.iter_mut().filter(|m| named(&m.name)) {
            member.session.restart();
        }
        self.ask_those(question, named)
    }

    fn ask_those(
        &mut self,
        question: &Question<'_>,
        wanted: impl Fn(&String) -> bool,
    ) -> Result<Verdicts, Stopped> {
        let mut verdicts = Vec::new();
        for member in self.members.iter_mut().filter(|m| wanted(&m.name)) {
            if let Some(accepts) = member.verdict(question)? {
                verdicts.push((member.name.clone(), accepts));
            }
        }
        Ok(verdicts)
    }
}

/// One token with its keys.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) stage: &'a Stage,
    pub(super) changed: Changed,
    pub(super) keys: &'a Keys,
    pub(super) token: &'a str,
}

impl Member<'_> {
    fn verdict(&mut self, question: &Question<'_>) -> Result<Option<bool>, Stopped> {
        let Question { stage, changed, .. } = *question;
        let form = if question.keys.paserk.is_some() {
            "paserk"
        } else {
            "jwk"
        };
        let claims_by_hand = format!("{}:claims", stage.format.name());
        if changed == Changed::Claims && self.hello.by_driver.contains(&claims_by_hand) {
            return Ok(None);
        }
        let is_offered = self.hello.offers.iter().any(|o| {
            o.format == stage.format.name()
                && o.alg.as_deref().unwrap_or_default() == stage.alg
                && o.enc.as_deref().unwrap_or_default() == stage.enc
                && (changed != Changed::Key || o.key_text.iter().any(|f| f == form))
        });
        if !is_offered {
            return Ok(None);
        }
        let order = order_of(stage, None, Claims::Map, question.keys.clone());
        let (reply, _) = self.session.verify(&order, question.token)?;
        Ok(match reply {
            Reply::Accepted => Some(true),
            Reply::Refused(_) | Reply::Crashed(_) => Some(false),
            Reply::Hung(_) | Reply::Unasked(_) => None,
        })
    }
}

/// Returns whether all verdicts agree.
pub(super) fn agree(verdicts: &[(String, bool)]) -> bool {
    verdicts.windows(2).all(|pair| pair[0].1 == pair[1].1)
}
