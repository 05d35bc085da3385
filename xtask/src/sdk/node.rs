//! The library for Node, in `sdk/node`.

use crate::command::{Error, Workspace, run as run_command};

/// Builds and tests it.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    let mut tests = workspace.command("npm");
    tests.args(["test"]);
    run_command(tests.current_dir(workspace.path("sdk/node")))
}
