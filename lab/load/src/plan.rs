//! Plans a run before anything is built: the servers, the number of loads, and the machine's cores.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::manifest::Server;
use super::pacing::Pacing;
use jeton_lab_harness::driver::Cache;
use jeton_lab_harness::host::Cores;
use jeton_lab_model::servers::Scenario;

/// The time to start a server and run its preflight.
const PREFLIGHT_TIME: Duration = Duration::from_secs(2);

/// Options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// How often each server is loaded in each scenario.
    pub repetitions: u32,
    /// The time limit once the servers are built; loads beyond it are skipped.
    pub budget: Option<Duration>,
    /// The measured time of each load.
    pub measured: Duration,
    /// The warm-up before each measurement.
    pub warm_up: Duration,
    /// The maximum warm-up of a server that has just started.
    pub first_warm_up: Duration,
    /// The pace of the calls.
    pub pacing: Pacing,
    /// The seed of the order of the servers.
    pub seed: u64,
    /// The command that repeats the run, for the result file.
    pub command: String,
    /// The command of the loader, a separate process on a separate core.
    pub loader: Vec<OsString>,
    /// The folder for keys, logs and data: empty, readable only by this user.
    pub folder: PathBuf,
}

/// Returns the cache of built servers, beside that of the drivers.
#[must_use]
pub fn cache() -> Cache {
    Cache::named("jeton-servers")
}

/// Checks that the machine has what a run needs, before anything is built.
///
/// # Errors
///
/// A sentence that says what is missing.
pub fn ready(servers: &[&Server], scenarios: &[Scenario]) -> Result<(), String> {
    if servers.is_empty() || scenarios.is_empty() {
        return Err("nothing to measure: no server or no scenario was selected".to_owned());
    }
    if !(servers.iter()).any(|server| scenarios.iter().any(|s| server.offers(s.call))) {
        return Err("none of the selected servers offers any of the selected calls".to_owned());
    }
    let cores = Cores::unpinned().count();
    if cores < 2 {
        return Err(format!(
            "{cores} core is not enough: a server and its loader need one each; allow the process \
             more cores (taskset, container limit)"
        ));
    }
    for server in servers {
        if let Some(address) = server.manifest.address {
            super::process::free(address).map_err(|why| format!("{}: {why}", server.id))?;
        }
    }
    Ok(())
}

/// Returns how often a run starts a server: once for each number of cores.
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

/// Estimates the maximum time of a run once the servers are built.
#[must_use]
pub fn estimate(servers: &[&Server], scenarios: &[Scenario], options: &Options) -> Duration {
    let all = |one: Duration, times: usize| one.mul_f64(times as f64);
    all(each(options), loads(servers, scenarios, options))
        + all(
            PREFLIGHT_TIME + options.first_warm_up,
            starts(servers, scenarios),
        )
}

/// Returns how many repetitions fit the time limit: at least one, at most the requested number.
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

/// Returns the time of one load, from the start of its loader to its end.
pub(super) fn each(options: &Options) -> Duration {
    const OVERHEAD: Duration = Duration::from_millis(150);
    options.measured + options.warm_up + OVERHEAD
}

/// Returns the number of loads of a run.
pub(super) fn loads(servers: &[&Server], scenarios: &[Scenario], options: &Options) -> usize {
    let offered = |server: &&Server| scenarios.iter().filter(|s| server.offers(s.call)).count();
    let pairs: usize = servers.iter().map(offered).sum();
    // One server has a second process.
    let second = servers.iter().map(offered).max().unwrap_or_default();
    (pairs + second) * options.repetitions as usize * options.pacing.loads()
}
