//! OAuth client libraries of four languages, as their lockfiles pin them; then the test that runs them against the
//! service.

use super::{Outcome, drivers, tests_in, verifiers};
use crate::command::{Error, Workspace, on_path};

const SOURCES: &str = "crates/jeton-server/tests/oauth_clients";
const BUILT: &str = "target/oauth-clients";

const NEEDED: [&str; 6] = ["go", "java", "mvn", "node", "npm", "python3"];

/// Builds them, and runs the test.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    if let Some(missing) = NEEDED.iter().find(|program| on_path(program).is_none()) {
        return Ok(Outcome::Skipped(format!("{missing} is not installed")));
    }
    let (sources, built) = (workspace.path(SOURCES), workspace.path(BUILT));
    verifiers::go(workspace, &sources.join("go"), &built.join("go/client"))?;
    verifiers::java(workspace, &sources.join("java"), &built.join("java"))?;
    drivers::node_packages(workspace, &sources.join("node"))?;
    drivers::python_with_packages(workspace, &sources.join("python"), &built.join("python"))?;
    let file = "crates/jeton-server/tests/it/oauth/libraries.rs";
    tests_in(workspace, file, &[("JETON_OAUTH_CLIENTS", &built)])?;
    Ok(Outcome::Passed)
}
