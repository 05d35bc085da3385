//! Runs every attack on every driver.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::beacon::Beacon;
use super::catalogue::{About, Attack, Demand, Family, Kind};
use super::fixtures::Stage;
use super::run_trial::{TrialContext, run_in_time};
use super::session::{Session, Stopped};
use super::trial::Trial;
use super::verdict::{SkipReason, Tally};
use super::withheld::withhold;
use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::{Built, Cache, Driver, Unbuilt, runtimes_used};
use jeton_lab_harness::host::{Cores, describe};
use jeton_lab_harness::protocol::Fault;
use jeton_lab_model::protocol::Hello;
use jeton_lab_model::result::{AttackRow, Disturbance, Party, Practice, Rows, RunResult, Status};
use jeton_lab_model::{Format, matches};

/// Options of an attack run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The attacks; all if empty.
    pub attacks: Vec<String>,
    /// Only subjects whose `driver:format:practice` contains one of these; all if empty.
    pub subjects: Vec<String>,
    /// How much is tried.
    pub extent: Extent,
    /// The number of rounds. Each round makes every token with new keys. Slow trials run only once.
    pub rounds: u32,
    /// The time limit, not counting builds. A driver that is not finished by then is reported.
    pub budget: Option<Duration>,
    /// The seed of every random choice.
    pub seed: u64,
    /// The command that repeats the run, for the result file.
    pub command: String,
    /// The folder of built drivers.
    pub cache: Cache,
    /// Whether drivers that are not built are skipped instead of built.
    pub built_only: bool,
    /// The number of drivers attacked at the same time.
    pub workers: usize,
}

/// How much is tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    /// Everything, with one algorithm for each kind of key and signature, and for each kind of
    /// encryption.
    #[default]
    Everything,
    /// Only fast trials, with the few algorithms that some attack requires. Nothing is measured,
    /// and no trial waits.
    Quick,
}

impl Extent {
    fn has(self, stage: &Stage, trial: &Trial) -> bool {
        self == Self::Everything || (is_quick(stage) && !trial.takes_time())
    }
}

/// Progress, for the terminal.
#[derive(Debug)]
pub enum Event<'a> {
    /// A driver is being built.
    Building(&'a str),
    /// A driver is unavailable.
    Unavailable {
        /// The driver.
        driver: &'a str,
        /// The reason.
        reason: &'a str,
    },
    /// A driver is finished.
    Attacked {
        /// The driver.
        driver: &'a str,
        /// How long it took.
        took: Duration,
        /// The number of finished drivers.
        done: usize,
        /// The total number of drivers.
        of: usize,
    },
}

/// The algorithms that represent all others: one for each kind of key and signature.
const JWT_ALGS: [&str; 9] = [
    "HS256",
    "RS256",
    "PS256",
    "ES256",
    "ES384",
    "EdDSA",
    "ML-DSA-44",
    "ML-DSA-65",
    "ML-DSA-87",
];

/// The same for encryption, with the content encryption.
const JWE_ALGS: [(&str, &str); 7] = [
    ("dir", "A256GCM"),
    ("dir", "A128CBC-HS256"),
    ("A256KW", "A256GCM"),
    ("A256GCMKW", "A256GCM"),
    ("RSA-OAEP", "A256GCM"),
    ("ECDH-ES", "A256GCM"),
    ("PBES2-HS256+A128KW", "A256GCM"),
];

/// Those of them that some attack requires.
const QUICK_JWT: [&str; 5] = ["HS256", "RS256", "ES256", "EdDSA", "ML-DSA-44"];
const QUICK_JWE: [&str; 4] = ["dir", "RSA-OAEP", "ECDH-ES", "PBES2-HS256+A128KW"];

