//! `jeton lab run`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use jeton_lab::driver::runtime::Equipped;
use jeton_lab::driver::{Cache, Driver};
use jeton_lab::result::OutDir;
use jeton_lab::runner::{self, FULL_BUDGET, Options, Pace, QUICK_BUDGET};
use jeton_lab::suite::{
    Choice, ClaimsSets, Extent, OWN, Operation, OwnClaims, Plan, STANDARD, SWEEP, Suite, plan,
};
use jeton_lab::{Stop, suite};

use crate::time;

use super::advice::Advice;
use super::claims::{self, Chosen};
use super::progress::{Progress, in_words};
use super::repro_command::repeated;
use super::write_outputs::leave;
use super::{Drivers, ENDED_EARLY, runtimes, sentence};

/// Measure token formats, algorithms and libraries side by side
///
/// Builds the drivers it can, lets every library verify every other's tokens and refuse forged
/// ones, then times them in randomised rounds. A library that fails a check is not timed, and
/// the report says what it did.
///
/// Drivers run on the Go, Node, JDK and CPython whose commands are on PATH; the report names them, and
/// says which are out of support. `--runtimes` takes others.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab run --quick                     a small choice of everything, in 90 seconds
  jeton lab run libraries                   which library, with believable intervals
  jeton lab run libraries --subject jeton --subject golang-jwt
  jeton lab run algorithms --quick --out /tmp/algorithms
  jeton lab run --budget 10m                as many rounds as fit
  jeton lab run libraries --claims mine.json --operation verify
  jeton lab run --sweep --subject jeton     from 1 byte to 1 MB
  jeton lab run libraries --threads 1,2
  jeton lab run --need confidentiality,cookie-budget=4096,languages=go+node
  jeton lab run libraries --subject 'java/*' --runtimes all
  jeton lab run --runtimes newest           after `cargo xtask setup --runtimes`

Ctrl-C ends the run and keeps the rounds that were finished (exit 130).")]
pub(super) struct Run {
    /// libraries, formats or algorithms [default: all three]
    #[arg(value_name = "SUITE")]
    suites: Vec<String>,

    /// Shorter batches and fewer rounds; all three suites in 90 seconds
    #[arg(long)]
    quick: bool,

    /// Rounds: visits to every subject [default: 12]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    rounds: Option<u32>,

    /// What the measuring may take, like 90s or 10m: fewer rounds if need be [default: 58m, quick 87s]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    budget: Option<Duration>,

    /// Only subjects whose id holds this; * stands for anything; may be given again
    #[arg(long = "subject", value_name = "PATTERN")]
    subjects: Vec<String>,

    /// Only this contract: sign, verify, round-trip, …; may be given again
    #[arg(long = "operation", value_name = "NAME")]
    operations: Vec<String>,

    /// The claims: a file, - for standard input, a JSON object, or the name of a set like
    /// report1-large; may be given again [default: standard]
    #[arg(long, value_name = "FILE|-|JSON|NAME", allow_hyphen_values = true)]
    claims: Vec<OsString>,

    /// Claims of 1 byte to 1 MB, with one algorithm of each kind
    #[arg(long, conflicts_with = "claims")]
    sweep: bool,

    /// Threads, each number with everything: 1,2,4
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1",
          value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: Vec<u32>,

    /// All algorithms with all content encryptions, for jeton and a peer of each language
    #[arg(long, conflicts_with_all = ["quick", "sweep"])]
    full: bool,

    /// 30 rounds, and new processes for each third of them: the spread shows what memory layout does
    #[arg(long, conflicts_with = "quick")]
    publish: bool,

    /// The seed of the order of the rounds [default: another one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Where results.json and report.html go; those of another verb are kept under another name
    #[arg(long, value_name = "DIR", default_value = "jeton-lab")]
    out: PathBuf,

    #[command(flatten)]
    advice: Advice,

    /// Print the result file on standard output instead of the tables
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
        let plan = plan(&drivers, &choice).map_err(sentence)?;
        let out = OutDir::create(&self.out).map_err(sentence)?;
        let options = self.options(own_claims);
        let stop = Stop::default();
        listen(&stop)?;

        let mut progress = Progress::begin();
        progress.say(&estimate(&plan, &drivers, &options));
        let is_measured =
            |language: &str| plan.cases.iter().any(|(case, _)| case.language == language);
        for old in left_out.iter().filter(|r| is_measured(&r.language)) {
            let (name, found) = (old.label(), &old.found);
            progress.say(&format!(
                "left out: {name} ({found}) is older than the drivers need"
            ));
        }
        let mut result = runner::run(&plan, &drivers, &options, &stop, &mut |event| {
            progress.tell(&event);
        });
        progress.end();

