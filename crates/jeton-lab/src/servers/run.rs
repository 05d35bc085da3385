//! The suite: every server in every scenario, in turns, and what came of it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::keys::Keys;
use super::loading::{Loader, Measured};
use super::manifest::Server;
use super::preflight::{self, Seen};
use super::process::{Running, Start};
use super::row::RowDraft;
use super::scenario::Scenario;
use crate::driver::{Cache, Unbuilt};
use crate::host::{Bench, Cores, Processes, Witness, describe};
use crate::published::answers;
use crate::result::{Environment, NoiseFloor, Rows, RunResult, SCHEMA};
use crate::stop::Stop;

/// How a run is to be done.
#[derive(Debug, Clone)]
pub struct Options {
    /// How often each server is loaded in each scenario.
    pub repetitions: u32,
    /// How long each load is measured.
    pub measured: Duration,
    /// How long a server is loaded before that.
    pub warm_up: Duration,
    /// Calls a second of an open loop; none for a closed one.
    pub rate: Option<f64>,
    /// The seed of the order in which servers are loaded.
    pub seed: u64,
    /// The command that repeats it, for the result file.
    pub command: String,
    /// The command of a loader: it is a process of its own, on a core of its own.
    pub loader: Vec<OsString>,
    /// Where keys, logs and data folders of the run go: an empty folder, for this user alone.
    pub folder: PathBuf,
}

/// One thing that happened, for whoever shows progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A server is being built.
    Building {
        /// Its id.
        server: &'a str,
        /// Which of them it is, counted from 1.
        number: usize,
        /// How many there are.
        of: usize,
    },
    /// A server takes no part.
    Unavailable {
        /// Its id.
        server: &'a str,
        /// Why.
        reason: &'a str,
    },
    /// A server is started and looked at.
    Checking {
        /// Its id.
        server: &'a str,
        /// Its cores.
        cores: u32,
    },
    /// Something is wrong with a server.
    Found {
        /// Its id.
        server: &'a str,
        /// What.
        what: &'a str,
    },
    /// A server is loaded.
    Loading {
        /// The scenario.
        scenario: &'a str,
        /// The server's id.
        server: &'a str,
        /// How many loads are done.
        done: usize,
        /// Of all.
        of: usize,
    },
}

/// What built servers are kept in: beside the drivers.
#[must_use]
pub fn cache() -> Cache {
    Cache::named("jeton-servers")
}

/// Whether the machine has what a run needs, before anything is built.
///
/// # Errors
/// A sentence that says what is missing.
pub fn ready(servers: &[&Server], scenarios: &[Scenario]) -> Result<(), String> {
    if servers.is_empty() || scenarios.is_empty() {
        return Err("there is no server, or no scenario, to measure".to_owned());
    }
    let cores = Cores::unpinned().count();
    if cores < 2 {
        return Err(format!(
            "{cores} core is not enough: a server and its loader need one each; give the process \
             more (taskset, the container's limit)"
        ));
    }
    for server in servers {
        if let Some(address) = server.manifest.address {
            super::process::free(address).map_err(|why| format!("{}: {why}", server.id))?;
        }
    }
    Ok(())
}

