//! The run: build, preflight, warm-up, rounds, verdicts.

mod aa_pairs;
mod case_run;
mod checksum;
mod collect;
mod event;
mod pace;
mod parts;
mod preflight;
mod rounds;
mod shared_core;
mod timing_checks;
mod verdicts;
mod warm;

pub use event::Event;
pub use pace::{FULL_BUDGET, Pace, QUICK_BUDGET};
pub use preflight::difference;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use case_run::{CaseRun, Stopped};
use shared_core::{Sharing, Watch};

use crate::Stop;
use crate::driver::{BuildEvent, Built, Cache, Driver, runtimes_used};
use crate::host::{Cores, DisturbanceMonitor, ReferenceWorkload, describe, shortage};
use crate::protocol::Process;
use crate::suite::Plan;
use jeton_lab_fixtures::Fixtures;
use jeton_lab_model::claims::{ClaimsSets, OwnClaims};
use jeton_lab_model::protocol::Offered;
use jeton_lab_model::result::{Disturbance, RunResult, Status};
use jeton_lab_model::{Case, KeyHandling, Operation};
use jeton_lab_stats::noise::expected_floor;

/// After this round, a run says whether its noise will hide differences.
const NOTICE_ROUND: u32 = 3;

/// A larger expected noise floor is reported: it hides most differences between libraries.
const NOISY: f64 = 0.05;

/// Options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The pace of the run.
    pub pace: Pace,
    /// The time limit for measuring, without building drivers.
    pub budget: Option<Duration>,
    /// The seed of the random order.
    pub seed: u64,
    /// The command that repeats it, for the result file.
    pub command: String,
    /// The cache of built drivers.
    pub cache: Cache,
    /// The user's own claims, for cases that use them.
    pub own_claims: Option<OwnClaims>,
}

/// Measures a plan. A fault of one driver does not affect the others. When `stop` is requested, the
/// result contains the finished rounds.
pub fn run(
    plan: &Plan,
    drivers: &[Driver],
    options: &Options,
    stop: &Stop,
    tell: &mut dyn FnMut(Event<'_>),
) -> RunResult {
    let mut run = Run {
        plan,
        options,
        stop,
        tell,
        cores: Cores::unpinned(),
        case_runs: Vec::new(),
        hashes: BTreeMap::new(),
        affordable: options.pace.rounds,
        finished: 0,
        monitor: None,
        sharing: Sharing::default(),
        disturbance: Disturbance::default(),
        began: Instant::now(),
    };
    let started = jiff::Timestamp::now();
    let claims = ClaimsSets::issued_at(started.as_second(), options.own_claims.clone());
    let complete = run.all(drivers, &claims).is_ok();
    if complete || run.finished > 0 {
        (run.tell)(Event::Judging);
    }
    run.end_processes();
    let mut environment = describe(&run.cores);
    run.cores.release();
    environment.started = started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    environment.elapsed_s = run.began.elapsed().as_secs_f64();
    environment.complete = complete;
    environment.rounds_planned = options.pace.rounds;
    environment.rounds_finished = run.finished;
    environment.disturbance = run.disturbance;
    let measured = |d: &&Driver| run.hashes.contains_key(&d.id);
    let measured = drivers.iter().filter(measured);
    environment.runtimes_used = runtimes_used(measured.filter_map(|d| d.runtime.as_ref()), started);
    environment.drivers = run.hashes;
    collect::result(run.case_runs, plan, options, environment, &claims)
}

struct Run<'a> {
    plan: &'a Plan,
    options: &'a Options,
    stop: &'a Stop,
    tell: &'a mut dyn FnMut(Event<'_>),
    cores: Cores,
    case_runs: Vec<CaseRun>,
    hashes: BTreeMap<String, String>,
    /// The number of planned rounds that the time limit allows.
    affordable: u32,
    finished: u32,
    /// Observes from the first round of the first part.
    monitor: Option<DisturbanceMonitor>,
    sharing: Sharing,
    disturbance: Disturbance,
    /// The time at which the drivers were built; the time limit counts from here.
    began: Instant,
}

