//! One trial: the control must be accepted, and then the attack refused.

use std::time::Duration;

use serde_json::{Value, json};

use super::beacon::Beacon;
use super::cost::{Cost, is_slow};
use super::fixtures::Stage;
use super::fixtures::jws::unb64;
use super::session::{Reply, Session, Stopped};
use super::trial::{Act, Claims, Trial};
use crate::protocol::{ClaimsPool, KeyText, Keys, Offered, Prepare};
use crate::result::{AttackOutcome, Practice};
use crate::suite::{Format, STANDARD};

/// How often a cost is looked at before it is called too much.
const COST_TRIES: usize = 3;

/// What one trial came to.
#[derive(Debug, Clone)]
pub(super) enum Tried {
    /// The twin was refused, so nothing is known.
    Void(String),
    /// The library has not what would be attacked.
    NotOffered(String),
    /// What was seen.
    Seen {
        outcome: AttackOutcome,
        /// The library's words, or the lab's.
        seen: String,
        token: Option<String>,
        key: Option<Value>,
    },
}

impl Tried {
    /// Whether it says anything.
    pub(super) fn counts(&self) -> bool {
        matches!(self, Self::Seen { .. })
    }
}

/// Where and how trials are made.
pub(super) struct Place<'a> {
    pub stage: &'a Stage,
    pub practice: Option<Practice>,
    pub offered: &'a Offered,
    pub beacon: &'a Beacon,
    /// Whether trials of cost and of time are made here: once for a driver and format.
    pub is_first: bool,
}