/// Attacks drivers. If one driver fails, the others continue. If `stop` is requested, the result
/// contains the finished drivers.
pub fn run(
    drivers: &[Driver],
    options: &Options,
    stop: &Stop,
    tell: &mut (dyn FnMut(Event<'_>) + Send),
) -> RunResult {
    let started = jiff::Timestamp::now();
    let attacks = chosen_for_drivers(&options.attacks);
    let mut rows = Vec::new();
    let mut built = Vec::new();
    let mut hashes = BTreeMap::new();
    for driver in drivers.iter().filter(|d| attackable(d, &options.subjects)) {
        if options.cache.stale(driver.recipe()) && !options.built_only {
            tell(Event::Building(&driver.id));
        }
        let made = if options.built_only && options.cache.stale(driver.recipe()) {
            Err(Unbuilt::Unavailable("is not built".into()))
        } else {
            options.cache.build(driver.recipe(), stop)
        };
        match made {
            Ok(made) => {
                hashes.insert(driver.id.clone(), made.hash.clone());
                built.push((driver, made));
            }
            Err(Unbuilt::Stopped) => break,
            Err(Unbuilt::Unavailable(reason)) => {
                tell(Event::Unavailable {
                    driver: &driver.id,
                    reason: &reason,
                });
                rows.extend(unavailable(driver, &attacks, &options.subjects, &reason));
            }
        }
    }
    let began = Instant::now();
    let beacon = Beacon::listen();
    let now_s = jiff::Timestamp::now().as_second();
    let rounds: Vec<Stages> = (0..options.rounds)
        .map(|_| Stages::new(now_s, &beacon.address))
        .collect();
    if let Some(budget) = options.budget {
        stop.within(budget);
    }
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let runtimes = Mutex::new(BTreeMap::new());
    let found = Mutex::new(Vec::new());
    let tell = Mutex::new(tell);
    let complete = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..options.workers.clamp(1, 8))
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let i = next.fetch_add(1, Ordering::SeqCst);
                        let Some((driver, made)) = built.get(i) else {
                            return Ok(());
                        };
                        let from = Instant::now();
                        let all =
                            attack_driver(driver, made, &attacks, options, &rounds, &beacon, stop)?;
                        if let Some(hello) = all.hello
                            && let Ok(mut known) = runtimes.lock()
                        {
                            known.insert(hello.language, hello.runtime);
                        }
                        if let Ok(mut found) = found.lock() {
                            found.push((i, all.rows));
                        }
                        let done = done.fetch_add(1, Ordering::SeqCst) + 1;
                        if let Ok(mut tell) = tell.lock() {
                            tell(Event::Attacked {
                                driver: &driver.id,
                                took: from.elapsed(),
                                done,
                                of: built.len(),
                            });
                        }
                    }
                })
            })
            .collect();
        workers
            .into_iter()
            .all(|w| matches!(w.join(), Ok(Ok::<(), Stopped>(()))))
    });
    let mut found = found.into_inner().unwrap_or_default();
    if stop.out_of_time() && !stop.asked() {
        for (i, (driver, _)) in built.iter().enumerate() {
            if !found.iter().any(|(done, _)| *done == i) {
                let reason = "the time limit was reached first";
                let why = unavailable(driver, &attacks, &options.subjects, reason);
                found.push((i, why));
            }
        }
    }
    found.sort_by_key(|(i, _)| *i);
    rows.extend(found.into_iter().flat_map(|(_, rows)| rows));
    let elapsed = began.elapsed();
    let mut result = described(started, elapsed, &options.command, options.seed, rows);
    result.environment.complete = complete;
    let took_part = built.iter().filter_map(|(d, _)| d.runtime.as_ref());
    result.environment.runtimes_used = runtimes_used(took_part, started);
    result.environment.drivers = hashes;
    result.environment.runtimes = runtimes.into_inner().unwrap_or_default();
    result
}

/// Returns the result of rows with the time and place of the run.
pub(super) fn described(
    started: jiff::Timestamp,
    elapsed: Duration,
    command: &str,
    seed: u64,
    mut rows: Vec<AttackRow>,
) -> RunResult {
    withhold(&mut rows, jiff::Zoned::now().date());
    let mut environment = describe(&Cores::unpinned());
    environment.started = started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    environment.elapsed_s = elapsed.as_secs_f64();
    environment.complete = true;
    environment.disturbance = Disturbance::default();
    let rows = Rows {
        attack: rows,
        ..Rows::default()
    };
    RunResult::without_verdicts(command.to_owned(), seed, environment, rows)
}

/// Returns the attacks with these names, in the order of the catalogue.
pub(super) fn chosen(names: &[String]) -> Vec<Attack> {
    let all = Attack::all().into_iter();
    all.filter(|a| names.is_empty() || names.iter().any(|n| n == a.id))
        .collect()
}

