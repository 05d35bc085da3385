//! Programs that verify what the service issues, in four languages, as their lockfiles pin them; then
//! the test that gives them tokens while keys rotate.

use std::path::Path;

use super::{Outcome, drivers, tests_in};
use crate::command::{Error, Workspace, on_path, output, run as run_command, succeeds};

const SOURCES: &str = "crates/jeton-server/tests/verifiers";
const BUILT: &str = "target/verifiers";

const NEEDED: [&str; 6] = ["go", "node", "npm", "java", "mvn", "python3"];

/// Fetches the jars that a pom.xml names.
const FETCH: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";

/// Builds them, and runs the test.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    if let Some(missing) = NEEDED.iter().find(|program| on_path(program).is_none()) {
        return Ok(Outcome::Skipped(format!("{missing} is not installed")));
    }
    let (sources, built) = (workspace.path(SOURCES), workspace.path(BUILT));
    go(workspace, &sources.join("go"), &built.join("go/verifier"))?;
    drivers::node_packages(workspace, &sources.join("node"))?;
    java(workspace, &sources.join("java"), &built.join("java"))?;
    drivers::python_with_packages(workspace, &sources.join("python"), &built.join("python"))?;
    let file = "crates/jeton-server/tests/it/verifiers.rs";
    tests_in(workspace, file, &[("JETON_VERIFIERS", &built)])?;
    Ok(Outcome::Passed)
}

/// Checks and builds a Go module.
pub(super) fn go(workspace: &Workspace, folder: &Path, binary: &Path) -> Result<(), Error> {
    let go = |arguments: &[&str]| {
        let mut go = workspace.command("go");
        go.args(arguments).current_dir(folder);
        go
    };
    let unformatted = output(workspace.command("gofmt").arg("-l").arg(folder))?;
    if !unformatted.trim().is_empty() {
        return Err(Error::Failed(format!(
            "not formatted; run `gofmt -w` on: {}",
            unformatted.trim()
        )));
    }
    run_command(&mut go(&["vet", "./..."]))?;
    run_command(go(&["build", "-o"]).arg(binary).arg("."))
}

/// The jars are fetched once, and must be those of jars.lock to the byte.
pub(super) fn java(workspace: &Workspace, folder: &Path, jars: &Path) -> Result<(), Error> {
    let cannot = |error| Error::Usage(format!("{}: {error}", jars.display()));
    std::fs::create_dir_all(jars).map_err(cannot)?;
    let check = || {
        let mut check = workspace.command("sha256sum");
        check.args(["--quiet", "--check"]);
        check.arg(folder.join("jars.lock")).current_dir(jars);
        check
    };
    if succeeds(&mut check()) {
        return Ok(());
    }
    let mut fetch = workspace.command("mvn");
    fetch.args(["-B", "-q", FETCH, "-DincludeScope=runtime"]);
    fetch.arg(format!("-DoutputDirectory={}", jars.display()));
    run_command(fetch.current_dir(folder))?;
    run_command(&mut check())
}
