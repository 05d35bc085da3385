//! Runs every attack that is possible from outside an endpoint.

use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::address::{Protocol, Target};
use super::grant_form::Grant;
use super::grpc::{Message, Method};
use super::introspection::Introspection;
use super::line::{Endpoint, EndpointClient, LimitReached, REQUESTS_MAX, TIME_MAX};
use crate::attack::beacon::Beacon;
use crate::attack::catalogue::{About, Attack, Demand, Kind};
use crate::attack::cost::is_slow;
use crate::attack::fixtures::{Operator, Stage};
use crate::attack::run::{chosen, described};
use crate::attack::run_trial::{TrialResult, outcome_of, run_in_time, void};
use crate::attack::session::Reply;
use crate::attack::trial::{Act, Claims, TRIALS_PER_CONTROL, Trial};
use crate::attack::verdict::{SkipReason, Tally};
use jeton_lab_harness::Stop;
use jeton_lab_model::Format;
use jeton_lab_model::result::{AttackOutcome, AttackRow, Party, Practice, RunResult};

/// How often a slow rejection is requested again before it is over the limit. The shortest time counts: a busy
/// machine must not cause a finding.
const SLOW_TRIES: usize = 3;

/// Options for attacking a target.
pub struct TargetOptions {
    /// The target.
    pub target: Target,
    /// The grant, if the target is a token endpoint.
    pub grant: Option<Grant>,
    /// The message of a gRPC method.
    pub message: Message,
    /// The operator's key and claims that the target accepts.
    pub operator: Operator,
    /// The value of the `Authorization` header (or metadata) of every request.
    pub authorization: Option<Zeroizing<String>>,
    /// The claims that the target requires. Attacks on claims that it does not require are skipped.
    pub demands: Vec<Demand>,
    /// The leeway of the target for `exp` and `nbf`. With a leeway, the attacks at the time limits
    /// are skipped.
    pub leeway: Duration,
    /// The attacks; all if empty.
    pub attacks: Vec<String>,
    /// The seed, for the result file.
    pub seed: u64,
    /// The command that repeats the run, for the result file.
    pub command: String,
}

/// Attacks a target. `tell` receives the number of finished attacks and their total.
///
/// # Errors
///
/// A sentence, if the key or the claims are invalid, or if the endpoint rejects a valid token. Then
/// nothing can be concluded about other tokens.
pub fn run(
    options: &TargetOptions,
    stop: &Stop,
    mut tell: impl FnMut(usize, usize),
) -> Result<RunResult, String> {
    let started = jiff::Timestamp::now();
    let began = Instant::now();
    let beacon = Beacon::listen();
    let mut stage = Stage::given(&options.operator, started.as_second())?;
    stage.beacon.clone_from(&beacon.address);
    let mut visit = EndpointRun {
        endpoint: Endpoint::new(client_for(options)?),
        stage: &stage,
        beacon: &beacon,
        control: None,
    };
    match visit.endpoint.ask(&stage.valid()) {
        Ok((Reply::Accepted, _)) => {}
        Ok((
            Reply::Refused(why) | Reply::Crashed(why) | Reply::Hung(why) | Reply::Unasked(why),
            _,
        )) => {
            return Err(format!(
                "{} rejects a valid token ({why}): check that it has the public key, \
                 and pass the claims that it requires with --target-claims",
                options.target.name
            ));
        }
        Err(LimitReached) => return Err("no request was sent".into()),
    }
    let attacks: Vec<Attack> = chosen(&options.attacks)
        .into_iter()
        .filter(|a| a.formats.iter().any(|kind| applies(*kind, options.grant)))
        .collect();
    let mut rows = Vec::new();
    for (i, attack) in attacks.iter().enumerate() {
        if stop.requested() {
            break;
        }
        let mut tally = Tally::default();
        match skip_reason(attack, options) {
            Some(why) => tally.skip(why),
            None => visit.attack(attack, &mut tally, stop),
        }
        if stop.requested() {
            // This attack was not completed.
            break;
        }
        rows.push((*attack, tally));
        tell(i + 1, attacks.len());
    }
    let complete = rows.len() == attacks.len();
    let party = Party {
        driver: options.target.name.clone(),
        library: options.target.authority.clone(),
        version: visit
            .endpoint
            .server()
            .map_or_else(|| "unknown".into(), str::to_owned),
        language: match options.target.protocol {
            Protocol::Introspection => "http".into(),
            Protocol::Grpc => "grpc".into(),
        },
    };
    let rows: Vec<AttackRow> = rows
        .into_iter()
        .map(|(attack, tally)| tally.row(&attack, &party, Format::Jwt, Practice::Documented))
        .collect();
    let mut result = described(
        started,
        began.elapsed(),
        &options.command,
        options.seed,
        rows,
    );
    result.environment.complete = complete;
    Ok(result)
}

fn client_for(options: &TargetOptions) -> Result<Box<dyn EndpointClient + '_>, String> {
    let authorization = options.authorization.clone();
    Ok(match options.target.protocol {
        Protocol::Introspection => Box::new(Introspection::new(
            &options.target,
            options.grant,
            authorization,
        )),
        Protocol::Grpc => Box::new(Method::new(
            &options.target,
            &options.message,
            authorization,
        )?),
    })
}

