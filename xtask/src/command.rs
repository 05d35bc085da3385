//! Running other programs: always shown before they start, and named when they fail.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Why a task failed.
#[derive(Debug)]
pub enum Error {
    /// A check failed. Exit code 1.
    Failed(String),
    /// The call was wrong, or a tool that the task needs is missing. Exit code 2.
    Usage(String),
}

impl Error {
    /// Returns the exit code of a task that failed so.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Failed(_) => ExitCode::from(1),
            Self::Usage(_) => ExitCode::from(2),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(why) | Self::Usage(why) => f.write_str(why),
        }
    }
}

/// Features that tests need: of the service, and functions with which tests make the libraries for other languages panic.
/// Every step builds with all of them, so that each crate is compiled once.
const TEST_FEATURES: [(&str, &str); 6] = [
    ("jeton-cli", "otel"),
    ("jeton-cli", "pkcs11"),
    ("jeton-ffi", "test-hooks"),
    ("jeton-java", "test-hooks"),
    ("jeton-node", "test-hooks"),
    ("jeton-python", "test-hooks"),
];

/// Settings for drivers that are checked, not measured: what they are measured with compiles for much longer. A run of
/// the lab rebuilds them. With the settings of the workspace's profile, dependencies of both are compiled once.
pub const CHECKED_DRIVERS: [(&str, &str); 3] = [
    (PROFILE, "dev"),
    ("CARGO_PROFILE_DEV_OPT_LEVEL", "1"),
    ("CARGO_PROFILE_DEV_DEBUG", "0"),
];

/// What `cargo clippy` sets. Clippy compiles as well, and so lints and tests of a crate need one build of its
/// dependencies, and lints and documentation one check; with `cargo clippy` cargo would see other units.
pub const CLIPPY: [(&str, &str); 2] = [("RUSTC_WORKSPACE_WRAPPER", CLIPPY_DRIVER), CLIPPY_ARGS];

/// The same for the lab, which then finds the Rust drivers that were linted. It gives the wrapper to them alone: drivers
/// for other languages build libraries of the workspace, which are compiled without.
pub const CLIPPY_OF_DRIVERS: [(&str, &str); 2] =
    [("JETON_RUSTC_WRAPPER", CLIPPY_DRIVER), CLIPPY_ARGS];

const CLIPPY_DRIVER: &str = "clippy-driver";
const CLIPPY_ARGS: (&str, &str) = (
    "CLIPPY_ARGS",
    "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__",
);

/// Options of Java for compilers and builders, which end before more optimising and several threads of the collector pay.
/// Not for tests: big numbers are slow with them.
pub const BRIEF_JVM: [&str; 2] = ["-XX:CompilationMode=quick-only", "-XX:+UseSerialGC"];

/// Packages that only tests of `jeton` use. A task that builds them for another reason does not optimise them.
const TEST_DEPENDENCIES: [&str; 6] = [
    "clap_builder",
    "libtest-mimic",
    "proptest",
    "regex-syntax",
    "rustix",
    "syn",
];

/// Returns the arguments with which cargo does not optimise them in this profile.
#[must_use]
pub fn without_optimised_test_dependencies(profile: &str) -> Vec<String> {
    let settings = TEST_DEPENDENCIES
        .map(|name| format!("--config=profile.{profile}.package.{name}.opt-level=0"));
    settings.into()
}

/// The environment variable with the profile of Rust drivers, and of the libraries that `cargo xtask sdk go-library` and
/// the like build: `dev`, or what users get.
pub const PROFILE: &str = "JETON_PROFILE";

/// The environment variable with which `cargo xtask test` tells its steps that everything is built: to ask cargo again,
/// they would wait for another step that compiles.
pub const BUILT: &str = "JETON_TESTS_BUILT";

/// The checkout that this task runs in.
pub struct Workspace {
    root: PathBuf,
    /// Where cargo builds, if the environment does not decide it.
    target: Option<PathBuf>,
    /// The packages that `cargo_workspace` is about; empty for all.
    packages: Vec<&'static str>,
}

impl Workspace {
    /// Returns the checkout that `cargo xtask` was called in.
    #[must_use]
    pub fn here() -> Self {
        // Cargo sets it again when it runs the binary, so a moved checkout is found. It names the
        // binary's package: xtask/ or studies/.
        let package = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = package.parent().map_or(package.clone(), Path::to_path_buf);
        Self {
            root,
            target: None,
            packages: Vec::new(),
        }
    }

    /// Returns another checkout, which builds in its own `target/`.
    #[must_use]
    pub fn at(root: PathBuf) -> Self {
        let target = Some(root.join("target"));
        Self {
            root,
            target,
            packages: Vec::new(),
        }
    }

    /// Returns the same checkout, of which only these packages are built and tested.
    #[must_use]
    pub fn only(mut self, packages: Vec<&'static str>) -> Self {
        self.packages = packages;
        self
    }

