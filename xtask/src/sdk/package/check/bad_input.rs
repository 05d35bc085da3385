//! What users see where a package cannot be used: one line with the cause and what is possible.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::{empty, failed, files_in};
use super::{Context, Root, go, java, node, python};
use crate::command::Error;

/// Fails unless a command failed and one line of its text has these parts.
fn check_line((ended_well, text): (bool, String), parts: &[&str]) -> Result<(), Error> {
    let has_all = |line: &str| parts.iter().all(|part| line.contains(part));
    if !ended_well && text.lines().any(has_all) {
        Ok(())
    } else {
        Err(Error::Failed(format!(
            "expected an error with {parts:?}, found: {text}"
        )))
    }
}

/// Keeps the first bytes of a file. With more of a library, the system would end the process that reads the rest.
fn damage(file: &Path) -> Result<(), Error> {
    let bytes = fs::read(file).map_err(|error| failed(file, &error))?;
    let start = bytes.get(..32).unwrap_or_default();
    fs::write(file, start).map_err(|error| failed(file, &error))
}

/// A folder of memory in the root that does not allow programs, and one that cannot be written.
const NOEXEC: &str = "mount -t tmpfs -o noexec tmpfs mnt";
const READ_ONLY: &str = "mount -t tmpfs -o ro tmpfs mnt";

/// Lets a library need a glibc that no system has: the name of the newest version that it needs is replaced. What the
/// system says is the same with a library that is newer than it.
fn age(library: &Path) -> Result<(), Error> {
    let mut bytes = fs::read(library).map_err(|error| failed(library, &error))?;
    let name = b"GLIBC_2.";
    let mut changed = false;
    for at in 0..bytes.len().saturating_sub(name.len() + 3) {
        let (start, end) = (at + name.len(), at + name.len() + 2);
        let has_two_digits = bytes[start..end].iter().all(u8::is_ascii_digit) && bytes[end] == 0;
        if bytes[at..].starts_with(name) && has_two_digits {
            bytes[start..end].copy_from_slice(b"99");
            changed = true;
        }
    }
    if !changed {
        let library = library.display();
        return Err(Error::Failed(format!(
            "{library} needs no version of glibc"
        )));
    }
    fs::write(library, bytes).map_err(|error| failed(library, &error))
}

const NEWER_GLIBC: &str = "version `GLIBC_2.99' not found";

pub(super) fn go_damaged(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    needs_native(root)?;
    go::add_program(context, root)?;
    // An earlier check may have the module in Go's cache, which is not read from the proxy again.
    empty(&root.path("go"))?;
    let proxy = root.path("proxy");
    let is_native = |file: &&PathBuf| {
        let path = file.display().to_string();
        path.contains("/lib/linux_amd64/") && path.ends_with(".zip")
    };
    let files = files_in(&proxy)?;
    let native = files.iter().find(is_native);
    damage(native.ok_or_else(|| Error::Failed("the module of this platform is missing".into()))?)?;
    match go::add_module(context, root, &[]) {
        Ok(()) => Err(Error::Failed("a damaged module was installed".into())),
        Err(error) => check_line(
            (false, error.to_string()),
            &["lib/linux_amd64", "not a valid zip file"],
        ),
    }
}

pub(super) fn go_platform(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    needs_native(root)?;
    go::add_program(context, root)?;
    go::add_module(context, root, &[])?;
    let other = ["GOARCH=riscv64", "CGO_ENABLED=0"];
    let outcome = go::go(context, root, &other, &["build", "."])?;
    check_line(outcome, &["jeton_needs_cgo_and_a_supported_platform"])
}

/// An emulated program starts no others, and the emulator itself executes the code of files.
fn needs_native(root: &Root<'_>) -> Result<(), Error> {
    if root.target.is_native() {
        Ok(())
    } else {
        Err(Error::Usage("not possible under emulation".into()))
    }
}

pub(super) fn java_platform(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    java::add_program(context, root)?;
    let arguments = ["-Dos.arch=riscv64", "-cp", java::CLASS_PATH, "Example"];
    let outcome = root.outcome(root.command(&java::java(root), &arguments, ""))?;
    let supported = "Supported: Linux on x86_64 and aarch64";
    check_line(
        outcome,
        &["jeton has no native library for linux-riscv64", supported],
    )
}

