//! Runs the exchanges: builds and starts the drivers, then runs one exchange after another.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::driver_handle::{DriverHandle, Stopped};
use super::exchange::{DriverHandles, ExchangeState};
use super::plan::Plan;
use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::{BuildEvent, Cache, Driver, runtimes_used};
use jeton_lab_harness::host::{Cores, describe};
use jeton_lab_model::claims::ClaimsSets;
use jeton_lab_model::result::{InteropRow, Rows, RunResult};

/// Options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// How often each kind of token is exchanged, with a new key each time.
    pub rounds: u32,
    /// The time limit once the drivers are built; exchanges beyond it are skipped.
    pub budget: Option<Duration>,
    /// The seed of the order of tokens for each verifier.
    pub seed: u64,
    /// The command that repeats the run, for the result file.
    pub command: String,
    /// The folder of built drivers.
    pub cache: Cache,
}

/// A progress event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A driver is built or skipped.
    Build(BuildEvent<'a>),
    /// A driver is being started.
    Starting {
        /// The driver's id.
        driver: &'a str,
        /// The number of running drivers.
        done: usize,
        /// The total number.
        of: usize,
    },
    /// Tokens of one kind are exchanged.
    Exchange {
        /// The kind.
        kind: &'a str,
        /// The round, counted from 1.
        round: u32,
        /// The number of finished kinds.
        done: usize,
        /// The total number.
        of: usize,
    },
    /// The time limit was reached.
    OutOfTime {
        /// The number of finished kinds.
        done: usize,
        /// The total number.
        of: usize,
    },
}

/// Runs every exchange of a plan. If one driver fails, the others continue. If `stop` is requested,
/// the result contains the finished exchanges.
pub fn run(
    plan: &Plan,
    drivers: &[Driver],
    options: &Options,
    stop: &Stop,
    tell: &mut dyn FnMut(Event<'_>),
) -> RunResult {
    let started = jiff::Timestamp::now();
    let mut run = Run {
        plan,
        options,
        stop,
        tell,
        handles: BTreeMap::new(),
        hashes: BTreeMap::new(),
        rows: Vec::new(),
        state: 0,
        began: Instant::now(),
    };
    let sets = ClaimsSets::issued_at(started.as_second(), None);
    let complete = run.all(drivers, &sets).is_ok();
    if !complete && stop.out_of_time() {
        let (done, of) = (run.state, plan.exchanges.len());
        (run.tell)(Event::OutOfTime { done, of });
    }
    let mut environment = describe(&Cores::unpinned());
    environment.started = started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    environment.elapsed_s = run.began.elapsed().as_secs_f64();
    environment.complete = complete;
    let took_part = |d: &&Driver| run.hashes.contains_key(&d.id);
    let took_part = drivers.iter().filter(took_part);
    environment.runtimes_used =
        runtimes_used(took_part.filter_map(|d| d.runtime.as_ref()), started);
    environment.drivers = run.hashes;
    for handle in run.handles.values_mut() {
        if let Some(hello) = &handle.hello {
            let (language, runtime) = (hello.language.clone(), hello.runtime.clone());
            environment.runtimes.insert(language, runtime);
        }
        handle.bye();
    }
    let rows = Rows {
        interop: run.rows,
        ..Rows::default()
    };
    RunResult::without_verdicts(options.command.clone(), options.seed, environment, rows)
}

struct Run<'a> {
    plan: &'a Plan,
    options: &'a Options,
    stop: &'a Stop,
    tell: &'a mut dyn FnMut(Event<'_>),
    handles: DriverHandles,
    hashes: BTreeMap<String, String>,
    rows: Vec<InteropRow>,
    /// The number of finished exchanges.
    state: usize,
    /// When the drivers were built: the time limit counts from here.
    began: Instant,
}

impl Run<'_> {
    /// Runs every exchange, one after another.
    fn all(&mut self, drivers: &[Driver], sets: &ClaimsSets) -> Result<(), Stopped> {
        self.build(drivers)?;
        self.began = Instant::now();
        if let Some(budget) = self.options.budget {
            self.stop.within(budget);
        }
        let of = self.handles.len();
        for (done, handle) in self.handles.values_mut().enumerate() {
            let driver = handle.driver.clone();
            let were_absent = handle.absent.is_some();
            (self.tell)(Event::Starting {
                driver: &driver,
                done,
                of,
            });
            handle.begin(self.stop)?;
            if let (false, Some(reason)) = (were_absent, &handle.absent) {
                (self.tell)(Event::Build(BuildEvent::Unavailable {
                    id: &driver,
                    reason,
                }));
            }
        }
        let mut order = ChaCha8Rng::seed_from_u64(self.options.seed);
        let of = self.plan.exchanges.len();
        for (done, exchange) in self.plan.exchanges.iter().enumerate() {
            let mut state = ExchangeState::default();
            for round in 1..=self.options.rounds {
                if self.stop.requested() {
                    return Err(Stopped);
                }
                (self.tell)(Event::Exchange {
                    kind: &exchange.dialect.kind(),
                    round,
                    done,
                    of,
                });
                state.run_round(
                    exchange,
                    self.plan,
                    &mut self.handles,
                    sets,
                    &mut order,
                    self.stop,
                )?;
            }
            self.rows
                .extend(state.rows(exchange, self.plan, &self.handles));
            self.state = done + 1;
        }
        Ok(())
    }

    fn build(&mut self, drivers: &[Driver]) -> Result<(), Stopped> {
        let ids = self.plan.drivers();
        let wanted: Vec<&Driver> = drivers
            .iter()
            .filter(|d| ids.contains(&d.id.as_str()))
            .collect();
        let tell = &mut self.tell;
        let cache = &self.options.cache;
        let built = cache.build_each(&wanted, self.stop, |driver, number, of| {
            tell(Event::Build(BuildEvent::Building {
                id: &driver.id,
                number,
                of,
            }));
        });
        for (driver, answer) in built.map_err(|_| Stopped)? {
            match &answer {
                Ok(ready) => {
                    self.hashes.insert(driver.id.clone(), ready.hash.clone());
                }
                Err(reason) => (self.tell)(Event::Build(BuildEvent::Unavailable {
                    id: &driver.id,
                    reason,
                })),
            }
            let handle = DriverHandle::new(driver, answer);
            self.handles.insert(driver.id.clone(), handle);
        }
        Ok(())
    }
}
