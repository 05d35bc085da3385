//! The C library: header, static and shared library, in an archive for each platform.

use std::fs;
use std::path::Path;

use super::super::libraries::{self, Build};
use super::target::{Target, Toolchain};
use super::{copy, empty, empty_folder, failed, finish, library, write_checksums, write_sbom};
use crate::command::{Error, Workspace, run as run_command};

/// Builds `dist/jeton-c`.
pub(super) fn run(workspace: &Workspace, targets: &[&'static Target]) -> Result<(), Error> {
    let toolchain = Toolchain::set_up(workspace, targets)?;
    let folder = empty_folder(workspace, "c")?;
    for target in targets {
        let name = format!("jeton-c-{}", target.triple);
        let work = toolchain.target().join("c");
        lay_out(&toolchain, target, &work.join(&name))?;
        // The archive is the same for the same files.
        let mut tar = workspace.command("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
            .args(["--mtime=@0", "--mode=u=rwX,go=rX"])
            // Without the time at which gzip ran.
            .args(["--use-compress-program", "gzip -n"])
            .arg("-cf")
            .arg(folder.join(format!("{name}.tar.gz")))
            .arg("-C")
            .arg(&work);
        run_command(tar.arg(&name))?;
        let _ = fs::remove_dir_all(&work);
    }
    finish(workspace, &folder)
}

/// Puts the files of the archive into a folder.
fn lay_out(toolchain: &Toolchain<'_>, target: &Target, folder: &Path) -> Result<(), Error> {
    let workspace = toolchain.workspace;
    empty(folder)?;
    for part in ["include", "lib", "docs/reference"] {
        fs::create_dir_all(folder.join(part)).map_err(|error| failed(folder, &error))?;
    }
    let mut files = Vec::new();
    let archive = library::archive(toolchain, target)?;
    files.push(copy(&archive, &folder.join("lib/libjeton.a"))?);
    let shared = library::shared(toolchain, target, "jeton-ffi")?;
    libraries::check_shared(workspace, &shared, Build::Dist)?;
    files.push(copy(&shared, &folder.join("lib/libjeton.so"))?);
    for name in ["jeton.h", "jeton_codes.h"] {
        let header = workspace.path("crates/jeton-ffi/include").join(name);
        files.push(copy(&header, &folder.join("include").join(name))?);
    }
    // The pages keep their folders, so that the links between them lead somewhere.
    let pages = [
        "docs/ffi.md",
        "docs/reference/error-codes.md",
        "docs/reference/settings.md",
    ];
    for name in ["LICENSE-MIT", "LICENSE-APACHE"].into_iter().chain(pages) {
        files.push(copy(&workspace.path(name), &folder.join(name))?);
    }
    let list = folder.join("sbom.cdx.json");
    write_sbom(workspace, target, "jeton-ffi", "jeton-c", &list)?;
    files.push(list);
    write_checksums(workspace, folder, &files)
}
