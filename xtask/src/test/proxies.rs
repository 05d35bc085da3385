//! Real proxies: nginx caches key sets, and nginx and Envoy ask the service whether requests may pass. The lab measures
//! what that costs.

use super::{Outcome, tests_in};
use crate::command::{Error, Workspace};
use crate::setup::{proxies, unpacked};

/// Runs the tests behind nginx and Envoy.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    let Some(nginx) = unpacked::NGINX.find(workspace) else {
        return Ok(Outcome::Skipped("nginx is not installed".into()));
    };
    for file in [
        "crates/jeton-jwks/tests/it/caching_proxy.rs",
        "crates/jeton-server/tests/it/oauth/proxy/nginx.rs",
        "crates/jeton-cli/tests/it/production.rs",
    ] {
        let promtool = unpacked::PROMTOOL.find(workspace);
        let promtool = promtool
            .iter()
            .map(|promtool| ("JETON_PROMTOOL", &**promtool));
        let nginx = [("JETON_NGINX", &*nginx)];
        tests_in(
            workspace,
            file,
            &nginx.into_iter().chain(promtool).collect::<Vec<_>>(),
        )?;
    }
    let Some(envoy) = proxies::envoy(workspace) else {
        return Ok(Outcome::Skipped("Envoy is not installed".into()));
    };
    let file = "crates/jeton-server/tests/it/oauth/proxy/envoy.rs";
    tests_in(workspace, file, &[("JETON_ENVOY", &envoy)])?;
    let both = [("JETON_ENVOY", &*envoy), ("JETON_NGINX", &*nginx)];
    tests_in(workspace, "lab/cli/tests/load/gateways.rs", &both)?;
    Ok(Outcome::Passed)
}
