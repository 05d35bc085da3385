//! The `jeton-lab` command: measures and attacks token formats, algorithms, libraries and servers.
//!
//! Results go to standard output, diagnostics to standard error. Exit codes: 0 success; 1 a check found a problem;
//! 2 invalid usage, or a file could not be read or written; 130 Ctrl-C ended a run early.

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
mod measuring;
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

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};
use jeton_lab_harness::driver::{self, Driver};
use jeton_lab_report::multi_run::Difference;
use jeton_lab_report::visible;
// Modules of this program name them as their own.
use jeton_terminal::{args, input, json, manual, output, shell, source, time, width};
use serde::Serialize;

/// Exit code of a run that Ctrl-C ended early; its files hold what was finished.
const ENDED_EARLY: u8 = 130;

const EXAMPLES: &str = "\
Examples:
  jeton-lab run --quick
  jeton-lab attack
  jeton-lab servers
  jeton-lab report jeton-lab/results.json

With the program `jeton` beside it, `jeton lab` is the same command.

Exit codes: 0 success; 1 a check found a problem; 2 invalid usage, or a file could not be read or written; 130 Ctrl-C \
ended a run early.";

/// Measure and attack token formats, algorithms, libraries and servers
#[derive(Debug, Parser)]
#[command(
    name = "jeton-lab",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = EXAMPLES
)]
struct JetonLab {
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
    Completions(manual::Completions),
    Man(manual::Man),
}

/// The option that locates the drivers.
#[derive(Debug, Args)]
struct Drivers {
    /// Folder of the drivers [default: JETON_DRIVERS, or the one in jeton's checkout]
    #[arg(long = "drivers", value_name = "DIR")]
    folder: Option<PathBuf>,
}

fn main() -> ExitCode {
    match args::parse::<JetonLab>() {
        Ok(lab) => lab.run(),
        Err(code) => code,
    }
}

impl JetonLab {
    fn run(self) -> ExitCode {
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
            LabCommand::Completions(completions) => {
                return output::report(completions.run(JetonLab::command()));
            }
            LabCommand::Man(man) => return output::report(man.run(JetonLab::command())),
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
        driver::find(&folder)
    }
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
    let text = serde_json::to_string_pretty(value).map_err(|e| e.to_string())?;
    output::json_line(&text).map_err(|failure| failure.with_hint())?;
    Ok(ExitCode::SUCCESS)
}
