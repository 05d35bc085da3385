//! `jeton-lab run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;
use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::{Cache, Driver, Equipped};
use jeton_lab_harness::runner::{self, FULL_BUDGET, Options, Pace, QUICK_BUDGET};
use jeton_lab_harness::suite::{Choice, Extent, Plan, Suite, operation_named, plan, suite_named};
use jeton_lab_model::claims::{ClaimsSets, OWN, OwnClaims, STANDARD, SWEEP};
use jeton_lab_model::result::{OutDir, RowId};
use jeton_lab_model::{Case, Operation};
use jeton_lab_published::{
    all_works, answerable, answerable_by_servers, complete, decidable, deciding_works,
};

use super::advice::Advice;
use super::claims::{self, Chosen};
use super::measuring::{budget, building_first, handle_ctrl_c, some_seed};
use super::progress::{Progress, rounded};
use super::repro_command::repro_command;
use super::write_outputs::write_outputs;
use super::{Drivers, ENDED_EARLY, published, runtimes};

/// Measure and compare token formats, algorithms and libraries
///
/// Builds the drivers whose toolchains are installed. Every library must verify the other libraries'
/// tokens and reject forged ones. Then the libraries are timed in randomised rounds. A library that
/// fails a check is not timed; the report names the check.
///
/// Drivers run on the Go, Node, JDK and CPython found on PATH. The report names their versions and marks
/// those out of support. Use `--runtimes` to choose others.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton-lab run --quick                     a selection of all three suites, in three minutes
  jeton-lab run --all --quick               with attacks and servers: answers four public reports, in half an hour
  jeton-lab run --all                       the same with full rounds, in two hours
  jeton-lab run libraries                   compare libraries, with full rounds
  jeton-lab run libraries --subject jeton --subject golang-jwt
  jeton-lab run algorithms --quick --out /tmp/algorithms
  jeton-lab run --budget 10m                as many rounds as fit
  jeton-lab run libraries --claims mine.json --operation verify
  jeton-lab run --sweep --subject jeton     from 1 byte to 1 MB
  jeton-lab run libraries --threads 1,2
  jeton-lab run --need confidentiality,cookie-budget=4096,languages=go+node
  jeton-lab run libraries --subject 'java/*' --runtimes all
  jeton-lab run --runtimes newest           after `cargo xtask setup --runtimes`

Ctrl-C ends the run and keeps the rounds that were finished (exit 130).")]
pub(super) struct Run {
    /// Suites to run: libraries, formats or algorithms [default: all three]
    #[arg(value_name = "SUITE")]
    suites: Vec<String>,

    /// Use shorter batches and fewer rounds: all three suites take three minutes, with --all half an hour
    #[arg(long)]
    quick: bool,

    /// Answer every conclusion of the four public reports that this machine can decide: all suites, then the
    /// attacks and the servers that they need, in one result and one page
    #[arg(long, conflicts_with_all = ["suites", "subjects", "operations", "claims", "sweep", "threads"])]
    all: bool,

    /// Number of rounds; each round measures every subject once [default: 12, with --quick 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    rounds: Option<u32>,

    /// Time limit for measuring, for example 90s or 10m; runs fewer rounds if needed [default: 58m, with --quick 175s]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    budget: Option<Duration>,

    /// Filter by part of a subject id (`*` matches anything; repeatable)
    #[arg(long = "subject", value_name = "PATTERN")]
    subjects: Vec<String>,

    /// Measure only this operation, for example sign, verify or round-trip (repeatable)
    #[arg(long = "operation", value_name = "NAME")]
    operations: Vec<String>,

    /// Claims to sign: a file, - for standard input, a JSON object, or the name of a claims set such as
    /// report1-large (repeatable) [default: standard]
    #[arg(long, value_name = "FILE|-|JSON|NAME", allow_hyphen_values = true)]
    claims: Vec<OsString>,

    /// Measure claims of 1 byte to 1 MB, with one algorithm of each kind
    #[arg(long, conflicts_with = "claims")]
    sweep: bool,

