//! `jeton-lab import`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jeton_lab_load::import::{Report, Server, result};
use jeton_lab_model::result::to_text;

use super::destination::Destination;
use crate::shell::quoted;

/// Import ghz reports as a lab result
///
/// Each scenario becomes a row that is marked as imported, with ghz's latencies in the lab's histogram.
/// Several reports of one scenario are its repetitions. The result lacks what ghz does not record: the
/// server's CPU time and memory, and the machine.
///
/// These inputs are errors (exit 2): a file that is not a ghz JSON report; a report without the latency of
/// every call (a summary, or more than a million calls); a call other than GenerateJwt; an open loop,
/// because ghz measures latency from when it sent a call, not from when the call was due.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton-lab export ghz --target 127.0.0.1:8420 -o ghz.json
  ghz --config ghz.json -o measured.json
  jeton-lab import measured.json --name go/mine --cores 1 -o imported.json
  jeton-lab report imported.json")]
pub(super) struct Import {
    /// Reports written by `ghz --format json`
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    /// Name of the server
    #[arg(long, value_name = "NAME")]
    name: String,

    /// Number of cores of the server
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    cores: u32,

    #[command(flatten)]
    destination: Destination,
}

impl Import {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let read = self.files.iter().map(|file| Report::read(file));
        let reports = read.collect::<Result<Vec<Report>, String>>()?;
        let mut command = String::from("jeton-lab import");
        for file in &self.files {
            command.push(' ');
            command.push_str(&quoted(&file.display().to_string()));
        }
        command.push_str(&format!(
            " --name {} --cores {}",
            quoted(&self.name),
            self.cores
        ));
        let server = Server {
            name: self.name,
            cores: self.cores,
        };
        let imported = result(&reports, &server, &command)
            .ok_or_else(|| "the files contain no report".to_owned())?;
        let sources: Vec<&PathBuf> = self.files.iter().collect();
        self.destination.text(&to_text(&imported), &sources)
    }
}