/// Returns whether attacks of this kind apply to the endpoint.
fn applies(kind: Kind, grant: Option<Grant>) -> bool {
    match kind {
        Kind::Jwt => true,
        Kind::JwtBearer => grant == Some(Grant::JwtBearer),
        Kind::TokenExchange => grant == Some(Grant::TokenExchange),
        Kind::Jwe | Kind::Paseto => false,
    }
}

/// Returns why an attack does not apply to an endpoint, if so.
fn skip_reason(attack: &Attack, options: &TargetOptions) -> Option<SkipReason> {
    if attack.is_at_a_border() && !options.leeway.is_zero() {
        return Some(SkipReason::NotDemanded);
    }
    if attack.about == About::DeclaredTypes {
        return Some(SkipReason::Untyped);
    }
    let undemanded = attack
        .demand
        .is_some_and(|d| d != Demand::NotBefore && !options.demands.contains(&d));
    undemanded.then_some(SkipReason::NotDemanded)
}

struct EndpointRun<'a> {
    endpoint: Endpoint<'a>,
    stage: &'a Stage,
    beacon: &'a Beacon,
    control: Option<AcceptedControl>,
}

/// The last accepted control.
struct AcceptedControl {
    token: String,
    took: Duration,
    /// The number of trials since.
    trials: u32,
}

impl EndpointRun<'_> {
    fn attack(&mut self, attack: &Attack, tally: &mut Tally, stop: &Stop) {
        for trial in attack.trials(self.stage) {
            if stop.requested() {
                return;
            }
            match run_in_time(attack, self.stage, &trial, |trial| self.run_trial(trial)) {
                Ok(tried) => tally.add(self.stage, &trial, tried),
                Err(LimitReached) => {
                    let why = TrialResult::NotOffered(format!(
                        "not tried: the limit of {REQUESTS_MAX} requests or {} minutes was reached",
                        TIME_MAX.as_secs() / 60
                    ));
                    tally.add(self.stage, &trial, why);
                    return;
                }
            }
        }
    }

    fn run_trial(&mut self, trial: &Trial) -> Result<TrialResult, LimitReached> {
        let wait = match &trial.act {
            Act::Later(wait) => *wait,
            _ => Duration::ZERO,
        };
        let token = match &trial.act {
            _ if trial.claims == Claims::Typed => return Ok(fixed_by_endpoint()),
            Act::Verify(token)
            | Act::NoFetch(token)
            | Act::Costly { token, .. }
            | Act::Form(token, _) => token,
            Act::Later(_) => &trial.control,
            Act::VerifyUnder(..) | Act::Load { .. } | Act::Issue(_) | Act::Steps(_) => {
                return Ok(fixed_by_endpoint());
            }
        };
        let usual = match self.control(&trial.control)? {
            Ok(took) => took,
            Err(refused) => return Ok(void(refused)),
        };
        std::thread::sleep(wait);
        let calls = self.beacon.calls();
        let mut ask = || match &trial.act {
            Act::Form(token, changes) => self.endpoint.ask_form(token, changes),
            _ => self.endpoint.ask(token),
        };
        let (mut reply, mut took) = ask()?;
        for _ in 0..SLOW_TRIES {
            if !(matches!(reply, Reply::Refused(_)) && is_slow(took, usual)) {
                break;
            }
            let (again, shorter) = ask()?;
            (reply, took) = (again, took.min(shorter));
        }
        if matches!(reply, Reply::Crashed(_) | Reply::Hung(_)) {
            // Checks first that the endpoint is still available.
            self.control = None;
        }
        let slow = is_slow(took, usual);
        let (outcome, mut seen) = outcome_of(reply, || {
            slow.then(|| format!("took {} ms", took.as_millis()))
        });
        let Some(mut outcome) = outcome else {
            return Ok(TrialResult::NotOffered(seen));
        };
        if matches!(trial.act, Act::NoFetch(_)) {
            // The connection may arrive after the answer.
            std::thread::sleep(Duration::from_millis(20));
            if self.beacon.calls() > calls {
                outcome = AttackOutcome::Accepted;
                seen = "connected to the address in the token".into();
            }
        }
        Ok(TrialResult::Seen {
            outcome,
            seen,
            token: Some(token.clone()),
            // The operator's key is never part of the evidence.
            key: self.stage.keys().public,
        })
    }

    /// Returns the time for a control, or the endpoint's objection to it.
    fn control(&mut self, control: &str) -> Result<Result<Duration, Reply>, LimitReached> {
        if let Some(known) = &mut self.control
            && known.token == control
            && known.trials < TRIALS_PER_CONTROL
        {
            known.trials += 1;
            return Ok(Ok(known.took));
        }
        self.control = None;
        let (reply, took) = self.endpoint.ask(control)?;
        if reply != Reply::Accepted {
            return Ok(Err(reply));
        }
        self.control = Some(AcceptedControl {
            token: control.to_owned(),
            took,
            trials: 0,
        });
        Ok(Ok(took))
    }
}

fn fixed_by_endpoint() -> TrialResult {
    TrialResult::NotOffered("the keys and types of an endpoint cannot be changed".into())
}
