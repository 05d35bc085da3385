//! Key sets through a real nginx that caches them.

use super::Outcome;
use crate::command::{Error, Workspace, run as run_command};
use crate::setup;

/// Runs the tests that fetch through it.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    let Some(nginx) = setup::nginx(workspace) else {
        return Ok(Outcome::Skipped("nginx is not installed".into()));
    };
    // Of the whole workspace, so that nothing is compiled again.
    let mut test = workspace.cargo_workspace("test");
    test.args(["--test", "caching_proxy", "--", "--ignored"]);
    run_command(test.env("JETON_NGINX", nginx))?;
    Ok(Outcome::Passed)
}
