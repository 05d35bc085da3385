//! `jeton-lab servers`.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Command, FromArgMatches as _, ValueEnum};
use jeton_lab_harness::Stop;
use jeton_lab_load as servers;
use jeton_lab_load::{Options, Pacing, Server};
use jeton_lab_model::result::{OutDir, RunResult};
use jeton_lab_model::servers::{Algorithm, Scenario};
use jeton_lab_published::answers_of_servers;

use super::load::seconds;
use super::measuring::{budget, handle_ctrl_c, some_seed};
use super::progress::{Progress, rounded};
use super::repro_command::repro_command;
use super::write_outputs::write_outputs;
use super::{ENDED_EARLY, runtimes};

/// Time limit of a run with the usual repetitions.
const USUAL_BUDGET: Duration = Duration::from_secs(25 * 60);

/// Longest first warm-up of a server in a quick run.
const QUICK_FIRST_WARM_UP: Duration = Duration::from_secs(6);

/// Measure gRPC servers that issue tokens
///
/// Builds the servers in servers/ and starts each on its own cores with the same keys. A preflight checks
/// that its tokens verify with those keys and that it rejects unknown algorithms. Then a loader on a
/// separate core loads the servers interleaved. The output shows tokens per second (without errors), the
/// server's CPU time per token, latencies, statuses and memory, next to the published figures of the gRPC
/// report.
///
/// The report's servers are measured in their original version, with their bugs. The output names the
/// bugs and marks the figures.
///
/// With --scenarios gateways, Envoy and nginx check tokens of the lab. The output shows what each check adds
/// to the gateway without a check, in CPU time and latency.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton-lab servers                              the report's eight scenarios, three repetitions
  jeton-lab servers --quick                      the same scenarios, one short repetition
  jeton-lab servers --full                       adds open loops at 50, 70 and 90 % of the peak
  jeton-lab servers --subject go --subject jeton only servers whose id contains go or jeton
  jeton-lab servers --budget 2m                  as many repetitions as fit
  jeton-lab servers --cores 1 --connections 5 --in-flight 50 --alg HS256
  jeton-lab servers --cores 1 --rate 5000        an open loop: latency from when a call was due
  jeton-lab servers --scenarios beyond           other calls: issue, verify, batches, streams
  jeton-lab servers --scenarios gateways         what the checks of Envoy and nginx cost
  jeton-lab servers --runtimes newest            after `cargo xtask setup --runtimes`
  jeton-lab servers --list

If the machine has fewer cores than a scenario requires, server and loader share cores. Such rows \
are marked, and only the CPU time per token is compared.

With --full, all servers get the same rates in a scenario: shares of the lowest peak among the \
servers that passed the preflight. Latency then counts from when a call was due.

After a start, a server is loaded until its calls become no cheaper, at most for --first-warm-up: \
some runtimes compile hot code for seconds. The time estimate includes this.

The set beyond has further calls: issue and verify with HS256, ES256, RS256, EdDSA, v4.public and \
v4.local, in batches of 256, in streams, and token introspection (RFC 7662). A server that does not \
offer a call has a row without figures.

The set gateways has one token often, different tokens, and a revoked token, with ES256. `cargo xtask \
setup` installs Envoy and nginx. The interval of a cost needs two repetitions, and more make it narrower.")]
pub(super) struct Servers {
    /// Scenarios: report (the eight of the gRPC report), beyond (further calls) or gateways (Envoy and nginx)
    #[arg(
        long,
        value_name = "SET",
        default_value = "report",
        hide_possible_values = true
    )]
    scenarios: Set,

    /// Load each server once per scenario, for one second
    #[arg(long, conflicts_with_all = ["seconds", "warm_up", "first_warm_up"])]
    quick: bool,

    /// Number of repetitions of each scenario [default: 3, with --quick 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,

    /// Time limit, for example 90s or 10m; runs fewer repetitions and skips the rest [default: 25m; none with --full or
    /// --rounds]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    budget: Option<Duration>,

    /// Filter by part of a server id (`*` matches anything; repeatable)
    #[arg(long = "subject", value_name = "PATTERN")]
    subjects: Vec<String>,

    /// Run only scenarios with this many server cores
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    cores: Option<u32>,

    /// Number of connections, instead of the scenario's
    #[arg(long, value_name = "N", requires = "in_flight")]
    connections: Option<u32>,

    /// Number of calls in flight on each connection, instead of the scenario's
    #[arg(long, value_name = "N", requires = "connections")]
    in_flight: Option<u32>,

    /// Run only scenarios with this algorithm, for example ES256 or v4.public
    #[arg(long, value_name = "NAME")]
    alg: Option<Algorithm>,

    /// Run open loops with this many calls per second, instead of closed loops
    #[arg(long, value_name = "N")]
    rate: Option<f64>,

    /// After each closed loop, run open loops at 50, 70 and 90 % of the scenario's lowest peak
    #[arg(long, conflicts_with = "rate")]
    full: bool,

    /// Duration of each measurement, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = seconds)]
    seconds: Duration,

    /// Duration of the warm-up before each measurement, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    warm_up: Duration,

    /// Longest warm-up after a server start, in seconds; 0 disables it
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds)]
    first_warm_up: Duration,

    /// Seed of the random order of servers [default: a new seed for each run]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Folder for results.json and report.html; results of another lab command there are renamed
    #[arg(long, value_name = "DIR", default_value = "jeton-lab")]
    out: PathBuf,

    /// Print the result as JSON instead of tables
    #[arg(long)]
    json: bool,

    /// List the servers and exit
    #[arg(long)]
    list: bool,

    #[command(flatten)]
    runtimes: runtimes::One,

    /// Folder of the servers [default: JETON_SERVERS, or the one in jeton's checkout]
    #[arg(long = "servers", value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Measures all servers in the scenarios of the gRPC report, as `jeton-lab servers` without other options.
