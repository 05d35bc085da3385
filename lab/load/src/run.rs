//! Runs the suite: every server in every scenario, interleaved.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::keys::Keys;
use super::loading::{Files, Loader, Measured, Times};
use super::manifest::Server;
use super::pacing::{Pacing, Peak, Planned, rates};
use super::plan::{Options, cache, each, loads};
use super::preflight::{Checked, Preflight};
use super::process::{Running, Start, free};
use super::row::RowDraft;
use super::warming::{WarmUpHistory, slice};
use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::{BuildEvent, Cache, Unbuilt, runtimes_used};
use jeton_lab_harness::host::{
    Cores, DisturbanceMonitor, Processes, ServerCores, describe, names_load,
};
use jeton_lab_model::result::{Environment, Rows, RunResult};
use jeton_lab_model::servers::Scenario;
use jeton_lab_model::servers::{Algorithm, Call};

/// A progress event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A server is built or skipped.
    Build(BuildEvent<'a>),
    /// A server is started and its preflight runs.
    Checking {
        /// The server's id.
        server: &'a str,
        /// Its cores.
        cores: u32,
    },
    /// The preflight has a finding.
    Found {
        /// The server's id.
        server: &'a str,
        /// The finding.
        what: &'a str,
    },
    /// A server that has just started is warmed up until it stops becoming faster.
    WarmingUp {
        /// The server's id.
        server: &'a str,
        /// Its cores.
        cores: u32,
    },
    /// The warm-up reached its limit while the server was still becoming faster.
    Unsettled {
        /// The server's id.
        server: &'a str,
    },
    /// A server is loaded.
    Loading {
        /// The scenario, and the rate of an open loop.
        scenario: &'a str,
        /// The server's id.
        server: &'a str,
        /// The number of finished loads.
        done: usize,
        /// The total number.
        of: usize,
    },
}

/// Loads every server in every scenario. If one server fails, the others continue. If `stop` is
/// requested, the result contains what was measured.
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
        .map_err(|e| format!("cannot create {}: {e}", keys_folder.display()))?;
    let keys = Keys::make(&keys_folder)?;
    if scenarios.iter().any(|s| s.call.is_of_a_gateway()) {
        keys.make_tokens()?;
    }
    let cores = Cores::unpinned();
    let mut run = Run {
        options,
        stop,
        tell,
        cache: cache(),
        loader: Loader::new(&options.loader),
        keys: &keys,
        hashes: BTreeMap::new(),
        order: ChaCha8Rng::seed_from_u64(options.seed),
        done: 0,
        of: loads(servers, scenarios, options),
    };
    let built = run.build(servers, scenarios);
    let disturbance_monitor = DisturbanceMonitor::begin(&[]);
    let began = Instant::now();
    if let Some(budget) = options.budget {
        stop.within(budget);
    }
    let mut drafts = Vec::new();
    let mut groups: Vec<u32> = scenarios.iter().map(|s| s.cores).collect();
    groups.dedup();
    for group in groups {
        let of_group: Vec<Scenario> = scenarios
            .iter()
            .filter(|s| s.cores == group)
            .copied()
            .collect();
        let server_cores = cores.for_servers(group);
        drafts.extend(run.group(&built, &of_group, &server_cores));
    }
    let complete = !stop.requested();
    let mut environment = describe(&cores);
    environment.started = started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    environment.elapsed_s = began.elapsed().as_secs_f64();
    environment.complete = complete;
    let measured = servers.iter().filter(|s| run.hashes.contains_key(&s.id));
    let runtimes = measured.filter_map(|server| server.runtime.as_ref());
    environment.runtimes_used = runtimes_used(runtimes, started);
    environment.drivers = run.hashes;
    record_disturbance(&mut environment, &disturbance_monitor);
    let rows = Rows {
        servers: drafts.into_iter().map(RowDraft::row).collect(),
        ..Rows::default()
    };
    let command = options.command.clone();
    Ok(RunResult::without_verdicts(
        command,
        options.seed,
        environment,
        rows,
    ))
}