        if !result.environment.complete && result.environment.rounds_finished == 0 {
            progress.say("ended before the first round was finished: nothing was written");
            return Ok(ExitCode::from(ENDED_EARLY));
        }
        asked.advise(&mut result);
        leave(&out, &result, self.json)?;
        Ok(if result.environment.complete {
            ExitCode::SUCCESS
        } else {
            progress.say("ended early: the files hold the rounds that were finished");
            ExitCode::from(ENDED_EARLY)
        })
    }

    fn suites(&self) -> Result<Vec<Suite>, String> {
        if self.suites.is_empty() {
            return Ok(Suite::ALL.to_vec());
        }
        let named = self.suites.iter().map(|name| Suite::named(name));
        named.collect::<Result<_, _>>().map_err(sentence)
    }

    fn extent(&self) -> Extent {
        match (self.sweep, self.full, self.quick, self.suites.is_empty()) {
            (true, ..) => Extent::Narrow,
            (_, true, ..) => Extent::Full,
            (_, _, true, true) => Extent::Glance,
            (_, _, true, false) => Extent::Quick,
            _ => Extent::Usual,
        }
    }

    fn operations(&self) -> Result<Vec<Operation>, String> {
        let named = self.operations.iter().map(|name| Operation::named(name));
        named.collect::<Result<_, _>>().map_err(sentence)
    }

    /// The names of the claims sets, and the user's own claims if one of them is that.
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
                        "claims of your own can be given once; sets by name as often as you like"
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
        // Who says how many rounds, or asks for more than the usual, has the time for it.
        let more = self.rounds.is_some() || self.full || self.publish || self.sweep;
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
            command: repeated(self.seed.is_none().then_some(seed)),
            cache: Cache::default(),
            own_claims,
        }
    }
}

/// Each once, in the order in which they were given.
fn distinct<T: Clone + PartialEq>(given: &[T]) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for one in given {
        if !kept.contains(one) {
            kept.push(one.clone());
        }
    }
    kept
}

/// The first signal asks the run to end, and a second one ends it at once: the drivers end with
/// their input.
pub(super) fn listen(stop: &Stop) -> Result<(), String> {
    let stop = stop.clone();
    let asked = AtomicBool::new(false);
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(ENDED_EARLY));
        }
        stop.request();
    })
    .map_err(|e| format!("cannot listen to Ctrl-C: {e}"))
}

fn estimate(plan: &Plan, drivers: &[Driver], options: &Options) -> String {
    let cases: Vec<suite::Case> = plan.cases.iter().map(|(c, _)| c.clone()).collect();
    let estimate = options.pace.estimate(&cases);
    // Where the core is shared, it waits for one of its own.
    let takes = match options.budget {
        Some(most) if estimate < most => {
            format!("{}, {} at most", in_words(estimate), in_words(most))
        }
        Some(most) => in_words(most),
        None => in_words(estimate),
    };
    let needed = |d: &&Driver| cases.iter().any(|c| c.driver == d.id);
    let stale = drivers
        .iter()
        .filter(needed)
        .filter(|d| d.missing_command().is_none() && options.cache.stale(d.recipe()))
        .count();
    let first = building_first(stale);
    format!(
        "about {takes}: {} cells × {} rounds of {} × {} ms{first}",
        cases.len() + options.pace.aa_pairs,
        options.pace.rounds,
        options.pace.batches,
        options.pace.batch.as_millis(),
    )
}

/// What the end of an estimate says of drivers that have to be built before.
pub(super) fn building_first(stale: usize) -> String {
    match stale {
        0 => String::new(),
        1 => ", after building 1 driver (a first build takes a minute or two)".into(),
        n => format!(", after building {n} drivers (a first build takes a few minutes)"),
    }
}

pub(super) fn budget(text: &str) -> Result<Duration, String> {
    match time::duration(text)? {
        Duration::ZERO => Err("a budget is a second or more".to_owned()),
        budget => Ok(budget),
    }
}

pub(super) fn some_seed() -> u64 {
    let now = jiff::Timestamp::now().as_nanosecond();
    // Short enough to be typed again.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "any digits do"
    )]
    let digits = (now / 1000) as u64 % 1_000_000;
    digits
}