/// Returns those of them that apply to libraries. The others need a token endpoint.
pub(super) fn chosen_for_drivers(names: &[String]) -> Vec<Attack> {
    let mut attacks = chosen(names);
    attacks.retain(|attack| attack.family != Family::Grant);
    attacks
}

/// Returns whether a driver is selected and wraps a library in a format that can be attacked.
pub(super) fn attackable(driver: &Driver, subjects: &[String]) -> bool {
    formats(driver).iter().any(|f| {
        Practice::ALL
            .iter()
            .any(|p| wanted(&driver.id, *f, *p, subjects))
    })
}

fn formats(driver: &Driver) -> Vec<Format> {
    let mut formats: Vec<Format> = driver
        .manifest
        .offers
        .iter()
        .filter_map(|o| o.format)
        .filter(|f| Kind::of(*f).is_some())
        .collect();
    formats.sort_unstable();
    formats.dedup();
    formats
}

fn wanted(driver: &str, format: Format, practice: Practice, subjects: &[String]) -> bool {
    let id = format!("{driver}:{format}:{}", practice.name());
    subjects.is_empty() || subjects.iter().any(|s| matches(s, &id))
}

/// Keys for every format and algorithm, made once: all drivers are attacked with the same keys.
pub(super) struct Stages(pub(super) Vec<Stage>);

impl Stages {
    pub(super) fn new(now_s: i64, beacon: &str) -> Self {
        let jwt = JWT_ALGS.iter().map(|alg| (Format::Jwt, *alg, ""));
        let jwe = JWE_ALGS.iter().map(|(alg, enc)| (Format::Jwe, *alg, *enc));
        let paseto = Format::ALL
            .into_iter()
            .filter(|f| f.is_paseto())
            .map(|f| (f, "", ""));
        let made = jwt
            .chain(jwe)
            .chain(paseto)
            .filter_map(|(format, alg, enc)| {
                let mut stage = Stage::new(format, alg, enc, now_s).ok()?;
                stage.beacon = beacon.to_owned();
                Some(stage)
            });
        Self(made.collect())
    }

    fn of(&self, format: Format) -> impl Iterator<Item = &Stage> {
        self.0.iter().filter(move |s| s.format == format)
    }
}

struct Attacked {
    rows: Vec<AttackRow>,
    hello: Option<Hello>,
}

fn attack_driver(
    driver: &Driver,
    built: &Built,
    attacks: &[Attack],
    options: &Options,
    rounds: &[Stages],
    beacon: &Beacon,
    stop: &Stop,
) -> Result<Attacked, Stopped> {
    let mut session = Session::new(built, stop);
    let hello = match session.hello() {
        Ok(hello) => hello,
        Err(Fault::Stopped) => return Err(Stopped),
        Err(fault) => {
            let reason = format!("hello failed: {fault:?}");
            let rows = unavailable(driver, attacks, &options.subjects, &reason);
            return Ok(Attacked { rows, hello: None });
        }
    };
    let party = Party {
        driver: driver.id.clone(),
        library: hello.library.clone(),
        version: hello.version.clone(),
        language: hello.language.clone(),
    };
    let practices: Vec<Practice> = if hello.practices.is_empty() {
        vec![Practice::Documented]
    } else {
        let named = |p: &Practice| hello.practices.iter().any(|n| n == p.name());
        Practice::ALL.into_iter().filter(named).collect()
    };
    let mut rows = Vec::new();
    for format in formats(driver) {
        let Some(kind) = Kind::of(format) else {
            continue;
        };
        for practice in &practices {
            if !wanted(&driver.id, format, *practice, &options.subjects) {
                continue;
            }
            let said = (!hello.practices.is_empty()).then_some(*practice);
            let mut tallies: Vec<(Attack, Tally)> = attacks
                .iter()
                .filter(|a| a.formats.contains(&kind))
                .map(|a| (*a, Tally::default()))
                .collect();
            let mut is_first = true;
            for stage in rounds.iter().flat_map(|stages| stages.of(format)) {
                let offered = hello.offers.iter().find(|o| {
                    o.format == format.name()
                        && o.alg.as_deref().unwrap_or_default() == stage.alg
                        && o.enc.as_deref().unwrap_or_default() == stage.enc
                });
                let Some(offered) = offered else { continue };
                let place = TrialContext {
                    stage,
                    practice: said,
                    offered,
                    hello: &hello,
                    beacon,
                    is_first,
                };
                let of_stage = tallies.iter_mut();
                for (attack, tally) in of_stage.filter(|(attack, _)| attack.is_for(stage)) {
                    if let Some(why) = skip_reason(attack, format, *practice, &hello) {
                        tally.skip(why);
                        continue;
                    }
                    for trial in attack.trials(stage).iter().filter(|t| place.takes(t)) {
                        if !options.extent.has(stage, trial) {
                            tally.skip(SkipReason::Quick);
                            continue;
                        }
                        let tried = run_in_time(attack, stage, trial, |trial| {
                            place.run_trial(&mut session, trial)
                        })?;
                        tally.add(stage, trial, tried);
                    }
                }
                is_first = false;
            }
            rows.extend(
                tallies
                    .into_iter()
                    .map(|(attack, tally)| tally.row(&attack, &party, format, *practice)),
            );
        }
    }
    Ok(Attacked {
        rows,
        hello: Some(hello),
    })
}