pub(super) fn of_report(
    runtimes: runtimes::One,
    result: &RunResult,
    stop: &Stop,
    progress: &mut Progress,
) -> Result<RunResult, String> {
    let usual = Servers::augment_args(Command::new("servers")).get_matches_from(["servers"]);
    let usual = Servers::from_arg_matches(&usual).map_err(|e| e.to_string())?;
    let servers = Servers { runtimes, ..usual };
    let all = servers.find()?;
    let chosen = servers.choose(&all)?;
    servers::ready(&chosen, &servers.planned())?;
    let origin = (result.seed, result.command.as_str());
    servers.measure(&chosen, origin, stop, progress)
}

/// The command of the loader: this program.
fn loader() -> Result<Vec<OsString>, String> {
    let own = std::env::current_exe()
        .map_err(|e| format!("cannot determine the path of this program: {e}"))?;
    Ok(vec![own.into(), "load".into()])
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Set {
    Report,
    Beyond,
    Gateways,
}

impl Set {
    fn scenarios(self) -> Vec<Scenario> {
        match self {
            Self::Report => Scenario::report(),
            Self::Beyond => Scenario::beyond(),
            Self::Gateways => Scenario::gateways(),
        }
    }
}

impl Servers {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let all = self.find()?;
        let chosen = self.choose(&all)?;
        if self.list {
            return list(&chosen);
        }
        servers::ready(&chosen, &self.planned())?;
        let out = OutDir::create(&self.out)?;
        let stop = Stop::default();
        handle_ctrl_c(&stop)?;

        let mut progress = Progress::begin();
        let drawn = self.seed.is_none().then(some_seed);
        let seed = self.seed.or(drawn).unwrap_or_default();
        let command = repro_command(drawn);
        let mut result = self.measure(&chosen, (seed, &command), &stop, &mut progress)?;
        progress.end();
        // This run does not answer claims of the other reports.
        result.claims_answered = answers_of_servers(&result.rows.servers);

        write_outputs(&out, &result, self.json)?;
        if stop.asked() {
            progress.say("ended early: the files hold the finished measurements");
            return Ok(ExitCode::from(ENDED_EARLY));
        }
        if !result.environment.complete {
            progress.say("time limit reached: the files hold the finished measurements");
        }
        Ok(ExitCode::SUCCESS)
    }

    fn find(&self) -> Result<Vec<Server>, String> {
        let mut all = servers::find(&servers::folder(self.folder.as_deref()))?;
        self.runtimes.give_to(&mut all);
        Ok(all)
    }

    /// Loads the servers. The result names the seed, and the command that repeats the run.
    fn measure(
        &self,
        chosen: &[&Server],
        (seed, command): (u64, &str),
        stop: &Stop,
        progress: &mut Progress,
    ) -> Result<RunResult, String> {
        let scenarios = self.planned();
        let folder = Scratch::make()?;
        let mut options = self.options(seed, command, &folder)?;
        if let Some(budget) = options.budget {
            options.repetitions = servers::repetitions_within(budget, chosen, &scenarios, &options);
        }
        progress.say(&estimate(chosen, &scenarios, &options));
        servers::run(chosen, &scenarios, &options, stop, &mut |event| {
            progress.tell_servers(&event);
        })
    }

    fn choose<'s>(&self, all: &'s [Server]) -> Result<Vec<&'s Server>, String> {
        let unknown = |pattern: &&String| !all.iter().any(|s| s.is_called(pattern));
        if let Some(pattern) = self.subjects.iter().find(unknown) {
            let ids: Vec<&str> = all.iter().map(|s| s.id.as_str()).collect();
            return Err(format!(
                "--subject: no server id contains `{pattern}`; the servers are {}",
                ids.join(", ")
            ));
        }
        let is_named = |s: &Server| {
            self.subjects.is_empty() || self.subjects.iter().any(|pattern| s.is_called(pattern))
        };
        // A check is compared with the gateway without it.
        let is_needed = |s: &Server| {
            let mut named = all.iter().filter(|one| is_named(one));
            named.any(|one| one.manifest.bare.as_deref() == Some(s.id.as_str()))
        };
        let is_in_set =
            |s: &Server| self.list || s.is_gateway() == (self.scenarios == Set::Gateways);
        let chosen = all
            .iter()
            .filter(|s| is_in_set(s) && (is_named(s) || is_needed(s)));
        let chosen: Vec<&Server> = chosen.collect();
        if chosen.is_empty() {
            return Err(
                "--subject: no chosen server takes part in these scenarios; gateways have \
                        --scenarios gateways, and only them"
                    .to_owned(),
            );
        }
        Ok(chosen)
    }

    /// Returns the scenarios that the options select, with the connections that they set.
    fn planned(&self) -> Vec<Scenario> {
        let mut planned: Vec<Scenario> = Vec::new();
        for mut scenario in self.scenarios.scenarios() {
            if self.alg.is_some_and(|alg| alg != scenario.alg) {
                continue;
            }
            if let (Some(connections), Some(in_flight)) = (self.connections, self.in_flight) {
                scenario.connections = connections;
                scenario.in_flight = in_flight;
                scenario.cores = self.cores.unwrap_or(scenario.cores);
            }
            let wanted = self.cores.is_none_or(|cores| cores == scenario.cores);
            if wanted && !planned.contains(&scenario) {
                planned.push(scenario);
            }
        }
        planned
    }

    fn pacing(&self) -> Pacing {
        match self.rate {
            _ if self.full => Pacing::Full,
            Some(rate) => Pacing::Rate(rate),
            None => Pacing::Closed,
        }
    }

    fn options(&self, seed: u64, command: &str, folder: &Scratch) -> Result<Options, String> {
        // An explicit request for more work lifts the usual time limit.
        let more = self.rounds.is_some() || self.full;
        let usual = (!more).then_some(USUAL_BUDGET);
        Ok(Options {
            repetitions: self.rounds.unwrap_or(if self.quick { 1 } else { 3 }),
            budget: self.budget.or(usual),
            measured: if self.quick {
                Duration::from_secs(1)
            } else {
                self.seconds
            },
            warm_up: if self.quick {
                Duration::from_millis(500)
            } else {
                self.warm_up
            },
            first_warm_up: if self.quick {
                QUICK_FIRST_WARM_UP
            } else {
                self.first_warm_up
            },
            pacing: self.pacing(),
            seed,
            command: command.to_owned(),
            loader: loader()?,
            folder: folder.0.clone(),
        })
    }
}

