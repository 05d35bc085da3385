//! The wheel of the library for Python, and a test that installs it.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::python::{create_environment, interpreter, pip};
use super::{FOLDER, copy, failed, sbom, write_checksums};
use crate::command::{Error, Workspace, output, run as run_command};

/// The builder, as in pyproject.toml. It names the glibc that the wheel needs, from the symbols that the module uses.
const BUILDER: &str = "maturin==1.16.0";

const EXAMPLE: &str = "sdk/python/examples/readme.py";

/// Builds the wheel in `dist/jeton-python-TARGET`.
pub(super) fn run(workspace: &Workspace, target: &str) -> Result<(), Error> {
    let work = workspace.target().join("package-python");
    let builders = work.join("builders");
    let python = interpreter(&builders);
    if !python.exists() {
        create_environment(workspace, &builders)?;
    }
    run_command(pip(workspace, &python).args(["install", BUILDER]))?;
    let wheels = work.join("wheels");
    let _ = fs::remove_dir_all(&wheels);
    let mut maturin = workspace.command(&python);
    maturin.args(["-m", "maturin", "build", "--locked", "--manifest-path"]);
    maturin.arg(workspace.path("sdk/python/Cargo.toml"));
    run_command(maturin.arg("--out").arg(&wheels))?;

    let folder = workspace
        .path(FOLDER)
        .join(format!("jeton-python-{target}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    let built = only_wheel(&wheels)?;
    let wheel = folder.join(built.file_name().unwrap_or_default());
    let mut files = vec![copy(&built, &wheel)?];
    let list = folder.join("sbom.cdx.json");
    fs::write(&list, sbom(workspace, target, "jeton-python", "pyjeton")?)
        .map_err(|error| failed(&list, &error))?;
    files.push(list);
    write_checksums(workspace, &folder, &files)?;
    eprintln!("== {}", wheel.display());
    install(workspace, &work, &wheel)
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
    let printed = output(example.arg(workspace.path(EXAMPLE)))?;
    match printed.trim() {
        "/" => Ok(()),
        other => Err(Error::Failed(format!(
            "{EXAMPLE}: printed `{other}`, expected `/`"
        ))),
    }
}

fn only_wheel(folder: &Path) -> Result<PathBuf, Error> {
    let entries = fs::read_dir(folder).map_err(|error| failed(folder, &error))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut wheels = paths.filter(|path| path.extension().is_some_and(|ending| ending == "whl"));
    match (wheels.next(), wheels.next()) {
        (Some(wheel), None) => Ok(wheel),
        _ => Err(Error::Failed(format!(
            "{}: expected one wheel",
            folder.display()
        ))),
    }
}
