//! The checks of a crate with its own lockfile, outside of the workspace: a Rust driver, a server, an
//! example.

use std::path::Path;

use crate::command::{House, Stop, run};

pub(super) fn format(house: &House, folder: &Path) -> Result<(), Stop> {
    let mut cargo = house.cargo(&["fmt", "--check", "--", "-l"]);
    run(cargo.current_dir(folder))
}

/// Builds into the workspace's own target folder, so that AWS-LC is compiled once for all.
pub(super) fn lints_and_tests(house: &House, folder: &Path, profile: &[&str]) -> Result<(), Stop> {
    let target = house.path("target");
    for (command, after) in [
        ("clippy", &["--all-targets", "--", "-D", "warnings"][..]),
        ("test", &[]),
    ] {
        let arguments = [&[command][..], profile, &["--locked", "--quiet"], after].concat();
        let mut cargo = house.cargo(&arguments);
        run(cargo.current_dir(folder).env("CARGO_TARGET_DIR", &target))?;
    }
    Ok(())
}