impl Run<'_> {
    fn all(&mut self, drivers: &[Driver], sets: &ClaimsSets) -> Result<(), Stopped> {
        let cases = self.plan.cases.iter();
        self.case_runs = cases.map(|(c, s)| CaseRun::new(c.clone(), s)).collect();
        let built = self.build(drivers)?;
        self.began = Instant::now();
        self.cores = Cores::split();
        let mut factory = ProcessFactory {
            built,
            all_fixtures: Vec::new(),
            cores: self.cores.clone(),
            stop: self.stop,
        };
        self.start_and_check(&mut factory, sets)?;
        let parts = parts::divide(&self.case_runs, &self.plan.comparisons);
        let of = parts.len();
        for (before, mut cases) in parts.into_iter().enumerate() {
            let number = before + 1;
            if of > 1 {
                (self.tell)(Event::Part { number, of });
            }
            self.add_aa_pairs(&mut cases);
            self.restart_processes(&factory, &cases, TimingChecks::Run)?;
            let budget = self.options.budget.map(|budget| {
                let parts = u32::try_from(of).unwrap_or(u32::MAX);
                budget / parts * u32::try_from(number).unwrap_or(parts)
            });
            let measured = self.measure(
                &factory,
                &Part {
                    cases,
                    number,
                    budget,
                },
            );
            self.end_processes();
            measured?;
        }
        Ok(())
    }

    /// Ends all processes.
    fn end_processes(&mut self) {
        for case_run in &mut self.case_runs {
            if let Some(process) = &mut case_run.process {
                process.bye();
            }
            case_run.end_process();
        }
    }

    /// Builds stale drivers, and fails the cases of drivers that cannot be built.
    fn build(&mut self, drivers: &[Driver]) -> Result<BTreeMap<String, Built>, Stopped> {
        let wanted: Vec<&Driver> = drivers
            .iter()
            .filter(|d| self.case_runs.iter().any(|b| b.case.driver == d.id))
            .collect();
        for driver in &wanted {
            for word in driver.unknown() {
                (self.tell)(Event::Build(BuildEvent::Unavailable {
                    id: &driver.id,
                    reason: &format!("unknown name in the manifest: {word}"),
                }));
            }
        }
        let tell = &mut self.tell;
        let cache = &self.options.cache;
        let answers = cache.build_each(&wanted, self.stop, |driver, number, of| {
            tell(Event::Build(BuildEvent::Building {
                id: &driver.id,
                number,
                of,
            }));
        });
        let mut built = BTreeMap::new();
        for (driver, answer) in answers.map_err(|_| Stopped)? {
            match answer {
                Ok(ready) => {
                    self.hashes.insert(driver.id.clone(), ready.hash.clone());
                    built.insert(driver.id.clone(), ready);
                }
                Err(reason) => {
                    (self.tell)(Event::Build(BuildEvent::Unavailable {
                        id: &driver.id,
                        reason: &reason,
                    }));
                    for case_run in &mut self.case_runs {
                        if case_run.case.driver == driver.id {
                            case_run.fail(Status::Unavailable, reason.clone());
                        }
                    }
                }
            }
        }
        Ok(built)
    }

    /// Runs the preflight of each dialect, with a process for each of its cases.
    fn start_and_check(
        &mut self,
        factory: &mut ProcessFactory<'_>,
        sets: &ClaimsSets,
    ) -> Result<(), Stopped> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for i in 0..self.case_runs.len() {
            let dialect = self.case_runs[i].case.dialect();
            let same = |g: &&mut Vec<usize>| self.case_runs[g[0]].case.dialect() == dialect;
            match groups.iter_mut().find(same) {
                Some(group) => group.push(i),
                None => groups.push(vec![i]),
            }
        }
        let mut done = 0;
        for group in &groups {
            let dialect = self.case_runs[group[0]].case.dialect();
            let fixtures = match Fixtures::new(&dialect, sets) {
                Ok(fixtures) => fixtures,
                Err(reason) => {
                    for &i in group {
                        self.case_runs[i].fail(Status::Unavailable, reason.clone());
                    }
                    continue;
                }
            };
            for &i in group {
                done += 1;
                (self.tell)(Event::Checking {
                    done,
                    of: self.case_runs.len(),
                });
                factory.start(&mut self.case_runs[i], &fixtures)?;
            }
            preflight::check(&mut self.case_runs, group, &fixtures)?;
            for &i in group {
                self.case_runs[i].end_process();
            }
            factory.all_fixtures.push(fixtures);
        }
        self.report_failures(factory);
        Ok(())
    }

    /// Reports each driver and reason once, without those already reported while building.
    fn report_failures(&mut self, factory: &ProcessFactory<'_>) {
        let mut told = Vec::new();
        for case_run in &self.case_runs {
            let driver = &case_run.case.driver;
            if let Some((_, reason)) = &case_run.failure
                && factory.built.contains_key(driver)
                && !told.contains(&(driver, reason))
            {
                told.push((driver, reason));
                let id = &case_run.case.subject_id();
                (self.tell)(Event::Build(BuildEvent::Unavailable { id, reason }));
            }
        }
    }

    /// Adds the A/A pairs of a part, without processes.
    fn add_aa_pairs(&mut self, cases: &mut Vec<usize>) {
        for original in aa_pairs::choose(&self.case_runs, cases, self.options.pace.aa_pairs) {
            let from = &self.case_runs[original];
            let mut second = CaseRun::new(from.case.clone(), from.suite);
            second.aa_pair_of = Some(original);
            second.expected = from.expected.clone();
            cases.push(self.case_runs.len());
            self.case_runs.push(second);
        }
    }

    /// Starts a new process for each remaining case of a part, and warms it up at once.
    ///
    /// The history of a process affects its machine code and its heap. Processes that had verified
    /// rejected tokens, had fewer timing checks, or had waited longer before warm-up differed from
    /// their A/A pair by up to 3 %, always in the same direction. So both processes of a pair are
    /// started one after the other, and managed runtimes, which release memory while they wait, come
    /// last.
    fn restart_processes(
        &mut self,
        factory: &ProcessFactory<'_>,
        cases: &[usize],
        checks: TimingChecks,
    ) -> Result<(), Stopped> {
        let original = |i: usize| self.case_runs[i].aa_pair_of.unwrap_or(i);
        let fails = |i: usize| self.case_runs[i].failure.is_some();
        let mut order = cases.to_vec();
        order.retain(|&i| !fails(i) && !fails(original(i)));
        order.sort_by_key(|&i| (self.case_runs[i].case.is_managed(), original(i)));
        for &i in &order {
            self.case_runs[i].end_process();
        }
        for (done, &i) in order.iter().enumerate() {
            (self.tell)(Event::Warming {
                subject: &self.case_runs[i].case.subject_id(),
                done,
                of: order.len(),
            });
            let case_run = &mut self.case_runs[i];
            factory.start_again(case_run)?;
            let clocks = warm::warm_up(case_run, &self.options.pace)?;
            if checks == TimingChecks::Run
                && let Some(fixtures) = factory.fixtures_of(case_run)
                && case_run.live()
            {
                timing_checks::check(case_run, fixtures, clocks)?;
            }
        }
        for &i in cases {
            let Some(original) = self.case_runs[i].aa_pair_of else {
                continue;
            };
            if !self.case_runs[original].live() {
                // There is nothing left to compare with.
                self.case_runs[i].process = None;
            }
            // Both cases of a pair do identical work.
            self.case_runs[i].iterations = self.case_runs[original].iterations;
        }
        Ok(())
    }

    fn measure(&mut self, factory: &ProcessFactory<'_>, part: &Part) -> Result<(), Stopped> {
        let pace = &self.options.pace;
        let mut order =
            rounds::Order::seeded(self.options.seed, &self.case_runs, &self.plan.comparisons);
        (self.tell)(Event::Rehearsing);
        let cores = self.cores.clone();
        let mut watch = Watch::with(ReferenceWorkload::of_drivers(&cores));
        rounds::rehearse(&mut self.case_runs, &mut order, pace, &mut watch)?;
        if let Some(budget) = part.budget.filter(|_| part.is_first()) {
            let left = budget.saturating_sub(self.began.elapsed());
            self.affordable = pace.rounds_within(left, rounds::takes(&self.case_runs, pace));
            if self.affordable < pace.rounds {
                (self.tell)(Event::FewerRounds {
                    rounds: self.affordable,
                    planned: pace.rounds,
                });
            }
        }
        let ids = self.process_ids();
        self.monitor
            .get_or_insert_with(|| DisturbanceMonitor::begin(&ids));
        let outcome = self.rounds(&mut order, factory, &mut watch, part);
        if outcome.is_err() && !part.is_first() {
            // Every measured row has the same number of rounds.
            for &i in &part.cases {
                self.case_runs[i].rounds.clear();
            }
        }
        let ids = self.process_ids();
        if let Some(monitor) = &self.monitor {
            self.disturbance = monitor.finish(&ids, self.cores.driver_core().is_some());
            self.sharing.record_in(&mut self.disturbance);
        }
        outcome
    }

    /// Measures the rounds of a part. Those after the first part have as many.
    fn rounds(
        &mut self,
        order: &mut rounds::Order,
        factory: &ProcessFactory<'_>,
        watch: &mut Watch<'_>,
        part: &Part,
    ) -> Result<(), Stopped> {
        let pace = self.options.pace;
        let takes = rounds::takes(&self.case_runs, &pace);
        let mut work = takes;
        for number in 1..=self.affordable {
            if pace.restarts_processes(number, self.affordable) {
                self.restart_processes(factory, &part.cases, TimingChecks::Skip)?;
                (self.tell)(Event::Rehearsing);
                rounds::rehearse(&mut self.case_runs, order, &pace, watch)?;
            }
            let left = part.budget.map_or(Duration::MAX, |budget| {
                budget.saturating_sub(self.began.elapsed())
            });
            let spare = pace.spare(left, work, number - 1);
            if part.is_first() && spare.is_none() {
                self.affordable = self.finished;
                (self.tell)(Event::FewerRounds {
                    rounds: self.finished,
                    planned: pace.rounds,
                });
                break;
            }
            let spare = spare.unwrap_or_default();
            watch.set_max_wait(spare);
            let round_began = Instant::now();
            let of = self.affordable;
            let tell = &mut self.tell;
            let case_runs = &mut self.case_runs;
            let renew = |case_run: &mut CaseRun| factory.start_again(case_run);
            self.sharing +=
                rounds::round(case_runs, order, &pace, watch, renew, |visit, visits| {
                    tell(Event::Round {
                        number,
                        of,
                        visit,
                        visits,
                    });
                })?;
            if part.is_first() {
                self.finished = number;
                if number == NOTICE_ROUND {
                    self.notice_noise();
                }
            }
            let beyond = spare.saturating_sub(watch.max_wait());
            work = takes.max(round_began.elapsed().saturating_sub(beyond));
        }
        Ok(())
    }

    /// Reports early that the run will not decide, so that the user can stop it.
    fn notice_noise(&mut self) {
        let noise = verdicts::noise_floor(&self.case_runs);
        let floors = noise.floor.into_iter().chain(noise.managed);
        let Some(floor) = floors.reduce(f64::max) else {
            return;
        };
        let (rounds, of) = (self.finished, self.affordable);
        let floor = expected_floor(floor, rounds as usize, of as usize);
        if floor > NOISY {
            (self.tell)(Event::Noisy { rounds, of, floor });
        }
    }

    fn process_ids(&self) -> Vec<u32> {
        let processes = self.case_runs.iter().filter_map(|b| b.process.as_ref());
        processes.map(Process::id).collect()
    }
}