/// Servers and loaders start and stop during the run, and their work is the lab's own. So only time
/// taken by the hypervisor and CPU throttling count as disturbances.
fn record_disturbance(environment: &mut Environment, disturbance_monitor: &DisturbanceMonitor) {
    let mut disturbance = disturbance_monitor.finish(&[], true);
    disturbance.load = None;
    disturbance.reasons.retain(|reason| !names_load(reason));
    disturbance.disturbed = !disturbance.reasons.is_empty();
    disturbance.unwatched.push(
        "other work on the machine: servers and loaders fill the cores themselves".to_owned(),
    );
    environment.disturbance = disturbance;
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

/// A server, and why it is unavailable, if so.
type Built<'s> = (&'s Server, Option<String>);

/// A running server, or why it is not running.
struct Participant<'s> {
    server: &'s Server,
    folder: PathBuf,
    running: Option<Running>,
    /// Its processes, as they were after the start.
    processes: Option<Processes>,
    base_rss_bytes: Option<u64>,
    absent: Option<String>,
    seen: Checked,
    /// Which participant has the other process of the same server: both are an A/A pair.
    second_of: Option<usize>,
}

impl Participant<'_> {
    /// Returns whether it is loaded with that call. A server with findings is loaded only if they
    /// are its published ones.
    fn takes_part(&self, call: Call) -> bool {
        self.running.is_some()
            && (self.seen.findings.is_empty() || self.server.manifest.as_published)
            && self.server.offers(call)
            && !(self.seen.passes_revoked && call == Call::PassRevoked)
    }

    /// Returns the load as the loader makes it. A gateway without a check lets a revoked token pass.
    fn made(&self, planned: &Planned) -> Planned {
        let mut made = *planned;
        if made.scenario.call == Call::PassRevoked && self.server.manifest.bare.is_none() {
            made.scenario.call = Call::Pass;
        }
        made
    }

    /// Whether a second process of it shows how far identical servers differ.
    fn may_have_a_second(&self) -> bool {
        let manifest = &self.server.manifest;
        let has_own_port = manifest.address.is_some_and(|address| address.port() != 0);
        self.running.is_some() && self.seen.findings.is_empty() && !has_own_port
    }
}

