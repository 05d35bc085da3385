//! Checks a crate outside the workspace, with its own lockfile: a Rust driver, a server, an example.

use std::path::Path;
use std::process::Command;

use crate::command::{CHECKED_DRIVERS, Error, Workspace, run};
use crate::counted;
use crate::tally::Format;

pub(super) fn format(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    let mut cargo = workspace.cargo(&["fmt", "--check", "--", "-l"]);
    run(cargo.current_dir(folder))
}

pub(super) fn lints(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    let mut clippy = cargo(workspace, folder, "clippy");
    run(clippy.args(["--all-targets", "--", "-D", "warnings"]))
}

pub(super) fn tests(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    let name = folder.strip_prefix(workspace.root()).unwrap_or(folder);
    let mut test = cargo(workspace, folder, "test");
    counted::run_any(&name.to_string_lossy(), Format::Libtest, &mut test).map(drop)
}

/// Builds into the workspace's target folder with the same settings, so that a dependency of both, such as AWS-LC, is
/// compiled once, and the lab's steps find what they need.
fn cargo(workspace: &Workspace, folder: &Path, command: &str) -> Command {
    let mut cargo = workspace.cargo(&[command, "--locked", "--quiet"]);
    cargo
        .env("CARGO_TARGET_DIR", workspace.target())
        .envs(CHECKED_DRIVERS)
        .current_dir(folder);
    cargo
}
