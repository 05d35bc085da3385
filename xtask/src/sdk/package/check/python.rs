//! Wheels.

use std::path::PathBuf;

use super::super::super::readme::{check_printed, first_block};
use super::super::python::{README, wheel};
use super::super::{empty, files, java};
use super::{Context, Root};
use crate::command::{Error, Workspace, run as run_command};

/// The oldest version that has the stable interface of the wheels.
const OLDEST: (u32, u32) = (3, 10);

/// Installs the wheel for the root's platform, and returns its name there.
pub(super) fn add_wheel(context: &Context<'_>, root: &Root<'_>) -> Result<String, Error> {
    let wheel = wheel(&context.dist("python"), root.target)?;
    let name = wheel.file_name().unwrap_or_default().to_string_lossy();
    root.add(&wheel, &name)?;
    Ok(format!("/check/{name}"))
}

/// The options with which pip installs files into a folder.
pub(super) const INSTALL: [&str; 6] = [
    "-m",
    "pip",
    "install",
    "--no-index",
    "--target",
    "/check/site",
];

/// For a Debian whose Python is too old, from Maven: the library, and the program in it. It needs glibc 2.30.
const NEWER: &str = "org.bytedeco:cpython:3.12.1-1.5.10:jar:linux-x86_64";
const NEWER_PROGRAM: &str = "org/bytedeco/cpython/linux-x86_64/bin/python3.12";

/// Returns the path of a Python in the root that is new enough.
pub(super) fn python(context: &Context<'_>, root: &Root<'_>) -> Result<String, Error> {
    let debian = "/usr/bin/python3".to_owned();
    let code = "import sys; print(sys.version_info.major, sys.version_info.minor)";
    let text = root.run(&debian, &["-c", code])?;
    let mut numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) if (major, minor) >= OLDEST => Ok(debian),
        _ if root.target.is_native() => {
            let folder = newer(context.workspace)?;
            root.link(&folder)?;
            let program = folder.join(NEWER_PROGRAM).display().to_string();
            root.add_command("python3", &program)?;
            Ok(program)
        }
        _ => Err(Error::Usage(format!("Python is too old: {}", text.trim()))),
    }
}

/// Unpacks the newer Python into a folder, and returns it.
fn newer(workspace: &Workspace) -> Result<PathBuf, Error> {
    let folder = workspace.target().join("package/cpython");
    let program = folder.join(NEWER_PROGRAM);
    if !program.exists() {
        let jars = workspace.target().join("package/cpython-jar");
        empty(&folder)?;
        for jar in java::fetch(workspace, NEWER, &jars)? {
            let mut unzip = workspace.command("unzip");
            run_command(unzip.arg("-q").arg(jar).arg("-d").arg(&folder))?;
        }
        files::set_mode(&program, 0o755)?;
    }
    Ok(folder)
}

pub(super) fn readme(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let wheel = add_wheel(context, root)?;
    let python = python(context, root)?;
    root.run(&python, &[&INSTALL[..], &[&wheel]].concat())?;
    let page = first_block(context.workspace, README, "python")?;
    root.write(
        "readme.py",
        &format!("import sys\nsys.path.append('/check/site')\n{page}print(visit.page)\n"),
    )?;
    check_printed(README, &root.run(&python, &["/check/readme.py"])?, "/")
}
