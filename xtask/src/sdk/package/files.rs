//! Files of a package: their modes, and archives that are the same for the same files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use super::{copy, failed};
use crate::command::{Error, Workspace, output, run as run_command};

/// Files of one commit.
pub(super) struct Tree<'w> {
    pub(super) workspace: &'w Workspace,
    /// The time that every file in an archive has: that of the commit, in seconds.
    pub(super) time: String,
}

impl<'w> Tree<'w> {
    pub(super) fn of_commit(workspace: &'w Workspace) -> Result<Self, Error> {
        let time = match std::env::var("SOURCE_DATE_EPOCH") {
            Ok(time) => time,
            Err(_) => output(workspace.command("git").args(["log", "-1", "--format=%ct"]))?,
        };
        let time = time.trim().to_owned();
        Ok(Self { workspace, time })
    }

    /// Returns a `tar` that writes what the files are, not when and by whom they were written. All belong to the user
    /// and the group with this number.
    pub(super) fn tar(&self, owner: &str) -> Command {
        let mut tar = self.workspace.command("tar");
        tar.args(["--sort=name", "--numeric-owner", "--format=gnu"]);
        tar.args([format!("--owner={owner}"), format!("--group={owner}")]);
        tar.arg(format!("--mtime=@{}", self.time));
        tar
    }

    /// Packs a folder, which is in the archive by its name.
    pub(super) fn archive(&self, folder: &Path, to: &Path) -> Result<(), Error> {
        publish(self.workspace, folder)?;
        let mut tar = self.tar("0");
        // Without the time at which gzip ran.
        tar.args(["--use-compress-program", "gzip -n"]);
        tar.arg("-cf").arg(to).arg("-C");
        tar.arg(folder.parent().unwrap_or(folder));
        run_command(tar.arg(folder.file_name().unwrap_or_default()))?;
        eprintln!("== {}", to.display());
        Ok(())
    }
}

pub(super) fn make(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))
}

pub(super) fn write(file: &Path, text: &str) -> Result<(), Error> {
    fs::write(file, text).map_err(|error| failed(file, &error))?;
    set_mode(file, 0o644)
}

pub(super) fn install(from: &Path, to: &Path, mode: u32) -> Result<(), Error> {
    set_mode(&copy(from, to)?, mode)
}

/// Copies the licences, the manual, and the alerts that it names.
pub(super) fn documents(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    for name in ["alerts.yml", "scrape.yml"] {
        let (from, to) = (
            workspace.path("deploy/prometheus"),
            folder.join("prometheus"),
        );
        make(&to)?;
        install(&from.join(name), &to.join(name), 0o644)?;
    }
    for name in [
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "docs/operating.md",
        "docs/guide/production.md",
    ] {
        let file = workspace.path(name);
        install(
            &file,
            &folder.join(file.file_name().unwrap_or_default()),
            0o644,
        )?;
    }
    Ok(())
}

/// Makes everything readable for all, whatever the umask of the builder is.
pub(super) fn publish(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    let mut chmod = workspace.command("chmod");
    run_command(chmod.args(["-R", "u=rwX,go=rX"]).arg(folder))
}

pub(super) fn set_mode(path: &Path, mode: u32) -> Result<(), Error> {
    let mode = fs::Permissions::from_mode(mode);
    fs::set_permissions(path, mode).map_err(|error| failed(path, &error))
}
