//! The modules for Go. Programs for arm64 are compiled on this machine, with zig as the C compiler.

use std::path::{Path, PathBuf};

use super::super::super::go::{PATH, PRINTED, README};
use super::super::super::readme::{check_printed, first_block};
use super::super::empty;
use super::super::target::{TARGETS, Toolchain};
use super::{Context, Root};
use crate::command::{Error, output};

/// The settings of a user who has the modules in a folder.
fn settings(proxy: &str, home: &str) -> Vec<String> {
    vec![
        format!("GOPROXY=file://{proxy}"),
        "GONOSUMDB=*".into(),
        "GOFLAGS=-modcacherw".into(),
        "GOTOOLCHAIN=local".into(),
        "CGO_ENABLED=1".into(),
        format!("GOPATH={home}/go"),
        format!("GOCACHE={home}/cache"),
    ]
}

/// Adds Go, the modules, and the program of the README with what it needs.
pub(super) fn add_program(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let home = output(context.workspace.command("go").args(["env", "GOROOT"]))?;
    root.link(Path::new(home.trim()))?;
    root.add(&context.built("go", "proxy")?, "proxy")?;
    empty(&root.path("app"))?;
    root.write(
        "app/main.go",
        &first_block(context.workspace, README, "go")?,
    )
}

/// The commands of the README before the program runs.
const INSTALL: [&[&str]; 2] = [&["mod", "init", "example.com/app"], &["get", PATH]];

/// Runs these commands in the root.
pub(super) fn add_module(
    context: &Context<'_>,
    root: &Root<'_>,
    more: &[&str],
) -> Result<(), Error> {
    for arguments in INSTALL {
        let (ended_well, text) = go(context, root, more, arguments)?;
        if !ended_well {
            return Err(Error::Failed(text));
        }
    }
    Ok(())
}

/// Runs Go in the root.
pub(super) fn go(
    context: &Context<'_>,
    root: &Root<'_>,
    more: &[&str],
    arguments: &[&str],
) -> Result<(bool, String), Error> {
    let home = output(context.workspace.command("go").args(["env", "GOROOT"]))?;
    let go = format!("{}/bin/go", home.trim());
    let settings = settings("/check/proxy", "/check");
    let mut all: Vec<&str> = settings.iter().map(String::as_str).collect();
    all.extend(more);
    all.extend([go.as_str(), "-C", "/check/app"]);
    all.extend(arguments);
    root.outcome(root.command("/usr/bin/env", &all, ""))
}

pub(super) fn readme(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    add_program(context, root)?;
    let printed = if root.target.is_native() {
        run_in(context, root, &[], &[])?
    } else {
        let program = cross_compile(context, root, root.target.triple, &[])?;
        root.run(&program, &[])?
    };
    check_printed(README, &printed, PRINTED)
}

/// The same for musl, whose C compiler is in the root, or zig.
pub(super) fn musl(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let triple = root.target.triple.replace("gnu", "musl");
    context.built("go", &format!("sbom-{triple}.cdx.json"))?;
    add_program(context, root)?;
    let static_program = [
        "-tags=musl",
        "-ldflags=-linkmode=external -extldflags=-static",
    ];
    let printed = if root.target.is_native() {
        run_in(context, root, &["CC=musl-gcc"], &static_program)?
    } else {
        let program = cross_compile(context, root, &triple, &static_program)?;
        root.run(&program, &[])?
    };
    check_printed(README, &printed, PRINTED)
}

/// Runs the program in the root.
fn run_in(
    context: &Context<'_>,
    root: &Root<'_>,
    more: &[&str],
    options: &[&str],
) -> Result<String, Error> {
    add_module(context, root, more)?;
    let (ended_well, text) = go(context, root, more, &[&["run"], options, &["."]].concat())?;
    if ended_well {
        Ok(text)
    } else {
        Err(Error::Failed(text))
    }
}

/// Compiles the program on this machine, and returns its path in the root.
fn cross_compile(
    context: &Context<'_>,
    root: &Root<'_>,
    triple: &str,
    options: &[&str],
) -> Result<String, Error> {
    let workspace = context.workspace;
    let target = TARGETS.iter().find(|target| target.triple == triple);
    let target = target.ok_or_else(|| Error::Failed(format!("unknown target {triple}")))?;
    let toolchain = Toolchain::set_up(workspace, &[target])?;
    let work: PathBuf = root.path("");
    let proxy = work.join("proxy").display().to_string();
    let home = work.display().to_string();
    let build = [&["build"], options, &["-o", "program", "."]].concat();
    for arguments in INSTALL.into_iter().chain([&build[..]]) {
        let mut go = workspace.command("go");
        go.args(arguments).current_dir(work.join("app"));
        for setting in settings(&proxy, &home) {
            if let Some((name, value)) = setting.split_once('=') {
                go.env(name, value);
            }
        }
        go.env("GOARCH", target.debian());
        go.env("CC", toolchain.program(target, "cc"));
        // gcc has it in its own library.
        go.env("CGO_LDFLAGS", "-lunwind");
        output(&mut go)?;
    }
    Ok("/check/app/program".into())
}
