//! Checks a crate outside the workspace, with its own lockfile: a Rust driver, a server, an example.

use std::path::Path;

use crate::command::{Error, Workspace, run};

pub(super) fn format(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    let mut cargo = workspace.cargo(&["fmt", "--check", "--", "-l"]);
    run(cargo.current_dir(folder))
}

/// Builds into the workspace's target folder, so that AWS-LC is compiled once.
pub(super) fn lints_and_tests(
    workspace: &Workspace,
    folder: &Path,
    profile: &[&str],
) -> Result<(), Error> {
    let target = workspace.path("target");
    for (command, after) in [
        ("clippy", &["--all-targets", "--", "-D", "warnings"][..]),
        ("test", &[]),
    ] {
        let arguments = [&[command][..], profile, &["--locked", "--quiet"], after].concat();
        let mut cargo = workspace.cargo(&arguments);
        run(cargo.current_dir(folder).env("CARGO_TARGET_DIR", &target))?;
    }
    Ok(())
}
