//! `jeton lab run`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use jeton_lab::driver::{Cache, Driver};
use jeton_lab::report::html;
use jeton_lab::result::OutDir;
use jeton_lab::runner::{self, Options, Pace, QUICK_BUDGET};
use jeton_lab::suite::{Extent, Plan, Suite, plan};
use jeton_lab::{Stop, suite};

use crate::time;

use super::progress::{Progress, in_words};
use super::{Drivers, ENDED_EARLY, sentence, terminal};

/// Measure token formats, algorithms and libraries side by side
///
/// Builds the drivers it can, lets every library verify every other's tokens and refuse forged
/// ones, then times them in randomised rounds. A library that fails a check is not timed, and
/// the report says what it did.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab run --quick                     a small choice of everything, in 90 seconds
  jeton lab run libraries                   which library, with believable intervals
  jeton lab run libraries --subject jeton --subject golang-jwt
  jeton lab run algorithms --quick --out /tmp/algorithms
  jeton lab run --budget 10m                as many rounds as fit

Ctrl-C ends the run and keeps the rounds that were finished (exit 130).")]
pub(super) struct Run {
    /// libraries, formats or algorithms [default: all three]
    #[arg(value_name = "SUITE")]
    suites: Vec<String>,

    /// Shorter batches and fewer rounds; all three suites in 90 seconds
    #[arg(long)]
    quick: bool,

    /// Rounds: visits to every subject [default: 12, quick 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1000))]
    rounds: Option<u32>,

    /// What the measuring may take, like 90s or 10m: fewer rounds if need be [default: quick 85s]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    budget: Option<Duration>,

    /// Only subjects whose id holds this; * stands for anything; may be given again
    #[arg(long = "subject", value_name = "PATTERN")]
    subjects: Vec<String>,

    /// The seed of the order of the rounds [default: another one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Where results.json and report.html go
    #[arg(long, value_name = "DIR", default_value = "jeton-lab")]
    out: PathBuf,

    /// Let advice be drawn from a run that other work disturbed
    #[arg(long)]
    allow_noisy: bool,

    /// Print the result file on standard output instead of the tables
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    drivers: Drivers,
}

impl Run {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let suites = self.suites()?;
        let drivers = self.drivers.find()?;
        let extent = match (self.quick, self.suites.is_empty()) {
            (true, true) => Extent::Glance,
            (true, false) => Extent::Quick,
            (false, _) => Extent::Usual,
        };
        let plan = plan(&drivers, &suites, extent, &self.subjects).map_err(sentence)?;
        let out = OutDir::create(&self.out).map_err(sentence)?;
        let options = self.options();
        let stop = Stop::default();
        listen(&stop)?;

        let mut progress = Progress::begin();
        progress.say(&estimate(&plan, &drivers, &options));
        let result = runner::run(&plan, &drivers, &options, &stop, &mut |event| {
            progress.tell(&event);
        });
        progress.end();

        if !result.environment.complete && result.environment.rounds_finished == 0 {
            progress.say("ended before the first round was finished: nothing was written");
            return Ok(ExitCode::from(ENDED_EARLY));
        }
        let file = out.write_result(&result).map_err(sentence)?;
        let page = html::page(&result);
        let page = out
            .write("report.html", page.as_bytes())
            .map_err(sentence)?;
        let stdout = &mut anstream::stdout().lock();
        let shown = if self.json {
            serde_json::to_writer_pretty(&mut *stdout, &result).map_err(sentence)?;
            writeln!(stdout)
        } else {
            let files = [file, page];
            let shown = terminal::show(&result, terminal::columns(), self.allow_noisy);
            write!(stdout, "{shown}")
                .and_then(|()| writeln!(stdout, "\n{}\n{}", files[0].display(), files[1].display()))
        };
        // A reader that closed the pipe has seen what it wanted; the files are there.
        drop(shown);
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

    fn options(&self) -> Options {
        let mut pace = if self.quick { Pace::QUICK } else { Pace::FULL };
        pace.rounds = self.rounds.unwrap_or(pace.rounds);
        let quick_budget = (self.quick && self.rounds.is_none()).then_some(QUICK_BUDGET);
        let seed = self.seed.unwrap_or_else(some_seed);
        let mut command: Vec<String> = vec!["jeton".into()];
        command.extend(std::env::args().skip(1));
        if self.seed.is_none() {
            command.extend(["--seed".into(), seed.to_string()]);
        }
        Options {
            pace,
            budget: self.budget.or(quick_budget),
            seed,
            command: command.join(" "),
            cache: Cache::default(),
        }
    }
}

/// The first signal asks the run to end, and a second one ends it at once: the drivers end with
/// their input.
fn listen(stop: &Stop) -> Result<(), String> {
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
    let cells: Vec<suite::Cell> = plan.cells.iter().map(|(c, _)| c.clone()).collect();
    let estimate = options.pace.estimate(&cells);
    let takes = options.budget.map_or(estimate, |b| b.min(estimate));
    let needed = |d: &&Driver| cells.iter().any(|c| c.driver == d.id);
    let stale = drivers
        .iter()
        .filter(needed)
        .filter(|d| d.missing_command().is_none() && options.cache.stale(d))
        .count();
    let first = match stale {
        0 => String::new(),
        1 => ", after building 1 driver (a first build takes a minute or two)".into(),
        n => format!(", after building {n} drivers (a first build takes a few minutes)"),
    };
    format!(
        "about {}: {} cells × {} rounds of 3 × {} ms{first}",
        in_words(takes),
        cells.len() + options.pace.twins,
        options.pace.rounds,
        options.pace.batch.as_millis(),
    )
}

fn budget(text: &str) -> Result<Duration, String> {
    match time::duration(text)? {
        Duration::ZERO => Err("a budget is a second or more".to_owned()),
        budget => Ok(budget),
    }
}

fn some_seed() -> u64 {
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
