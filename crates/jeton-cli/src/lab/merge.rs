//! `jeton lab merge`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jeton_lab::multi_run::{Named, merge};
use jeton_lab::result;

use super::destination::Destination;
use super::{results, sentence};
use crate::shell::quoted;

/// Make one result of several runs of the same plan on the same machine
///
/// The merged result has all rounds, the seeds of the runs, and whatever disturbed any of them; its
/// noise floor and verdicts are drawn again. From six runs on, verdicts take each run as one value:
/// processes start anew with each run, and what a process keeps for its life (memory layout) is
/// then in the intervals.
///
/// Refused, with what differs and between which two (exit 2, nothing written): another machine,
/// kernel or runtime; another plan; another version, driver source or lockfile; other claims or token
/// sizes; the same run twice. A row that one run could not measure is not measured, and says why.
///
/// Results of `lab servers` are merged with each other alone: repetitions are added where scenario, call
/// and rate are the same, for which both must have the same servers; what only one has comes through as
/// it is.
///
/// A result of `lab attack` or `lab interop` stands beside the runs, if it is about the same code: the
/// claims about security are then answered from it, and whoever lets somebody without a key past is
/// not recommended.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  for i in 1 2 3 4 5 6; do jeton lab run libraries --out run-$i; done
  jeton lab merge run-*/results.json -o merged.json
  jeton lab merge run/results.json attack/results.json -o whole.json
  jeton lab merge servers-1/results.json servers-2/results.json -o servers.json
  jeton lab report merged.json")]
pub(super) struct Merge {
    /// Two result files or more; - is standard input
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    destination: Destination,
}

impl Merge {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let mut results = Vec::new();
        let mut command = String::from("jeton lab merge");
        for path in &self.files {
            let name = path.display().to_string();
            command.push(' ');
            command.push_str(&quoted(&name));
            let result = results::read(path)?;
            results.push(Named { name, result });
        }
        let merged = merge(results, &command).map_err(sentence)?;
        let json = String::from_utf8(result::to_bytes(&merged)).map_err(sentence)?;
        let sources: Vec<&PathBuf> = self.files.iter().collect();
        self.destination.text(&json, &sources)
    }
}
