//! Web pages that attack a real `jeton serve`, in a real Chromium.

use super::Outcome;
use crate::command::{Error, Workspace, run as run_command};
use crate::setup;

/// Runs the test that opens them.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    let Some(chromium) = setup::chromium() else {
        return Ok(Outcome::Skipped("Chromium is not installed".into()));
    };
    // Of the whole workspace, so that nothing is compiled again.
    let mut test = workspace.cargo_workspace("test");
    test.args(["--test", "browser_attack", "--", "--ignored"]);
    run_command(test.env("JETON_CHROMIUM", chromium))?;
    Ok(Outcome::Passed)
}
