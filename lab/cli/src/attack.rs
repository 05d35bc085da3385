//! `jeton-lab attack`.

mod target;
mod together;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use jeton_lab_conformance::attack::{self, Attack, Extent, Options, TargetOptions};
use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::{Cache, Driver};
use jeton_lab_model::result::{AttackOutcome, OutDir, RunResult};
use jeton_lab_report::terminal;
use jeton_lab_report::{junit, sarif};

use super::destination::written;
use super::measuring::{budget, building_first, handle_ctrl_c, some_seed};
use super::progress::{Progress, rounded};
use super::repro_command::repro_command;
use super::write_outputs::write_outputs;
use super::{Drivers, ENDED_EARLY, runtimes};
use target::TargetArgs;

/// Exit code: a finding that the user asked to fail on.
const FOUND: u8 = 1;

/// Send every library tokens and keys that it must reject, and report what it accepts
///
/// All tokens and keys are new in each run. Each negative control has a positive control: the same token
/// without the fault, which must be accepted; otherwise the row is void. If a driver supports it,
/// a library is called in two ways: with the shortest call of its documentation (defaults), and with
/// every documented check enabled (documented). Accepted tokens are stored with their keys.
///
/// Findings apply to the tested versions. The exit code is 0 even with findings, unless --fail-on
/// selects them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton-lab attack                                  all attacks, in less than ten minutes
  jeton-lab attack --subject golang-jwt --attack alg-none
  jeton-lab attack --quick                          fewer algorithms, no attacks that need time
  jeton-lab attack --list                           all attacks, and the checks that they defeat
  jeton-lab attack --subject 'go/*:jwt:documented' --fail-on accepted,crashed
  jeton-lab attack --subject mine --fail-on accepted --junit attack.xml --sarif attack.sarif
  jeton-lab attack --target http://127.0.0.1:8080/introspect --target-key signing.jwk
  jeton-lab attack --target grpc://127.0.0.1:8420/jeton.v1.TokenService/Verify \
      --target-token-field 3 --target-field 2=api --target-key signing.jwk

Ctrl-C ends the run and keeps the finished libraries (exit 130).")]
pub(super) struct AttackArgs {
    /// Run only this attack (repeatable)
    #[arg(long = "attack", value_name = "NAME")]
    attacks: Vec<String>,

    /// Filter by part of driver:format:practice (`*` matches anything; repeatable)
    #[arg(long = "subject", value_name = "PATTERN")]
    subjects: Vec<String>,

    /// Use fewer algorithms; skip attacks that measure cost or wait for expiry
    #[arg(long, conflicts_with_all = ["seconds", "corpus"])]
    quick: bool,

    /// Number of repetitions with new keys; attacks that wait for time run once
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["seconds", "corpus"],
          value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,

    /// Time limit, for example 90s or 10m; unfinished drivers are reported as unfinished [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = budget, conflicts_with_all = ["seconds", "corpus"])]
    budget: Option<Duration>,

    /// Exit with 1 on these outcomes: accepted, crashed, hung, over-limit
    #[arg(long, value_name = "OUTCOME", value_delimiter = ',', value_parser = finding)]
    fail_on: Vec<AttackOutcome>,

    /// Write a JUnit report with one test per attack and subject
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write a SARIF report of the findings
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Fuzz for this many seconds instead: send changed tokens, unusual claims and changed keys to all
    /// libraries of a format, and write the smallest inputs on which they disagree to
    /// disagreements.json; exit with 1 if jeton accepts a changed token
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: Option<u64>,

    /// With --seconds, add new disagreements to this corpus file; without it, replay the file and exit
    /// with 1 if a recorded version now decides differently
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,

    /// Seed of all random choices [default: a new seed for each run]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Skip drivers that are not built
    #[arg(long)]
    built_only: bool,

    /// List the attacks and exit
    #[arg(long)]
    list: bool,

    /// Folder for results.json and report.html; results of another lab command there are renamed
    #[arg(long, value_name = "DIR", default_value = "jeton-lab")]
    out: PathBuf,

    /// Print the result as JSON instead of tables
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    drivers: Drivers,

    #[command(flatten)]
    runtimes: runtimes::One,

    // Last, because its help heading would also cover the options after it.
    #[command(flatten)]
    target: TargetArgs,
}

impl AttackArgs {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        if self.list {
            return written(
                anstream::stdout().write_all(terminal::attacks(&Attack::all()).as_bytes()),
            );
        }
        self.known()?;
        let seed = self.seed.unwrap_or_else(some_seed);
        let options = self.options(seed);
        let command = options.command.clone();
        let target = self.target.options(&self.attacks, seed, command)?;
        let drivers = match target {
            Some(_) => Vec::new(),
            None => self.runtimes.equip(&self.drivers.find()?).drivers,
        };
        let out = OutDir::create(&self.out)?;
        let stop = Stop::default();
        handle_ctrl_c(&stop)?;

