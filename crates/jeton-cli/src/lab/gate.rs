//! `jeton lab gate`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jeton_lab::across::{Disturbed, Regression, gate};
use jeton_lab::report::visible;
use jeton_lab::stats::verdict::PRACTICAL_DIFFERENCE;

use super::destination::written;
use super::{results, terminal};

/// A pipeline stops on it.
const REGRESSED: u8 = 1;

/// Say whether a result has become slower than a baseline: exit 0 no, 1 yes, 2 cannot be judged
///
/// A subject is a regression (exit 1, each named) if its time is up by more than all of: the
/// threshold, the noise floors of both files, and what unchanged subjects differ by from run to run,
/// with its whole interval above 1; or if the baseline measured it and it now crashes, hangs or
/// fails its checks. Figures are those of `jeton lab compare`. Only time is judged.
///
/// It cannot be judged (exit 2) if the two were measured on different machines, if one was disturbed
/// (unless --allow-noisy), if they have no subject in common, or if nothing in common could be told
/// from a regression. Subjects that did not change have not become slower. Those that only one file
/// has, or that are not available any more, are listed and decide nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab gate --baseline main.json
  jeton lab gate --baseline main.json branch/results.json --threshold 10%
  jeton lab gate --baseline main.json --subject rust/jeton
  jeton lab gate --baseline main.json --json | jq .regressions

Measure the baseline on the machine of the gate, with the same suites and rounds; a baseline of
another machine cannot be judged by.")]
pub(super) struct Gate {
    /// The result to be judged
    #[arg(default_value = "jeton-lab/results.json")]
    result: PathBuf,

    /// The result to judge by
    #[arg(long, value_name = "FILE")]
    baseline: PathBuf,

    /// What is let through: from 2% up; where the noise is wider, the noise counts
    #[arg(long, value_name = "N%", default_value = "5%", value_parser = threshold)]
    threshold: f64,

    /// Judge only subjects whose id holds this; * stands for anything; may be given again
    #[arg(long = "subject", value_name = "PATTERN")]
    subjects: Vec<String>,

    /// Judge runs that other work disturbed as they are
    #[arg(long)]
    allow_noisy: bool,

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
        let found = gate(&before, &after, self.threshold, disturbed, &self.subjects)
            .map_err(|why| format!("cannot be judged: {why}"))?;
        if self.json {
            super::json(&found)?;
        } else {
            let shown = terminal::gate_summary(&found, terminal::columns());
            written(anstream::stdout().write_all(shown.as_bytes()))?;
        }
        for regression in &found.regressions {
            anstream::eprintln!("{}", regression_line(regression));
        }
        Ok(if found.regressions.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(REGRESSED)
        })
    }
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