/// A part of the run: cases whose processes run at the same time.
struct Part {
    /// The cases, and their A/A pairs.
    cases: Vec<usize>,
    /// Counted from one.
    number: usize,
    /// The time limit for this part and those before.
    budget: Option<Duration>,
}

impl Part {
    fn is_first(&self) -> bool {
        self.number == 1
    }
}

/// Whether the timing checks run. They run once per driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimingChecks {
    Run,
    Skip,
}

fn covers(offer: &Offered, case: &Case) -> bool {
    let named = |names: &[String], name: &str| names.iter().any(|n| n == name);
    let handling = match case.key_handling {
        KeyHandling::Text(form) => named(&offer.key_text, form.name()),
        // A generated key has no handling.
        _ if case.operation == Operation::GenerateKey => true,
        handling => named(&offer.key_handling, handling.name()),
    };
    handling
        && offer.format == case.format.name()
        && offer.alg == case.alg
        && offer.enc == case.enc
        && named(&offer.operations, case.operation.name())
}

/// Everything needed to start processes.
struct ProcessFactory<'a> {
    built: BTreeMap<String, Built>,
    all_fixtures: Vec<Fixtures>,
    cores: Cores,
    stop: &'a Stop,
}

impl ProcessFactory<'_> {
    /// Replaces the process of a case by a new one.
    fn start_again(&self, case_run: &mut CaseRun) -> Result<(), Stopped> {
        case_run.end_process();
        match self.fixtures_of(case_run) {
            Some(fixtures) => self.start(case_run, fixtures),
            None => Ok(()),
        }
    }

    fn start(&self, case_run: &mut CaseRun, fixtures: &Fixtures) -> Result<(), Stopped> {
        let Some(ready) = self.built.get(&case_run.case.driver) else {
            return Ok(());
        };
        if let Some(reason) = shortage() {
            case_run.fail(Status::Unavailable, reason);
            return Ok(());
        }
        match Process::start(&ready.spawn, case_run.case.threads, &self.cores, self.stop) {
            Ok(process) => case_run.process = Some(process),
            Err(fault) => {
                case_run.ask_failed(fault)?;
                return Ok(());
            }
        }
        let Some(hello) = case_run.ask(Process::hello)? else {
            return Ok(());
        };
        let said = (&hello.library, &hello.version, &hello.language);
        let case = &case_run.case;
        if said != (&case.library, &case.version, &case.language) {
            let reason = format!(
                "the driver reports {} {} ({}), its manifest {} {} ({})",
                hello.library,
                hello.version,
                hello.language,
                case.library,
                case.version,
                case.language
            );
            case_run.fail(Status::FailedPreflight, reason);
            return Ok(());
        }
        // The row names the runtime, so the driver must run on exactly that one.
        let asked_for = case.runtime.as_deref();
        if let Some((asked_for, version)) = asked_for.and_then(|r| Some((r, r.split(' ').nth(1)?)))
            && !hello.runtime.contains(version)
        {
            let reason = format!("runs on {}, not on {asked_for}", hello.runtime);
            case_run.fail(Status::FailedPreflight, reason);
            return Ok(());
        }
        if !hello.offers.iter().any(|offer| covers(offer, case)) {
            let reason = "the manifest offers this, but the driver does not";
            case_run.fail(Status::Unavailable, reason);
            return Ok(());
        }
        case_run.hello = Some(hello);
        match fixtures.prepare(&case_run.case) {
            Ok(prepare) => case_run.ask(|p| p.prepare(&prepare)).map(drop),
            Err(reason) => {
                case_run.fail(Status::Unavailable, reason);
                Ok(())
            }
        }
    }

    fn fixtures_of(&self, case_run: &CaseRun) -> Option<&Fixtures> {
        let dialect = case_run.case.dialect();
        self.all_fixtures
            .iter()
            .find(|fixtures| fixtures.dialect == dialect)
    }
}