        if let Some(options) = target {
            return self.target(&out, &options, &stop);
        }
        let corpus = self.corpus.as_deref();
        if let Some(seconds) = self.seconds {
            let time = Duration::from_secs(seconds);
            return together::fuzz(time, corpus, &drivers, &out, &options, &stop);
        }
        if let Some(corpus) = corpus {
            return together::replay(corpus, &drivers, &options, &stop);
        }
        let mut progress = Progress::begin();
        progress.say(&estimate(&drivers, &options));
        let result = attack::run(&drivers, &options, &stop, &mut |event| {
            progress.tell_attack(&event);
        });
        progress.end();
        if result.rows.is_empty() {
            return Err(self.nothing());
        }
        self.write(&out, &result, &stop)
    }

    fn target(
        &self,
        out: &OutDir,
        options: &TargetOptions,
        stop: &Stop,
    ) -> Result<ExitCode, String> {
        let mut progress = Progress::begin();
        let result = attack::run_target(options, stop, |done, of| {
            progress.step("attacking the target", done, of);
        })?;
        progress.end();
        self.write(out, &result, stop)
    }

    fn write(&self, out: &OutDir, result: &RunResult, stop: &Stop) -> Result<ExitCode, String> {
        let left = write_outputs(out, result, self.json);
        for (path, text) in [
            (&self.junit, junit::text as fn(&RunResult) -> String),
            (&self.sarif, sarif::text),
        ] {
            if let Some(path) = path {
                jeton_lab_model::result::write_whole(path, text(result).as_bytes())?;
            }
        }
        left?;
        if stop.asked() {
            anstream::eprintln!("ended early: the files hold the finished libraries");
            return Ok(ExitCode::from(ENDED_EARLY));
        }
        if !result.environment.complete {
            anstream::eprintln!("time limit reached: unfinished libraries have incomplete rows");
        }
        let failing: Vec<String> = result
            .rows
            .attack
            .iter()
            .filter(|r| r.outcome.is_some_and(|o| self.fail_on.contains(&o)))
            .map(|r| {
                let outcome = r.outcome.map_or("", AttackOutcome::name);
                let practice = r.practice.name();
                format!(
                    "{} {}:{}:{practice}: {}",
                    outcome, r.subject.driver, r.format, r.attack
                )
            })
            .collect();
        for line in &failing {
            anstream::eprintln!("{line}");
        }
        Ok(if failing.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(FOUND)
        })
    }

    /// Checks that every selected attack exists.
    fn known(&self) -> Result<(), String> {
        let known: BTreeSet<&str> = Attack::all().iter().map(|a| a.id).collect();
        let unknown = self.attacks.iter().find(|a| !known.contains(a.as_str()));
        match unknown {
            Some(name) => Err(format!(
                "--attack: unknown attack `{name}`; list the attacks with `jeton-lab attack --list`"
            )),
            None => Ok(()),
        }
    }

    fn nothing(&self) -> String {
        let patterns = self.subjects.join(", ");
        format!(
            "--subject: no subject matches {patterns}; a subject is driver:format:practice, for example go/golang-jwt:jwt:defaults"
        )
    }

    fn options(&self, seed: u64) -> Options {
        Options {
            attacks: self.attacks.clone(),
            subjects: self.subjects.clone(),
            extent: if self.quick {
                Extent::Quick
            } else {
                Extent::Everything
            },
            rounds: self.rounds,
            budget: self.budget,
            seed,
            command: repro_command(self.seed.is_none().then_some(seed)),
            cache: Cache::default(),
            built_only: self.built_only,
            workers: std::thread::available_parallelism()
                .map_or(1, std::num::NonZero::get)
                .min(4),
        }
    }
}

fn estimate(drivers: &[Driver], options: &Options) -> String {
    let estimate = attack::estimate(drivers, options);
    let takes = options
        .budget
        .map_or(estimate.takes, |b| b.min(estimate.takes));
    let stale = (estimate.drivers.iter())
        .filter(|d| d.unmet().is_none() && options.cache.stale(d.recipe()))
        .count();
    format!(
        "about {}: {} attacks on {} drivers{}",
        rounded(takes),
        estimate.attacks,
        estimate.drivers.len(),
        building_first(stale)
    )
}

fn finding(name: &str) -> Result<AttackOutcome, String> {
    let outcome = AttackOutcome::named(name).filter(|o| o.is_finding());
    outcome.ok_or_else(|| "expected one of: accepted, crashed, hung, over-limit".to_owned())
}
