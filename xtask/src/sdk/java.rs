//! The library for Java, in `sdk/java`.

use crate::command::{Error, Workspace, run as run_command};

/// Builds and tests it.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    let mut tests = workspace.command("mvn");
    tests.args(["--quiet", "test"]);
    run_command(tests.current_dir(workspace.path("sdk/java")))
}
