//! The run: build, preflight, warm-up, rounds, verdicts.

mod bench;
mod checksum;
mod collect;
pub(crate) mod empty_key;
mod event;
mod forge;
mod honesty;
mod judge;
pub(crate) mod mint;
pub(crate) mod mint_paseto;
mod pace;
pub(crate) mod preflight;
mod rounds;
mod shared_core;
pub(crate) mod tamper;
mod twins;
mod warm;
mod weak;

pub use event::Event;
pub use pace::{FULL_BUDGET, Pace, QUICK_BUDGET};

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bench::{Bench, Stopped};
use forge::Forge;
use shared_core::{Sharing, Watch};

use crate::driver::{Built, Cache, Driver, runtime};
use crate::host::{Cores, Witness, Yardstick, describe};
use crate::result::{RunResult, Status, Taint};
use crate::stop::Stop;
use crate::suite::{Cell, ClaimsSets, Contract, KeyHandling, OwnClaims, Plan};
use crate::wire::{Offered, Process};

/// How a run is to be done.
#[derive(Debug, Clone)]
pub struct Options {
    /// How it spends its time.
    pub pace: Pace,
    /// What it may take, once the drivers are built.
    pub budget: Option<Duration>,
    /// The seed of the order of the rounds.
    pub seed: u64,
    /// The command that repeats it, for the result file.
    pub command: String,
    /// Where built drivers are kept.
    pub cache: Cache,
    /// The user's own claims, for cells that name them.
    pub own_claims: Option<OwnClaims>,
}

/// Measures a plan. Whatever a driver does, the others go on; when `stop` is requested, the
/// result holds the rounds that were finished.
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
        benches: Vec::new(),
        hashes: BTreeMap::new(),
        affordable: options.pace.rounds,
        finished: 0,
        taint: Taint::default(),
        began: Instant::now(),
    };
    let started = jiff::Timestamp::now();
    let claims = ClaimsSets::issued_at(started.as_second(), options.own_claims.clone());
    let complete = run.all(drivers, &claims).is_ok();
    if complete || run.finished > 0 {
        (run.tell)(Event::Judging);
    }
    for bench in &mut run.benches {
        if let Some(process) = &mut bench.process {
            bench.peak_rss_bytes = bench.peak_rss_bytes.max(process.peak_rss_bytes());
            process.bye();
        }
    }
    let mut environment = describe(&run.cores);
    run.cores.release();
    environment.started = started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    environment.elapsed_s = run.began.elapsed().as_secs_f64();
    environment.complete = complete;
    environment.rounds_planned = options.pace.rounds;
    environment.rounds_finished = run.finished;
    environment.taint = run.taint;
    let measured = |d: &&Driver| run.hashes.contains_key(&d.id);
    environment.runtimes_used = runtime::used(drivers.iter().filter(measured), started);
    environment.drivers = run.hashes;
    collect::result(run.benches, plan, options, environment, &claims)
}

struct Run<'a> {
    plan: &'a Plan,
    options: &'a Options,
    stop: &'a Stop,
    tell: &'a mut dyn FnMut(Event<'_>),
    cores: Cores,
    benches: Vec<Bench>,
    hashes: BTreeMap<String, String>,
    /// Of the rounds that were planned, those that the budget has time for.
    affordable: u32,
    finished: u32,
    taint: Taint,
    /// When the drivers were built: the budget counts from here.
    began: Instant,
}