/// Loads every server in every scenario. Whatever a server does, the others go on; when `stop` is
/// requested, the result has what was measured.
pub fn run(
    servers: &[&Server],
    scenarios: &[Scenario],
    options: &Options,
    stop: &Stop,
    tell: &mut dyn FnMut(Event<'_>),
) -> Result<RunResult, String> {
    let started = jiff::Timestamp::now();
    let keys_folder = options.folder.join("keys");
    std::fs::create_dir_all(&keys_folder)
        .map_err(|e| format!("{} cannot be made: {e}", keys_folder.display()))?;
    let keys = Keys::make(&keys_folder)?;
    let cores = Cores::unpinned();
    let mut run = Run {
        options,
        stop,
        tell,
        cache: cache(),
        loader: Loader::new(&options.loader, &keys),
        keys: &keys,
        hashes: BTreeMap::new(),
        order: ChaCha8Rng::seed_from_u64(options.seed),
        done: 0,
        of: servers.len() * scenarios.len() * options.repetitions as usize,
    };
    let built = run.build(servers);
    let witness = Witness::begin(&[]);
    let began = Instant::now();
    let mut drafts = Vec::new();
    let mut groups: Vec<u32> = scenarios.iter().map(|s| s.cores).collect();
    groups.dedup();
    for group in groups {
        let of_group: Vec<Scenario> = scenarios
            .iter()
            .filter(|s| s.cores == group)
            .copied()
            .collect();
        let bench = cores.for_servers(group);
        drafts.extend(run.group(&built, &of_group, &bench));
    }
    let complete = !stop.requested();
    let mut environment = describe(&cores);
    environment.started = started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    environment.elapsed_s = began.elapsed().as_secs_f64();
    environment.complete = complete;
    environment.drivers = run.hashes;
    witnessed(&mut environment, &witness);
    let rows = Rows {
        servers: drafts.into_iter().map(|d| d.row(options.rate)).collect(),
        ..Rows::default()
    };
    let noise_floor = NoiseFloor::default();
    // This run asked nothing about the other reports.
    let mut claims_answered = answers(&rows, &noise_floor, &environment.taint);
    claims_answered.retain(|claim| claim.report == 3);
    Ok(RunResult {
        schema: SCHEMA,
        command: options.command.clone(),
        seed: options.seed,
        environment,
        noise_floor,
        published: Vec::new(),
        verdicts: Vec::new(),
        claims_answered,
        recommendation: None,
        runs: Vec::new(),
        rows,
    })
}

/// The servers and their loaders come and go while the machine is watched, and their work is the
/// lab's own: what is told apart here is what the hypervisor took and whether the CPU was throttled.
fn witnessed(environment: &mut Environment, witness: &Witness) {
    let mut taint = witness.testify(&[], true);
    taint.load = None;
    let is_own = |reason: &String| reason.contains("other work") || reason.contains("free core");
    taint.reasons.retain(|reason| !is_own(reason));
    taint.tainted = !taint.reasons.is_empty();
    taint.unwatched.push(
        "other work on the machine: servers and loaders fill the cores themselves".to_owned(),
    );
    environment.taint = taint;
}

struct Run<'a> {
    options: &'a Options,
    stop: &'a Stop,
    tell: &'a mut dyn FnMut(Event<'_>),
    cache: Cache,
    loader: Loader<'a>,
    keys: &'a Keys,
    hashes: BTreeMap<String, String>,
    order: ChaCha8Rng,
    done: usize,
    of: usize,
}

/// A server, and why it cannot be had, if it cannot.
type Built<'s> = (&'s Server, Option<String>);

/// A server that is up, or why it is not.
struct Participant<'s> {
    server: &'s Server,
    folder: PathBuf,
    running: Option<Running>,
    /// Its processes, as they were when it had started.
    processes: Option<Processes>,
    base_rss_bytes: Option<u64>,
    absent: Option<String>,
    seen: Seen,
}

impl Participant<'_> {
    /// Whether it is loaded: one with findings is only if they are its published ones.
    fn takes_part(&self) -> bool {
        self.running.is_some()
            && (self.seen.findings.is_empty() || self.server.manifest.as_published)
    }
}

