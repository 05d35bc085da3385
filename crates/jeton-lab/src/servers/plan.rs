//! What a run is, before anything is built: whom it loads, how often, and whether the machine can.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::manifest::Server;
use super::pacing::Pacing;
use super::scenario::Scenario;
use crate::driver::Cache;
use crate::host::Cores;

/// A server starts, and is looked at.
const LOOK: Duration = Duration::from_secs(2);

/// How a run is to be done.
#[derive(Debug, Clone)]
pub struct Options {
    /// How often each server is loaded in each scenario.
    pub repetitions: u32,
    /// What it may take, once the servers are built: what is not loaded by then is left out.
    pub budget: Option<Duration>,
    /// How long each load is measured.
    pub measured: Duration,
    /// How long a server is loaded before that.
    pub warm_up: Duration,
    /// How long at most a server is loaded when it has just started, before anything else.
    pub first_warm_up: Duration,
    /// How calls follow each other.
    pub pacing: Pacing,
    /// The seed of the order in which servers are loaded.
    pub seed: u64,
    /// The command that repeats it, for the result file.
    pub command: String,
    /// The command of a loader: it is a process of its own, on a core of its own.
    pub loader: Vec<OsString>,
    /// Where keys, logs and data folders of the run go: an empty folder, for this user alone.
    pub folder: PathBuf,
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
    if !(servers.iter()).any(|server| scenarios.iter().any(|s| server.offers(s.call))) {
        return Err("none of these servers offers any of these calls".to_owned());
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

/// How often a run starts a server: once for each number of cores.
fn starts(servers: &[&Server], scenarios: &[Scenario]) -> usize {
    let groups_of = |server: &&Server| {
        let offered = scenarios.iter().filter(|s| server.offers(s.call));
        let mut groups: Vec<u32> = offered.map(|s| s.cores).collect();
        groups.sort_unstable();
        groups.dedup();
        groups.len()
    };
    servers.iter().map(groups_of).sum()
}

/// What a run will take, once the servers are built, at most.
#[must_use]
pub fn estimate(servers: &[&Server], scenarios: &[Scenario], options: &Options) -> Duration {
    let all = |one: Duration, times: usize| one.mul_f64(times as f64);
    all(each(options), loads(servers, scenarios, options))
        + all(LOOK + options.first_warm_up, starts(servers, scenarios))
}

/// How many repetitions fit a budget: one at least, and no more than were asked for.
#[must_use]
pub fn repetitions_within(
    budget: Duration,
    servers: &[&Server],
    scenarios: &[Scenario],
    options: &Options,
) -> u32 {
    let fits = |repetitions: &u32| {
        let fewer = Options {
            repetitions: *repetitions,
            ..options.clone()
        };
        estimate(servers, scenarios, &fewer) <= budget
    };
    (2..=options.repetitions).rev().find(fits).unwrap_or(1)
}

/// How long one load is, from the start of its loader to its end.
pub(super) fn each(options: &Options) -> Duration {
    const BEYOND: Duration = Duration::from_millis(150);
    options.measured + options.warm_up + BEYOND
}

/// How many loads a run is.
pub(super) fn loads(servers: &[&Server], scenarios: &[Scenario], options: &Options) -> usize {
    let offered = |server: &&Server| scenarios.iter().filter(|s| server.offers(s.call)).count();
    let pairs: usize = servers.iter().map(offered).sum();
    pairs * options.repetitions as usize * options.pacing.loads()
}
