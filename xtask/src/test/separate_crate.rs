//! Checks a crate outside the workspace, with its own lockfile: a Rust driver, a server, an example.

use std::path::Path;
use std::process::Command;

use crate::aws_lc;
use crate::command::{CHECKED_DRIVERS, CLIPPY, Error, Workspace, run};
use crate::counted;
use crate::tally::Format;

pub(super) fn format(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    let mut cargo = workspace.cargo(&["fmt", "--check", "--", "-l"]);
    run(cargo.current_dir(folder))
}

/// Lints and tests.
pub(super) fn check(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    run(cargo(workspace, folder, "build").arg("--all-targets"))?;
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
        .envs(CLIPPY)
        .envs(aws_lc::compiled(workspace))
        .current_dir(folder);
    cargo
}