pub(super) fn java_noexec(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    needs_native(root)?;
    java::add_program(context, root)?;
    let directory = "-Dio.github.jeton.directory=/mnt";
    let arguments = [directory, "-cp", java::CLASS_PATH, "Example"];
    let outcome = root.outcome(root.command(&java::java(root), &arguments, NOEXEC))?;
    check_line(
        outcome,
        &[
            "failed to map segment",
            "Set the property io.github.jeton.library",
        ],
    )
}

/// The library of the jar is beside it, as those unpack it who may not write at run time.
pub(super) fn java_glibc(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    java::add_program(context, root)?;
    java::unpack_library(context, root, root.target)?;
    age(&root.path(java::LIBRARY))?;
    let library = format!("-Dio.github.jeton.library=/check/{}", java::LIBRARY);
    let arguments = [library.as_str(), "-cp", java::CLASS_PATH, "Example"];
    let outcome = root.outcome(root.command(&java::java(root), &arguments, ""))?;
    check_line(outcome, &[NEWER_GLIBC, "It needs Linux on", "glibc 2.28"])
}

pub(super) fn java_read_only(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    needs_native(root)?;
    java::add_program(context, root)?;
    let directory = "-Dio.github.jeton.directory=/mnt";
    let arguments = [directory, "-cp", java::CLASS_PATH, "Example"];
    let outcome = root.outcome(root.command(&java::java(root), &arguments, READ_ONLY))?;
    check_line(
        outcome,
        &[
            "Read-only file system",
            "Set the property io.github.jeton.library",
        ],
    )
}

pub(super) fn node_platform(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    node_installed(context, root)?;
    let program = "Object.defineProperty(process, 'arch', { value: 'riscv64' })\n\
                   require('/check/app/node_modules/jeton')\n";
    root.write("app/platform.cjs", program)?;
    let outcome = run_node(context, root, "/check/app/platform.cjs", "")?;
    check_line(
        outcome,
        &[
            "jeton has no native module for linux-riscv64",
            "linux-arm64-musl",
        ],
    )
}

pub(super) fn node_damaged(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    node_installed(context, root)?;
    damage(&native_module(root))?;
    let cause = "jeton cannot load its native module: ";
    load_fails(context, root, &[cause, "jeton.node: file too short"])
}

/// Loads the installed package, which fails with these parts in one line.
fn load_fails(context: &Context<'_>, root: &Root<'_>, parts: &[&str]) -> Result<(), Error> {
    root.write("app/load.cjs", "require('/check/app/node_modules/jeton')\n")?;
    check_line(run_node(context, root, "/check/app/load.cjs", "")?, parts)
}

fn native_module(root: &Root<'_>) -> PathBuf {
    root.path(&format!(
        "app/node_modules/@jeton/{}/jeton.node",
        root.target.npm
    ))
}

pub(super) fn node_glibc(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    node_installed(context, root)?;
    age(&native_module(root))?;
    let cause = "jeton cannot load its native module: ";
    load_fails(context, root, &[cause, NEWER_GLIBC, "It needs glibc 2.28"])
}

pub(super) fn node_noexec(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    needs_native(root)?;
    node_installed(context, root)?;
    root.write("load.cjs", "require('/mnt/app/node_modules/jeton')\n")?;
    let setup = format!("{NOEXEC} && cp -r check/app mnt/");
    let outcome = run_node(context, root, "/check/load.cjs", &setup)?;
    check_line(
        outcome,
        &[
            "jeton cannot load its native module: ",
            "failed to map segment",
            "not mounted noexec",
        ],
    )
}

/// The user `nobody` cannot write to the project. On a read-only file system, Node names another cause.
pub(super) fn node_read_only(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    needs_native(root)?;
    let packages = node::add_packages(context, root)?;
    let install = node::install_command(context, &packages);
    let node = node::node(context, root);
    let mut arguments = vec!["--userspec=65534:65534", "/", node.as_str()];
    arguments.extend(install.iter().map(String::as_str));
    arguments.extend(["--cache", "/mnt/cache"]);
    let cache = "mount -t tmpfs tmpfs mnt";
    let outcome = root.outcome(root.command("/usr/sbin/chroot", &arguments, cache))?;
    let folder = "/check/app/node_modules";
    check_line(outcome, &["npm", "EACCES: permission denied", folder])
}

