//! The library for Python, in `sdk/python`.

use crate::command::{Error, Workspace, run as run_command};

/// Builds and tests it.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    let mut tests = workspace.command("python3");
    tests.args(["-m", "pytest"]);
    run_command(tests.current_dir(workspace.path("sdk/python")))
}
