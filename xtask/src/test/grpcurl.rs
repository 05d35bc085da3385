//! The real grpcurl, as tools/grpcurl pins it, does what docs/service.md says.

use super::{Outcome, tests_in};
use crate::command::{Error, Workspace, on_path, run as run_command};

/// The program in the module that tools/grpcurl requires.
const PROGRAM: &str = "github.com/fullstorydev/grpcurl/cmd/grpcurl";

/// Builds it, and runs the test that calls it.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    if on_path("go").is_none() {
        return Ok(Outcome::Skipped("go is not installed".into()));
    }
    let binary = workspace.path("target/tools/bin/grpcurl");
    let mut build = workspace.command("go");
    build.current_dir(workspace.path("tools/grpcurl"));
    run_command(build.args(["build", "-o"]).arg(&binary).arg(PROGRAM))?;
    let file = "crates/jeton-cli/tests/it/serve/grpcurl.rs";
    tests_in(workspace, file, &[("JETON_GRPCURL", &binary)])?;
    Ok(Outcome::Passed)
}