impl Run<'_> {
    fn build<'s>(&mut self, servers: &[&'s Server]) -> Vec<Built<'s>> {
        let mut built = Vec::new();
        for (i, server) in servers.iter().enumerate() {
            if self.cache.stale(server.recipe()) {
                (self.tell)(Event::Building {
                    server: &server.id,
                    number: i + 1,
                    of: servers.len(),
                });
            }
            let absent = match self.cache.build(server.recipe(), self.stop) {
                Ok(ready) => {
                    self.hashes.insert(server.id.clone(), ready.hash);
                    None
                }
                Err(Unbuilt::Unavailable(reason)) => Some(reason),
                Err(Unbuilt::Stopped) => Some("the run was asked to stop".to_owned()),
            };
            if let Some(reason) = &absent {
                (self.tell)(Event::Unavailable {
                    server: &server.id,
                    reason,
                });
            }
            built.push((*server, absent));
        }
        built
    }

    /// The scenarios with one number of cores: the servers are started once for all of them.
    fn group(
        &mut self,
        built: &[Built<'_>],
        scenarios: &[Scenario],
        bench: &Bench,
    ) -> Vec<RowDraft> {
        let cores = scenarios.first().map_or(1, |s| s.cores);
        let mut all: Vec<Participant<'_>> = Vec::new();
        for (server, absent) in built {
            let folder = self.options.folder.join(server.id.replace('/', "-"));
            let folder = folder.join(format!("{cores}"));
            all.push(self.participant(server, absent.clone(), folder, bench, cores));
        }
        let mut drafts: Vec<RowDraft> = Vec::new();
        for scenario in scenarios {
            for one in &all {
                let absent = one.absent.as_deref();
                drafts.push(RowDraft::new(
                    one.server, *scenario, bench, absent, &one.seen,
                ));
            }
        }
        for _ in 0..self.options.repetitions {
            for (at, scenario) in scenarios.iter().enumerate() {
                let mut turns: Vec<usize> = (0..all.len()).collect();
                turns.shuffle(&mut self.order);
                for turn in turns {
                    if self.stop.requested() {
                        return drafts;
                    }
                    let draft = &mut drafts[at * all.len() + turn];
                    self.load(&mut all[turn], scenario, bench, draft);
                    self.done += 1;
                }
            }
        }
        drafts
    }

    fn participant<'s>(
        &mut self,
        server: &'s Server,
        absent: Option<String>,
        folder: PathBuf,
        bench: &Bench,
        cores: u32,
    ) -> Participant<'s> {
        let mut one = Participant {
            server,
            folder,
            running: None,
            processes: None,
            base_rss_bytes: None,
            absent,
            seen: Seen::default(),
        };
        if one.absent.is_some() || self.stop.requested() {
            return one;
        }
        (self.tell)(Event::Checking {
            server: &server.id,
            cores,
        });
        if let Err(why) = self.start_and_look(&mut one, bench, cores) {
            (self.tell)(Event::Unavailable {
                server: &server.id,
                reason: &why,
            });
            one.absent = Some(why);
        }
        for what in &one.seen.findings {
            (self.tell)(Event::Found {
                server: &server.id,
                what,
            });
        }
        one
    }

    fn start_and_look(
        &mut self,
        one: &mut Participant<'_>,
        bench: &Bench,
        cores: u32,
    ) -> Result<(), String> {
        let mut running = self.start(one.server, &one.folder.join("0"), bench, cores)?;
        one.seen = preflight::look(&mut running, self.keys, self.stop)?;
        if one.seen.died {
            drop(running);
            running = self.start(one.server, &one.folder.join("1"), bench, cores)?;
        }
        let processes = running.processes();
        one.base_rss_bytes = processes.resident_bytes();
        one.processes = Some(processes);
        one.running = Some(running);
        Ok(())
    }

    fn start(
        &self,
        server: &Server,
        folder: &Path,
        bench: &Bench,
        cores: u32,
    ) -> Result<Running, String> {
        let start = Start {
            server,
            cache: &self.cache,
            keys: self.keys,
            bench,
            cores,
            folder,
        };
        start.start(self.stop)
    }

    fn load(
        &mut self,
        one: &mut Participant<'_>,
        scenario: &Scenario,
        bench: &Bench,
        draft: &mut RowDraft,
    ) {
        if !one.takes_part() {
            return;
        }
        (self.tell)(Event::Loading {
            scenario: &scenario.name(),
            server: &one.server.id,
            done: self.done,
            of: self.of,
        });
        let (Some(running), Some(processes)) = (&mut one.running, &one.processes) else {
            return;
        };
        let verifies = !(one.seen.signs_with_empty_key && scenario.alg == super::Algorithm::Hs256);
        let loaded = self.loader.load(
            running.address,
            scenario,
            self.options,
            verifies,
            bench,
            processes,
            self.stop,
        );
        match loaded {
            Ok(Measured { loaded, cpu, peak }) => {
                draft.add(loaded, cpu, peak, one.base_rss_bytes);
            }
            Err(why) => draft.fail(why),
        }
        if let Some(how) = running.obituary() {
            draft.die(&how);
            one.absent = Some(how);
            one.running = None;
        }
    }
}
