//! The example that needs SoftHSM.
//!
//! The examples that need more than cargo stand alone, like the drivers, and are tested here. The step
//! `test` tests the others, which are members of the workspace.

use super::{Outcome, separate_crate};
use crate::command::{Error, Workspace, on_path};

/// Format, lints and tests of every crate under examples/ that has its own lockfile.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    if on_path("softhsm2-util").is_none() {
        return Ok(Outcome::Skipped("SoftHSM is not installed".into()));
    }
    for folder in workspace.folders_with("examples", "Cargo.lock") {
        separate_crate::format(workspace, &folder)?;
        separate_crate::check(workspace, &folder)?;
    }
    Ok(Outcome::Passed)
}