impl Run<'_> {
    fn all(&mut self, drivers: &[Driver], sets: &ClaimsSets) -> Result<(), Stopped> {
        let cells = self.plan.cells.iter();
        self.benches = cells.map(|(c, s)| Bench::new(c.clone(), s)).collect();
        let built = self.build(drivers)?;
        self.began = Instant::now();
        self.cores = Cores::split();
        let mut workshop = Workshop {
            built,
            forges: Vec::new(),
            cores: self.cores.clone(),
            stop: self.stop,
        };
        self.start_and_check(&mut workshop, sets)?;
        self.add_twins();
        self.begin_a_life(&workshop, Looking::AtTheirTime)?;
        self.measure(&workshop)
    }

    /// Builds what is stale, and fails the benches of what cannot be built.
    fn build(&mut self, drivers: &[Driver]) -> Result<BTreeMap<String, Built>, Stopped> {
        let wanted: Vec<&Driver> = drivers
            .iter()
            .filter(|d| self.benches.iter().any(|b| b.cell.driver == d.id))
            .collect();
        for driver in &wanted {
            for word in driver.unknown() {
                (self.tell)(Event::Unavailable {
                    driver: &driver.id,
                    reason: &format!("its manifest offers what this lab does not know: {word}"),
                });
            }
        }
        let tell = &mut self.tell;
        let cache = &self.options.cache;
        let answers = cache.build_each(&wanted, self.stop, |driver, number, of| {
            tell(Event::Building {
                driver: &driver.id,
                number,
                of,
            });
        });
        let mut built = BTreeMap::new();
        for (driver, answer) in answers.map_err(|_| Stopped)? {
            match answer {
                Ok(ready) => {
                    self.hashes.insert(driver.id.clone(), ready.hash.clone());
                    built.insert(driver.id.clone(), ready);
                }
                Err(reason) => {
                    (self.tell)(Event::Unavailable {
                        driver: &driver.id,
                        reason: &reason,
                    });
                    for bench in &mut self.benches {
                        if bench.cell.driver == driver.id {
                            bench.fail(Status::Unavailable, reason.clone());
                        }
                    }
                }
            }
        }
        Ok(built)
    }

    /// Starts every process, and lets the subjects check each other.
    fn start_and_check(
        &mut self,
        workshop: &mut Workshop<'_>,
        sets: &ClaimsSets,
    ) -> Result<(), Stopped> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for i in 0..self.benches.len() {
            let speaks = self.benches[i].cell.speaks();
            let same = |g: &&mut Vec<usize>| self.benches[g[0]].cell.speaks() == speaks;
            match groups.iter_mut().find(same) {
                Some(group) => group.push(i),
                None => groups.push(vec![i]),
            }
        }
        let mut done = 0;
        for group in &groups {
            let dialect = self.benches[group[0]].cell.speaks();
            let forge = match Forge::new(&dialect, sets) {
                Ok(forge) => forge,
                Err(reason) => {
                    for &i in group {
                        self.benches[i].fail(Status::Unavailable, reason.clone());
                    }
                    continue;
                }
            };
            for &i in group {
                done += 1;
                (self.tell)(Event::Checking {
                    done,
                    of: self.benches.len(),
                });
                workshop.start(&mut self.benches[i], &forge)?;
            }
            preflight::check(&mut self.benches, group, &forge)?;
            workshop.forges.push(forge);
        }
        self.tell_failures(workshop);
        Ok(())
    }

    /// Tells once for each driver and reason, apart from what building it told already.
    fn tell_failures(&mut self, workshop: &Workshop<'_>) {
        let mut told = Vec::new();
        for bench in &self.benches {
            let driver = &bench.cell.driver;
            if let Some((_, reason)) = &bench.failure
                && workshop.built.contains_key(driver)
                && !told.contains(&(driver, reason))
            {
                told.push((driver, reason));
                let driver = &bench.cell.subject_id();
                (self.tell)(Event::Unavailable { driver, reason });
            }
        }
    }

    /// Names who is to run twice. No twin has a process yet.
    fn add_twins(&mut self) {
        for original in twins::choose(&self.benches, self.options.pace.twins) {
            let from = &self.benches[original];
            let mut twin = Bench::new(from.cell.clone(), from.suite);
            twin.twin_of = Some(original);
            twin.expected = from.expected.clone();
            self.benches.push(twin);
        }
    }

    /// Puts a fresh process in the place of each that came this far, and warms it up at once.
    ///
    /// What a process has done and how long it has waited stays in its machine code and its heap, and two of
    /// one program are only then alike when both are: one that had met refused tokens in the checks, or been
    /// asked less about its time, or had waited some seconds more to be warmed up, was apart from its twin,
    /// always the same way, by up to 3 %. So the two of a pair follow each other, and managed runtimes, which
    /// give memory back while they wait, come last.
    fn begin_a_life(&mut self, workshop: &Workshop<'_>, looking: Looking) -> Result<(), Stopped> {
        let original = |i: usize| self.benches[i].twin_of.unwrap_or(i);
        let mut order: Vec<usize> = (0..self.benches.len())
            .filter(|&i| self.benches[i].failure.is_none() && self.benches[original(i)].live())
            .collect();
        order.sort_by_key(|&i| (self.benches[i].cell.is_managed(), original(i)));
        for &i in &order {
            self.benches[i].end_life();
        }
        for (done, &i) in order.iter().enumerate() {
            (self.tell)(Event::Warming {
                subject: &self.benches[i].cell.subject_id(),
                done,
                of: order.len(),
            });
            let bench = &mut self.benches[i];
            workshop.start_again(bench)?;
            let clocks = warm::warm_up(bench, &self.options.pace)?;
            if looking == Looking::AtTheirTime
                && let Some(forge) = workshop.forge_of(bench)
                && bench.live()
            {
                honesty::check(bench, forge, clocks)?;
            }
        }
        for i in 0..self.benches.len() {
            let Some(original) = self.benches[i].twin_of else {
                continue;
            };
            if !self.benches[original].live() {
                // Nobody is left to compare it with.
                self.benches[i].process = None;
            }
            // Identical subjects do identical work.
            self.benches[i].iterations = self.benches[original].iterations;
        }
        Ok(())
    }

    fn measure(&mut self, workshop: &Workshop<'_>) -> Result<(), Stopped> {
        let pace = &self.options.pace;
        let mut order =
            rounds::Order::seeded(self.options.seed, &self.benches, &self.plan.comparisons);
        (self.tell)(Event::Rehearsing);
        let cores = self.cores.clone();
        let mut watch = Watch::with(Yardstick::of_drivers(&cores));
        rounds::rehearse(&mut self.benches, &mut order, pace, &mut watch)?;
        if let Some(budget) = self.options.budget {
            let left = budget.saturating_sub(self.began.elapsed());
            self.affordable = pace.rounds_within(left, rounds::takes(&self.benches, pace));
            if self.affordable < pace.rounds {
                (self.tell)(Event::FewerRounds {
                    rounds: self.affordable,
                    planned: pace.rounds,
                });
            }
        }
        let ids: Vec<u32> = self.process_ids();
        let witness = Witness::begin(&ids);
        let mut sharing = Sharing::default();
        let outcome = self.rounds(&mut order, workshop, &mut watch, &mut sharing);
        let ids = self.process_ids();
        self.taint = witness.testify(&ids, self.cores.driver_core().is_some());
        sharing.testify(&mut self.taint);
        outcome
    }

    fn rounds(
        &mut self,
        order: &mut rounds::Order,
        workshop: &Workshop<'_>,
        watch: &mut Watch<'_>,
        sharing: &mut Sharing,
    ) -> Result<(), Stopped> {
        let pace = self.options.pace;
        let takes = rounds::takes(&self.benches, &pace);
        let mut work = takes;
        for number in 1..=self.affordable {
            if pace.begins_a_life(number, self.affordable) {
                self.begin_a_life(workshop, Looking::Away)?;
                (self.tell)(Event::Rehearsing);
                rounds::rehearse(&mut self.benches, order, &pace, watch)?;
            }
            let left = self.options.budget.map_or(Duration::MAX, |budget| {
                budget.saturating_sub(self.began.elapsed())
            });
            let Some(spare) = pace.spare(left, work, self.finished) else {
                self.affordable = self.finished;
                (self.tell)(Event::FewerRounds {
                    rounds: self.finished,
                    planned: pace.rounds,
                });
                break;
            };
            watch.be_patient(spare);
            let round_began = Instant::now();
            let of = self.affordable;
            let tell = &mut self.tell;
            let benches = &mut self.benches;
            let renew = |bench: &mut Bench| workshop.start_again(bench);
            *sharing += rounds::round(benches, order, &pace, watch, renew, |visit, visits| {
                tell(Event::Round {
                    number,
                    of,
                    visit,
                    visits,
                });
            })?;
            self.finished = number;
            let beyond = spare.saturating_sub(watch.patience());
            work = takes.max(round_began.elapsed().saturating_sub(beyond));
        }
        Ok(())
    }

    fn process_ids(&self) -> Vec<u32> {
        let processes = self.benches.iter().filter_map(|b| b.process.as_ref());
        processes.map(Process::id).collect()
    }
}

