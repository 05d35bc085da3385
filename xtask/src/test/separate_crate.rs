//! Checks a crate outside the workspace, with its own lockfile: a Rust driver, a server, an example.

use std::path::Path;
use std::process::Command;

use crate::command::{CHECKED_DRIVERS, Error, Workspace, run};

pub(super) fn format(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    let mut cargo = workspace.cargo(&["fmt", "--check", "--", "-l"]);
    run(cargo.current_dir(folder))
}

pub(super) fn lints(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    let mut clippy = cargo(workspace, folder, "clippy");
    run(as_in_the_workspace(&mut clippy).args(["--all-targets", "--", "-D", "warnings"]))
}

pub(super) fn tests(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    run(as_in_the_workspace(&mut cargo(workspace, folder, "test")))
}

/// Tests a driver with what the lab's steps build of it too.
pub(super) fn tests_of_driver(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    let mut test = cargo(workspace, folder, "test");
    run(test.arg("--release").envs(CHECKED_DRIVERS))
}

/// Builds into the workspace's target folder, so that a dependency of both, such as AWS-LC, is compiled once.
fn cargo(workspace: &Workspace, folder: &Path, command: &str) -> Command {
    let mut cargo = workspace.cargo(&[command, "--locked", "--quiet"]);
    cargo
        .env("CARGO_TARGET_DIR", workspace.path("target"))
        .current_dir(folder);
    cargo
}

/// With the settings of the workspace's `profile.dev`.
fn as_in_the_workspace(cargo: &mut Command) -> &mut Command {
    cargo
        .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
}
