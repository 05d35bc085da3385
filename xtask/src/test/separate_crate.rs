//! Checks a crate outside the workspace, with its own lockfile: a Rust driver, a server, an example.

use std::path::Path;

use crate::command::{Error, Workspace, run};

pub(super) fn format(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    let mut cargo = workspace.cargo(&["fmt", "--check", "--", "-l"]);
    run(cargo.current_dir(folder))
}

/// Builds into the workspace's target folder with the settings of its `profile.dev`, so that a dependency of both, such
/// as AWS-LC, is compiled once. A driver's own release profile would optimise every test program as a whole.
pub(super) fn lints_and_tests(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    let target = workspace.path("target");
    for (command, after) in [
        ("clippy", &["--all-targets", "--", "-D", "warnings"][..]),
        ("test", &[]),
    ] {
        let arguments = [&[command, "--locked", "--quiet"][..], after].concat();
        let mut cargo = workspace.cargo(&arguments);
        cargo
            .env("CARGO_TARGET_DIR", &target)
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1")
            .env("CARGO_PROFILE_DEV_DEBUG", "0");
        run(cargo.current_dir(folder))?;
    }
    Ok(())
}
