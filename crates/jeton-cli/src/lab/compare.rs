//! `jeton lab compare`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jeton_lab::multi_run::{AcrossCpus, compare};
use jeton_lab::report::visible;

use super::destination::written;
use super::{machines_differ, results, terminal};

/// Set the same subjects of two result files side by side: before, after, ratio, verdict
///
/// Two runs are not interleaved: nothing cancels between them that cancels within a round. So the
/// intervals are unpaired (Welch's t on logarithms, right together for all that is compared).
/// Controls are subjects that did not change (same version, sources, lockfile, runtime and kernel). What
/// they differ by together is the machine, and is taken out of the ratios. A difference is believed
/// only beyond the band: the widest of 2 %, the noise floors of both files, and how far apart the
/// controls lie besides. The band and what set it are printed. A ratio below 1 means that AFTER is faster.
///
/// Results of different CPUs (model name, family, model, stepping, flags) or machines are not judged
/// without --across-cpus: exit 2.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab run libraries --out before
  (upgrade a library, or change one)
  jeton lab run libraries --out after
  jeton lab compare before/results.json after/results.json

Measure subjects that do not change along with the one that does: they show what the runs
themselves differ by. To decide between two versions, measure both in one run instead.")]
pub(super) struct Compare {
    /// The earlier result, or - for standard input
    before: PathBuf,

    /// The later result, or - for standard input
    after: PathBuf,

    /// Judge results of different CPUs or machines all the same
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
        let compared = compare(&before, &after, AcrossCpus::when(self.across_cpus));
        if !self.across_cpus && !compared.another_machine.is_empty() {
            return Ok(machines_differ(&compared.another_machine));
        }
        if self.json {
            return super::json(&compared);
        }
        let names = [&self.before, &self.after].map(|path| path.display().to_string());
        let shown = terminal::comparison(&compared, &names, terminal::columns());
        written(anstream::stdout().write_all(shown.as_bytes()))
    }
}
