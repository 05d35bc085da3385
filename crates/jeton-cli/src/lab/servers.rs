//! `jeton lab servers`.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use jeton_lab::Stop;
use jeton_lab::result::OutDir;
use jeton_lab::servers::{self, Algorithm, Options, Pacing, Scenario, Server};

use super::load::seconds;
use super::progress::{Progress, in_words};
use super::repro_command::repeated;
use super::run::{budget, listen, some_seed};
use super::write_outputs::leave;
use super::{ENDED_EARLY, sentence};

/// How long at most a server is loaded when it has just started, in a quick run.
const QUICK_FIRST_WARM_UP: Duration = Duration::from_secs(6);

/// Load gRPC servers that issue tokens, side by side
///
/// Every server below servers/ is built, started on cores of its own, given the same keys, looked at
/// (do its tokens verify with those keys, and does it refuse what it does not know?) and then loaded
/// in turns by a loader on a core of its own. Shown are tokens a second apart from errors, the
/// server's CPU time for each token, latencies, statuses and memory, with the gRPC report's published
/// figures beside.
///
/// The report's servers are there as they were published, their bugs kept: what is wrong with them is
/// named, and their figures are marked.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab servers                              the report's eight scenarios, three repetitions
  jeton lab servers --quick                      the same, one short repetition
  jeton lab servers --full                       and then open loops at 50, 70 and 90 % of the peak
  jeton lab servers --subject go --subject jeton only some servers, by a part of their id
  jeton lab servers --budget 2m                  as many repetitions as fit
  jeton lab servers --cores 1 --connections 5 --in-flight 50 --alg HS256
  jeton lab servers --cores 1 --rate 5000        an open loop: latency from when a call was due
  jeton lab servers --scenarios beyond           other calls: issue, verify, batches, streams
  jeton lab servers --list

Where the machine has fewer cores than a scenario asks for, server and loader share them; such rows
are marked, and only CPU time for each token is compared.

With --full all servers have the same rates in a scenario: parts of the lowest peak among those
with which nothing is wrong. Latency then counts from when a call was due.

A server that has just started is loaded until none of its calls becomes cheaper any more, at most as
long as --first-warm-up says: some runtimes compile for seconds what is called often. The time that
is told before a run has all of it.

Beyond the report a server is asked to issue and to verify HS256, ES256, RS256, EdDSA, v4.public and
v4.local, to issue and to verify in batches of 256, to issue for each message of a stream, and to
introspect a token (RFC 7662). A server that does not offer a call is a row that says so.")]
pub(super) struct Servers {
    /// Which scenarios: report, the gRPC report's eight, or beyond, calls that it did not make
    #[arg(
        long,
        value_name = "SET",
        default_value = "report",
        hide_possible_values = true
    )]
    scenarios: Set,

    /// Loads of a second each, one of every server in every scenario
    #[arg(long, conflicts_with_all = ["seconds", "warm_up", "first_warm_up"])]
    quick: bool,

    /// How often each server is loaded in each scenario [default: 3, quick 1]
    #[arg(long, alias = "repetitions", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,

    /// What it may take, like 90s or 10m: fewer rounds if need be, and what is not loaded then is left
    /// out [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    budget: Option<Duration>,

    /// Only servers whose id holds this; * stands for anything; may be given again
    #[arg(long = "subject", alias = "server", value_name = "PATTERN")]
    subjects: Vec<String>,

    /// Only this many cores for a server
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    cores: Option<u32>,

    /// Instead of the report's: so many connections
    #[arg(long, value_name = "N", requires = "in_flight")]
    connections: Option<u32>,

    /// Instead of the report's: so many calls in flight on each connection
    #[arg(long, value_name = "N", requires = "connections")]
    in_flight: Option<u32>,

    /// Only this algorithm, such as ES256 or v4.public
    #[arg(long, value_name = "NAME")]
    alg: Option<Algorithm>,

    /// Calls a second of an open loop, instead of a closed one
    #[arg(long, value_name = "N")]
    rate: Option<f64>,

    /// Behind each closed loop open ones, at 50, 70 and 90 % of the scenario's lowest peak
    #[arg(long, conflicts_with = "rate")]
    full: bool,

    /// How long each load is measured
    #[arg(long, value_name = "SECONDS", default_value = "3", value_parser = seconds)]
    seconds: Duration,

    /// How long a server is loaded before that
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    warm_up: Duration,

    /// How long at most a server is loaded when it has just started; 0 for not at all
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds)]
    first_warm_up: Duration,

    /// The seed of the order in which servers are loaded [default: another one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Where results.json and report.html go; those of another verb are kept under another name
    #[arg(long, value_name = "DIR", default_value = "jeton-lab")]
    out: PathBuf,

    /// Print the result file on standard output instead of the tables
    #[arg(long)]
    json: bool,

    /// Show which servers there are, and build nothing
    #[arg(long)]
    list: bool,

    /// The folder of the servers [default: JETON_SERVERS, or that of jeton's checkout]
    #[arg(long = "servers", value_name = "DIR")]
    folder: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Set {
    Report,
    Beyond,
}

