//! Wheels.

use super::super::super::readme::{check_printed, first_block};
use super::super::python::{README, wheel};
use super::{Context, Root};
use crate::command::Error;

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

/// Whether Python in the root is new enough.
pub(super) fn is_supported(root: &Root<'_>) -> Result<(), Error> {
    let code = "import sys; print(sys.version_info.major, sys.version_info.minor)";
    let text = root.run("/usr/bin/python3", &["-c", code])?;
    let mut numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) if (major, minor) >= OLDEST => Ok(()),
        _ => Err(Error::Usage(format!("Python is too old: {}", text.trim()))),
    }
}

pub(super) fn readme(context: &Context<'_>, root: &Root<'_>) -> Result<(), Error> {
    let wheel = add_wheel(context, root)?;
    is_supported(root)?;
    root.run("/usr/bin/python3", &[&INSTALL[..], &[&wheel]].concat())?;
    let page = first_block(context.workspace, README, "python")?;
    root.write(
        "readme.py",
        &format!("import sys\nsys.path.append('/check/site')\n{page}print(visit.page)\n"),
    )?;
    check_printed(
        README,
        &root.run("/usr/bin/python3", &["/check/readme.py"])?,
        "/",
    )
}
