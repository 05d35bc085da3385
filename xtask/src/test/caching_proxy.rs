//! A real nginx: it caches key sets, and it asks the service whether requests may pass.

use super::{Outcome, tests_in};
use crate::command::{Error, Workspace, run as run_command};
use crate::setup;

/// Runs the tests behind it.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    let Some(nginx) = setup::nginx(workspace) else {
        return Ok(Outcome::Skipped("nginx is not installed".into()));
    };
    for file in [
        "crates/jeton-jwks/tests/it/caching_proxy.rs",
        "crates/jeton-server/tests/it/oauth/nginx.rs",
    ] {
        run_command(tests_in(workspace, file)?.env("JETON_NGINX", &nginx))?;
    }
    Ok(Outcome::Passed)
}
