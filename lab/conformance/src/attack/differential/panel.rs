//! All drivers together, and their verdicts on one token.

use crate::attack::fixtures::Stage;
use crate::attack::run_trial::order_of;
use crate::attack::session::{Reply, Session, Stopped};
use crate::attack::trial::Claims;
use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::{Built, Driver};
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
    /// Starts the drivers and keeps those that answer `hello`.
    pub(super) fn of(drivers: &'a [(&Driver, Built)], stop: &'a Stop) -> Self {
        let members = drivers.iter().filter_map(|(driver, built)| {
            let mut session = Session::new(built, stop);
            let hello = session.hello().ok()?;
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
    /// Otherwise the driver itself would be tested.
    pub(super) fn ask(
        &mut self,
        stage: &Stage,
        changed: Changed,
        keys: &Keys,
        token: &str,
    ) -> Result<Verdicts, Stopped> {
        let form = if keys.paserk.is_some() {
            "paserk"
        } else {
            "jwk"
        };
        let claims_by_hand = format!("{}:claims", stage.format.name());
        let mut verdicts = Vec::new();
        for member in &mut self.members {
            if changed == Changed::Claims && member.hello.by_driver.contains(&claims_by_hand) {
                continue;
            }
            let offered = member.hello.offers.iter().any(|o| {
                o.format == stage.format.name()
                    && o.alg.as_deref().unwrap_or_default() == stage.alg
                    && o.enc.as_deref().unwrap_or_default() == stage.enc
                    && (changed != Changed::Key || o.key_text.iter().any(|f| f == form))
            });
            if offered {
                let order = order_of(stage, None, Claims::Map, keys.clone());
                let (reply, _) = member.session.verify(&order, token)?;
                if !matches!(reply, Reply::Unasked(_)) {
                    verdicts.push((member.name.clone(), reply == Reply::Accepted));
                }
            }
        }
        Ok(verdicts)
    }
}

/// Returns whether all verdicts agree.
pub(super) fn agree(verdicts: &[(String, bool)]) -> bool {
    verdicts.windows(2).all(|pair| pair[0].1 == pair[1].1)
}
