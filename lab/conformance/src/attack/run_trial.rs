//! Runs one trial: the control must be accepted, then the attack must be rejected.

use std::time::Duration;

use serde_json::{Value, json};

use super::beacon::Beacon;
use super::catalogue::Attack;
use super::cost::{Cost, is_slow};
use super::fixtures::Stage;
use super::fixtures::jws::unb64;
use super::session::{Reply, Session, Stopped};
use super::trial::{Act, Claims, Setup, Step, Trial};
use jeton_lab_model::Format;
use jeton_lab_model::claims::STANDARD;
use jeton_lab_model::protocol::{ClaimsPool, Extra, Hello, KeyText, Keys, Offered, Prepare};
use jeton_lab_model::result::{AttackOutcome, Practice};

/// How often a cost is measured before it is over the limit.
const COST_TRIES: usize = 3;

/// How often a trial is tried whose control expires, before its control counts as rejected.
const EXPIRING_TRIES: usize = 5;

/// The result of one trial.
#[derive(Debug, Clone)]
pub(super) enum TrialResult {
    /// The control was rejected, so the trial proves nothing.
    Void(String),
    /// The library does not offer what would be attacked.
    NotOffered(String),
    /// The observed outcome.
    Seen {
        outcome: AttackOutcome,
        /// The reason of the library, or of the lab.
        seen: String,
        token: Option<String>,
        key: Option<Value>,
    },
}

impl TrialResult {
    /// Returns whether the trial proves anything.
    pub(super) fn counts(&self) -> bool {
        matches!(self, Self::Seen { .. })
    }
}

/// Where trials run.
pub(super) struct TrialContext<'a> {
    pub stage: &'a Stage,
    pub practice: Option<Practice>,
    pub offered: &'a Offered,
    pub hello: &'a Hello,
    pub beacon: &'a Beacon,
    /// Whether slow trials run here: once for each driver and format.
    pub is_first: bool,
}

