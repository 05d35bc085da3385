//! The wheels of the library for Python, its source distribution, and a test that installs a wheel.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::python::{create_environment, interpreter, pip};
use super::super::readme::first_block;
use super::target::{Target, Toolchain};
use super::{empty_folder, files_in, finish, library, write_sbom};
use crate::command::{Error, Workspace, run as run_command};

/// The builder, as in pyproject.toml. It checks that the wheel needs what its tag promises.
const BUILDER: &str = "maturin==1.16.0";

/// The manifest, and the page with the example.
const MANIFEST: &str = "sdk/python/Cargo.toml";
pub(super) const README: &str = "sdk/python/README.md";

/// Builds `dist/jeton-python`.
pub(super) fn run(workspace: &Workspace, targets: &[&'static Target]) -> Result<(), Error> {
    let toolchain = Toolchain::set_up(workspace, targets)?;
    let work = workspace.target().join("package-python");
    let builders = work.join("builders");
    let python = interpreter(&builders);
    if !python.exists() {
        create_environment(workspace, &builders)?;
    }
    run_command(pip(workspace, &python).args(["install", BUILDER]))?;

    let folder = empty_folder(workspace, "python")?;
    let maturin = |task: &str| {
        let mut maturin = workspace.command(&python);
        maturin.args(["-m", "maturin", task, "--manifest-path", MANIFEST]);
        maturin.arg("--out").arg(&folder);
        maturin.env("SOURCE_DATE_EPOCH", TIME);
        maturin
    };
    run_command(&mut maturin("sdist"))?;
    for target in targets {
        build(&toolchain, target, &mut maturin("build"))?;
        let list = folder.join(format!("sbom-{}.cdx.json", target.triple));
        write_sbom(workspace, target, "jeton-python", "pyjeton", &list)?;
    }
    finish(workspace, &folder)?;
    let host = Target::host(workspace)?;
    if targets.contains(&host) {
        install(workspace, &work, &wheel(&folder, host)?)?;
    }
    Ok(())
}

/// The time of the files in wheels: the first that a zip archive can hold.
const TIME: &str = "315532800";

fn build(toolchain: &Toolchain<'_>, target: &Target, maturin: &mut Command) -> Result<(), Error> {
    maturin.args(["--locked", "--target", target.triple]);
    if let Some(tag) = target.wheel {
        maturin.args(["--compatibility", tag]);
    }
    toolchain.apply(maturin, target, library::rust_flags(target));
    run_command(maturin)?;
    let built = toolchain.target().join(target.triple).join("dist");
    library::check(toolchain, target, &built.join(target.shared("_jeton")))
}

/// Installs the wheel into an empty environment, without the network, and runs the example of the README.
fn install(workspace: &Workspace, work: &Path, wheel: &Path) -> Result<(), Error> {
    let empty = work.join("empty");
    create_environment(workspace, &empty)?;
    let python = interpreter(&empty);
    let mut install = pip(workspace, &python);
    run_command(install.args(["install", "--no-index"]).arg(wheel))?;
    let mut example = workspace.command(&python);
    // From a folder that has no sources, so that the installed package is used.
    example.current_dir(work).env_remove("PYTHONPATH");
    run_command(
        example
            .arg("-c")
            .arg(first_block(workspace, README, "python")?),
    )
}

/// Returns the wheel for a platform.
pub(super) fn wheel(folder: &Path, target: &Target) -> Result<PathBuf, Error> {
    let architecture = target.triple.split('-').next().unwrap_or_default();
    let files = files_in(folder)?;
    let is_it = |file: &&PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let tag = target.wheel.is_none_or(|tag| name.contains(tag));
        name.ends_with(".whl") && name.contains(architecture) && tag
    };
    let found = files.iter().find(is_it).cloned();
    found.ok_or_else(|| {
        Error::Failed(format!(
            "{}: no wheel for {}",
            folder.display(),
            target.triple
        ))
    })
}