/// Whether it is looked at what drivers say of their time. Once is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Looking {
    AtTheirTime,
    Away,
}

fn covers(offer: &Offered, cell: &Cell) -> bool {
    let named = |names: &[String], name: &str| names.iter().any(|n| n == name);
    let handling = match cell.key_handling {
        KeyHandling::Text(form) => named(&offer.key_text, form.name()),
        // A fresh key is not handled in any way.
        _ if cell.contract == Contract::GenerateKey => true,
        handling => named(&offer.key_handling, handling.name()),
    };
    handling
        && offer.format == cell.format.name()
        && offer.alg == cell.alg
        && offer.enc == cell.enc
        && named(&offer.contracts, cell.contract.name())
}

/// What processes are made with.
struct Workshop<'a> {
    built: BTreeMap<String, Built>,
    forges: Vec<Forge>,
    cores: Cores,
    stop: &'a Stop,
}

impl Workshop<'_> {
    /// Puts a new process in the place of a bench's.
    fn start_again(&self, bench: &mut Bench) -> Result<(), Stopped> {
        bench.end_life();
        match self.forge_of(bench) {
            Some(forge) => self.start(bench, forge),
            None => Ok(()),
        }
    }

    fn start(&self, bench: &mut Bench, forge: &Forge) -> Result<(), Stopped> {
        let Some(ready) = self.built.get(&bench.cell.driver) else {
            return Ok(());
        };
        match Process::start(&ready.spawn, bench.cell.threads, &self.cores, self.stop) {
            Ok(process) => bench.process = Some(process),
            Err(fault) => {
                bench.ask_failed(fault)?;
                return Ok(());
            }
        }
        let Some(hello) = bench.ask(Process::hello)? else {
            return Ok(());
        };
        let said = (&hello.library, &hello.version, &hello.language);
        let cell = &bench.cell;
        if said != (&cell.library, &cell.version, &cell.language) {
            let reason = format!(
                "says it is {} {} ({}), its manifest says {} {} ({})",
                hello.library,
                hello.version,
                hello.language,
                cell.library,
                cell.version,
                cell.language
            );
            bench.fail(Status::FailedPreflight, reason);
            return Ok(());
        }
        // The name is in the row: it is that of the runtime that does the work, or there is no row.
        let asked_for = cell.runtime.as_deref();
        if let Some((asked_for, version)) = asked_for.and_then(|r| Some((r, r.split(' ').nth(1)?)))
            && !hello.runtime.contains(version)
        {
            let reason = format!("runs on {}, not on {asked_for}", hello.runtime);
            bench.fail(Status::FailedPreflight, reason);
            return Ok(());
        }
        if !hello.offers.iter().any(|offer| covers(offer, cell)) {
            let reason = "its manifest offers this, and the driver itself does not";
            bench.fail(Status::Unavailable, reason);
            return Ok(());
        }
        bench.hello = Some(hello);
        match forge.prepare(&bench.cell) {
            Ok(prepare) => bench.ask(|p| p.prepare(&prepare)).map(drop),
            Err(reason) => {
                bench.fail(Status::Unavailable, reason);
                Ok(())
            }
        }
    }

    fn forge_of(&self, bench: &Bench) -> Option<&Forge> {
        let speaks = bench.cell.speaks();
        self.forges.iter().find(|forge| forge.dialect == speaks)
    }
}
