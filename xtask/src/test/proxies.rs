//! Real proxies: nginx caches key sets, and nginx and Envoy ask the service whether requests may pass.

use super::{Outcome, tests_in};
use crate::command::{Error, Workspace, run as run_command};
use crate::setup::proxies;

/// Runs the tests behind nginx and Envoy.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    let Some(nginx) = proxies::nginx(workspace) else {
        return Ok(Outcome::Skipped("nginx is not installed".into()));
    };
    for file in [
        "crates/jeton-jwks/tests/it/caching_proxy.rs",
        "crates/jeton-server/tests/it/oauth/proxy/nginx.rs",
    ] {
        run_command(tests_in(workspace, file)?.env("JETON_NGINX", &nginx))?;
    }
    let Some(envoy) = proxies::envoy(workspace) else {
        return Ok(Outcome::Skipped("Envoy is not installed".into()));
    };
    let file = "crates/jeton-server/tests/it/oauth/proxy/envoy.rs";
    run_command(tests_in(workspace, file)?.env("JETON_ENVOY", &envoy))?;
    Ok(Outcome::Passed)
}
