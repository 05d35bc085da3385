//! The packages for npm: `jeton`, and the native module for this platform.

use std::fs;

use super::super::libraries::Build;
use super::super::node;
use super::{FOLDER, failed, sbom, write_checksums};
use crate::command::{Error, Workspace, run as run_command};

/// Builds `dist/jeton-node-TARGET/`, and installs the packages from there into an empty project.
pub(super) fn run(workspace: &Workspace, target: &str) -> Result<(), Error> {
    let folder = workspace.path(FOLDER).join(format!("jeton-node-{target}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    let list = folder.join("sbom.cdx.json");
    fs::write(&list, sbom(workspace, target, "jeton-node", "jeton-node")?)
        .map_err(|error| failed(&list, &error))?;

    node::install(workspace)?;
    let library = node::native(workspace, Build::Dist)?;
    node::build(workspace, &library)?;
    let stripped = workspace.target().join("dist/jeton.node");
    let mut strip = workspace.command("objcopy");
    strip.arg("--strip-unneeded").arg(&library).arg(&stripped);
    run_command(&mut strip)?;
    let mut pack = workspace.command("node");
    pack.arg(workspace.path(node::FOLDER).join("scripts/pack.mjs"));
    run_command(pack.arg(&stripped).arg(&list).arg(&folder))?;

    let mut files = vec![list];
    for entry in fs::read_dir(&folder).map_err(|error| failed(&folder, &error))? {
        let path = entry.map_err(|error| failed(&folder, &error))?.path();
        if path.extension().is_some_and(|extension| extension == "tgz") {
            files.push(path);
        }
    }
    files.sort();
    write_checksums(workspace, &folder, &files)?;
    let mut test = workspace.command("node");
    test.arg(workspace.path(node::FOLDER).join("scripts/try-package.mjs"));
    run_command(test.arg(&folder))
}
