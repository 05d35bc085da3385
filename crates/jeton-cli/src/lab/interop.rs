//! `jeton lab interop`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use jeton_lab::Stop;
use jeton_lab::driver::{Cache, Driver};
use jeton_lab::interop::{self, Choice, Extent, Options, Plan};
use jeton_lab::result::OutDir;

use super::progress::{Progress, in_words};
use super::repro_command::repeated;
use super::run::{budget, listen, some_seed};
use super::write_outputs::leave;
use super::{Drivers, ENDED_EARLY, runtimes, sentence};

/// Let every library verify every other's tokens
///
/// One key for each algorithm, made by the lab and given to everybody as JWK or PASERK, and as PEM
/// where the library reads it. Every driver makes a token, and every driver is given every token:
/// what it accepts must have the claims that went in, and it must refuse the same token with one bit
/// changed, or all that it accepted is void. Every cell that is not verified has an explanation, or
/// is counted as unexplained.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab interop                          every algorithm, every pair
  jeton lab interop --quick                  one algorithm of each kind
  jeton lab interop --subject jeton          jeton with everybody, both ways
  jeton lab interop --alg ES256 --alg 'RSA-OAEP*'
  jeton lab interop --alg ES512 --rounds 300  with three hundred keys
  jeton lab interop --json | jq '.rows[] | select(.explanation)'

It exits with 0 when it ran, whatever it saw; the result has a row for each pair. Ctrl-C ends it and
keeps the algorithms that were finished (exit 130).")]
pub(super) struct Interop {
    /// One algorithm of each kind, and every version of PASETO
    #[arg(long)]
    quick: bool,

    /// Only pairs in which this takes part, by a part of the driver's id; * stands for anything;
    /// may be given again
    #[arg(long = "subject", value_name = "PATTERN")]
    subjects: Vec<String>,

    /// Only this algorithm: ES256, dir+A256GCM, v4.public, jwe; * stands for anything; may be given
    /// again
    #[arg(long = "alg", value_name = "NAME")]
    algs: Vec<String>,

    /// How often each algorithm is exchanged, every time with another key: what goes wrong with one key
    /// or signature in many, a number that begins with a zero say, needs many
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// What it may take, like 90s or 10m: algorithms that are left then are left out [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    budget: Option<Duration>,

    /// The seed of the order in which tokens are given [default: another one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

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
}

impl Interop {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let drivers = self.runtimes.equip(&self.drivers.find()?).drivers;
        let choice = Choice {
            subjects: self.subjects.clone(),
            algs: self.algs.clone(),
            extent: if self.quick {
                Extent::Quick
            } else {
                Extent::Everything
            },
        };
        let plan = interop::plan(&drivers, &choice).map_err(sentence)?;
        let out = OutDir::create(&self.out).map_err(sentence)?;
        let seed = self.seed.unwrap_or_else(some_seed);
        let options = Options {
            rounds: self.rounds,
            budget: self.budget,
            seed,
            command: repeated(self.seed.is_none().then_some(seed)),
            cache: Cache::default(),
        };
        let stop = Stop::default();
        listen(&stop)?;

        let mut progress = Progress::begin();
        progress.say(&estimate(&plan, &drivers, &options));
        let result = interop::run(&plan, &drivers, &options, &stop, &mut |event| {
            progress.tell_interop(&event);
        });
        progress.end();

        if !result.environment.complete && result.rows.is_empty() {
            progress.say("ended before the first algorithm was finished: nothing was written");
            return Ok(ExitCode::from(ENDED_EARLY));
        }
        leave(&out, &result, self.json)?;
        Ok(if stop.asked() {
            progress.say("ended early: the files hold the algorithms that were finished");
            ExitCode::from(ENDED_EARLY)
        } else {
            ExitCode::SUCCESS
        })
    }
}

fn estimate(plan: &Plan, drivers: &[Driver], options: &Options) -> String {
    let ids = plan.drivers();
    let estimate = plan.estimate(options.rounds);
    let takes = options.budget.map_or(estimate, |b| b.min(estimate));
    let stale = drivers
        .iter()
        .filter(|d| ids.contains(&d.id.as_str()))
        .filter(|d| d.missing_command().is_none() && options.cache.stale(d.recipe()))
        .count();
    let rounds = match options.rounds {
        1 => String::new(),
        n => format!("{n} rounds of "),
    };
    format!(
        "about {}: {rounds}{} exchanges of {} kinds of token between {} drivers{}",
        in_words(takes),
        plan.exchanges(),
        plan.exchanges.len(),
        ids.len(),
        super::run::building_first(stale)
    )
}