    /// Thread counts to measure, for example 1,2,4; each count repeats all operations
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1",
          value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: Vec<u32>,

    /// Measure all algorithms with all content encryptions, for jeton and one library per language
    #[arg(long, conflicts_with_all = ["quick", "sweep"])]
    full: bool,

    /// Run 30 rounds and restart all processes for each third, so that the spread includes memory layout
    #[arg(long, conflicts_with = "quick")]
    publish: bool,

    /// Seed of the random order [default: a new seed for each run]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Folder for results.json and report.html; results of another lab command there are renamed
    #[arg(long, value_name = "DIR", default_value = "jeton-lab")]
    out: PathBuf,

    #[command(flatten)]
    advice: Advice,

    /// Print the result as JSON instead of tables
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    drivers: Drivers,

    #[command(flatten)]
    runtimes: runtimes::Several,
}

impl Run {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let suites = self.suites()?;
        let asked = self.advice.read()?;
        let Equipped { drivers, left_out } = self.runtimes.equip(&self.drivers.find()?);
        let (claims, own_claims) = self.claims()?;
        let mut choice = Choice::of(&suites, self.extent());
        choice.subjects.clone_from(&self.subjects);
        choice.operations = self.operations()?;
        choice.claims = claims;
        choice.threads = distinct(&self.threads);
        let works = match choice.extent {
            Extent::Glance => deciding_works(choice.concurrency),
            _ => all_works(choice.concurrency),
        };
        let plan = plan(&drivers, &choice, &works)?;
        let out = OutDir::create(&self.out)?;
        let options = self.options(own_claims);
        let stop = Stop::default();
        handle_ctrl_c(&stop)?;

        let mut progress = Progress::begin();
        progress.say(&estimate(&plan, &drivers, &options));
        if let Some(questions) = self.questions(&plan) {
            progress.say(&questions);
        }
        let is_measured =
            |language: &str| plan.cases.iter().any(|(case, _)| case.language == language);
        for old in left_out.iter().filter(|r| is_measured(&r.language)) {
            let (name, found) = (old.label(), &old.found);
            progress.say(&format!(
                "skipped: {name} ({found}) is older than the drivers require"
            ));
        }
        let mut result = runner::run(&plan, &drivers, &options, &stop, &mut |event| {
            progress.tell(&event);
        });

