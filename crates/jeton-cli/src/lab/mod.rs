//! `jeton lab`: measures, lists, reports and compares.

mod advice;
mod attack;
mod check;
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
mod published;
mod report;
mod repro_command;
mod results;
mod run;
mod runtimes;
mod servers;
mod write_outputs;

use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use jeton_lab_harness::driver::{self, Driver};
use jeton_lab_report::multi_run::Difference;
use jeton_lab_report::visible;
use serde::Serialize;

use crate::output;

/// Exit code of a run that Ctrl-C ended early; its files hold what was finished.
const ENDED_EARLY: u8 = 130;

#[derive(Debug, Args)]
pub(crate) struct Lab {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Debug, Subcommand)]
enum LabCommand {
    Run(run::Run),
    Attack(Box<attack::AttackArgs>),
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
    Check(check::Check),
}

/// The option that locates the drivers.
#[derive(Debug, Args)]
struct Drivers {
    /// Folder of the drivers [default: JETON_DRIVERS, or the one in jeton's checkout]
    #[arg(long = "drivers", value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl Lab {
    pub(crate) fn run(self) -> ExitCode {
        let done = match self.command {
            LabCommand::Run(run) => run.run(),
            LabCommand::Attack(attack) => attack.run(),
            LabCommand::Interop(interop) => interop.run(),
            LabCommand::Servers(servers) => servers.run(),
            LabCommand::Load(load) => load.run(),
            LabCommand::Export(export) => export.run(),
            LabCommand::Import(import) => import.run(),
            LabCommand::List(list) => list.run(),
            LabCommand::Doctor(doctor) => doctor.run(),
            LabCommand::Report(report) => report.run(),
            LabCommand::Compare(compare) => compare.run(),
            LabCommand::Gate(gate) => gate.run(),
            LabCommand::Merge(merge) => merge.run(),
            LabCommand::Check(check) => check.run(),
        };
        done.unwrap_or_else(|reason| {
            // The message may quote text from a file: escape control characters.
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

/// Formats an error as the one line that is printed.
fn sentence(error: impl Display) -> String {
    error.to_string()
}

/// Prints what differs between the machines of two results, and returns the exit code.
fn machines_differ(differences: &[Difference]) -> ExitCode {
    let list: Vec<String> = differences.iter().map(ToString::to_string).collect();
    output::error(format!(
        "cannot compare the two results: they come from different machines: {}",
        list.join("; ")
    ));
    output::hint("measure both on one machine, or pass --across-cpus to compare them anyway");
    ExitCode::from(2)
}

/// Prints a value as JSON.
fn json(value: &impl Serialize) -> Result<ExitCode, String> {
    let text = serde_json::to_string_pretty(value).map_err(sentence)?;
    output::json_line(&text).map_err(|failure| failure.with_hint())?;
    Ok(ExitCode::SUCCESS)
}