fn node_installed(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let packages = node::add_packages(context, root)?;
    node::install(context, root, &packages)
}

fn run_node(
    context: &Context<'_>,
    root: &Root<'_>,
    program: &str,
    setup: &str,
) -> Result<(bool, String), Error> {
    root.outcome(root.command(&node::node(context, root), &[program], setup))
}

/// Runs pip in the root, which installs a file.
fn install(
    context: &Context<'_>,
    root: &Root<'_>,
    options: &[&str],
    setup: &str,
) -> Result<(bool, String), Error> {
    let python = python::python(context, root)?;
    let arguments = [&python::INSTALL[..], options].concat();
    root.outcome(root.command(&python, &arguments, setup))
}

pub(super) fn python_platform(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let wheel = python::add_wheel(context, root)?;
    let own = wheel.trim_start_matches("/check/");
    // pip reads the platform in the name.
    let name = own.replace(root.target.processor(), "riscv64");
    let from = root.path(own);
    fs::rename(&from, root.path(&name)).map_err(|error| failed(&from, &error))?;
    let outcome = install(context, root, &[&format!("/check/{name}")], "")?;
    check_line(
        outcome,
        &[&name, "is not a supported wheel on this platform"],
    )
}

/// pip asks this module, as a distribution with an older glibc has it, before it looks at the glibc that is there.
const OLDER: &str =
    "def manylinux_compatible(major, minor, processor):\n    return (major, minor) < (2, 28)\n";

pub(super) fn python_glibc(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let wheel = python::add_wheel(context, root)?;
    root.write("_manylinux.py", OLDER)?;
    let code = "import sys; sys.path.insert(0, '/check'); from pip._internal.cli.main import main; \
                sys.exit(main(sys.argv[1:]))";
    let arguments = [&["-c", code][..], &python::INSTALL[2..], &[&wheel]].concat();
    let python = python::python(context, root)?;
    let outcome = root.outcome(root.command(&python, &arguments, ""))?;
    check_line(
        outcome,
        &[
            "manylinux_2_28",
            "is not a supported wheel on this platform",
        ],
    )
}

pub(super) fn python_damaged(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let wheel = python::add_wheel(context, root)?;
    let name = wheel.trim_start_matches("/check/");
    damage(&root.path(name))?;
    let outcome = install(context, root, &[&wheel], "")?;
    check_line(outcome, &[name, "invalid"])
}

pub(super) fn python_noexec(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    needs_native(root)?;
    python::readme(context, root)?;
    let setup = format!("{NOEXEC} && cp -r check/site mnt/");
    let code = "import sys; sys.path.append('/mnt/site'); import jeton";
    let python = python::python(context, root)?;
    let outcome = root.outcome(root.command(&python, &["-c", code], &setup))?;
    check_line(
        outcome,
        &[
            "jeton cannot load its native module: ",
            "failed to map segment",
            "not mounted noexec",
        ],
    )
}

pub(super) fn python_read_only(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let wheel = python::add_wheel(context, root)?;
    let outcome = install(context, root, &["--target", "/mnt/site", &wheel], READ_ONLY)?;
    check_line(outcome, &["Read-only file system: '/mnt/site'"])
}

/// Damages the first file of the folder, which its checksums then name.
pub(super) fn checksums(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    context.built("c", "SHA256SUMS")?;
    root.add(&context.dist("c"), "dist")?;
    let copy = root.path("dist");
    let is_archive = |file: &&PathBuf| file.extension().is_some_and(|ending| ending == "gz");
    let files = files_in(&copy)?;
    let archive = files.iter().find(is_archive);
    let archive = archive.ok_or_else(|| Error::Usage("no archive is in dist".into()))?;
    damage(archive)?;
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let script = "cd /check/dist && sha256sum --check --quiet SHA256SUMS";
    needs_native(root)?;
    let outcome = root.outcome(root.command("/bin/sh", &["-c", script], ""))?;
    check_line(outcome, &[&format!("{name}: FAILED")])
}
