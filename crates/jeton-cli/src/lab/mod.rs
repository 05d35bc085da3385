//! `jeton lab`: measure, list, show again, set side by side.

mod advice;
mod attack;
mod claims;
mod compare;
mod destination;
mod doctor;
mod export;
mod gate;
mod import;
mod interop;
mod list;
mod load;
mod merge;
mod progress;
mod report;
mod repro_command;
mod results;
mod run;
mod runtimes;
mod servers;
mod terminal;
mod write_outputs;

use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use jeton_lab::driver::{self, Driver};
use jeton_lab::multi_run::Difference;
use jeton_lab::report::visible;
use serde::Serialize;

use crate::output;

/// A run that was ended early has written what it finished, and says so with this code.
const ENDED_EARLY: u8 = 130;

#[derive(Debug, Args)]
pub(crate) struct Lab {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Run(run::Run),
    Attack(Box<attack::Verb>),
    Interop(interop::Interop),
    Servers(servers::Servers),
    Load(load::Load),
    Export(export::Export),
    Import(import::Import),
    List(list::List),
    Doctor(doctor::Doctor),
    Report(report::Report),
    Compare(compare::Compare),
    Gate(gate::Gate),
    Merge(merge::Merge),
}

/// Where the drivers are.
#[derive(Debug, Args)]
struct Drivers {
    /// The folder of the drivers [default: JETON_DRIVERS, or that of jeton's checkout]
    #[arg(long = "drivers", value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl Lab {
    pub(crate) fn run(self) -> ExitCode {
        let done = match self.verb {
            Verb::Run(run) => run.run(),
            Verb::Attack(attack) => attack.run(),
            Verb::Interop(interop) => interop.run(),
            Verb::Servers(servers) => servers.run(),
            Verb::Load(load) => load.run(),
            Verb::Export(export) => export.run(),
            Verb::Import(import) => import.run(),
            Verb::List(list) => list.run(),
            Verb::Doctor(doctor) => doctor.run(),
            Verb::Report(report) => report.run(),
            Verb::Compare(compare) => compare.run(),
            Verb::Gate(gate) => gate.run(),
            Verb::Merge(merge) => merge.run(),
        };
        done.unwrap_or_else(|reason| {
            // What is wrong with a file may be told in the file's own words.
            let lines: Vec<_> = reason.lines().map(visible::text).collect();
            output::error(lines.join("\n"));
            ExitCode::from(2)
        })
    }
}

impl Drivers {
    fn find(&self) -> Result<Vec<Driver>, String> {
        let folder = driver::folder(self.folder.as_deref());
        driver::find(&folder).map_err(sentence)
    }
}

/// An error as the one line that is shown of it.
fn sentence(error: impl Display) -> String {
    error.to_string()
}

/// The exit code of two results that are not judged because they are of different machines, when
/// it was said what differs and what can be done.
fn machines_differ(differences: &[Difference]) -> ExitCode {
    let list: Vec<String> = differences.iter().map(ToString::to_string).collect();
    output::error(format!(
        "the two results are of different machines, and a ratio would be the machines' as much as the subjects': {}",
        list.join("; ")
    ));
    output::hint("measure both on one machine, or add --across-cpus to judge them all the same");
    ExitCode::from(2)
}

/// An answer for machines.
fn json(value: &impl Serialize) -> Result<ExitCode, String> {
    let text = serde_json::to_string_pretty(value).map_err(sentence)?;
    output::json_line(&text).map_err(|failure| failure.with_hint())?;
    Ok(ExitCode::SUCCESS)
}
