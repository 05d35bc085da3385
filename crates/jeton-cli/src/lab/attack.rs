//! `jeton lab attack`.

mod target;
mod together;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use jeton_lab::Stop;
use jeton_lab::attack::{self, Attack, Event, Extent, Options, TargetOptions};
use jeton_lab::driver::{Cache, Driver};
use jeton_lab::report::{junit, sarif};
use jeton_lab::result::{AttackOutcome, OutDir, RunResult};

use super::destination::written;
use super::progress::{Progress, in_words};
use super::repro_command::repeated;
use super::run::{budget, building_first, listen, some_seed};
use super::write_outputs::leave;
use super::{Drivers, ENDED_EARLY, runtimes, sentence, terminal};
use target::TargetArgs;

/// A pipeline stops on it.
const FOUND: u8 = 1;

/// Attack every library with what must be refused, and say who accepts it
///
/// Every token and key is made fresh, and each has a control: a twin without the fault, which must be
/// accepted, or else the row is void and says nothing. A library is called in two ways where its
/// driver knows both: by the shortest call of its documentation (defaults), and with every check on
/// that it documents (documented). What is accepted is kept with its token and key.
///
/// Findings are of the versions that were run, and say what was seen. Exit 0 whatever is found,
/// unless --fail-on says otherwise.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab attack                                  everything, in under ten minutes
  jeton lab attack --subject golang-jwt --attack alg-none
  jeton lab attack --quick                          what takes no time, with fewer algorithms
  jeton lab attack --list                           every attack, and the check that it defeats
  jeton lab attack --subject 'go/*:jwt:documented' --fail-on accepted,crashed
  jeton lab attack --subject mine --fail-on accepted --junit attack.xml --sarif attack.sarif
  jeton lab attack --target http://127.0.0.1:8080/introspect --target-key signing.jwk
  jeton lab attack --target grpc://127.0.0.1:8420/jeton.v1.TokenService/Verify \
      --target-token-field 3 --target-field 2=api --target-key signing.jwk

Ctrl-C ends the run and keeps the libraries that were finished (exit 130).")]
pub(super) struct Verb {
    /// Only this attack; may be given again
    #[arg(long = "attack", value_name = "NAME")]
    attacks: Vec<String>,

    /// Only subjects whose driver:format:practice holds this; * stands for anything; may be given again
    #[arg(long = "subject", value_name = "PATTERN")]
    subjects: Vec<String>,

    /// Fewer algorithms, and nothing that takes time: no cost is measured and no expiry waited for
    #[arg(long, conflicts_with_all = ["seconds", "corpus"])]
    quick: bool,

    /// How often every token is made, each time with other keys; what has to be waited for is tried once
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["seconds", "corpus"],
          value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,

    /// What it may take, like 90s or 10m: a driver that is not done by then says so [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = budget, conflicts_with_all = ["seconds", "corpus"])]
    budget: Option<Duration>,

    /// Exit 1 if a subject came to one of these: accepted, crashed, hung, over-limit
    #[arg(long, value_name = "OUTCOME", value_delimiter = ',', value_parser = finding)]
    fail_on: Vec<AttackOutcome>,

    /// Write a JUnit report: a test for each attack on each subject
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write a SARIF report of what was found
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Fuzz for so many seconds instead: changed tokens, tokens of odd claims and changed keys go to all
    /// libraries of a format at once, and where they disagree the smallest is kept in
    /// disagreements.json; exit 1 if jeton took a changed token
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: Option<u64>,

    /// With --seconds, add what is new to this file of cases; alone, judge its cases again, and exit 1
    /// if a version that it knows judges otherwise
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,

    /// The seed of every random choice [default: another one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Leave out drivers that are not built
    #[arg(long)]
    built_only: bool,

    /// List the attacks, and run none
    #[arg(long)]
    list: bool,

    /// Where results.json and report.html go; those of another verb are kept under another name
    #[arg(long, value_name = "DIR", default_value = "jeton-lab")]
    out: PathBuf,

    /// Print the result file on standard output instead of the tables
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    drivers: Drivers,

    #[command(flatten)]
    runtimes: runtimes::One,

    // Its own heading: whatever came after it would stand under that too.
    #[command(flatten)]
    target: TargetArgs,
}

impl Verb {
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
        let out = OutDir::create(&self.out).map_err(sentence)?;
        let stop = Stop::default();
        listen(&stop)?;

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
        let result = attack::run(&drivers, &options, &stop, &mut |event| match event {
            Event::Building(driver) => progress.step(&format!("building {driver}"), 0, 1),
            Event::Unavailable { driver, reason } => {
                progress.say(&format!("left out: {driver}: {reason}"));
            }
            Event::Attacked {
                driver,
                took,
                done,
                of,
            } => {
                let seconds = took.as_secs();
                progress.step(
                    &format!("attacking: {driver} is done in {seconds} s"),
                    done,
                    of,
                );
            }
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
        let left = leave(out, result, self.json);
        for (path, text) in [
            (&self.junit, junit::text as fn(&RunResult) -> String),
            (&self.sarif, sarif::text),
        ] {
            if let Some(path) = path {
                jeton_lab::result::write_whole(path, text(result).as_bytes()).map_err(sentence)?;
            }
        }
        left?;
        if stop.asked() {
            anstream::eprintln!("ended early: the files hold the libraries that were finished");
            return Ok(ExitCode::from(ENDED_EARLY));
        }
        if !result.environment.complete {
            anstream::eprintln!(
                "the budget had no time for every library: the rows of the others say so"
            );
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

    /// Whether every attack that is named exists.
    fn known(&self) -> Result<(), String> {
        let known: BTreeSet<&str> = Attack::all().iter().map(|a| a.id).collect();
        let unknown = self.attacks.iter().find(|a| !known.contains(a.as_str()));
        match unknown {
            Some(name) => Err(format!(
                "there is no attack `{name}`; `jeton lab attack --list` has them all"
            )),
            None => Ok(()),
        }
    }

    fn nothing(&self) -> String {
        let patterns = self.subjects.join(", ");
        format!(
            "no subject is called anything like {patterns}; a subject is driver:format:practice, as in go/golang-jwt:jwt:defaults"
        )
    }

    fn options(&self, seed: u64) -> Options {
        Options {
            attacks: self.attacks.clone(),
            subjects: self.subjects.clone(),
            extent: match self.quick {
                true => Extent::Quick,
                false => Extent::Everything,
            },
            rounds: self.rounds,
            budget: self.budget,
            seed,
            command: repeated(self.seed.is_none().then_some(seed)),
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
        .filter(|d| d.missing_command().is_none() && options.cache.stale(d.recipe()))
        .count();
    format!(
        "about {}: {} attacks on {} drivers{}",
        in_words(takes),
        estimate.attacks,
        estimate.drivers.len(),
        building_first(stale)
    )
}

fn finding(name: &str) -> Result<AttackOutcome, String> {
    let outcome = AttackOutcome::named(name).filter(|o| o.is_finding());
    outcome.ok_or_else(|| "one of accepted, crashed, hung, over-limit".to_owned())
}
