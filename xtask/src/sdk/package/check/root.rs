//! A Debian in a folder: without Rust, and without a network.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::super::target::Target;
use super::super::{copy, empty, failed};
use crate::command::{Error, Workspace, on_path, output, run as run_command, shown};

/// What creates it. It runs as root.
const BUILDER: &str = "mmdebstrap";

/// What runs programs of another architecture. Its package is linked statically, so that it runs in the folder, too.
const EMULATOR: &str = "qemu-aarch64-static";

/// Where a check has its files.
const HOME: &str = "check";

pub(super) struct Root<'w> {
    workspace: &'w Workspace,
    folder: PathBuf,
    /// What is shown: the version of Debian and the platform.
    pub(super) name: String,
    pub(super) target: &'static Target,
}

impl<'w> Root<'w> {
    /// Creates the folder with these packages, unless it is there. They are unpacked and not configured: no program of
    /// another architecture runs.
    pub(super) fn create(
        workspace: &'w Workspace,
        suite: &str,
        target: &'static Target,
        packages: &[&str],
    ) -> Result<Self, Error> {
        let name = format!("{suite}-{}", target.debian());
        let folder = workspace.target().join("package/roots").join(&name);
        let root = Self {
            workspace,
            folder,
            name,
            target,
        };
        let list = packages.join(",");
        let installed = root.folder.join("installed");
        if fs::read_to_string(&installed).ok().as_ref() != Some(&list) {
            need(BUILDER)?;
            empty(&root.folder)?;
            let mut build = workspace.command(BUILDER);
            build.args(["--mode=root", "--variant=extract", "--quiet"]);
            build.arg("--setup-hook=/usr/share/mmdebstrap/hooks/merged-usr/setup00.sh");
            build.arg(format!("--architectures={}", target.debian()));
            build.arg(format!("--include={list}"));
            build.arg(suite).arg(&root.folder).arg(mirror(workspace)?);
            run_command(&mut build)?;
            for name in ["proc", "dev", "mnt"] {
                let place = root.folder.join(name);
                fs::create_dir_all(&place).map_err(|error| failed(&place, &error))?;
            }
            fs::write(&installed, list).map_err(|error| failed(&installed, &error))?;
        }
        if !target.is_native() {
            let emulator = need(EMULATOR)?;
            copy(&emulator, &root.folder.join(EMULATOR))?;
        }
        empty(&root.path(""))?;
        Ok(root)
    }

    /// Returns the path, on this machine, of a file that a check has.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.folder.join(HOME).join(file)
    }

    /// Copies a file or a folder to the files of the check.
    pub(super) fn add(&self, from: &Path, to: &str) -> Result<(), Error> {
        let to = self.path(to);
        let parent = to.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).map_err(|error| failed(parent, &error))?;
        let mut copy = self.workspace.command("cp");
        run_command(copy.arg("-rT").arg(from).arg(to))
    }

    /// Writes a file of the check.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let file = self.path(name);
        fs::write(&file, text).map_err(|error| failed(&file, &error))
    }

    /// Links a folder of this machine into the root, under the same name.
    pub(super) fn link(&self, folder: &Path) -> Result<(), Error> {
        let to = self.folder.join(folder.strip_prefix("/").unwrap_or(folder));
        if to.exists() {
            return Ok(());
        }
        let parent = to.parent().unwrap_or(&self.folder);
        fs::create_dir_all(parent).map_err(|error| failed(parent, &error))?;
        let mut copy = self.workspace.command("cp");
        run_command(copy.arg("-rlT").arg(folder).arg(to))
    }

    /// Lets a program of the root start by its name.
    pub(super) fn add_command(&self, name: &str, program: &str) -> Result<(), Error> {
        let place = self.folder.join("opt/bin").join(name);
        let _ = fs::remove_file(&place);
        fs::create_dir_all(self.folder.join("opt/bin"))
            .and_then(|()| symlink(program, &place))
            .map_err(|error| failed(&place, &error))
    }

    /// Returns a command in the root, which reaches no network. The shell of this machine first runs `setup`, in the folder
    /// of the root. A program of another architecture starts no others, and has its whole path.
    pub(super) fn command(&self, program: &str, arguments: &[&str], setup: &str) -> Command {
        let mut command = self.workspace.command("unshare");
        let script = format!(
            "mount --rbind /proc \"$1/proc\" && mount --rbind /dev \"$1/dev\" && cd \"$1\" && {{ {}; }} && \
             shift && exec chroot . \"$@\"",
            if setup.is_empty() { "true" } else { setup }
        );
        command.args(["--mount", "--net", "sh", "-c", &script, "sh"]);
        command.arg(&self.folder);
        if !self.target.is_native() {
            command.arg(format!("/{EMULATOR}"));
        }
        command.arg(program).args(arguments);
        command.env_clear();
        command.envs([
            ("PATH", "/opt/bin:/usr/bin:/bin:/usr/sbin:/sbin"),
            ("HOME", "/check/home"),
            ("LANG", "C.UTF-8"),
        ]);
        command
    }

    /// Runs a program in the root, and returns what it writes. It fails if the program does.
    pub(super) fn run(&self, program: &str, arguments: &[&str]) -> Result<String, Error> {
        let (ended_well, text) = self.outcome(self.command(program, arguments, ""))?;
        if ended_well {
            Ok(text)
        } else {
            Err(Error::Failed(format!(
                "{}: `{program} {}` failed: {text}",
                self.name,
                arguments.join(" ")
            )))
        }
    }

    /// Returns whether the command succeeds, and what it writes.
    pub(super) fn outcome(&self, mut command: Command) -> Result<(bool, String), Error> {
        let line = shown(&command);
        let failed = |error| Error::Usage(format!("`{line}` did not start: {error}"));
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().map_err(failed)?;
        let text = [stdout, stderr].concat();
        Ok((
            status.success(),
            String::from_utf8_lossy(&text).into_owned(),
        ))
    }
}

/// Returns the path of a program, or says which package of Debian has it.
fn need(program: &str) -> Result<PathBuf, Error> {
    let package = program.replace("qemu-aarch64-static", "qemu-user-static");
    on_path(program).ok_or_else(|| {
        Error::Usage(format!(
            "{program} not found: the check runs as root on Debian, and needs the package {package}"
        ))
    })
}

/// Returns the mirror of Debian that apt uses here.
fn mirror(workspace: &Workspace) -> Result<String, Error> {
    let mut targets = workspace.command("apt-get");
    targets.args(["indextargets", "--format", "$(REPO_URI) $(CODENAME)"]);
    let text = output(targets.args(["Origin: Debian", "Created-By: Packages"]))?;
    let main = |line: &str| {
        let (address, codename) = line.split_once(' ')?;
        (!codename.contains('-')).then(|| address.to_owned())
    };
    text.lines()
        .find_map(main)
        .ok_or_else(|| Error::Usage("apt has no mirror of Debian".into()))
}
