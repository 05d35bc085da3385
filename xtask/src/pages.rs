//! `cargo xtask pages`: the pages of the stored runs, where they are published. The checkout has only the results.

use std::fs;

use crate::command::{Error, Workspace, run as run_command};

/// The stored runs, each in a folder with its result.
const RUNS: &str = "docs/runs";

/// The result of a run.
const RESULT: &str = "results.json.gz";

/// Writes the page of each stored run to `pages/` in the folder in which cargo builds.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    let pages = workspace.target().join("pages");
    fs::create_dir_all(&pages)
        .map_err(|error| Error::Usage(format!("cannot create {}: {error}", pages.display())))?;
    for folder in workspace.folders_with(RUNS, RESULT) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let lab = [
            "run",
            "--locked",
            "--quiet",
            "--release",
            "--package",
            "jeton-lab",
            "--",
        ];
        let mut report = workspace.cargo(&lab);
        report.arg("report").arg(folder.join(RESULT));
        report.args(["--html", "-o"]);
        run_command(report.arg(pages.join(format!("{name}.html"))))?;
    }
    eprintln!("the pages are in {}", pages.display());
    Ok(())
}
