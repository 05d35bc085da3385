//! Static programs: each runs on every Linux of its architecture, whatever C library that has.
//!
//! They are linked with glibc, not with musl: the service's memory and speed depend on the allocator, and its limits are
//! measured with that of glibc.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::target::{Target, Toolchain};
use crate::command::{Error, Workspace, on_path, output, run as run_command};

const FLAGS: [&str; 2] = [
    "-Ctarget-feature=+crt-static",
    // A static program finds no function by name at run time; the default then reads /dev/urandom.
    "--cfg=getrandom_backend=\"linux_getrandom\"",
];

/// What builds static programs for one platform: GCC with the glibc of this machine or of its cross compiler.
pub(super) struct Static<'w> {
    workspace: &'w Workspace,
    pub(super) target: &'static Target,
    toolchain: Toolchain<'w>,
}

impl<'w> Static<'w> {
    pub(super) fn set_up(workspace: &'w Workspace, target: &'static Target) -> Result<Self, Error> {
        let gcc = target.binutil("gcc");
        if on_path(&gcc).is_none() {
            return Err(Error::Usage(format!(
                "{gcc} is not installed; Debian's packages are gcc-aarch64-linux-gnu and g++-aarch64-linux-gnu"
            )));
        }
        let toolchain = Toolchain::set_up(workspace, &[])?;
        toolchain.add_standard_libraries(&[target])?;
        Ok(Self {
            workspace,
            target,
            toolchain,
        })
    }

    /// Lets a command that runs cargo build static programs.
    pub(super) fn apply<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        self.toolchain.apply(command, self.target, &FLAGS);
        let name = self.target.triple.replace('-', "_");
        for (variable, program) in [("CC", "gcc"), ("CXX", "g++"), ("AR", "ar")] {
            command.env(format!("{variable}_{name}"), self.target.binutil(program));
        }
        let linker = format!("CARGO_TARGET_{}_LINKER", name.to_uppercase());
        command
            .env("CARGO_TARGET_DIR", self.cargo_folder())
            .env(linker, self.target.binutil("gcc"))
            .env("CARGO_BUILD_TARGET", self.target.triple)
            .env("JETON_PACKAGED", "1")
    }

    /// Returns the folder of cargo's files. In the one of the libraries, whose flags are others, each build would compile
    /// the dependencies again.
    fn cargo_folder(&self) -> PathBuf {
        self.toolchain.target().join("static")
    }

    /// Returns the folder of cargo's files, and the one of its results for a profile.
    pub(super) fn folders(&self, profile: &str) -> (PathBuf, PathBuf) {
        let target = self.cargo_folder();
        let built = target.join(self.target.triple).join(profile);
        (target, built)
    }

    /// Builds a program of the workspace.
    pub(super) fn build(&self, package: &str, program: &str, to: &Path) -> Result<(), Error> {
        let mut cargo = self
            .workspace
            .cargo(&["build", "--locked", "--profile", "dist"]);
        run_command(self.apply(&mut cargo).args(["-p", package]))?;
        self.finish(&self.folders("dist").1.join(program), to)
    }

    /// Copies a program without symbols. It fails if the program needs libraries, or contains a folder of the builder.
    pub(super) fn finish(&self, built: &Path, to: &Path) -> Result<(), Error> {
        let mut strip = self.workspace.command(self.target.binutil("objcopy"));
        strip.args(["--strip-all", "--remove-section=.comment"]);
        run_command(strip.arg(built).arg(to))?;
        let mut readelf = self.workspace.command("readelf");
        let headers = output(readelf.args(["--program-headers", "--wide"]).arg(to))?;
        if headers.contains("INTERP") {
            return Err(Error::Failed(format!("{} is not static", to.display())));
        }
        self.toolchain.check_folders(to)
    }

    /// Runs a program and returns what it prints: on this machine's processor, or under qemu-user if that is installed.
    pub(super) fn try_run(&self, program: &Path, arguments: &[&str]) -> Result<String, Error> {
        let emulator = format!("qemu-{}", self.target.processor());
        let mut command = if self.target.is_native() {
            self.workspace.command(program)
        } else if on_path(&emulator).is_some() {
            let mut command = self.workspace.command(emulator);
            command.arg(program);
            command
        } else {
            eprintln!(
                "== {} was not run: {emulator} is not installed",
                program.display()
            );
            return Ok(String::new());
        };
        output(command.args(arguments))
    }
}
