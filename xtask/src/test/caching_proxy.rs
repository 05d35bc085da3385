//! Key sets through a real nginx that caches them.

use super::{Outcome, tests_in};
use crate::command::{Error, Workspace, run as run_command};
use crate::setup;

/// Runs the tests that fetch through it.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    let Some(nginx) = setup::nginx(workspace) else {
        return Ok(Outcome::Skipped("nginx is not installed".into()));
    };
    let mut test = tests_in(workspace, "crates/jeton-jwks/tests/it/caching_proxy.rs")?;
    run_command(test.env("JETON_NGINX", nginx))?;
    Ok(Outcome::Passed)
}
