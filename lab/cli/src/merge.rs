//! `jeton-lab merge`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jeton_lab_model::result::to_text;
use jeton_lab_report::multi_run::{Named, merge};

use super::destination::Destination;
use super::results;
use crate::shell::quoted;

/// Merge results of several runs of the same plan on the same machine
///
/// The merged result has all rounds, the seeds of the runs, and all recorded disturbances. Its noise floor
/// and verdicts are computed again. From six runs on, each run counts as one value: processes restart
/// with each run, so the intervals then include effects of memory layout.
///
/// These differences are errors (exit 2, nothing is written): another machine, kernel or runtime; another
/// plan; another version, driver source or lockfile; other claims or token sizes; the same run
/// twice. The message names the difference and the two files. A row that one run could not measure stays
/// unmeasured, with the reason.
///
/// Results of `lab servers` merge only with each other. Repetitions with the same scenario, call and rate
/// are added; both results must then have the same servers. Other loads are copied.
///
/// Results of `lab attack` and `lab interop` can be added to a run of the same code. They then answer the
/// published claims about security. Libraries that accept tokens from a party without a key are not
/// recommended.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  for i in 1 2 3 4 5 6; do jeton-lab run libraries --out run-$i; done
  jeton-lab merge run-*/results.json -o merged.json
  jeton-lab merge run/results.json attack/results.json -o whole.json
  jeton-lab merge servers-1/results.json servers-2/results.json -o servers.json
  jeton-lab report merged.json")]
pub(super) struct Merge {
    /// Result files, at least two; - for standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    destination: Destination,
}

impl Merge {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let mut results = Vec::new();
        let mut command = String::from("jeton-lab merge");
        for path in &self.files {
            let name = path.display().to_string();
            command.push(' ');
            command.push_str(&quoted(&name));
            let result = results::read(path)?;
            results.push(Named { name, result });
        }
        let merged = merge(results, &command)?;
        let sources: Vec<&PathBuf> = self.files.iter().collect();
        self.destination.text(&to_text(&merged), &sources)
    }
}
