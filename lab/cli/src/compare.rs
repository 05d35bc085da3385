//! `jeton-lab compare`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jeton_lab_report::multi_run::compare;
use jeton_lab_report::terminal;
use jeton_lab_report::visible;

use super::destination::written;
use super::{machines_differ, results};
use crate::width;

/// Compare the same subjects of two result files: before, after, ratio, verdict
///
/// Two runs are not interleaved, so drift of the machine does not cancel between them. The intervals are
/// therefore unpaired (Welch's t on logarithms, simultaneous for all compared subjects).
///
/// Controls are subjects whose version, sources, lockfile, runtime and kernel did not change. Their common
/// shift is attributed to the machine and removed from the ratios of subjects that have such a control of
/// their kind, on as many threads. A difference counts only beyond the noise band: the widest of 2 %, the
/// noise floors of both files, and the remaining spread of the controls. The output shows the band and
/// what set it. A ratio below 1 means that AFTER is faster.
///
/// Results of different machines or CPUs (model name, family, model, stepping, flags) are compared only
/// with --across-cpus; otherwise the exit code is 2.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton-lab run libraries --out before
  (upgrade a library, or change one)
  jeton-lab run libraries --out after
  jeton-lab compare before/results.json after/results.json

Measure unchanged subjects along with the changed one: they show how far the runs themselves differ. \
To decide between two versions, measure both in one run instead.")]
pub(super) struct Compare {
    /// Earlier result file, or - for standard input
    before: PathBuf,

    /// Later result file, or - for standard input
    after: PathBuf,

    /// Compare results of different CPUs or machines anyway
    #[arg(long)]
    across_cpus: bool,

    /// Print the comparison as JSON
    #[arg(long)]
    json: bool,
}

impl Compare {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let before = results::read(&self.before)?;
        let after = results::read(&self.after)?;
        let [before, after] = [&before, &after].map(visible::result);
        let compared = compare(&before, &after, self.across_cpus);
        if !self.across_cpus && !compared.another_machine.is_empty() {
            return Ok(machines_differ(&compared.another_machine));
        }
        if self.json {
            return super::json(&compared);
        }
        let names = [&self.before, &self.after].map(|path| path.display().to_string());
        let shown = terminal::comparison(&compared, &names, width::columns());
        written(anstream::stdout().write_all(shown.as_bytes()))
    }
}
