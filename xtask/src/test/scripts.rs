//! Scripts that only a user or the forge runs: the install script and the workflows.

use super::Outcome;
use crate::command::{Error, Workspace, on_path, run as run_command};

/// The program in the module that tools/actionlint requires.
const PROGRAM: &str = "github.com/rhysd/actionlint/cmd/actionlint";

pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    for tool in ["go", "shellcheck"] {
        if on_path(tool).is_none() {
            return Ok(Outcome::Skipped(format!("{tool} is not installed")));
        }
    }
    let mut shellcheck = workspace.command("shellcheck");
    run_command(shellcheck.args([
        "deploy/install.sh",
        "deploy/debian/postinst",
        "deploy/debian/prerm",
        "deploy/systemd/jeton-backup",
    ]))?;
    let binary = workspace.path("target/tools/bin/actionlint");
    let mut build = workspace.command("go");
    build.current_dir(workspace.path("tools/actionlint"));
    run_command(build.args(["build", "-o"]).arg(&binary).arg(PROGRAM))?;
    // It finds shellcheck on the PATH.
    run_command(&mut workspace.command(&binary))?;
    Ok(Outcome::Passed)
}
