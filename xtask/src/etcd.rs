//! The real etcd, as tools/etcd pins it, and the tests that start it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Error, Workspace, on_path, run};

/// The program in the module that tools/etcd requires.
const PROGRAM: &str = "go.etcd.io/etcd/server/v3";

/// Names the program that etcd is built with, if it is not installed.
#[must_use]
pub fn missing() -> Option<&'static str> {
    on_path("go").is_none().then_some("go")
}

/// Builds etcd and returns the path of its binary.
///
/// # Errors
/// If Go cannot build it.
pub fn build(workspace: &Workspace) -> Result<PathBuf, Error> {
    let binary = workspace.path("target/tools/bin/etcd");
    let mut build = workspace.command("go");
    build.current_dir(workspace.path("tools/etcd"));
    run(build.args(["build", "-o"]).arg(&binary).arg(PROGRAM))?;
    Ok(binary)
}

/// Returns the command that runs the workspace's test `name` with this etcd. Further arguments are those of
/// the test.
#[must_use]
pub fn test(workspace: &Workspace, etcd: &Path, name: &str) -> Command {
    let mut test = workspace.cargo_workspace("test");
    test.args(["--test", name, "--"]).env("JETON_ETCD", etcd);
    test
}