/// A temporary folder for keys and data folders: readable by this user only, deleted after the run.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Result<Self, String> {
        use std::os::unix::fs::DirBuilderExt;
        let name = format!("jeton-servers-{}-{}", std::process::id(), some_seed());
        let path = std::env::temp_dir().join(name);
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(|e| format!("cannot create {}: {e}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The system cleans its temporary folder if this fails.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn list(servers: &[&Server]) -> Result<ExitCode, String> {
    let mut out = String::new();
    for server in servers {
        let manifest = &server.manifest;
        out.push_str(&format!(
            "{:<29} {}\n{:29} {}\n",
            server.id,
            manifest.about,
            "",
            server.libraries()
        ));
        if let Some(unmet) = server.unmet() {
            out.push_str(&format!("{:29} unavailable: {unmet}\n", ""));
        }
    }
    super::destination::written(std::io::stdout().write_all(out.as_bytes()))
}

fn estimate(servers: &[&Server], scenarios: &[Scenario], options: &Options) -> String {
    let cache = servers::cache();
    let estimate = servers::estimate(servers, scenarios, options);
    let takes = options.budget.map_or(estimate, |b| b.min(estimate));
    let stale = servers
        .iter()
        .filter(|s| s.unmet().is_none() && cache.stale(s.recipe()))
        .count();
    let first = match stale {
        0 => String::new(),
        n => format!(", after building {n} servers (a first build takes minutes)"),
    };
    let rates = match options.pacing.loads() {
        1 => String::new(),
        n => format!(" × {n} rates"),
    };
    format!(
        "about {}: {} servers × {} scenarios{rates} × {} repetitions of {} s{first}",
        rounded(takes),
        servers.len(),
        scenarios.len(),
        options.repetitions,
        options.measured.as_secs_f64(),
    )
}
