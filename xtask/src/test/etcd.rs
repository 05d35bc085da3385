//! The real etcd, as tools/etcd pins it: jeton-store's suite passes on it, a node that is killed on it forgets
//! nothing, and several servers on it are one service.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Outcome;
use crate::command::{Error, PROTOC, Workspace, on_path, run as run_command};

/// The program in the module that tools/etcd requires.
const PROGRAM: &str = "go.etcd.io/etcd/server/v3";

/// Builds it, and runs the tests that start it.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    if let Some(missing) = missing() {
        return Ok(Outcome::Skipped(format!("{missing} is not installed")));
    }
    let etcd = build(workspace)?;
    run_command(test(workspace, &etcd, "conformance").arg("etcd::"))?;
    run_command(test(workspace, &etcd, "kill").env("JETON_KILL_STORE", "etcd"))?;
    run_command(test(workspace, &etcd, "serve_etcd").arg("--include-ignored"))?;
    Ok(Outcome::Passed)
}

/// What it takes to build etcd and its client, and is not there.
pub(crate) fn missing() -> Option<&'static str> {
    ["go", PROTOC]
        .into_iter()
        .find(|program| on_path(program).is_none())
}

pub(crate) fn build(workspace: &Workspace) -> Result<PathBuf, Error> {
    let binary = workspace.path("target/tools/bin/etcd");
    let mut build = workspace.command("go");
    build.current_dir(workspace.path("tools/etcd"));
    run_command(build.args(["build", "-o"]).arg(&binary).arg(PROGRAM))?;
    Ok(binary)
}

/// One test of the workspace; what follows is for it.
pub(crate) fn test(workspace: &Workspace, etcd: &Path, name: &str) -> Command {
    let mut test = workspace.cargo_workspace("test");
    test.args(["--test", name, "--"]).env("JETON_ETCD", etcd);
    test
}
