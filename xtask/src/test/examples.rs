//! What needs SoftHSM: the server with keys in an HSM, and an example.
//!
//! The examples that need more than cargo stand alone, like the drivers, and are tested here. The step
//! `test` tests the others, which are members of the workspace.

use super::features::SERVE_FEATURES;
use super::{Outcome, separate_crate};
use crate::command::{Error, Workspace, on_path, run as run_command};

/// Format, lints and tests of every crate under examples/ that has its own lockfile.
pub(super) fn run(workspace: &Workspace) -> Result<Outcome, Error> {
    if on_path("softhsm2-util").is_none() {
        return Ok(Outcome::Skipped("SoftHSM is not installed".into()));
    }
    for folder in workspace.folders_with("examples", "Cargo.lock") {
        separate_crate::format(workspace, &folder)?;
        separate_crate::lints(workspace, &folder)?;
        separate_crate::tests(workspace, &folder)?;
    }
    server_with_an_hsm(workspace)?;
    Ok(Outcome::Passed)
}

/// `jeton serve` with the feature `pkcs11`, in the build that the step `features` has compiled.
fn server_with_an_hsm(workspace: &Workspace) -> Result<(), Error> {
    let mut test = workspace.cargo_workspace("test");
    test.arg("--quiet").args(SERVE_FEATURES);
    test.args(["--test", "it", "--"]);
    test.args(["serve::hsm", "operating::every_command_of_the_manual_works"]);
    run_command(&mut test)
}
