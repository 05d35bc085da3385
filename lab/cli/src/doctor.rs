//! `jeton-lab doctor`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use jeton_lab_harness::driver::{self, Driver, Tool, toolchains};
use jeton_lab_harness::host::{Setting, State, settings};
use serde::Serialize;

use super::Drivers;
use super::destination::written;
use crate::width;

/// Check toolchains, library versions and machine settings for measuring
///
/// Asks every tool for its version and watches the machine for one second. It builds, measures and
/// changes nothing. The version and the release date of each library are those of its driver's manifest. Each problem is shown with its effect on measurements. The exit code is always 0:
/// the lab also runs without missing tools.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jeton-lab doctor
  jeton-lab doctor --json | jq '.machine[] | select(.state == \"costs\")'
  jeton-lab doctor --json | jq '.libraries | sort_by(.released)'")]
pub(super) struct Doctor {
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    drivers: Drivers,
}

#[derive(Debug, Serialize)]
struct Findings {
    toolchains: Vec<Tool>,
    libraries: Vec<Library>,
    machine: Vec<Setting>,
    /// The reason why the drivers could not be read, if they could not.
    drivers: Option<String>,
}

/// The version of a library that a driver measures.
#[derive(Debug, Serialize)]
struct Library {
    driver: String,
    library: String,
    language: String,
    version: String,
    /// The release day of the version: `2026-01-28`; `None` for jeton, and for a part of a toolchain.
    released: Option<String>,
    /// The driver of a newer version, if this one is kept for a published report.
    superseded_by: Option<String>,
}

impl Library {
    fn of(driver: &Driver) -> Self {
        let manifest = &driver.manifest;
        Self {
            driver: driver.id.clone(),
            library: manifest.library.clone(),
            language: manifest.language.clone(),
            version: manifest.version.clone(),
            released: manifest.released.clone(),
            superseded_by: manifest.superseded_by.clone(),
        }
    }
}

impl Doctor {
    pub(super) fn run(self) -> Result<ExitCode, String> {
        let folder = driver::folder(self.drivers.folder.as_deref());
        let (drivers, trouble) = match driver::find(&folder) {
            Ok(drivers) => (drivers, None),
            // The machine is still checked without readable drivers.
            Err(e) => (Vec::new(), Some(e)),
        };
        let findings = Findings {
            toolchains: toolchains(&drivers),
            libraries: drivers.iter().map(Library::of).collect(),
            machine: settings(),
            drivers: trouble,
        };
        if self.json {
            return super::json(&findings);
        }
        let text = findings.text(width::columns());
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
                needed if missing => format!("skipped in every run: {}", needed.join(", ")),
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
        out.push_str("\nLibraries\n");
        let width = (self.libraries.iter().map(|l| l.driver.len()).max()).unwrap_or_default();
        for library in &self.libraries {
            let _ = write!(out, "  {:<width$} {}", library.driver, library.version);
            if let Some(day) = &library.released {
                let _ = write!(out, ", released {day}");
            }
            if let Some(newer) = &library.superseded_by {
                let _ = write!(out, ", superseded by {newer}");
            }
            out.push('\n');
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
        out.push_str("\n! affects measurements, ? unknown on this machine\n");
        out
    }
}

fn mark(costs: bool) -> char {
    if costs { '!' } else { ' ' }
}

fn entry(out: &mut String, mark: char, name: &str, found: &str, cost: &str, columns: usize) {
    let _ = writeln!(out, "{mark} {name:<21} {found}");
    if !cost.is_empty() {
        for line in width::wrapped(cost, columns.saturating_sub(24)) {
            let _ = writeln!(out, "{:24}{line}", "");
        }
    }
}
