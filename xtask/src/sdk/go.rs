//! The library for Go, in `sdk/go`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::libraries::{self, Build};
use super::readme::{check_printed, first_block};
use super::{KEY_SERVER, key_server};
use crate::command::{Error, Workspace, output, run as run_command};
use crate::counted;
use crate::tally::Format;

const MODULE: &str = "sdk/go";
/// Its path in programs, and the version in `go.mod` of those that need it.
pub(super) const PATH: &str = "github.com/jeton/jeton/sdk/go";
pub(super) const VERSION: &str = concat!("v", env!("CARGO_PKG_VERSION"));
/// The folder of the native library, which is a module of its own in a release.
const LIBRARY: &str = "lib/linux_amd64/libjeton.a";
const HEADERS: [&str; 2] = ["jeton.h", "jeton_codes.h"];

/// The modules beside the first one.
const OTHERS: [&str; 3] = ["grpc", "internal/migration", "internal/tools"];

/// Builds and tests it.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    library(workspace, Build::Tests)?;
    check_headers(workspace)?;
    check_format(workspace)?;
    tests(workspace, "", &["-tags", HOOKS, "./..."])?;
    for module in OTHERS {
        tests(workspace, module, &["./..."])?;
    }
    Ok(())
}

/// Its tests with the race detector, staticcheck, vet, programs that link it in other ways, and an installation.
pub(crate) fn more(workspace: &Workspace) -> Result<(), Error> {
    library(workspace, Build::Tests)?;
    let staticcheck = ["tool", "-modfile=internal/tools/go.mod", "staticcheck"];
    let staticcheck = [&staticcheck[..], &["-tags", HOOKS, "./..."]].concat();
    run_command(&mut go(workspace, "", &staticcheck))?;
    run_command(&mut go(workspace, "", &["vet", "-tags", HOOKS, "./..."]))?;
    for module in OTHERS {
        run_command(&mut go(workspace, module, &["vet", "./..."]))?;
    }
    tests(workspace, "", &["-race", "-tags", HOOKS, "./..."])?;
    static_program(workspace)?;
    second_library(workspace)?;
    let proxy = libraries::folder(workspace)?.join("go-proxy");
    write_proxy(workspace, &proxy, &workspace.path(MODULE).join(LIBRARIES))?;
    install(workspace, &proxy)
}

/// The tag of tests that make the library panic.
const HOOKS: &str = "jeton_test_hooks";

/// Go in the folder of a module.
fn go(workspace: &Workspace, module: &str, arguments: &[&str]) -> Command {
    let mut go = workspace.command("go");
    go.args(arguments).env("CGO_ENABLED", "1");
    // A panic that a test asks for needs no backtrace.
    go.env("RUST_BACKTRACE", "0");
    go.current_dir(workspace.path(MODULE).join(module));
    go
}

fn tests(workspace: &Workspace, module: &str, arguments: &[&str]) -> Result<(), Error> {
    let arguments = [&["test", "-json"], arguments].concat();
    let name = format!("{MODULE}/{module}");
    let mut test = go(workspace, module, &arguments);
    test.env(KEY_SERVER, key_server(workspace)?);
    // The tools have no tests yet; they must compile.
    counted::run_any(name.trim_end_matches('/'), Format::Go, &mut test).map(drop)
}

/// The modules that a program needs, as a release has them, and the folder of those with a native library.
const PUBLISHED: [&str; 2] = ["", "/grpc"];
const LIBRARIES: &str = "lib";

/// Writes the modules into a folder for `GOPROXY`: those without native code, and those in `libraries`.
pub(super) fn write_proxy(
    workspace: &Workspace,
    proxy: &Path,
    libraries: &Path,
) -> Result<(), Error> {
    let _ = fs::remove_dir_all(proxy);
    let mut go = workspace.command("go");
    go.args(["run", "./moduleproxy", "-version", VERSION]);
    go.arg("-licences").arg(workspace.root());
    go.arg("-out").arg(proxy);
    for inner in PUBLISHED {
        let folder = workspace.path(&format!("{MODULE}{inner}"));
        go.arg(format!("{PATH}{inner}={}", folder.display()));
    }
    for name in platforms(workspace)? {
        let folder = libraries.join(&name);
        go.arg(format!("{PATH}/{LIBRARIES}/{name}={}", folder.display()));
    }
    run_command(go.current_dir(workspace.path(MODULE).join("internal/tools")))
}

/// The folders of the modules with a native library, one for each platform.
fn platforms(workspace: &Workspace) -> Result<Vec<String>, Error> {
    let folder = workspace.path(MODULE).join(LIBRARIES);
    let entries = fs::read_dir(&folder).map_err(|error| failed(&folder, &error))?;
    let entries = entries.filter_map(Result::ok);
    let modules = entries.filter(|entry| entry.path().join("go.mod").is_file());
    let mut names: Vec<_> = modules
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// Copies the modules of all platforms to a folder, without native libraries.
pub(super) fn copy_platforms(workspace: &Workspace, to: &Path) -> Result<(), Error> {
    for name in platforms(workspace)? {
        let (from, to) = (
            workspace.path(MODULE).join(LIBRARIES).join(&name),
            to.join(&name),
        );
        fs::create_dir_all(&to).map_err(|error| failed(&to, &error))?;
        for file in ["go.mod", "link.go"] {
            fs::copy(from.join(file), to.join(file)).map_err(|error| failed(&from, &error))?;
        }
    }
    Ok(())
}

/// Installs the modules into an empty folder, and runs the first program of the README.
pub(super) fn install(workspace: &Workspace, proxy: &Path) -> Result<(), Error> {
    let folder = libraries::folder(workspace)?.join("go-install");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    let file = folder.join("main.go");
    fs::write(&file, first_block(workspace, README, "go")?)
        .map_err(|error| failed(&file, &error))?;
    // The cache of the compiler knows the files of a version in a folder, and does not look again.
    let modules = folder.join(format!("modules-{}", std::process::id()));
    let go = |arguments: &[&str]| {
        let mut go = workspace.command("go");
        go.args(arguments).current_dir(&folder);
        // Only what is in the folder, and not what an earlier test has downloaded.
        go.env("GOPROXY", format!("file://{}", proxy.display()));
        go.env("GOMODCACHE", &modules);
        go.envs([
            ("GONOSUMDB", "*"),
            ("GOFLAGS", "-modcacherw"),
            ("GOWORK", "off"),
        ]);
        go
    };
    run_command(&mut go(&["mod", "init", "example.com/app"]))?;
    run_command(&mut go(&["get", &format!("{PATH}@{VERSION}")]))?;
    check_printed(README, &output(&mut go(&["run", "."]))?, PRINTED)
}

/// The page with the program, and what it prints.
pub(super) const README: &str = "sdk/go/README.md";
pub(super) const PRINTED: &str = "/";

/// Builds the native library, and puts it where the module links it.
pub(crate) fn library(workspace: &Workspace, how: Build) -> Result<(), Error> {
    let built = libraries::static_library(workspace, how)?;
    let place = workspace.path(MODULE).join(LIBRARY);
    fs::copy(&built, &place).map_err(|error| failed(&place, &error))?;
    eprintln!("== {}", place.display());
    Ok(())
}

/// Builds the library for tests, if there is none: for the driver of the lab.
pub(crate) fn library_for_tests(workspace: &Workspace) -> Result<(), Error> {
    if workspace.path(MODULE).join(LIBRARY).exists() {
        Ok(())
    } else {
        library(workspace, Build::Tests)
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
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
