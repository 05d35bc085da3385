//! The modules for Go, in a folder that `GOPROXY` can name. Each platform has a module with its native library.

use std::path::PathBuf;

use super::super::go;
use super::target::{Target, Toolchain};
use super::{copy, empty, empty_folder, finish, library, write_sbom};
use crate::command::{Error, Workspace};

/// Returns the folder with the modules of the platforms, and the native library of each.
pub(super) fn libraries(workspace: &Workspace) -> PathBuf {
    workspace.target().join("package/go")
}

/// Builds `dist/jeton-go`, and installs the modules from there into an empty folder.
pub(super) fn run(workspace: &Workspace, targets: &[&'static Target]) -> Result<(), Error> {
    let toolchain = Toolchain::set_up(workspace, targets)?;
    let folder = empty_folder(workspace, "go")?;
    let libraries = libraries(workspace);
    empty(&libraries)?;
    go::copy_platforms(workspace, &libraries)?;
    for target in targets {
        let name = target.go.ok_or_else(|| {
            Error::Usage(format!("no module for Go is built for {}", target.triple))
        })?;
        let archive = library::archive(&toolchain, target)?;
        copy(&archive, &libraries.join(name).join("libjeton.a"))?;
        let list = folder.join(format!("sbom-{}.cdx.json", target.triple));
        write_sbom(workspace, target, "jeton-ffi", "jeton-go", &list)?;
    }
    let proxy = folder.join("proxy");
    go::write_proxy(workspace, &proxy, &libraries)?;
    for name in ["README.md", "MIGRATION.md"] {
        copy(&workspace.path("sdk/go").join(name), &folder.join(name))?;
    }
    finish(workspace, &folder)?;
    if targets.contains(&Target::host(workspace)?) {
        go::install(workspace, &proxy)?;
    }
    Ok(())
}