impl Set {
    fn scenarios(self) -> Vec<Scenario> {
        match self {
            Self::Report => Scenario::report(),
            Self::Beyond => Scenario::beyond(),
        }
    }
}

impl Servers {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let all = servers::find(&servers::folder(self.folder.as_deref())).map_err(sentence)?;
        let chosen = self.choose(&all)?;
        if self.list {
            return list(&chosen);
        }
        let scenarios = self.planned();
        servers::ready(&chosen, &scenarios)?;
        let out = OutDir::create(&self.out).map_err(sentence)?;
        let folder = Scratch::make()?;
        let mut options = self.options(&folder)?;
        if let Some(budget) = self.budget {
            options.repetitions =
                servers::repetitions_within(budget, &chosen, &scenarios, &options);
        }
        let stop = Stop::default();
        listen(&stop)?;

        let mut progress = Progress::begin();
        progress.say(&estimate(&chosen, &scenarios, &options));
        let result = servers::run(&chosen, &scenarios, &options, &stop, &mut |event| {
            progress.tell_servers(&event);
        })?;
        progress.end();

        leave(&out, &result, self.json)?;
        if stop.asked() {
            progress.say("ended early: the files hold what was measured");
            return Ok(ExitCode::from(ENDED_EARLY));
        }
        if !result.environment.complete {
            progress.say("the budget had no time for the rest: the files hold what was measured");
        }
        Ok(ExitCode::SUCCESS)
    }

    fn choose<'s>(&self, all: &'s [Server]) -> Result<Vec<&'s Server>, String> {
        let unknown = |pattern: &&String| !all.iter().any(|s| s.is_called(pattern));
        if let Some(pattern) = self.subjects.iter().find(unknown) {
            let ids: Vec<&str> = all.iter().map(|s| s.id.as_str()).collect();
            return Err(format!(
                "no server has `{pattern}` in its id; there are {}",
                ids.join(", ")
            ));
        }
        let is_chosen = |s: &&Server| {
            self.subjects.is_empty() || self.subjects.iter().any(|pattern| s.is_called(pattern))
        };
        Ok(all.iter().filter(is_chosen).collect())
    }

    /// The set's scenarios, as far as they are asked for, or with other connections.
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

    fn options(&self, folder: &Scratch) -> Result<Options, String> {
        let seed = self.seed.unwrap_or_else(some_seed);
        let own = std::env::current_exe().map_err(|e| format!("this program is not found: {e}"))?;
        Ok(Options {
            repetitions: self.rounds.unwrap_or(if self.quick { 1 } else { 3 }),
            budget: self.budget,
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
            command: repeated(self.seed.is_none().then_some(seed)),
            loader: vec![own.into(), OsString::from("lab"), OsString::from("load")],
            folder: folder.0.clone(),
        })
    }
}

/// Where the run's keys and the servers' data folders are: this user's alone, and gone with the run.
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Result<Self, String> {
        use std::os::unix::fs::DirBuilderExt;
        let name = format!("jeton-servers-{}-{}", std::process::id(), some_seed());
        let path = std::env::temp_dir().join(name);
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&path)
            .map_err(|e| format!("{} cannot be made: {e}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left of it is in the system's folder for such files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn list(servers: &[&Server]) -> Result<ExitCode, String> {
    let mut out = String::new();
    for server in servers {
        let manifest = &server.manifest;
        out.push_str(&format!(
            "{:<16} {}\n{:16} {}\n",
            server.id, manifest.about, "", manifest.libraries
        ));
        if let Some(need) = server.recipe().missing_command() {
            out.push_str(&format!("{:16} not available here: needs `{need}`\n", ""));
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
        .filter(|s| s.recipe().missing_command().is_none() && cache.stale(s.recipe()))
        .count();
    let first = match stale {
        0 => String::new(),
        n => format!(", after building {n} of them (a first build takes minutes)"),
    };
    let rates = match options.pacing.loads() {
        1 => String::new(),
        n => format!(" × {n} rates"),
    };
    format!(
        "about {}: {} servers × {} scenarios{rates} × {} rounds of {} s{first}",
        in_words(takes),
        servers.len(),
        scenarios.len(),
        options.repetitions,
        options.measured.as_secs_f64(),
    )
}