impl Run<'_> {
    fn build<'s>(&mut self, servers: &[&'s Server], scenarios: &[Scenario]) -> Vec<Built<'s>> {
        let mut built = Vec::new();
        for (i, server) in servers.iter().enumerate() {
            if !scenarios.iter().any(|s| server.offers(s.call)) {
                built.push((*server, None));
                continue;
            }
            let unmet = server.unmet();
            if unmet.is_none() && self.cache.stale(server.recipe()) {
                (self.tell)(Event::Build(BuildEvent::Building {
                    id: &server.id,
                    number: i + 1,
                    of: servers.len(),
                }));
            }
            let absent = unmet.or_else(|| match self.cache.build(server.recipe(), self.stop) {
                Ok(ready) => {
                    self.hashes.insert(server.id.clone(), ready.hash);
                    None
                }
                Err(Unbuilt::Unavailable(reason)) => Some(reason),
                Err(Unbuilt::Stopped) => Some("the run was stopped".to_owned()),
            });
            if let Some(reason) = &absent {
                (self.tell)(Event::Build(BuildEvent::Unavailable {
                    id: &server.id,
                    reason,
                }));
            }
            built.push((*server, absent));
        }
        built
    }

    /// Runs the scenarios with one number of cores: servers are started once for all of them.
    fn group(
        &mut self,
        built: &[Built<'_>],
        scenarios: &[Scenario],
        server_cores: &ServerCores,
    ) -> Vec<RowDraft> {
        let cores = cores_of(scenarios);
        let mut all: Vec<Participant<'_>> = Vec::new();
        for (server, absent) in built {
            let folder = self.options.folder.join(server.id.replace('/', "-"));
            let folder = folder.join(format!("{cores}"));
            all.push(self.participant(server, absent.clone(), folder, server_cores, scenarios));
        }
        if let Some(first) = all.iter().position(Participant::may_have_a_second) {
            let (server, absent) = &built[first];
            let folder = all[first].folder.with_extension("second");
            let second = self.participant(server, absent.clone(), folder, server_cores, scenarios);
            all.push(Participant {
                second_of: Some(first),
                ..second
            });
        }
        for one in &mut all {
            self.warm_up(one, scenarios, server_cores);
        }
        let rate = self.options.pacing.first();
        let planned: Vec<Planned> = (scenarios.iter())
            .map(|&scenario| Planned { scenario, rate })
            .collect();
        let mut drafts = self.load_interleaved(&planned, &mut all, server_cores);
        if self.options.pacing == Pacing::Full && !self.stop.requested() {
            let open = open_loops(&planned, &drafts);
            drafts.extend(self.load_interleaved(&open, &mut all, server_cores));
            // Each closed loop is followed by its open ones.
            drafts.sort_by_key(|draft| {
                scenarios
                    .iter()
                    .position(|s| *s == draft.planned().scenario)
            });
        }
        drafts
    }

    /// Loads every server with every load, for the requested repetitions.
    fn load_interleaved(
        &mut self,
        planned: &[Planned],
        all: &mut [Participant<'_>],
        server_cores: &ServerCores,
    ) -> Vec<RowDraft> {
        let mut drafts: Vec<RowDraft> = Vec::new();
        let rows = all.iter().filter(|one| one.second_of.is_none()).count();
        for load in planned {
            for one in all.iter().filter(|one| one.second_of.is_none()) {
                let absent = one.absent.as_deref();
                drafts.push(RowDraft::new(
                    one.server,
                    *load,
                    server_cores,
                    absent,
                    &one.seen,
                ));
            }
        }
        for _ in 0..self.options.repetitions {
            for (at, load) in planned.iter().enumerate() {
                let mut order: Vec<usize> = (0..all.len()).collect();
                order.shuffle(&mut self.order);
                for turn in order {
                    let draft = &mut drafts[at * rows + all[turn].second_of.unwrap_or(turn)];
                    // An interrupted load says nothing about the server.
                    if self.stop.asked() || self.stop.has_less_than(each(self.options)) {
                        return drafts;
                    }
                    self.load(&mut all[turn], load, server_cores, draft);
                    self.done += usize::from(all[turn].server.offers(load.scenario.call));
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
        server_cores: &ServerCores,
        scenarios: &[Scenario],
    ) -> Participant<'s> {
        let mut one = Participant {
            server,
            folder,
            running: None,
            processes: None,
            base_rss_bytes: None,
            absent,
            seen: Checked::default(),
            second_of: None,
        };
        let mut asked: Vec<(Call, Algorithm)> = (scenarios.iter())
            .filter(|s| server.offers(s.call))
            .map(|s| (s.call, s.alg))
            .collect();
        asked.sort_unstable();
        asked.dedup();
        if one.absent.is_some() || asked.is_empty() || self.stop.requested() {
            return one;
        }
        let cores = cores_of(scenarios);
        (self.tell)(Event::Checking {
            server: &server.id,
            cores,
        });
        if let Err(why) = self.start_and_check(&mut one, server_cores, cores, &asked) {
            (self.tell)(Event::Build(BuildEvent::Unavailable {
                id: &server.id,
                reason: &why,
            }));
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

    fn start_and_check(
        &mut self,
        one: &mut Participant<'_>,
        server_cores: &ServerCores,
        cores: u32,
        asked: &[(Call, Algorithm)],
    ) -> Result<(), String> {
        let mut running = self.start(one.server, &one.folder.join("0"), server_cores, cores)?;
        let mut preflight = Preflight {
            running: &mut running,
            has_check: one.server.manifest.bare.is_some(),
            keys: self.keys,
            folder: &one.folder,
            stop: self.stop,
        };
        one.seen = preflight.check(asked)?;
        if one.seen.died {
            drop(running);
            running = self.start(one.server, &one.folder.join("1"), server_cores, cores)?;
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
        server_cores: &ServerCores,
        cores: u32,
    ) -> Result<Running, String> {
        let start = Start {
            server,
            cache: &self.cache,
            keys: self.keys,
            server_cores,
            cores,
            folder,
            address: server.manifest.address.map(free).transpose()?,
        };
        start.start(self.stop)
    }

    /// Warms up each of its calls in turn, with full concurrency, until none becomes cheaper.
    fn warm_up(
        &mut self,
        one: &mut Participant<'_>,
        scenarios: &[Scenario],
        server_cores: &ServerCores,
    ) {
        let mut courses: BTreeMap<(Call, Algorithm), (Scenario, WarmUpHistory)> = BTreeMap::new();
        for &scenario in scenarios.iter().filter(|s| one.takes_part(s.call)) {
            // The last scenario has the most calls in flight.
            let key = (scenario.call, scenario.alg);
            courses.insert(key, (scenario, WarmUpHistory::default()));
        }
        let (Some(running), Some(processes)) = (&one.running, &one.processes) else {
            return;
        };
        let most = self.options.first_warm_up;
        if most.is_zero() || courses.is_empty() {
            return;
        }
        (self.tell)(Event::WarmingUp {
            server: &one.server.id,
            cores: cores_of(scenarios),
        });
        let times = Times {
            warm_up: Duration::ZERO,
            measured: slice(most, courses.len()),
        };
        let began = Instant::now();
        while courses.values().any(|(_, course)| !course.is_flat()) {
            for (scenario, course) in courses.values_mut() {
                if self.stop.requested() {
                    return;
                }
                if began.elapsed() >= most {
                    (self.tell)(Event::Unsettled {
                        server: &one.server.id,
                    });
                    return;
                }
                let planned = Planned {
                    scenario: *scenario,
                    rate: None,
                };
                let tokens = self.keys.tokens(scenario.call);
                let loaded = self.loader.load(
                    running.address,
                    &one.made(&planned),
                    times,
                    Files {
                        verify_with: None,
                        tokens: tokens.as_deref(),
                    },
                    server_cores,
                    processes,
                    self.stop,
                );
                // A fault is reported by the first load that counts.
                let Ok(Measured { loaded, cpu, .. }) = loaded else {
                    return;
                };
                if !course.add(&loaded, cpu) {
                    return;
                }
            }
        }
    }

    fn load(
        &mut self,
        one: &mut Participant<'_>,
        planned: &Planned,
        server_cores: &ServerCores,
        draft: &mut RowDraft,
    ) {
        if !one.takes_part(planned.scenario.call) {
            return;
        }
        (self.tell)(Event::Loading {
            scenario: &planned.name(),
            server: &one.server.id,
            done: self.done,
            of: self.of,
        });
        let made = one.made(planned);
        let (Some(running), Some(processes)) = (&mut one.running, &one.processes) else {
            return;
        };
        let Scenario { call, alg, .. } = planned.scenario;
        let tokens = self.keys.tokens(call);
        let loaded = self.loader.load(
            running.address,
            &made,
            Times {
                warm_up: self.options.warm_up,
                measured: self.options.measured,
            },
            Files {
                verify_with: one.seen.checker(call, alg),
                tokens: tokens.as_deref(),
            },
            server_cores,
            processes,
            self.stop,
        );
        let is_second = one.second_of.is_some();
        match loaded {
            Ok(Measured { loaded, cpu, .. }) if is_second => draft.add_second(&loaded, cpu),
            Ok(Measured { loaded, cpu, peak }) => {
                draft.add(loaded, cpu, peak, one.base_rss_bytes);
            }
            Err(_) if is_second => {}
            Err(why) => draft.fail(why),
        }
        if let Some(how) = running.end_reason() {
            if !is_second {
                draft.die(&how);
            }
            one.absent = Some(how);
            one.running = None;
        }
    }
}

/// Returns the cores of the servers in the scenarios of one group.
fn cores_of(group: &[Scenario]) -> u32 {
    group.first().map_or(1, |scenario| scenario.cores)
}

/// Returns the open loops that follow closed ones.
fn open_loops(closed: &[Planned], drafts: &[RowDraft]) -> Vec<Planned> {
    let of = |scenario| {
        let of_it = move |draft: &&RowDraft| draft.planned().scenario == scenario;
        let peaks: Vec<Peak> = (drafts.iter().filter(of_it))
            .filter_map(RowDraft::peak)
            .collect();
        rates(&peaks).into_iter().map(Some)
    };
    closed
        .iter()
        .flat_map(|&Planned { scenario, .. }| {
            of(scenario).map(move |rate| Planned { scenario, rate })
        })
        .collect()
}