impl Place<'_> {
    /// Makes a trial.
    pub(super) fn try_one(
        &self,
        session: &mut Session<'_>,
        trial: &Trial,
    ) -> Result<Tried, Stopped> {
        if trial.read_by_library && !self.reads(trial) {
            return Ok(Tried::NotOffered(
                "the driver reads the key's text, not the library".into(),
            ));
        }
        match &trial.act {
            Act::Load { bad, good } => self.load(session, bad, good),
            Act::Issue(claims) => self.issue(session, claims),
            Act::Costly { token, plain } => self.cost(session, trial, token, plain),
            _ => self.verify(session, trial),
        }
    }

    /// Whether a trial belongs here at all.
    pub(super) fn takes(&self, trial: &Trial) -> bool {
        match &trial.act {
            Act::Costly { .. } => self.is_first || self.stage.alg.starts_with("PBES2"),
            // By default some give a minute's grace, which is no memory.
            Act::Later(_) => {
                let strict = self.practice != Some(Practice::Defaults);
                self.is_first && strict && self.stage.format == Format::Jwt
            }
            _ => true,
        }
    }

    fn verify(&self, session: &mut Session<'_>, trial: &Trial) -> Result<Tried, Stopped> {
        let order = self.order(trial.claims, self.stage.keys());
        let (control, usual) = match trial.act {
            // What is remembered of a token is what these are about.
            Act::Later(_) | Act::NextKeys(_) => session.verify(&order, &trial.control)?,
            _ => session.control(&order, &trial.control)?,
        };
        if control != Reply::Accepted {
            return Ok(void(control));
        }
        let calls = self.beacon.calls();
        let (order, token) = match &trial.act {
            Act::VerifyUnder(keys, token) => {
                (self.order(trial.claims, keys.clone()), token.clone())
            }
            Act::NextKeys(keys) => (
                self.order(trial.claims, keys.clone()),
                trial.control.clone(),
            ),
            Act::Later(wait) => {
                std::thread::sleep(*wait);
                (order, trial.control.clone())
            }
            Act::Verify(token) | Act::NoFetch(token) => (order, token.clone()),
            Act::Load { .. } | Act::Issue(_) | Act::Costly { .. } => (order, String::new()),
        };
        let (mut reply, mut took) = session.verify(&order, &token)?;
        if matches!(reply, Reply::Refused(_)) && is_slow(took, usual) {
            let (again, shorter) = session.verify(&order, &token)?;
            (reply, took) = (again, took.min(shorter));
        }
        let slow = is_slow(took, usual);
        let (outcome, mut seen) = outcome_of(reply, || {
            slow.then(|| format!("took {} ms", took.as_millis()))
        });
        let mut outcome = outcome.unwrap_or(AttackOutcome::NotOffered);
        if matches!(trial.act, Act::NoFetch(_)) {
            // The call may be under way while the answer is already here.
            std::thread::sleep(Duration::from_millis(20));
            if self.beacon.calls() > calls {
                outcome = AttackOutcome::Accepted;
                seen = "asked the address that the token named".into();
            }
        }
        if outcome == AttackOutcome::NotOffered {
            return Ok(Tried::NotOffered(seen));
        }
        let key = shown_key(&order.keys);
        Ok(Tried::Seen {
            outcome,
            seen,
            token: Some(token),
            key,
        })
    }

    /// Time and memory of a refusal, in a process of its own. What looks like too much is looked at
    /// again, and the least counts: a busy machine and a collector's mood are no findings.
    fn cost(
        &self,
        session: &mut Session<'_>,
        trial: &Trial,
        token: &str,
        plain: &str,
    ) -> Result<Tried, Stopped> {
        let order = self.order(trial.claims, self.stage.keys());
        let mut cost = match self.cost(session, &order, trial, token, plain)? {
            Ok(cost) => cost,
            Err(void) => return Ok(void),
        };
        for _ in 1..COST_TRIES {
            if !cost.is_refused_at_a_cost() {
                break;
            }
            if let Ok(again) = self.cost(session, &order, trial, token, plain)? {
                cost = cost.min(again);
            }
        }
        session.afresh();
        let figures = cost.figures();
        let over = cost.is_over();
        let (outcome, said) = outcome_of(cost.reply, || over.then(|| figures.clone()));
        let seen = match outcome {
            None => return Ok(Tried::NotOffered(said)),
            Some(AttackOutcome::Refused | AttackOutcome::OverLimit) => said,
            Some(_) => format!("{said}; {figures}"),
        };
        Ok(Tried::Seen {
            outcome: outcome.unwrap_or(AttackOutcome::NotOffered),
            seen,
            token: Some(token.into()),
            key: shown_key(&order.keys),
        })
    }

    /// What a fresh process takes to judge a token; or that its control is refused.
    fn cost(
        &self,
        session: &mut Session<'_>,
        order: &Prepare,
        trial: &Trial,
        token: &str,
        plain: &str,
    ) -> Result<Result<Cost, Tried>, Stopped> {
        session.afresh();
        let (control, _) = session.verify(order, &trial.control)?;
        if control != Reply::Accepted {
            return Ok(Err(void(control)));
        }
        let mut usual = Duration::ZERO;
        for _ in 0..4 {
            usual = session.verify(order, plain)?.1;
        }
        let before = session.peak_rss_bytes();
        let (reply, took) = session.verify(order, token)?;
        let after = session.peak_rss_bytes();
        Ok(Ok(Cost {
            reply,
            took,
            usual,
            more_bytes: after.zip(before).map(|(a, b)| a.saturating_sub(b)),
            length: token.len() as u64,
        }))
    }

    fn load(
        &self,
        session: &mut Session<'_>,
        bad: &KeyText,
        good: &KeyText,
    ) -> Result<Tried, Stopped> {
        if !(self.offered.operations.iter().any(|c| c == "load-key")
            && self.offered.key_text.contains(&good.form))
        {
            return Ok(Tried::NotOffered(format!(
                "the library reads no {} of this key itself",
                good.form
            )));
        }
        let order = |text: &KeyText| Prepare {
            operation: "load-key".into(),
            key_handling: text.form.clone(),
            key_text: Some(text.clone()),
            tokens: None,
            ..self.order(Claims::Map, Keys::default())
        };
        match session.load(&order(good))? {
            Reply::Accepted => {}
            other => return Ok(void(other)),
        }
        let (outcome, seen) = outcome_of(session.load(&order(bad))?, || None);
        let Some(outcome) = outcome else {
            return Ok(Tried::NotOffered(seen));
        };
        let key = bad.public.as_deref().or(bad.private.as_deref());
        let key = key.map(|text| serde_json::from_str(text).unwrap_or_else(|_| json!(text)));
        Ok(Tried::Seen {
            outcome,
            seen,
            token: None,
            key,
        })
    }

    fn issue(&self, session: &mut Session<'_>, claims: &Value) -> Result<Tried, Stopped> {
        let operation = if self.stage.format == Format::Jwe {
            "encrypt"
        } else {
            "sign"
        };
        if self.stage.format == Format::Jwe
            || !self.offered.operations.iter().any(|c| c == operation)
        {
            return Ok(Tried::NotOffered("nothing is signed here".into()));
        }
        let order = |claims: &Value| Prepare {
            operation: operation.into(),
            claims: ClaimsPool {
                name: "attack".into(),
                values: vec![claims.clone()],
            },
            tokens: None,
            ..self.order(Claims::Map, self.stage.issuing_keys())
        };
        if let Err(reply) = session.token(&order(&self.stage.claims()))? {
            return Ok(void(reply));
        }
        let key = shown_key(&self.stage.keys());
        let token = match session.token(&order(claims))? {
            Ok(token) => token,
            Err(reply) => {
                let (outcome, seen) = outcome_of(reply, || None);
                let outcome = outcome.unwrap_or(AttackOutcome::Refused);
                return Ok(Tried::Seen {
                    outcome,
                    seen,
                    token: None,
                    key,
                });
            }
        };
        let read = self.read(&token);
        let same = read.as_ref().is_some_and(|read| same_claims(read, claims));
        let (outcome, seen) = match (same, read) {
            (true, _) => (
                AttackOutcome::Refused,
                "the token says what was asked for, and no more".to_owned(),
            ),
            (false, Some(_)) => (
                AttackOutcome::Accepted,
                "the token says other claims than were asked for".into(),
            ),
            (false, None) => (AttackOutcome::Accepted, "the token is no JSON".into()),
        };
        Ok(Tried::Seen {
            outcome,
            seen,
            token: Some(token),
            key,
        })
    }

    /// The claims in a token that the driver made.
    fn read(&self, token: &str) -> Option<Value> {
        let bytes = match self.stage.paseto() {
            Some(key) => key.open(token).ok()?,
            None => unb64(token.split('.').nth(1)?),
        };
        serde_json::from_slice(&bytes).ok()
    }

    fn order(&self, claims: Claims, keys: Keys) -> Prepare {
        order_of(self.stage, self.practice, claims, keys)
    }

    /// Whether the library reads the text of these keys itself, as far as its driver says.
    fn reads(&self, trial: &Trial) -> bool {
        let form = match &trial.act {
            Act::VerifyUnder(keys, _) if keys.paserk.is_some() => "paserk",
            _ => "jwk",
        };
        self.offered.key_text.iter().any(|f| f == form)
    }
}

