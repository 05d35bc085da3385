//! Web pages that attack a real `jeton serve`, in a real Chromium.

use super::{Outcome, tests_in};
use crate::command::{Error, Workspace};
use crate::setup;

/// Runs the test that opens them.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    let Some(chromium) = setup::chromium() else {
        return Ok(Outcome::Skipped("Chromium is not installed".into()));
    };
    let file = "crates/jeton-cli/tests/it/serve/browser_attack.rs";
    tests_in(workspace, file, &[("JETON_CHROMIUM", &chromium)])?;
    Ok(Outcome::Passed)
}
