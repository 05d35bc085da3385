//! What published conclusions need besides the rows of `lab run`: attacks, and for `--all` servers.

use jeton_lab_conformance::attack::{self, Extent, Options};
use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::{Cache, Driver};
use jeton_lab_model::result::RunResult;
use jeton_lab_published::deciding_attacks;

use super::progress::Progress;
use super::{runtimes, servers};

/// Attacks the libraries whose security the reports compare, and adds the rows to the result.
pub(super) fn add_attacks(
    result: &mut RunResult,
    drivers: &[Driver],
    stop: &Stop,
    progress: &mut Progress,
) {
    let (attacks, subjects) = deciding_attacks();
    let options = Options {
        attacks: attacks.into_iter().map(str::to_owned).collect(),
        subjects,
        extent: Extent::Everything,
        rounds: 1,
        budget: None,
        seed: result.seed,
        command: result.command.clone(),
        cache: Cache::default(),
        built_only: false,
        workers: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
    };
    let attacked = attack::run(drivers, &options, stop, &mut |event| {
        progress.tell_attack(&event);
    });
    result.rows.attack = attacked.rows.attack;
    result.environment.complete &= attacked.environment.complete;
}

/// Measures the servers of the gRPC report, and adds the rows to the result. Without enough cores it says why not.
pub(super) fn add_servers(
    result: &mut RunResult,
    runtimes: runtimes::One,
    stop: &Stop,
    progress: &mut Progress,
) {
    match servers::of_report(runtimes, result, stop, progress) {
        Ok(served) => {
            result.rows.servers = served.rows.servers;
            result.environment.complete &= served.environment.complete;
            let own = &mut result.environment;
            own.elapsed_s += served.environment.elapsed_s;
            own.drivers.extend(served.environment.drivers);
        }
        Err(why) => progress.say(&format!("servers: not measured: {why}")),
    }
}
