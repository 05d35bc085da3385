//! Every attack that can be made on an endpoint from outside.

use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use super::address::{Protocol, Target};
use super::grpc::{Message, Method};
use super::introspection::Introspection;
use super::line::{Endpoint, Line, REQUESTS_MAX, Spent, TIME_MAX};
use crate::attack::beacon::Beacon;
use crate::attack::catalogue::{About, Attack, Demand, Kind};
use crate::attack::cost::is_slow;
use crate::attack::fixtures::{Operator, Stage};
use crate::attack::run::{chosen, described};
use crate::attack::run_trial::{Tried, outcome_of, void};
use crate::attack::session::Reply;
use crate::attack::trial::{Act, Claims, TRIALS_PER_CONTROL, Trial};
use crate::attack::verdict::{LeftOut, Tally};
use crate::result::{AttackOutcome, AttackRow, Party, Practice, RunResult};
use crate::stop::Stop;
use crate::suite::Format;

/// How a target is to be attacked.
pub struct TargetOptions {
    /// Where it is.
    pub target: Target,
    /// What a gRPC method is sent.
    pub message: Message,
    /// Whose it is, and what tokens it accepts.
    pub operator: Operator,
    /// The value of the `Authorization` header (or metadata) of every request.
    pub authorization: Option<Zeroizing<String>>,
    /// What it demands of claims. Of what nobody says that it is demanded, nothing is said.
    pub demands: Vec<Demand>,
    /// How long after its end, or before its beginning, a token is taken on purpose. Of one that has
    /// leeway the borders say nothing.
    pub leeway: Duration,
    /// The attacks; all of them where it is empty.
    pub attacks: Vec<String>,
    /// The seed, for the result file.
    pub seed: u64,
    /// The command that repeats it, for the result file.
    pub command: String,
}

/// Attacks a target. `tell` hears how many attacks are done, and how many there are.
///
/// # Errors
/// A sentence, where the key or the claims are none, or the endpoint does not accept an honest token:
/// then nothing can be said of others.
pub fn run(
    options: &TargetOptions,
    stop: &Stop,
    mut tell: impl FnMut(usize, usize),
) -> Result<RunResult, String> {
    let started = jiff::Timestamp::now();
    let began = Instant::now();
    let beacon = Beacon::light();
    let mut stage = Stage::given(&options.operator, started.as_second())?;
    stage.beacon.clone_from(&beacon.address);
    let mut visit = Visit {
        endpoint: Endpoint::new(line_to(options)?),
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
                "{} does not accept an honest token ({why}): see that it has the key's public half, \
                 and give the claims that it wants with --target-claims",
                options.target.name
            ));
        }
        Err(Spent) => return Err("nothing was asked".into()),
    }
    let attacks: Vec<Attack> = chosen(&options.attacks)
        .into_iter()
        .filter(|a| a.formats.contains(&Kind::Jwt))
        .collect();
    let mut rows = Vec::new();
    for (i, attack) in attacks.iter().enumerate() {
        if stop.requested() {
            break;
        }
        let mut tally = Tally::default();
        match left_out(attack, options) {
            Some(why) => tally.leave_out(why),
            None => visit.attack(attack, &mut tally, stop),
        }
        if stop.requested() {
            // What was tried of this one is not all of it.
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

fn line_to(options: &TargetOptions) -> Result<Box<dyn Line + '_>, String> {
    let authorization = options.authorization.clone();
    Ok(match options.target.protocol {
        Protocol::Introspection => Box::new(Introspection::new(&options.target, authorization)),
        Protocol::Grpc => Box::new(Method::new(
            &options.target,
            &options.message,
            authorization,
        )?),
    })
}

/// Why an attack says nothing of an endpoint, if it does not.
fn left_out(attack: &Attack, options: &TargetOptions) -> Option<LeftOut> {
    if attack.is_at_a_border() && !options.leeway.is_zero() {
        return Some(LeftOut::NotDemanded);
    }
    if attack.about == About::DeclaredTypes {
        return Some(LeftOut::Untyped);
    }
    let undemanded = attack
        .demand
        .is_some_and(|d| d != Demand::NotBefore && !options.demands.contains(&d));
    undemanded.then_some(LeftOut::NotDemanded)
}

struct Visit<'a> {
    endpoint: Endpoint<'a>,
    stage: &'a Stage,
    beacon: &'a Beacon,
    /// The control that was accepted last, and how many trials have stood on it.
    control: Option<(String, u32)>,
}

impl Visit<'_> {
    fn attack(&mut self, attack: &Attack, tally: &mut Tally, stop: &Stop) {
        for trial in attack.trials(self.stage) {
            if stop.requested() {
                return;
            }
            match self.try_one(&trial) {
                Ok(tried) => tally.add(self.stage, &trial, tried),
                Err(Spent) => {
                    let why = Tried::NotOffered(format!(
                        "not tried: a target is asked {REQUESTS_MAX} times at most, for {} minutes",
                        TIME_MAX.as_secs() / 60
                    ));
                    tally.add(self.stage, &trial, why);
                    return;
                }
            }
        }
    }

    fn try_one(&mut self, trial: &Trial) -> Result<Tried, Spent> {
        let wait = match &trial.act {
            Act::Later(wait) => *wait,
            _ => Duration::ZERO,
        };
        let token = match &trial.act {
            _ if trial.claims == Claims::Typed => return Ok(out_of_hand()),
            Act::Verify(token) | Act::NoFetch(token) | Act::Costly { token, .. } => token,
            Act::Later(_) => &trial.control,
            Act::VerifyUnder(..) | Act::Load { .. } | Act::Issue(_) | Act::NextKeys(_) => {
                return Ok(out_of_hand());
            }
        };
        if let Some(refused) = self.control(&trial.control)? {
            return Ok(void(refused));
        }
        std::thread::sleep(wait);
        let calls = self.beacon.calls();
        let (reply, took) = self.endpoint.ask(token)?;
        if matches!(reply, Reply::Crashed(_) | Reply::Hung(_)) {
            // Whether it is still there is asked before anything else is.
            self.control = None;
        }
        let slow = is_slow(took, Duration::ZERO);
        let (outcome, mut seen) = outcome_of(reply, || {
            slow.then(|| format!("took {} ms", took.as_millis()))
        });
        let Some(mut outcome) = outcome else {
            return Ok(Tried::NotOffered(seen));
        };
        if matches!(trial.act, Act::NoFetch(_)) {
            // The call may be under way while the answer is already here.
            std::thread::sleep(Duration::from_millis(20));
            if self.beacon.calls() > calls {
                outcome = AttackOutcome::Accepted;
                seen = "asked the address that the token named".into();
            }
        }
        Ok(Tried::Seen {
            outcome,
            seen,
            token: Some(token.clone()),
            // The operator's secret is nobody's evidence.
            key: self.stage.keys().public,
        })
    }

    /// What the endpoint has against a control; none where it is accepted.
    fn control(&mut self, control: &str) -> Result<Option<Reply>, Spent> {
        if let Some((known, times)) = &mut self.control
            && known == control
            && *times < TRIALS_PER_CONTROL
        {
            *times += 1;
            return Ok(None);
        }
        self.control = None;
        let (reply, _) = self.endpoint.ask(control)?;
        if reply == Reply::Accepted {
            self.control = Some((control.to_owned(), 0));
            return Ok(None);
        }
        Ok(Some(reply))
    }
}

fn out_of_hand() -> Tried {
    Tried::NotOffered("an endpoint's keys and types are its own".into())
}
