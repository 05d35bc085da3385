//! `jeton lab gate`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jeton_lab::multi_run::{
    AcrossCpus, Disturbed, Judged, Outcome, Question, Regression, Unjudgeable, gate,
};
use jeton_lab::report::visible;
use jeton_lab::stats::verdict::PRACTICAL_DIFFERENCE;

use super::destination::written;
use super::{machines_differ, results, terminal};
use crate::output;

/// A pipeline stops on it.
const REGRESSED: u8 = 1;

/// It must not go on as if nothing were.
const UNDECIDED: u8 = 2;

/// Say whether a result has become slower than a baseline: exit 0 no, 1 yes, 2 undecided
///
/// A subject is a regression (exit 1, each named) if its time is up by more than both the threshold
/// and the noise band, with its whole interval above 1; or if the baseline measured it and it now
/// crashes, hangs or fails its checks. The band is the widest of 2 %, the noise floors of both files, and
/// how far apart the controls lie: subjects that did not change. What all controls differ by together
/// is the machine, and is taken out first. Ratios, intervals and bands are those of `jeton lab compare`,
/// and are printed with what set the band. Only time is judged.
///
/// A subject whose band or interval is wider than the threshold is undecided. If an undecided subject
/// came out slower than the threshold, or nothing that changed could be decided, the exit code is
/// 2. A control is undecided if it takes half as long again or more; other controls have not become
/// slower.
///
/// Exit 2 also if the two are of different CPUs or machines (unless --across-cpus), if one was disturbed
/// (unless --allow-noisy), or if they have no subject in common. Subjects that only one file has, or
/// that are not available any more, are listed and decide nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab gate --baseline main.json
  jeton lab gate --baseline main.json branch/results.json --threshold 10%
  jeton lab gate --baseline main.json --subject rust/jeton
  jeton lab gate --baseline main.json --json | jq '.outcome, .regressions'

Measure the baseline on the machine of the gate, with the same suites and rounds, and along with
subjects that do not change.")]
pub(super) struct Gate {
    /// The result to be judged
    #[arg(default_value = "jeton-lab/results.json")]
    result: PathBuf,

    /// The result to judge by
    #[arg(long, value_name = "FILE")]
    baseline: PathBuf,

    /// What is let through: from 2% up
    #[arg(long, value_name = "N%", default_value = "5%", value_parser = threshold)]
    threshold: f64,

    /// Judge only subjects whose id holds this; * stands for anything; may be given again
    #[arg(long = "subject", value_name = "PATTERN")]
    subjects: Vec<String>,

    /// Judge runs that other work disturbed as they are
    #[arg(long)]
    allow_noisy: bool,

    /// Judge results of different CPUs or machines all the same
    #[arg(long)]
    across_cpus: bool,

    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
}

impl Gate {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let before = results::read(&self.baseline)?;
        let after = results::read(&self.result)?;
        let [before, after] = [&before, &after].map(visible::result);
        let disturbed = if self.allow_noisy {
            Disturbed::Allow
        } else {
            Disturbed::Refuse
        };
        let question = Question {
            threshold: self.threshold,
            disturbed,
            across_cpus: AcrossCpus::when(self.across_cpus),
            subjects: self.subjects,
        };
        let found = match gate(&before, &after, &question) {
            Ok(found) => found,
            Err(Unjudgeable::AnotherMachine(differences)) => {
                return Ok(machines_differ(&differences));
            }
            Err(why) => return Err(format!("cannot be judged: {why}")),
        };
        if self.json {
            super::json(&found)?;
        } else {
            let shown = terminal::gate_summary(&found, terminal::columns());
            written(anstream::stdout().write_all(shown.as_bytes()))?;
        }
        for regression in &found.regressions {
            anstream::eprintln!("{}", regression_line(regression));
        }
        let open: Vec<&Judged> = found.rows.iter().filter(|row| row.is_open()).collect();
        for row in &open {
            anstream::eprintln!("{}", undecided_line(row, found.threshold));
        }
        Ok(match found.outcome {
            Outcome::NoRegression => ExitCode::SUCCESS,
            Outcome::Regression => ExitCode::from(REGRESSED),
            Outcome::Undecided => {
                if open.is_empty() {
                    anstream::eprintln!(
                        "undecided: none of the {} that changed can be told from a regression",
                        found.undecided
                    );
                }
                output::hint(
                    "measure both again with more rounds and more subjects that do not change, as with: jeton lab run --rounds 30",
                );
                ExitCode::from(UNDECIDED)
            }
        })
    }
}

/// What could be a regression, and why that cannot be said.
fn undecided_line(row: &Judged, threshold: f64) -> String {
    let [low, high] = row.interval;
    let why = if row.is_control {
        "it is the same code in both, so something changed that the results do not know of"
            .to_owned()
    } else if row.band > threshold {
        let set_by = terminal::set_by_words(&row.band_set_by);
        format!(
            "the noise band reaches {:.3}, set by {set_by}",
            1.0 + row.band
        )
    } else {
        format!("its interval begins below {:.3}", 1.0 + threshold)
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
            "regression: {what} takes {ratio:.3} times as long ({low:.3} to {high:.3}), and {:.3} is let through",
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
        Some(_) => Err("a threshold is from 2% to 1000%: less is not believed of two runs".into()),
        None => Err("a threshold is a number with a per cent sign, like 5%".into()),
    }
}