impl TrialContext<'_> {
    /// Runs a trial. If its process crashes or does not answer in time, the whole trial runs once more and the
    /// second result counts: a machine that stalls once must not cause a finding.
    pub(super) fn run_trial(
        &self,
        session: &mut Session<'_>,
        trial: &Trial,
    ) -> Result<TrialResult, Stopped> {
        let before = session.faults();
        let first = self.run_once(session, trial)?;
        if session.faults() == before {
            return Ok(first);
        }
        self.run_once(session, trial)
    }

    fn run_once(&self, session: &mut Session<'_>, trial: &Trial) -> Result<TrialResult, Stopped> {
        if trial.read_by_library && !self.reads(trial) {
            return Ok(TrialResult::NotOffered(
                "the driver, not the library, reads the text of the key".into(),
            ));
        }
        match &trial.act {
            Act::Load { bad, good } => self.load(session, bad, good),
            Act::Issue(claims) => self.issue(session, claims),
            Act::Costly { token, plain } => self.run_cost_trial(session, trial, token, plain),
            Act::Steps(steps) => self.steps(session, steps),
            _ => self.verify(session, trial),
        }
    }

    /// Returns whether a trial runs here.
    pub(super) fn takes(&self, trial: &Trial) -> bool {
        match &trial.act {
            Act::Costly { .. } => self.is_first || self.stage.alg.starts_with("PBES2"),
            // Some libraries grant a minute of leeway by default, which is not a cache.
            Act::Later(_) => {
                let strict = self.practice != Some(Practice::Defaults);
                self.is_first && strict && self.stage.format == Format::Jwt
            }
            _ => true,
        }
    }

    fn verify(&self, session: &mut Session<'_>, trial: &Trial) -> Result<TrialResult, Stopped> {
        let order = self.order(trial.claims, self.stage.keys());
        let (control, usual) = match trial.act {
            // This trial is about what is cached of a token.
            Act::Later(_) => session.verify(&order, &trial.control)?,
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
            Act::Later(wait) => {
                std::thread::sleep(*wait);
                (order, trial.control.clone())
            }
            Act::Verify(token) | Act::NoFetch(token) => (order, token.clone()),
            Act::Load { .. }
            | Act::Issue(_)
            | Act::Costly { .. }
            | Act::Steps(_)
            | Act::Form(..) => (order, String::new()),
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
            // The connection may arrive after the answer.
            std::thread::sleep(Duration::from_millis(20));
            if self.beacon.calls() > calls {
                outcome = AttackOutcome::Accepted;
                seen = "connected to the address in the token".into();
            }
        }
        if outcome == AttackOutcome::NotOffered {
            return Ok(TrialResult::NotOffered(seen));
        }
        let key = shown_key(&order.keys);
        Ok(TrialResult::Seen {
            outcome,
            seen,
            token: Some(token),
            key,
        })
    }

    /// Measures time and memory of a rejection in a separate process. A cost over the limit is
    /// measured again, and the least counts: a busy machine or a garbage collection must not cause
    /// a finding.
    fn run_cost_trial(
        &self,
        session: &mut Session<'_>,
        trial: &Trial,
        token: &str,
        plain: &str,
    ) -> Result<TrialResult, Stopped> {
        let order = self.order(trial.claims, self.stage.keys());
        let mut cost = match self.measure_cost(session, &order, trial, token, plain)? {
            Ok(cost) => cost,
            Err(void) => return Ok(void),
        };
        for _ in 1..COST_TRIES {
            if !cost.is_refused_at_a_cost() {
                break;
            }
            if let Ok(again) = self.measure_cost(session, &order, trial, token, plain)? {
                cost = cost.min(again);
            }
        }
        session.restart();
        let figures = cost.figures();
        let over = cost.is_over();
        let (outcome, said) = outcome_of(cost.reply, || over.then(|| figures.clone()));
        let seen = match outcome {
            None => return Ok(TrialResult::NotOffered(said)),
            Some(AttackOutcome::Refused | AttackOutcome::OverLimit) => said,
            Some(_) => format!("{said}; {figures}"),
        };
        Ok(TrialResult::Seen {
            outcome: outcome.unwrap_or(AttackOutcome::NotOffered),
            seen,
            token: Some(token.into()),
            key: shown_key(&order.keys),
        })
    }

    /// Measures a fresh process on one token, or reports that its control is rejected.
    fn measure_cost(
        &self,
        session: &mut Session<'_>,
        order: &Prepare,
        trial: &Trial,
        token: &str,
        plain: &str,
    ) -> Result<Result<Cost, TrialResult>, Stopped> {
        session.restart();
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

    /// Runs the steps in order. The worst outcome of a token that must be rejected counts.
    fn steps(&self, session: &mut Session<'_>, steps: &[Step]) -> Result<TrialResult, Stopped> {
        let mut worst = TrialResult::NotOffered("the trial has no token to reject".into());
        for step in steps {
            let order = match &step.setup {
                Setup::Keys(keys) => self.order(Claims::Map, keys.clone()),
                Setup::Extra(extra) => match self.extra(extra) {
                    Ok(extra) => Prepare {
                        extra: Some(extra),
                        ..self.order(Claims::Map, self.stage.keys())
                    },
                    Err(why) => return Ok(TrialResult::NotOffered(why)),
                },
            };
            let reply = session.verify_by(&order, step.verifier, &step.token)?;
            if step.is_control {
                if reply != Reply::Accepted {
                    return Ok(void(reply));
                }
                continue;
            }
            let (Some(outcome), seen) = outcome_of(reply, || None) else {
                return Ok(TrialResult::NotOffered(
                    "the driver does not do this".into(),
                ));
            };
            if matches!(&worst, TrialResult::Seen { outcome: before, .. } if *before >= outcome) {
                continue;
            }
            worst = TrialResult::Seen {
                outcome,
                seen,
                token: Some(step.token.clone()),
                key: match &order.extra {
                    Some(extra) => serde_json::to_value(extra).ok(),
                    None => shown_key(&order.keys),
                },
            };
        }
        Ok(worst)
    }

    /// Returns what the driver prepares, or why it cannot.
    fn extra(&self, extra: &Extra) -> Result<Extra, String> {
        let (name, language) = (extra.name(), &self.hello.language);
        if self.practice == Some(Practice::Defaults) {
            return Err("called with its defaults, a library has no such feature".into());
        }
        if !self.hello.extras.iter().any(|offered| offered == name) {
            return Err(format!("the driver does not offer `{name}`"));
        }
        match extra {
            Extra::Options(all) => match all.get(language) {
                Some(options) => Ok(Extra::Options(options.clone())),
                None => Err(format!("the library for {language} has no such option")),
            },
            extra => Ok(extra.clone()),
        }
    }

    fn load(
        &self,
        session: &mut Session<'_>,
        bad: &KeyText,
        good: &KeyText,
    ) -> Result<TrialResult, Stopped> {
        if !(self.offered.operations.iter().any(|c| c == "load-key")
            && self.offered.key_text.contains(&good.form))
        {
            return Ok(TrialResult::NotOffered(format!(
                "the library does not read {} of this key",
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
            return Ok(TrialResult::NotOffered(seen));
        };
        let key = bad.public.as_deref().or(bad.private.as_deref());
        let key = key.map(|text| serde_json::from_str(text).unwrap_or_else(|_| json!(text)));
        Ok(TrialResult::Seen {
            outcome,
            seen,
            token: None,
            key,
        })
    }

    fn issue(&self, session: &mut Session<'_>, claims: &Value) -> Result<TrialResult, Stopped> {
        let operation = if self.stage.format == Format::Jwe {
            "encrypt"
        } else {
            "sign"
        };
        if self.stage.format == Format::Jwe
            || !self.offered.operations.iter().any(|c| c == operation)
        {
            return Ok(TrialResult::NotOffered("the driver does not sign".into()));
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
                return Ok(TrialResult::Seen {
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
                "the token has exactly the requested claims".to_owned(),
            ),
            (false, Some(_)) => (
                AttackOutcome::Accepted,
                "the token has other claims than requested".into(),
            ),
            (false, None) => (AttackOutcome::Accepted, "the token is not JSON".into()),
        };
        Ok(TrialResult::Seen {
            outcome,
            seen,
            token: Some(token),
            key,
        })
    }

    /// Returns the claims in a token that the driver made.
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

    /// Returns whether the library itself reads the text of these keys, according to its driver.
    fn reads(&self, trial: &Trial) -> bool {
        let form = match &trial.act {
            Act::VerifyUnder(keys, _) if keys.paserk.is_some() => "paserk",
            _ => "jwk",
        };
        self.offered.key_text.iter().any(|f| f == form)
    }
}

/// Returns the request that prepares a driver to verify tokens of a stage.
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
        extra: None,
        // Nothing is timed; the pool only has to exist.
        tokens: Some(vec!["x".into()]),
    }
}

/// Runs a trial of an attack. If its control expires and is rejected, the trial is made and run again: on a busy
/// machine the control may have expired before it was verified.
pub(super) fn run_in_time<E>(
    attack: &Attack,
    stage: &Stage,
    trial: &Trial,
    mut run: impl FnMut(&Trial) -> Result<TrialResult, E>,
) -> Result<TrialResult, E> {
    let mut tried = run(trial)?;
    for _ in 1..EXPIRING_TRIES {
        if !matches!((&trial.act, &tried), (Act::Later(_), TrialResult::Void(_))) {
            break;
        }
        let again = attack.trials(stage);
        let Some(again) = again.iter().find(|t| t.spelling == trial.spelling) else {
            break;
        };
        tried = run(again)?;
    }
    Ok(tried)
}

pub(super) fn void(reply: Reply) -> TrialResult {
    match reply {
        Reply::Accepted => TrialResult::Void("accepted".into()),
        Reply::Unasked(why) => TrialResult::NotOffered(why),
        Reply::Refused(why) | Reply::Crashed(why) | Reply::Hung(why) => TrialResult::Void(why),
    }
}

/// Returns the outcome, or none if the driver got no request, and the text for it.
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
                format!("rejected, but {cost}"),
            ),
            None => (Some(AttackOutcome::Refused), why),
        },
    }
}

/// Returns the key for the evidence, as one object.
fn shown_key(keys: &Keys) -> Option<Value> {
    if let Some(paserk) = &keys.paserk {
        return serde_json::to_value(paserk).ok();
    }
    keys.public.clone().or_else(|| keys.private.clone())
}

/// One audience may be a string or a list of one.
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
