//! What a log says of its origin: the day, the commit and the processor.

use xtask::command::{Error, Workspace, output};

/// Today in UTC: `2026-11-26`.
pub(crate) fn day(workspace: &Workspace) -> Result<String, Error> {
    let day = output(workspace.command("date").args(["-u", "+%F"]))?;
    Ok(day.trim().to_owned())
}

/// The short name of the commit that is checked out.
pub(crate) fn commit(workspace: &Workspace) -> Result<String, Error> {
    let mut git = workspace.command("git");
    let commit = output(git.args(["rev-parse", "--short", "HEAD"]))?;
    Ok(commit.trim().to_owned())
}

/// The processor's name, as far as the system tells it.
pub(crate) fn cpu() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find(|line| line.starts_with("model name"));
    let name = model.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()));
    name.unwrap_or("unknown processor".into())
}
