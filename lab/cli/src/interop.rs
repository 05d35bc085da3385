//! `jeton-lab interop`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use jeton_lab_conformance::interop::{self, Choice, Extent, Options, Plan};
use jeton_lab_harness::Stop;
use jeton_lab_harness::driver::{Cache, Driver};
use jeton_lab_model::result::OutDir;

use super::measuring::{budget, building_first, handle_ctrl_c, some_seed};
use super::progress::{Progress, rounded};
use super::repro_command::repro_command;
use super::write_outputs::write_outputs;
use super::{Drivers, ENDED_EARLY, runtimes};

/// Verify the tokens of every library with every other library
///
/// The lab creates one key for each algorithm. Each driver gets it as JWK or PASERK, and as PEM if the
/// library reads PEM. Each driver issues a token, and each driver verifies all tokens. The verified
/// claims must equal the signed claims. A driver must also reject the same token with one bit changed;
/// otherwise all its results are void. Each failure has an explanation or counts as unexplained.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton-lab interop                          all algorithms, all pairs
  jeton-lab interop --quick                  one algorithm of each kind
  jeton-lab interop --subject jeton          jeton with every library, in both directions
  jeton-lab interop --alg ES256 --alg 'RSA-OAEP*'
  jeton-lab interop --alg ES512 --rounds 300  with 300 keys
  jeton-lab interop --json | jq '.rows[] | select(.explanation)'

The exit code is 0 also if tokens are rejected; the result has a row for each pair. Ctrl-C ends the \
run and keeps the finished algorithms (exit 130).")]
pub(super) struct Interop {
    /// Use one algorithm of each kind, and every PASETO version
    #[arg(long)]
    quick: bool,

    /// Filter pairs by part of a driver id (`*` matches anything; repeatable)
    #[arg(long = "subject", value_name = "PATTERN")]
    subjects: Vec<String>,

    /// Filter by algorithm or format, for example ES256, dir+A256GCM, v4.public or jwe (`*` matches
    /// anything; repeatable)
    #[arg(long = "alg", value_name = "NAME")]
    algs: Vec<String>,

    /// Number of repetitions, each with a new key; finds faults of rare keys and signatures, for example
    /// numbers with leading zeros
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,

    /// Time limit, for example 90s or 10m; the remaining algorithms are skipped [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    budget: Option<Duration>,

    /// Seed of the random order [default: a new seed for each run]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

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
        let plan = interop::plan(&drivers, &choice)?;
        let out = OutDir::create(&self.out)?;
        let seed = self.seed.unwrap_or_else(some_seed);
        let options = Options {
            rounds: self.rounds,
            budget: self.budget,
            seed,
            command: repro_command(self.seed.is_none().then_some(seed)),
            cache: Cache::default(),
        };
        let stop = Stop::default();
        handle_ctrl_c(&stop)?;

        let mut progress = Progress::begin();
        progress.say(&estimate(&plan, &drivers, &options));
        let result = interop::run(&plan, &drivers, &options, &stop, &mut |event| {
            progress.tell_interop(&event);
        });
        progress.end();

        if !result.environment.complete && result.rows.is_empty() {
            progress.say("ended before the first algorithm finished: nothing was written");
            return Ok(ExitCode::from(ENDED_EARLY));
        }
        write_outputs(&out, &result, self.json)?;
        Ok(if stop.asked() {
            progress.say("ended early: the files hold the finished algorithms");
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
        .filter(|d| d.unmet().is_none() && options.cache.stale(d.recipe()))
        .count();
    let rounds = match options.rounds {
        1 => String::new(),
        n => format!("{n} rounds of "),
    };
    format!(
        "about {}: {rounds}{} verifications of {} kinds of token between {} drivers{}",
        rounded(takes),
        plan.exchanges(),
        plan.exchanges.len(),
        ids.len(),
        building_first(stale)
    )
}
