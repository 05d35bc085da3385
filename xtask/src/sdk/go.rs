//! The library for Go, in `sdk/go`.

use std::fs;
use std::path::PathBuf;

use super::libraries::{self, Build};
use crate::command::{Error, Workspace, output, run as run_command};

pub(super) const MODULE: &str = "sdk/go";
/// The folder of the native library, which is a module of its own in a release.
pub(super) const LIBRARY: &str = "lib/linux_amd64/libjeton.a";
const HEADERS: [&str; 2] = ["jeton.h", "jeton_codes.h"];

/// The modules beside the first one.
const OTHERS: [&str; 2] = ["grpc", "internal/migration"];

/// Builds and tests it.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    place(workspace, Build::TESTS)?;
    check_headers(workspace)?;
    check_format(workspace)?;
    let go = |folder: &str, arguments: &[&str]| {
        let mut go = workspace.command("go");
        go.args(arguments).env("CGO_ENABLED", "1");
        // A panic that a test asks for needs no backtrace.
        go.env("RUST_BACKTRACE", "0");
        run_command(go.current_dir(workspace.path(MODULE).join(folder)))
    };
    go("", &["vet", "-tags", "jeton_test_hooks", "./..."])?;
    go(
        "",
        &[
            "tool",
            "-modfile=internal/tools/go.mod",
            "staticcheck",
            "-tags",
            "jeton_test_hooks",
            "./...",
        ],
    )?;
    go("", &["test", "-race", "-tags", "jeton_test_hooks", "./..."])?;
    for module in OTHERS {
        go(module, &["vet", "./..."])?;
        go(module, &["test", "./..."])?;
    }
    static_program(workspace)?;
    second_library(workspace)
}

/// Builds the native library as users get it, and puts it where the module links it.
pub(crate) fn library(workspace: &Workspace) -> Result<(), Error> {
    place(workspace, Build::DIST)
}

fn place(workspace: &Workspace, how: Build) -> Result<(), Error> {
    let built = libraries::static_library(workspace, how)?;
    let place = workspace.path(MODULE).join(LIBRARY);
    fs::copy(&built, &place).map_err(|error| failed(&place, &error))?;
    eprintln!("== {}", place.display());
    Ok(())
}

fn failed(path: &std::path::Path, error: &std::io::Error) -> Error {
    Error::Failed(format!("{}: {error}", path.display()))
}

/// The module has copies of the headers, as it is published without the rest of the repository.
fn check_headers(workspace: &Workspace) -> Result<(), Error> {
    for name in HEADERS {
        let source = workspace.path("crates/jeton-ffi/include").join(name);
        let copy = workspace.path(MODULE).join("internal/core").join(name);
        let read = |path: &PathBuf| fs::read(path).map_err(|error| failed(path, &error));
        if read(&source)? != read(&copy)? {
            return Err(Error::Failed(format!(
                "{} is stale; copy {} to it",
                copy.display(),
                source.display()
            )));
        }
    }
    Ok(())
}

fn check_format(workspace: &Workspace) -> Result<(), Error> {
    let unformatted = output(workspace.command("gofmt").args(["-l", MODULE]))?;
    match unformatted.trim() {
        "" => Ok(()),
        files => Err(Error::Failed(format!(
            "not formatted; run `gofmt -w` on: {}",
            files.replace('\n', ", ")
        ))),
    }
}

/// Builds a program without shared libraries, and runs it.
fn static_program(workspace: &Workspace) -> Result<(), Error> {
    let program = libraries::folder(workspace)?.join("go-static");
    let mut build = workspace.command("go");
    build.args(["build", "-tags", "netgo,osusergo", "-ldflags"]);
    build.args(["-linkmode external -extldflags \"-static\"", "-o"]);
    build.arg(&program).arg("./internal/linked/plain");
    run_command(build.current_dir(workspace.path(MODULE)))?;
    let sections = output(workspace.command("readelf").arg("-lW").arg(&program))?;
    if sections.contains("INTERP") {
        return Err(Error::Failed(format!(
            "{} needs a dynamic linker",
            program.display()
        )));
    }
    run_command(&mut workspace.command(&program))
}

/// Links another static library in Rust into the same program.
fn second_library(workspace: &Workspace) -> Result<(), Error> {
    let folder = libraries::folder(workspace)?;
    let second = folder.join("libsecond.a");
    let source = workspace.path("crates/jeton-ffi/tests/second/second.rs");
    let mut rustc = workspace.command(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["--edition", "2024", "--crate-type", "staticlib", "-O", "-o"]);
    run_command(rustc.arg(&second).arg(source))?;
    let program = folder.join("go-second");
    let mut build = workspace.command("go");
    build.args(["build", "-tags", "jeton_second", "-o"]);
    build.arg(&program).arg("./internal/linked/second");
    build.env("CGO_LDFLAGS", format!("-O2 {}", second.display()));
    run_command(build.current_dir(workspace.path(MODULE)))?;
    run_command(&mut workspace.command(&program))
}
