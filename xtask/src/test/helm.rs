//! The chart of deploy/helm, rendered with the library of helm that tools/helm pins: its objects are valid and safe,
//! and the server accepts its configuration.

use super::Outcome;
use crate::command::{Error, Workspace, on_path, run as run_command};

/// Builds the program that renders the chart, and runs it.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    if on_path("go").is_none() {
        return Ok(Outcome::Skipped("go is not installed".into()));
    }
    let binary = workspace.path("target/tools/bin/helm-chart");
    let mut build = workspace.command("go");
    build.current_dir(workspace.path("tools/helm"));
    run_command(build.args(["build", "-o"]).arg(&binary).arg("."))?;
    let jeton = workspace.tested_binary()?;
    let mut check = workspace.command(&binary);
    run_command(check.arg("-jeton").arg(jeton))?;
    Ok(Outcome::Passed)
}