fn is_quick(stage: &Stage) -> bool {
    match stage.format {
        Format::Jwt => QUICK_JWT.contains(&stage.alg.as_str()),
        Format::Jwe => QUICK_JWE.contains(&stage.alg.as_str()),
        _ => true,
    }
}

/// Returns why an attack does not apply to a library in this practice, if so.
fn skip_reason(
    attack: &Attack,
    format: Format,
    practice: Practice,
    hello: &Hello,
) -> Option<SkipReason> {
    if attack.about == About::DeclaredTypes && matches!(hello.language.as_str(), "node" | "python")
    {
        return Some(SkipReason::Untyped);
    }
    if practice == Practice::Defaults {
        let demanded = matches!(attack.demand, Some(Demand::Issuer | Demand::Audience));
        return demanded.then_some(SkipReason::NotDemanded);
    }
    let by_driver = |check: &str| {
        hello
            .by_driver
            .iter()
            .any(|c| *c == format!("{format}:{check}"))
    };
    let whole = attack.about != About::Protection && by_driver("claims");
    let one = attack.demand.is_some_and(|d| by_driver(d.name())) || by_driver(attack.id);
    (whole || one).then_some(SkipReason::ByDriver)
}

/// Returns rows that say why there is no result.
fn unavailable(
    driver: &Driver,
    attacks: &[Attack],
    subjects: &[String],
    reason: &str,
) -> Vec<AttackRow> {
    let party = Party {
        driver: driver.id.clone(),
        library: driver.manifest.library.clone(),
        version: driver.manifest.version.clone(),
        language: driver.manifest.language.clone(),
    };
    let mut rows = Vec::new();
    for format in formats(driver) {
        for attack in attacks {
            let applies = Kind::of(format).is_some_and(|kind| attack.formats.contains(&kind));
            if applies && wanted(&driver.id, format, Practice::Documented, subjects) {
                let mut row = Tally::default().row(attack, &party, format, Practice::Documented);
                row.status = Status::Unavailable;
                row.outcome = None;
                row.reason = Some(reason.to_owned());
                rows.push(row);
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn quick_run_includes_every_fast_attack() {
        let now_s = jiff::Timestamp::now().as_second();
        let Stages(stages) = Stages::new(now_s, "http://127.0.0.1:1/");
        let made_in = |attack: &Attack, kind: Kind, extent: Extent| {
            let of_kind = stages
                .iter()
                .filter(|stage| Kind::of(stage.format) == Some(kind));
            of_kind.into_iter().any(|stage| {
                let trials = attack.trials(stage);
                trials
                    .iter()
                    .any(|t| !t.takes_time() && extent.has(stage, t))
            })
        };
        for attack in chosen_for_drivers(&[]) {
            for &kind in attack.formats {
                let all = made_in(&attack, kind, Extent::Everything);
                let few = made_in(&attack, kind, Extent::Quick);
                assert_eq!(all, few, "{} in {kind:?}", attack.id);
            }
        }
    }
}
