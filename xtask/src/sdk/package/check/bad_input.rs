//! What users see where a package cannot be used: one line with the cause and what is possible.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::python::wheel;
use super::super::target::{TARGETS, Target};
use super::super::{failed, files_in};
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

pub(super) fn node_platform(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    node_installed(context, root)?;
    let program = "Object.defineProperty(process, 'arch', { value: 'riscv64' })\n\
                   require('/check/app/node_modules/jeton')\n";
    root.write("app/platform.cjs", program)?;
    let outcome = run_node(context, root, "platform.cjs")?;
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
    let module = format!("app/node_modules/@jeton/{}/jeton.node", root.target.npm);
    damage(&root.path(&module))?;
    root.write(
        "app/damaged.cjs",
        "require('/check/app/node_modules/jeton')\n",
    )?;
    let outcome = run_node(context, root, "damaged.cjs")?;
    check_line(
        outcome,
        &[
            "jeton cannot load its native module: ",
            "jeton.node: file too short",
        ],
    )
}

fn node_installed(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let packages = node::add_packages(context, root)?;
    node::install(context, root, &packages)
}

fn run_node(context: &Context<'_>, root: &Root<'_>, file: &str) -> Result<(bool, String), Error> {
    let program = format!("/check/app/{file}");
    root.outcome(root.command(&node::node(context, root), &[&program], ""))
}

/// Runs pip in the root, which installs a file.
fn install(root: &Root<'_>, options: &[&str], setup: &str) -> Result<(bool, String), Error> {
    let arguments = [&python::INSTALL[..], options].concat();
    root.outcome(root.command("/usr/bin/python3", &arguments, setup))
}

pub(super) fn python_platform(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let is_other = |target: &&Target| !target.is_musl() && *target != root.target;
    let other = TARGETS.iter().find(is_other);
    let other = other.ok_or_else(|| Error::Failed("there is one platform".into()))?;
    let wheel = wheel(&context.dist("python"), other)?;
    let name = wheel.file_name().unwrap_or_default().to_string_lossy();
    root.add(&wheel, &name)?;
    let outcome = install(root, &[&format!("/check/{name}")], "")?;
    check_line(
        outcome,
        &[&name, "is not a supported wheel on this platform"],
    )
}

pub(super) fn python_damaged(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let wheel = python::add_wheel(context, root)?;
    let name = wheel.trim_start_matches("/check/");
    damage(&root.path(name))?;
    let outcome = install(root, &[&wheel], "")?;
    check_line(outcome, &[name, "invalid"])
}

pub(super) fn python_noexec(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    needs_native(root)?;
    python::readme(context, root)?;
    let setup = format!("{NOEXEC} && cp -r check/site mnt/");
    let code = "import sys; sys.path.append('/mnt/site'); import jeton";
    let outcome = root.outcome(root.command("/usr/bin/python3", &["-c", code], &setup))?;
    check_line(
        outcome,
        &[
            "jeton cannot load its native module: ",
            "failed to map segment",
            "Supported: Linux",
        ],
    )
}

pub(super) fn python_read_only(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    python::is_supported(root)?;
    let wheel = python::add_wheel(context, root)?;
    let outcome = install(root, &["--target", "/mnt/site", &wheel], READ_ONLY)?;
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
