//! The library for Node, in `sdk/node`.

use std::path::{Path, PathBuf};

use crate::command::{Error, Workspace, run as run_command};
use crate::setup::is_installed;

/// The folder of the package.
pub(super) const FOLDER: &str = "sdk/node";

/// Builds and tests it.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    install(workspace)?;
    let library = native(workspace, "dev", "test-hooks")?;
    build(workspace, &library)?;
    npm(workspace, &["test"])
}

/// Builds what programs of this repository import from `sdk/node/dist`.
pub(crate) fn library(workspace: &Workspace, profile: &str) -> Result<(), Error> {
    install(workspace)?;
    let library = native(workspace, profile, "")?;
    build(workspace, &library)
}

/// Brings the tools and the libraries that tests use. Nothing of them is in the package.
pub(super) fn install(workspace: &Workspace) -> Result<(), Error> {
    if is_installed(&workspace.path(FOLDER)) {
        return Ok(());
    }
    npm(
        workspace,
        &["ci", "--ignore-scripts", "--no-audit", "--no-fund"],
    )
}

/// Builds the native part.
pub(super) fn native(
    workspace: &Workspace,
    profile: &str,
    features: &str,
) -> Result<PathBuf, Error> {
    let mut cargo = workspace.cargo(&["build", "--locked", "-p", "jeton-node"]);
    run_command(cargo.args(["--profile", profile, "--features", features]))?;
    let folder = match profile {
        "dev" => "debug",
        other => other,
    };
    Ok(workspace.target().join(folder).join("libjeton_node.so"))
}

/// Compiles the sources. Tests find the native part where npm installs it for users.
pub(super) fn build(workspace: &Workspace, native: &Path) -> Result<(), Error> {
    let mut script = workspace.command("node");
    script.current_dir(workspace.path(FOLDER));
    run_command(script.arg("scripts/build.mjs").arg(native))
}

fn npm(workspace: &Workspace, arguments: &[&str]) -> Result<(), Error> {
    let mut npm = workspace.command("npm");
    npm.current_dir(workspace.path(FOLDER));
    run_command(npm.args(arguments))
}
