//! The modules for Go with the native library of this platform, in a folder that `GOPROXY` can name.

use std::fs;
use std::path::PathBuf;

use super::super::go;
use super::super::libraries::Build;
use super::{FOLDER, copy, failed, sbom, write_checksums};
use crate::command::{Error, Workspace, run as run_command};

/// Builds `dist/jeton-go-TARGET`, and installs the modules from there into an empty folder.
pub(super) fn run(workspace: &Workspace, target: &str) -> Result<(), Error> {
    let folder = workspace.path(FOLDER).join(format!("jeton-go-{target}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    go::library(workspace, Build::Dist)?;
    let mut files = go::write_proxy(workspace, &folder.join("proxy"))?;
    for (from, to) in [
        ("sdk/go/README.md", "README.md"),
        ("sdk/go/MIGRATION.md", "MIGRATION.md"),
        ("LICENSE-MIT", "LICENSE-MIT"),
        ("LICENSE-APACHE", "LICENSE-APACHE"),
    ] {
        files.push(copy(&workspace.path(from), &folder.join(to))?);
    }
    let list = folder.join("sbom.cdx.json");
    fs::write(&list, sbom(workspace, target, "jeton-ffi", "jeton-go")?)
        .map_err(|error| failed(&list, &error))?;
    files.push(list);
    write_checksums(workspace, &folder, &files)?;
    go::install(workspace, &folder.join("proxy"), &issuer(workspace)?)?;
    eprintln!("== {}", folder.display());
    Ok(())
}

/// Builds the command `jeton`, whose `jeton serve` issues the token for the installed program. The tests are not built.
fn issuer(workspace: &Workspace) -> Result<PathBuf, Error> {
    let mut cargo = workspace.cargo(&["build", "--locked", "--package", "jeton-cli"]);
    run_command(cargo.args(["--bin", "jeton"]))?;
    Ok(workspace.target().join("debug/jeton"))
}