/// What makes a driver ready to verify tokens of a stage.
pub(super) fn order_of(
    stage: &Stage,
    practice: Option<Practice>,
    claims: Claims,
    keys: Keys,
) -> Prepare {
    let some = |name: &str| (!name.is_empty()).then(|| name.to_owned());
    let name = match claims {
        Claims::Map => "attack",
        Claims::Typed => STANDARD,
    };
    let operation = match stage.format {
        Format::Jwe => "decrypt",
        _ => "verify",
    };
    Prepare {
        operation: operation.into(),
        format: stage.format.name().into(),
        alg: some(&stage.alg),
        enc: some(&stage.enc),
        key_handling: "prepared".into(),
        keys,
        key_text: None,
        claims: ClaimsPool {
            name: name.into(),
            values: vec![stage.claims()],
        },
        policy: stage.policy(),
        practice: practice.map(|p| p.name().into()),
        // Nothing is timed: the pool must only be there.
        tokens: Some(vec!["x".into()]),
    }
}

pub(super) fn void(reply: Reply) -> Tried {
    match reply {
        Reply::Accepted => Tried::Void("accepted".into()),
        Reply::Unasked(why) => Tried::NotOffered(why),
        Reply::Refused(why) | Reply::Crashed(why) | Reply::Hung(why) => Tried::Void(why),
    }
}

/// The outcome, none if the driver was never asked; and what to say of it.
pub(super) fn outcome_of(
    reply: Reply,
    costs: impl FnOnce() -> Option<String>,
) -> (Option<AttackOutcome>, String) {
    match reply {
        Reply::Accepted => (Some(AttackOutcome::Accepted), "accepted".into()),
        Reply::Crashed(why) => (Some(AttackOutcome::Crashed), why),
        Reply::Hung(why) => (Some(AttackOutcome::Hung), why),
        Reply::Unasked(why) => (None, why),
        Reply::Refused(why) => match costs() {
            Some(cost) => (
                Some(AttackOutcome::OverLimit),
                format!("refused, and {cost}"),
            ),
            None => (Some(AttackOutcome::Refused), why),
        },
    }
}

/// The key as evidence shows it: one object.
fn shown_key(keys: &Keys) -> Option<Value> {
    if let Some(paserk) = &keys.paserk {
        return serde_json::to_value(paserk).ok();
    }
    keys.public.clone().or_else(|| keys.private.clone())
}

/// One audience may be written as a text or as a list of one.
fn same_claims(a: &Value, b: &Value) -> bool {
    let plain = |claims: &Value| {
        let mut claims = claims.clone();
        if let Some(Value::Array(list)) = claims.get("aud")
            && let [one] = list.as_slice()
        {
            claims["aud"] = one.clone();
        }
        claims
    };
    plain(a) == plain(b)
}
