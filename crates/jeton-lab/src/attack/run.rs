//! Every driver under every attack.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::beacon::Beacon;
use super::catalogue::{About, Attack, Demand, Kind};
use super::fixtures::Stage;
use super::run_trial::Place;
use super::session::{Session, Stopped};
use super::trial::Trial;
use super::verdict::{LeftOut, Tally};
use crate::driver::{Built, Cache, Driver, Unbuilt, runtime};
use crate::host::{Cores, describe};
use crate::protocol::{Fault, Hello};
use crate::result::{AttackRow, Disturbance, Party, Practice, Rows, RunResult, Status};
use crate::stop::Stop;
use crate::suite::{Format, matches};

/// How an attack run is to be done.
#[derive(Debug, Clone)]
pub struct Options {
    /// The attacks; all of them where it is empty.
    pub attacks: Vec<String>,
    /// Only subjects whose `driver:format:practice` holds one of these; all where it is empty.
    pub subjects: Vec<String>,
    /// How much is tried.
    pub extent: Extent,
    /// How often every token is made, each time with other keys; what costs time or has to be waited for
    /// is tried once.
    pub rounds: u32,
    /// What it may take, once the drivers are built: a driver that is not done by then says so.
    pub budget: Option<Duration>,
    /// The seed of every random choice.
    pub seed: u64,
    /// The command that repeats it, for the result file.
    pub command: String,
    /// Where built drivers are kept.
    pub cache: Cache,
    /// Whether drivers that are not built are left out rather than built.
    pub built_only: bool,
    /// How many drivers are attacked at the same time.
    pub workers: usize,
}

/// How much is tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    /// Everything, with one algorithm of each kind of key and signature, and of each way to encrypt.
    #[default]
    Everything,
    /// With the few algorithms without which some attack could not be made, what takes no time: nothing
    /// is measured, and nothing waited for.
    Quick,
}

impl Extent {
    fn has(self, stage: &Stage, trial: &Trial) -> bool {
        self == Self::Everything || (is_quick(stage) && !trial.takes_time())
    }
}

/// What happens on the way, for the terminal.
#[derive(Debug)]
pub enum Event<'a> {
    /// A driver is being built.
    Building(&'a str),
    /// A driver cannot be had.
    Unavailable {
        /// Which.
        driver: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// A driver is done: so many of so many.
    Attacked {
        /// Which.
        driver: &'a str,
        /// How long that took.
        took: Duration,
        /// How many are done.
        done: usize,
        /// How many there are.
        of: usize,
    },
}

/// The algorithms that stand for all: one of each kind of key and signature.
const JWT_ALGS: [&str; 6] = ["HS256", "RS256", "PS256", "ES256", "ES384", "EdDSA"];

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

/// Those of them without which some attack could not be made.
const QUICK_JWT: [&str; 4] = ["HS256", "RS256", "ES256", "EdDSA"];
const QUICK_JWE: [&str; 4] = ["dir", "RSA-OAEP", "ECDH-ES", "PBES2-HS256+A128KW"];

/// Attacks drivers. Whatever one does, the others go on; when `stop` is requested, the result holds
/// the drivers that were finished.
pub fn run(
    drivers: &[Driver],
    options: &Options,
    stop: &Stop,
    tell: &mut (dyn FnMut(Event<'_>) + Send),
) -> RunResult {
    let started = jiff::Timestamp::now();
    let attacks = chosen(&options.attacks);
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
    let beacon = Beacon::light();
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
                let reason = "the budget had no time for it";
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
    let took_part = built.iter().map(|(driver, _)| *driver);
    result.environment.runtimes_used = runtime::used(took_part, started);
    result.environment.drivers = hashes;
    result.environment.runtimes = runtimes.into_inner().unwrap_or_default();
    result
}

/// Rows, and where and when they were seen.
pub(super) fn described(
    started: jiff::Timestamp,
    elapsed: Duration,
    command: &str,
    seed: u64,
    rows: Vec<AttackRow>,
) -> RunResult {
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

/// The attacks of these names, in the order of the catalogue.
pub(super) fn chosen(names: &[String]) -> Vec<Attack> {
    let all = Attack::all().into_iter();
    all.filter(|a| names.is_empty() || names.iter().any(|n| n == a.id))
        .collect()
}

/// Whether a driver is a library in a format that attacks know, and wanted.
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

/// Keys for every format and algorithm, made once: all drivers are attacked with the same.
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
            let reason = format!("does not say hello: {fault:?}");
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
                let place = Place {
                    stage,
                    practice: said,
                    offered,
                    beacon,
                    is_first,
                };
                for (attack, tally) in &mut tallies {
                    if let Some(why) = apart(attack, format, *practice, &hello) {
                        tally.leave_out(why);
                        continue;
                    }
                    for trial in attack.trials(stage).iter().filter(|t| place.takes(t)) {
                        if !options.extent.has(stage, trial) {
                            tally.leave_out(LeftOut::Quick);
                            continue;
                        }
                        let tried = place.try_one(&mut session, trial)?;
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

/// Why an attack says nothing of a library that is called so, if it does not.
fn apart(attack: &Attack, format: Format, practice: Practice, hello: &Hello) -> Option<LeftOut> {
    if attack.about == About::DeclaredTypes && matches!(hello.language.as_str(), "node" | "python")
    {
        return Some(LeftOut::Untyped);
    }
    if practice == Practice::Defaults {
        let demanded = matches!(attack.demand, Some(Demand::Issuer | Demand::Audience));
        return demanded.then_some(LeftOut::NotDemanded);
    }
    let by_driver = |check: &str| {
        hello
            .by_driver
            .iter()
            .any(|c| *c == format!("{format}:{check}"))
    };
    let whole = attack.about != About::Protection && by_driver("claims");
    let one = attack.demand.is_some_and(|d| by_driver(d.claim())) || by_driver(attack.id);
    (whole || one).then_some(LeftOut::ByDriver)
}

/// Rows that say why there is nothing to say.
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
    fn a_quick_run_makes_every_attack_that_takes_no_time() {
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
        for attack in Attack::all() {
            for &kind in attack.formats {
                let all = made_in(&attack, kind, Extent::Everything);
                let few = made_in(&attack, kind, Extent::Quick);
                assert_eq!(all, few, "{} in {kind:?}", attack.id);
            }
        }
    }
}
