//! Programs that are taken out of a Debian package: installed, the package would start a server.

use std::path::{Path, PathBuf};

use super::{apt_get, needed, note, present};
use crate::command::{Error, Workspace, on_path, run as run_command, succeeds};

/// A program of a package.
pub(crate) struct Unpacked {
    package: &'static str,
    program: &'static str,
    /// Where it is in the package.
    path: &'static str,
    why: &'static str,
}

pub(crate) const NGINX: Unpacked = Unpacked {
    package: "nginx",
    program: "nginx",
    path: "usr/sbin/nginx",
    why: "tests fetch key sets through it: many services have such a cache in front",
};

pub(crate) const PROMTOOL: Unpacked = Unpacked {
    package: "prometheus",
    program: "promtool",
    path: "usr/bin/promtool",
    why: "it says which alerts fire",
};

impl Unpacked {
    /// The program, if it is there. Debian's is not on every user's PATH.
    pub(crate) fn find(&self, workspace: &Workspace) -> Option<PathBuf> {
        let places = [
            Path::new("/").join(self.path),
            self.folder(workspace).join(self.path),
        ];
        on_path(self.program).or_else(|| places.into_iter().find(|program| program.is_file()))
    }

    fn folder(&self, workspace: &Workspace) -> PathBuf {
        workspace.path("target/tools").join(self.package)
    }

    /// Takes it out of its package, without installing it.
    pub(super) fn bring(&self, workspace: &Workspace) -> Result<(), Error> {
        let program = self.program;
        if self.find(workspace).is_some() {
            return present(program);
        }
        if on_path("apt-get").is_none() || on_path("dpkg").is_none() {
            note(&format!(
                "{program} is not on the PATH: its tests are skipped"
            ));
            return Ok(());
        }
        needed(program, self.why);
        let folder = self.folder(workspace);
        std::fs::create_dir_all(&folder).map_err(|error| {
            Error::Failed(format!("{} cannot be made: {error}", folder.display()))
        })?;
        let download = || {
            let mut download = workspace.command("apt-get");
            download
                .args(["download", "-q", self.package])
                .current_dir(&folder);
            download
        };
        if !succeeds(&mut download()) {
            // What the machine knows of packages may be old, or nothing.
            apt_get(workspace, &["update", "-q"])?;
            run_command(&mut download())?;
        }
        let unpack = format!("dpkg -x {}_*.deb .", self.package);
        run_command(
            workspace
                .command("sh")
                .args(["-c", &unpack])
                .current_dir(&folder),
        )
    }
}