    /// Returns the folder of the checkout.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of a file or folder in the checkout.
    #[must_use]
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Returns the folder in which cargo puts what it builds.
    #[must_use]
    pub fn target(&self) -> PathBuf {
        if let Some(target) = &self.target {
            return target.clone();
        }
        let chosen = std::env::var_os("CARGO_TARGET_DIR");
        self.root.join(chosen.unwrap_or("target".into()))
    }

    /// Builds what all steps use, once: the tests, the command and the libraries for other languages.
    ///
    /// # Errors
    /// If cargo cannot build it.
    pub fn build(&self) -> Result<(), Error> {
        if std::env::var_os(BUILT).is_some() {
            return Ok(());
        }
        run(self.cargo_build().arg("--quiet"))
    }

    /// Returns the command of [`build`](Self::build).
    #[must_use]
    pub fn cargo_build(&self) -> Command {
        let mut build = self.cargo_workspace("build");
        build.arg("--all-targets");
        build
    }

    /// Builds the binary `jeton` as the tests have it, and returns its path.
    ///
    /// # Errors
    /// If cargo cannot build it.
    pub fn tested_binary(&self) -> Result<PathBuf, Error> {
        self.build()?;
        Ok(self.target().join("debug/jeton"))
    }

    /// Builds the binary `jeton-lab` as the tests have it, and returns its path.
    ///
    /// # Errors
    /// If cargo cannot build it.
    pub fn tested_lab(&self) -> Result<PathBuf, Error> {
        self.build()?;
        Ok(self.target().join("debug/jeton-lab"))
    }

    /// Returns a command that starts in the checkout's root.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(&self.root);
        command
    }

    /// Returns a command of the cargo that runs this task: every step uses the pinned toolchain.
    #[must_use]
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        command.args(arguments);
        command
    }

    /// Returns a command of cargo's about the whole workspace, or the chosen packages: all steps say the same, so that
    /// nothing is compiled twice.
    #[must_use]
    pub fn cargo_workspace(&self, command: &str) -> Command {
        let mut cargo = self.cargo(&[command, "--locked"]);
        let is_chosen = |name: &str| self.packages.is_empty() || self.packages.contains(&name);
        if self.packages.is_empty() {
            cargo.arg("--workspace");
        }
        for package in &self.packages {
            cargo.args(["--package", package]);
        }
        let features = TEST_FEATURES
            .iter()
            .filter(|(package, _)| is_chosen(package));
        let features: Vec<_> = features
            .map(|(package, feature)| format!("{package}/{feature}"))
            .collect();
        if !features.is_empty() {
            cargo.args(["--features", &features.join(",")]);
        }
        cargo
    }

    /// Returns the folders directly under `relative` that hold a file called `manifest`, sorted.
    #[must_use]
    pub fn folders_with(&self, relative: &str, manifest: &str) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.path(relative)) else {
            return Vec::new();
        };
        let mut folders: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|folder| folder.join(manifest).is_file())
            .collect();
        folders.sort();
        folders
    }
}

/// Runs `command` with the terminal as its own.
///
/// # Errors
/// If it does not start, or fails.
pub fn run(command: &mut Command) -> Result<(), Error> {
    let line = shown(command);
    eprintln!("  $ {line}");
    let status = command
        .status()
        .map_err(|error| Error::Usage(format!("`{line}` did not start: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(Error::Failed(format!("`{line}` ended with {status}")))
    }
}

/// Runs `command` and returns what it wrote to stdout; its stderr stays on the terminal.
///
/// # Errors
/// If it does not start, or fails, or does not write UTF-8.
pub fn output(command: &mut Command) -> Result<String, Error> {
    let line = shown(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Error::Usage(format!("`{line}` did not start: {error}")))?;
    if !output.status.success() {
        return Err(Error::Failed(format!(
            "`{line}` ended with {}",
            output.status
        )));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| Error::Failed(format!("`{line}` wrote something that is not UTF-8")))
}

/// Reports whether `command` runs and succeeds; it prints nothing.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Returns where `program` is on the PATH, if anywhere.
#[must_use]
pub fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
}

/// Returns the command as a person would type it; the program by name, not by its whole path.
#[must_use]
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut line = program
        .file_name()
        .unwrap_or(command.get_program())
        .to_string_lossy()
        .into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_command_is_named_with_its_arguments() {
        let workspace = Workspace::here();
        let stop =
            run(&mut workspace.cargo(&["no-such-subcommand"])).map_err(|stop| stop.to_string());
        assert!(
            stop.as_ref()
                .is_err_and(|why| why.starts_with("`cargo no-such-subcommand` ended with")),
            "{stop:?}"
        );
    }

    #[test]
    fn missing_program_is_a_usage_error() {
        let stop = run(&mut Workspace::here().command("jeton-no-such-program"));
        assert!(matches!(stop, Err(Error::Usage(_))), "{stop:?}");
    }
}
