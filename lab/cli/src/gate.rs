//! `jeton-lab gate`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jeton_lab_report::multi_run::{
    Gate as Found, Judged, Outcome, Question, Regression, Ruling, SetBy, Unjudgeable, gate,
};
use jeton_lab_report::terminal;
use jeton_lab_report::visible;
use jeton_lab_stats::verdict::PRACTICAL_DIFFERENCE;

use super::destination::written;
use super::{machines_differ, results};
use crate::{output, width};

/// Exit code: at least one subject became slower or broke.
const REGRESSED: u8 = 1;

/// Exit code: the results do not decide. A pipeline must not treat this as a pass.
const UNDECIDED: u8 = 2;

/// Fail if a result is slower than a baseline: exit 0 no regression, 1 regression, 2 undecided
///
/// A subject regressed (exit 1) if its time increased by more than both the threshold and the noise band,
/// with its whole interval above 1. A subject also regressed if the baseline measured it and it now
/// crashes, hangs, fails its checks or does not build. Only time is compared. Ratios, intervals and bands
/// are those of `jeton-lab compare`; the output shows what set each band.
///
/// A subject is undecided if its band or interval is wider than the threshold. The exit code is 2 in three
/// cases: an undecided subject is slower than the threshold; its noise is not known and its interval ends
/// above the threshold; no changed subject could be decided. A control (an unchanged subject) is undecided
/// if its time increased by 50 % or more.
///
/// The exit code is also 2 if both files hold the same run, if the results come from different CPUs or
/// machines (unless --across-cpus), if a run was disturbed (unless --allow-noisy), or if the files have no
/// subject in common. Subjects that cannot be compared, for example because only one file has them, are
/// listed, and are not regressions. If the baseline measured them and their code may have changed, other
/// changed subjects must pass.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton-lab gate --baseline main.json
  jeton-lab gate --baseline main.json branch/results.json --threshold 10%
  jeton-lab gate --baseline main.json --subject rust/jeton
  jeton-lab gate --baseline main.json --json | jq '.outcome, .regressions'

Measure the baseline on the same machine, with the same suites and rounds, and include unchanged \
subjects.")]
pub(super) struct Gate {
    /// Result file to check
    #[arg(default_value = "jeton-lab/results.json")]
    result: PathBuf,

    /// Result file to compare with
    #[arg(long, value_name = "FILE")]
    baseline: PathBuf,

    /// Largest accepted increase in time, from 2% to 1000%
    #[arg(long, value_name = "N%", default_value = "5%", value_parser = threshold)]
    threshold: f64,

    /// Filter by part of a subject id (`*` matches anything; repeatable)
    #[arg(long = "subject", value_name = "PATTERN")]
    subjects: Vec<String>,

    /// Accept disturbed runs
    #[arg(long)]
    allow_noisy: bool,

    /// Compare results of different CPUs or machines anyway
    #[arg(long)]
    across_cpus: bool,

    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

impl Gate {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let before = results::read(&self.baseline)?;
        let after = results::read(&self.result)?;
        let [before, after] = [&before, &after].map(visible::result);
        let question = Question {
            threshold: self.threshold,
            allow_noisy: self.allow_noisy,
            across_cpus: self.across_cpus,
            subjects: self.subjects,
        };
        let found = match gate(&before, &after, &question) {
            Ok(found) => found,
            Err(Unjudgeable::AnotherMachine(differences)) => {
                return Ok(machines_differ(&differences));
            }
            Err(why) => return Err(format!("cannot compare the results: {why}")),
        };
        if self.json {
            super::json(&found)?;
        } else {
            let shown = terminal::gate_summary(&found, width::columns());
            written(anstream::stdout().write_all(shown.as_bytes()))?;
        }
        for regression in &found.regressions {
            anstream::eprintln!("{}", regression_line(regression));
        }
        let open: Vec<&Judged> = found.rows.iter().filter(|row| row.is_open).collect();
        for row in &open {
            anstream::eprintln!("{}", undecided_line(row, found.threshold));
        }
        Ok(match found.outcome {
            Outcome::NoRegression => ExitCode::SUCCESS,
            Outcome::Regression => ExitCode::from(REGRESSED),
            Outcome::Undecided => {
                for line in &found.contradictory {
                    anstream::eprintln!("undecided: {line}");
                }
                if open.is_empty() && found.contradictory.is_empty() {
                    anstream::eprintln!(
                        "undecided: a regression can be excluded for 0 of {} changed subjects",
                        found.undecided + found.unjudged_changed
                    );
                }
                output::hint(way_out(&found));
                ExitCode::from(UNDECIDED)
            }
        })
    }
}

/// Returns what makes an undecided gate decide.
fn way_out(found: &Found) -> &'static str {
    let mut undecided = (found.rows.iter()).filter(|row| row.ruling == Ruling::Undecided);
    if undecided.any(|row| matches!(row.band_set_by, SetBy::NoNoiseFloor { .. })) {
        // More rounds give no noise floor.
        "measure both again with this version of the lab: it measures A/A pairs on each number of threads"
    } else if found.undecided == 0 {
        "measure the subjects that are not compared again, with the same suites and claims in both, or judge others with --subject"
    } else {
        "measure both again with more rounds and more unchanged subjects, for example: jeton-lab run --rounds 30"
    }
}

/// Explains why a subject may have regressed but is undecided.
fn undecided_line(row: &Judged, threshold: f64) -> String {
    let [low, high] = row.interval;
    let why = if row.is_control {
        "the code is the same in both results, so something changed that the results do not record"
            .to_owned()
    } else if row.band > threshold {
        let set_by = terminal::describe_set_by(&row.band_set_by);
        format!("the noise band reaches {:.3}: {set_by}", 1.0 + row.band)
    } else if row.ratio > 1.0 + threshold {
        "the interval begins below 1.000".to_owned()
    } else {
        // Its ratio is below the threshold; it took longer with the common shift.
        format!("the interval ends above {:.3}", 1.0 + threshold)
    };
    format!(
        "undecided: {} takes {:.3} times as long ({low:.3} to {high:.3}; measured {:.3}): {why}",
        row.what, row.ratio, row.measured_ratio
    )
}

fn regression_line(regression: &Regression) -> String {
    match regression {
        Regression::Slower {
            what,
            ratio,
            interval: [low, high],
            beyond,
        } => format!(
            "regression: {what} takes {ratio:.3} times as long ({low:.3} to {high:.3}); accepted: up to {:.3}",
            1.0 + beyond
        ),
        Regression::Broken { what, reason } => format!("regression: {what} is {reason}"),
    }
}

/// `5%` or `7.5%`.
fn threshold(text: &str) -> Result<f64, String> {
    let digits = text.strip_suffix('%').map(str::trim);
    let percent = digits.and_then(|d| d.parse::<f64>().ok());
    match percent {
        Some(p) if (PRACTICAL_DIFFERENCE * 100.0..=1_000.0).contains(&p) => Ok(p / 100.0),
        Some(_) => Err("must be between 2% and 1000%: two runs cannot show less than 2%".into()),
        None => Err("expected a number with a percent sign, for example 5%".into()),
    }
}
