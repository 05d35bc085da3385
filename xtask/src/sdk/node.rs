//! The library for Node, in `sdk/node`.

use std::path::{Path, PathBuf};

use super::libraries::Build;
use super::{KEY_SERVER, key_server};
use crate::command::{Error, Workspace, run as run_command};
use crate::counted;
use crate::setup::is_installed;
use crate::tally::Format;

/// The folder of the package.
pub(super) const FOLDER: &str = "sdk/node";

/// The folder of its examples.
const EXAMPLES: &str = "sdk/node/examples";

/// Builds and tests it.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    install(workspace)?;
    let library = native(workspace, Build::Tests)?;
    build(workspace, &library)?;
    let mut tests = workspace.command("node");
    tests
        .current_dir(workspace.path(FOLDER))
        .arg("scripts/test.mjs");
    tests.env(KEY_SERVER, key_server(workspace)?);
    counted::run(FOLDER, Format::Node, tests.arg("--test-reporter=tap"))
}

/// Tests its examples with their frameworks, in bundles, and on other runtimes.
pub(crate) fn more(workspace: &Workspace) -> Result<(), Error> {
    library(workspace, Build::Tests)?;
    install_in(workspace, EXAMPLES)?;
    let mut tests = workspace.command("node");
    tests
        .current_dir(workspace.path(FOLDER))
        .arg("scripts/examples.mjs");
    tests.env(KEY_SERVER, key_server(workspace)?);
    counted::run(EXAMPLES, Format::Node, tests.arg("--test-reporter=tap"))
}

/// Builds what programs of this repository import from `sdk/node/dist`.
pub(crate) fn library(workspace: &Workspace, how: Build) -> Result<(), Error> {
    install(workspace)?;
    let library = native(workspace, how)?;
    build(workspace, &library)
}

/// The same for tests.
pub(crate) fn library_for_tests(workspace: &Workspace) -> Result<(), Error> {
    library(workspace, Build::Tests)
}

/// Brings the tools and the libraries that tests use. Nothing of them is in the package.
pub(super) fn install(workspace: &Workspace) -> Result<(), Error> {
    install_in(workspace, FOLDER)
}

fn install_in(workspace: &Workspace, folder: &str) -> Result<(), Error> {
    let folder = workspace.path(folder);
    if is_installed(&folder) {
        return Ok(());
    }
    let mut npm = workspace.command("npm");
    npm.current_dir(folder);
    run_command(npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]))
}

/// Builds the native module.
pub(super) fn native(workspace: &Workspace, how: Build) -> Result<PathBuf, Error> {
    how.library(workspace, "jeton-node", ("cdylib", "libjeton_node.so"), &[])
}

/// Compiles the sources. Tests find the native module where npm installs it for users.
pub(super) fn build(workspace: &Workspace, native: &Path) -> Result<(), Error> {
    let mut script = workspace.command("node");
    script.current_dir(workspace.path(FOLDER));
    run_command(script.arg("scripts/build.mjs").arg(native))
}