        if !result.environment.complete && result.environment.rounds_finished == 0 {
            progress.end();
            progress.say("ended before the first round finished: nothing was written");
            return Ok(ExitCode::from(ENDED_EARLY));
        }
        if self.is_whole() && result.environment.complete {
            published::add_attacks(&mut result, &drivers, &stop, &mut progress);
        }
        if self.all && result.environment.complete {
            published::add_servers(&mut result, self.runtimes.one(), &stop, &mut progress);
        }
        progress.end();
        complete(&mut result);
        asked.advise(&mut result);
        write_outputs(&out, &result, self.json)?;
        Ok(if result.environment.complete {
            ExitCode::SUCCESS
        } else {
            progress.say("ended early: the files hold the finished rounds");
            ExitCode::from(ENDED_EARLY)
        })
    }

    fn suites(&self) -> Result<Vec<Suite>, String> {
        if self.suites.is_empty() {
            return Ok(Suite::ALL.to_vec());
        }
        let named = self.suites.iter().map(|name| suite_named(name));
        named.collect()
    }

    /// Whether nothing is left out, so that the published conclusions about security are answered too.
    fn is_whole(&self) -> bool {
        let unfiltered = self.suites.is_empty() && self.subjects.is_empty();
        let usual_work = self.operations.is_empty() && self.claims.is_empty() && !self.sweep;
        unfiltered && usual_work && self.threads == [1]
    }

    /// Says how many conclusions of the published reports the run will answer; `None` if none.
    fn questions(&self, plan: &Plan) -> Option<String> {
        let works = plan.cases.iter().map(|(case, _)| RowId {
            subject: case.subject().id,
            operation: case.operation.name().to_owned(),
            claims: case.claims.clone(),
            threads: case.threads,
        });
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let by_servers = self.all.then(|| answerable_by_servers(cores));
        let answers = answerable(works, self.is_whole()) + by_servers.unwrap_or(0);
        let all = decidable();
        (answers > 0).then(|| {
            format!(
                "it will answer up to {answers} of the {all} conclusions of four public reports that measurements can \
                 decide"
            )
        })
    }

    fn extent(&self) -> Extent {
        if self.all && !self.full {
            return Extent::Reports;
        }
        match (self.sweep, self.full, self.quick, self.suites.is_empty()) {
            (true, ..) => Extent::Narrow,
            (_, true, ..) => Extent::Full,
            (_, _, true, true) => Extent::Glance,
            (_, _, true, false) => Extent::Quick,
            _ => Extent::Usual,
        }
    }

    fn operations(&self) -> Result<Vec<Operation>, String> {
        let named = self.operations.iter().map(|name| operation_named(name));
        named.collect()
    }

    /// Returns the names of the claims sets, and the user's own claims if given.
    fn claims(&self) -> Result<(Vec<String>, Option<OwnClaims>), String> {
        if self.sweep {
            return Ok((SWEEP.map(ClaimsSets::sweep).to_vec(), None));
        }
        let mut names = Vec::new();
        let mut own = None;
        for argument in &self.claims {
            match claims::read(argument)? {
                Chosen::Set(name) => names.push(name),
                Chosen::Own(claims) if own.is_none() => {
                    own = Some(claims);
                    names.push(OWN.to_owned());
                }
                Chosen::Own(_) => {
                    return Err(
                        "--claims: only one value may be a file, standard input or JSON; claims sets by name are repeatable"
                            .into(),
                    );
                }
            }
        }
        if names.is_empty() {
            names.push(STANDARD.to_owned());
        }
        Ok((distinct(&names), own))
    }

    fn options(&self, own_claims: Option<OwnClaims>) -> Options {
        let mut pace = match (self.quick, self.publish) {
            (true, _) => Pace::QUICK,
            (false, true) => Pace::PUBLISH,
            (false, false) => Pace::FULL,
        };
        pace.rounds = self.rounds.unwrap_or(pace.rounds);
        // An explicit request for more work lifts the default time limit.
        let more = self.rounds.is_some() || self.all || self.full || self.publish || self.sweep;
        let usual = match (more, self.quick) {
            (true, _) => None,
            (false, true) => Some(QUICK_BUDGET),
            (false, false) => Some(FULL_BUDGET),
        };
        let seed = self.seed.unwrap_or_else(some_seed);
        Options {
            pace,
            budget: self.budget.or(usual),
            seed,
            command: repro_command(self.seed.is_none().then_some(seed)),
            cache: Cache::default(),
            own_claims,
        }
    }
}

/// Removes duplicates and keeps the order.
fn distinct<T: Clone + PartialEq>(given: &[T]) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for one in given {
        if !kept.contains(one) {
            kept.push(one.clone());
        }
    }
    kept
}

fn estimate(plan: &Plan, drivers: &[Driver], options: &Options) -> String {
    let cases: Vec<Case> = plan.cases.iter().map(|(c, _)| c.clone()).collect();
    let estimate = options.pace.estimate(&cases);
    // On a shared core the run waits for undisturbed time, up to the time limit.
    let takes = match options.budget {
        Some(most) if estimate < most => {
            format!("{}, at most {}", rounded(estimate), rounded(most))
        }
        Some(most) => rounded(most),
        None => rounded(estimate),
    };
    let needed = |d: &&Driver| cases.iter().any(|c| c.driver == d.id);
    let stale = drivers
        .iter()
        .filter(needed)
        .filter(|d| d.unmet().is_none() && options.cache.stale(d.recipe()))
        .count();
    let first = building_first(stale);
    format!(
        "about {takes}: {} cases × {} rounds of {} × {} ms{first}",
        cases.len() + options.pace.pairs_of(&cases),
        options.pace.rounds,
        options.pace.batches,
        options.pace.batch.as_millis(),
    )
}
