//! `jeton lab doctor`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use jeton_lab::driver::{self, Tool, toolchains};
use jeton_lab::host::{Setting, State, settings};
use serde::Serialize;

use super::destination::written;
use super::{Drivers, sentence, terminal};

/// Say which toolchains and machine settings are there or missing, and what each costs
///
/// Asks every tool for its version and watches the machine for a second; nothing is built, measured
/// or changed. What is missing costs what stands beside it, and the lab does without: exit 0.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton lab doctor
  jeton lab doctor --json | jq '.machine[] | select(.state == \"costs\")'")]
pub(super) struct Doctor {
    /// Print it as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    drivers: Drivers,
}

#[derive(Debug, Serialize)]
struct Findings {
    toolchains: Vec<Tool>,
    machine: Vec<Setting>,
    /// Why the drivers could not be read, if they could not.
    drivers: Option<String>,
}

impl Doctor {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let folder = driver::folder(self.drivers.folder.as_deref());
        let (drivers, trouble) = match driver::find(&folder) {
            Ok(drivers) => (drivers, None),
            // The machine can be looked at all the same: that is what one calls a doctor for.
            Err(e) => (Vec::new(), Some(sentence(e))),
        };
        let findings = Findings {
            toolchains: toolchains(&drivers),
            machine: settings(),
            drivers: trouble,
        };
        if self.json {
            return super::json(&findings);
        }
        let text = findings.text(terminal::columns());
        written(anstream::stdout().write_all(text.as_bytes()))
    }
}

impl Findings {
    fn text(&self, columns: usize) -> String {
        let mut out = String::from("Toolchains\n");
        for tool in &self.toolchains {
            let missing = tool.version.is_none();
            let cost = match tool.needed_by.as_slice() {
                [] => String::new(),
                needed if missing => format!("left out of every run: {}", needed.join(", ")),
                _ => String::new(),
            };
            let found = tool.version.as_deref().unwrap_or("missing");
            entry(
                &mut out,
                mark(missing && !cost.is_empty()),
                &tool.command,
                found,
                &cost,
                columns,
            );
        }
        if let Some(trouble) = &self.drivers {
            let _ = writeln!(out, "! {trouble}");
        }
        out.push_str("\nMachine\n");
        for setting in &self.machine {
            let mark = match setting.state {
                State::Good => ' ',
                State::Costs => '!',
                State::Unknown => '?',
            };
            let cost = setting.cost.as_deref().unwrap_or_default();
            entry(&mut out, mark, setting.name, &setting.found, cost, columns);
        }
        out.push_str("\n! costs something, ? the machine does not say\n");
        out
    }
}

fn mark(costs: bool) -> char {
    if costs { '!' } else { ' ' }
}

fn entry(out: &mut String, mark: char, name: &str, found: &str, cost: &str, columns: usize) {
    let _ = writeln!(out, "{mark} {name:<21} {found}");
    if !cost.is_empty() {
        for line in terminal::wrapped(cost, columns.saturating_sub(24)) {
            let _ = writeln!(out, "{:24}{line}", "");
        }
    }
}
