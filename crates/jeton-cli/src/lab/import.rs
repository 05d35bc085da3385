//! `jeton lab import`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use jeton_lab::result::to_bytes;
use jeton_lab::servers::import::{Report, Server, result};

use super::destination::Destination;
use super::sentence;
use crate::shell::quoted;

/// Make a result of what ghz measured
///
/// Each scenario is a row, marked as imported, with ghz's own calls in the lab's histogram; several
/// reports of one scenario are its repetitions. What ghz does not know is not there: the server's CPU
/// time and memory, and the machine.
///
/// Refused, with what is wrong (exit 2): what is no JSON of ghz, a report without every call's latency
/// (a summary, or one of more than a million calls), another call than GenerateJwt, and an open loop,
/// in which ghz counts a latency from when it sent a call and not from when the call was due.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab export ghz --target 127.0.0.1:8420 -o ghz.json
  ghz --config ghz.json -o measured.json
  jeton lab import measured.json --name go/mine --cores 1 -o imported.json
  jeton lab report imported.json")]
pub(super) struct Import {
    /// What `ghz --format json` wrote
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,

    /// What the server is called
    #[arg(long, value_name = "NAME")]
    name: String,

    /// How many cores the server had
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    cores: u32,

    #[command(flatten)]
    destination: Destination,
}

impl Import {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let read = self.files.iter().map(|file| Report::read(file));
        let reports = read.collect::<Result<Vec<Report>, String>>()?;
        let mut command = String::from("jeton lab import");
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
            .ok_or_else(|| "there is no report to import".to_owned())?;
        let json = String::from_utf8(to_bytes(&imported)).map_err(sentence)?;
        let sources: Vec<&PathBuf> = self.files.iter().collect();
        self.destination.text(&json, &sources)
    }
}
