//! The real etcd, as tools/etcd pins it, and the tests that start it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Error, Workspace, on_path, output, run};

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

/// Names what the tests with network namespaces lack on this machine: the right to make them, or a program.
#[must_use]
pub fn missing_for_chaos(workspace: &Workspace) -> Option<String> {
    let programs = ["go", "ip", "nft", "mount"];
    if let Some(program) = programs.iter().find(|program| on_path(program).is_none()) {
        return Some(format!("{program} is not installed"));
    }
    let name = format!("jeton-check-{}", std::process::id());
    let made = output(workspace.command("ip").args(["netns", "add", &name]));
    if made.is_err() {
        return Some("only root may make network namespaces".into());
    }
    // It is gone with the machine otherwise.
    let _ = output(workspace.command("ip").args(["netns", "del", &name]));
    None
}

/// Builds the judge of histories and returns the path of its binary.
///
/// # Errors
/// If Go cannot build it.
pub fn build_porcupine(workspace: &Workspace) -> Result<PathBuf, Error> {
    let binary = workspace.path("target/tools/bin/porcupine");
    let mut build = workspace.command("go");
    build.current_dir(workspace.path("tools/porcupine"));
    run(build.args(["build", "-o"]).arg(&binary).arg("."))?;
    Ok(binary)
}

/// Lets the program with the tests of `serve::chaos` run them with this etcd: all, or those of this name.
///
/// # Errors
/// If Go cannot build the judge of histories.
pub fn chaos(
    workspace: &Workspace,
    mut chaos: Command,
    etcd: &Path,
    name: &str,
) -> Result<Command, Error> {
    chaos.env("JETON_ETCD", etcd);
    chaos.env("JETON_PORCUPINE", build_porcupine(workspace)?);
    // They wait most of the time.
    chaos.args(["--ignored", "--nocapture", "--test-threads", "5"]);
    chaos.arg(format!("serve::chaos::{name}"));
    Ok(chaos)
}

/// Returns the command that runs the workspace's test `name` with this etcd. Further arguments are those of
/// the test.
#[must_use]
pub fn test(workspace: &Workspace, etcd: &Path, name: &str) -> Command {
    let mut test = workspace.cargo_workspace("test");
    test.args(["--test", name, "--"]).env("JETON_ETCD", etcd);
    test
}
