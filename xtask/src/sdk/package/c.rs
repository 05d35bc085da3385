//! The C library: header, static and shared library, in an archive.

use std::fs;

use super::super::libraries::{self, Build};
use super::{FOLDER, copy, failed, sbom, write_checksums};
use crate::command::{Error, Workspace, run as run_command};

/// Builds `dist/jeton-c-TARGET.tar.gz`.
pub(super) fn run(workspace: &Workspace, target: &str) -> Result<(), Error> {
    let folder = workspace.path(FOLDER).join(format!("jeton-c-{target}"));
    for part in ["include", "lib", "docs/reference"] {
        fs::create_dir_all(folder.join(part)).map_err(|error| failed(&folder, &error))?;
    }
    let mut files = Vec::new();
    let library = libraries::static_library(workspace, Build::Dist)?;
    files.push(copy(&library, &folder.join("lib/libjeton.a"))?);
    let library = libraries::shared_library(workspace, Build::Dist)?;
    files.push(copy(&library, &folder.join("lib/libjeton.so"))?);
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
    fs::write(&list, sbom(workspace, target, "jeton-ffi", "jeton-c")?)
        .map_err(|error| failed(&list, &error))?;
    files.push(list);
    write_checksums(workspace, &folder, &files)?;
    // The archive is the same for the same files.
    let archive = workspace
        .path(FOLDER)
        .join(format!("jeton-c-{target}.tar.gz"));
    let mut tar = workspace.command("tar");
    tar.args([
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mtime=@0",
        "-czf",
    ]);
    tar.arg(&archive).arg("-C").arg(workspace.path(FOLDER));
    run_command(tar.arg(format!("jeton-c-{target}")))?;
    eprintln!("== {}", archive.display());
    Ok(())
}
