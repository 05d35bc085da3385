//! The packages for npm: `jeton`, and the native module for each platform.

use std::path::Path;

use super::super::libraries::Build;
use super::super::node;
use super::target::{Target, Toolchain};
use super::{FOLDER, copy, empty, empty_folder, finish, library, write_sbom};
use crate::command::{Error, Workspace, run as run_command};

/// Builds `dist/jeton-node`, and installs the packages for this machine into an empty project.
pub(super) fn run(workspace: &Workspace, targets: &[&'static Target]) -> Result<(), Error> {
    let toolchain = Toolchain::set_up(workspace, targets)?;
    let folder = empty_folder(workspace, "node")?;
    let natives = toolchain.target().join("npm");
    empty(&natives)?;
    for target in targets {
        let native = library::shared(&toolchain, target, "jeton-node")?;
        let package = natives.join(target.npm);
        empty(&package)?;
        copy(&native, &package.join("jeton.node"))?;
        let list = package.join("sbom.cdx.json");
        write_sbom(workspace, target, "jeton-node", "jeton-node", &list)?;
    }

    node::install(workspace)?;
    // The ESM entry points are written from what the native module of this machine exports.
    let host = Target::host(workspace)?;
    let is_built = targets.contains(&host);
    if is_built {
        node::build(workspace, &natives.join(host.npm).join("jeton.node"))?;
    } else {
        node::library(workspace, Build::Dist)?;
    }
    let scripts = workspace.path(node::FOLDER).join("scripts");
    let mut pack = workspace.command("node");
    pack.arg(scripts.join("pack.mjs"));
    run_command(pack.arg(&natives).arg(&folder))?;
    finish(workspace, &folder)?;
    if !is_built {
        return Ok(());
    }
    example(workspace, &natives.join("example.mjs"))
}

/// The page with the program, and what it prints.
pub(super) const README: &str = "sdk/node/README.md";
pub(super) const PRINTED: &str = "/ user-7\nTOKEN_INVALID_SIGNATURE";

/// Installs the packages for this machine into an empty project, runs the first program of the README, and writes it as
/// JavaScript.
pub(super) fn example(workspace: &Workspace, to: &Path) -> Result<(), Error> {
    let folder = workspace.path(FOLDER).join("jeton-node");
    let mut test = workspace.command("node");
    test.arg(workspace.path(node::FOLDER).join("scripts/try-package.mjs"));
    run_command(test.arg(folder).arg(Target::host(workspace)?.npm).arg(to))
}
