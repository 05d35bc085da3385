//! The platforms that packages are built for, and how one Linux machine builds for all that are Linux: with zig as the
//! C compiler and the linker, which brings the C libraries. `cargo-zigbuild` translates what rustc passes to the linker.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::python::{create_environment, interpreter, pip};
use super::failed;
use crate::command::{Error, Workspace, output, run as run_command};

/// One platform, and what the package managers call it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Its name in Rust.
    pub(crate) triple: &'static str,
    /// Its name for zig, with the oldest glibc that programs run on. The systems that zig does not build for here are
    /// built on their own machines.
    zig: Option<&'static str>,
    /// The prefix of its binutils on a machine with another architecture.
    binutils: &'static str,
    pub(crate) npm: &'static str,
    pub(crate) java: &'static str,
    /// The folder of the Go module, if there is one.
    pub(crate) go: Option<&'static str>,
    /// The tag of wheels; maturin finds the others.
    pub(crate) wheel: Option<&'static str>,
}

const X64: &str = "x86_64-linux-gnu-";
const ARM64: &str = "aarch64-linux-gnu-";

pub(crate) const TARGETS: [Target; 7] = [
    Target {
        triple: "x86_64-unknown-linux-gnu",
        zig: Some("x86_64-linux-gnu.2.28"),
        binutils: X64,
        npm: "linux-x64-gnu",
        java: "linux-x86_64-gnu",
        go: Some("linux_amd64"),
        wheel: Some("manylinux_2_28"),
    },
    Target {
        triple: "aarch64-unknown-linux-gnu",
        zig: Some("aarch64-linux-gnu.2.28"),
        binutils: ARM64,
        npm: "linux-arm64-gnu",
        java: "linux-aarch64-gnu",
        go: Some("linux_arm64"),
        wheel: Some("manylinux_2_28"),
    },
    Target {
        triple: "x86_64-unknown-linux-musl",
        zig: Some("x86_64-linux-musl"),
        binutils: X64,
        npm: "linux-x64-musl",
        java: "linux-x86_64-musl",
        go: Some("linux_amd64_musl"),
        wheel: Some("musllinux_1_2"),
    },
    Target {
        triple: "aarch64-unknown-linux-musl",
        zig: Some("aarch64-linux-musl"),
        binutils: ARM64,
        npm: "linux-arm64-musl",
        java: "linux-aarch64-musl",
        go: Some("linux_arm64_musl"),
        wheel: Some("musllinux_1_2"),
    },
    elsewhere("x86_64-apple-darwin", "darwin-x64", "macos-x86_64"),
    elsewhere("aarch64-apple-darwin", "darwin-arm64", "macos-aarch64"),
    elsewhere("x86_64-pc-windows-msvc", "win32-x64-msvc", "windows-x86_64"),
];

/// A platform whose packages its own machine builds.
const fn elsewhere(triple: &'static str, npm: &'static str, java: &'static str) -> Target {
    Target {
        triple,
        zig: None,
        binutils: "",
        npm,
        java,
        go: None,
        wheel: None,
    }
}

impl Target {
    /// Returns the platforms with this name: one, or all that are built here.
    pub(crate) fn named(name: &str) -> Result<Vec<&'static Target>, Error> {
        let here = TARGETS.iter().filter(|target| target.zig.is_some());
        if name == ALL {
            return Ok(here.collect());
        }
        let found: Vec<_> = here
            .clone()
            .filter(|target| target.triple == name)
            .collect();
        if found.is_empty() {
            let all: Vec<_> = here.map(|target| target.triple).collect();
            return Err(Error::Usage(format!(
                "unknown target `{name}`; expected one of: {ALL}, {}",
                all.join(", ")
            )));
        }
        Ok(found)
    }

    /// Returns the platform of this machine.
    pub(crate) fn host(workspace: &Workspace) -> Result<&'static Target, Error> {
        let text = output(workspace.command("rustc").arg("-vV"))?;
        let host = text.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.ok_or_else(|| Error::Failed("rustc names no host".into()))?;
        let target = TARGETS.iter().find(|target| target.triple == host);
        target.ok_or_else(|| Error::Usage(format!("no packages are built for {host}")))
    }

    pub(crate) fn is_musl(&self) -> bool {
        self.triple.ends_with("musl")
    }

    /// Whether this machine runs its programs, if it has their C library.
    pub(crate) fn is_native(&self) -> bool {
        self.triple.starts_with(std::env::consts::ARCH)
    }

    /// Returns its name in files: one static program is for every C library.
    pub(crate) fn platform(&self) -> &'static str {
        self.npm.trim_end_matches("-gnu")
    }

    /// Returns the name of its processor in the triple.
    pub(crate) fn processor(&self) -> &'static str {
        self.triple.split('-').next().unwrap_or(self.triple)
    }

    /// Returns what Debian, Go and container images call its processor.
    pub(crate) fn debian(&self) -> &'static str {
        if self.triple.starts_with("x86_64") {
            "amd64"
        } else {
            "arm64"
        }
    }

    /// Returns what Node and npm call its processor.
    pub(crate) fn node(&self) -> &'static str {
        if self.triple.starts_with("x86_64") {
            "x64"
        } else {
            "arm64"
        }
    }

    /// Returns the name of a program of the binutils for this platform.
    pub(crate) fn binutil(&self, name: &str) -> String {
        let prefix = if self.is_native() { "" } else { self.binutils };
        format!("{prefix}{name}")
    }

    /// Returns the file name of a shared library.
    pub(crate) fn shared(&self, name: &str) -> String {
        match self.triple {
            triple if triple.contains("windows") => format!("{name}.dll"),
            triple if triple.contains("apple") => format!("lib{name}.dylib"),
            _ => format!("lib{name}.so"),
        }
    }
}

/// The name of all platforms that are built here.
const ALL: &str = "all";

/// From PyPI, which has the programs themselves. No other version builds the same bytes.
const PROGRAMS: [&str; 2] = ["cargo-zigbuild==0.24.0", "ziglang==0.17.1"];

/// A part of the programs. Zig itself compiles a file without other options for the processor. There are hundreds of files,
/// and translation takes longer than zig.
const COMPILE: &str = "case \" $* \" in *\" -march=\"*) ;;\n*\" -c \"*)\n  for argument; do\n    shift\n    \
    case $argument in --target=*) ;; *) set -- \"$@\" \"$argument\" ;; esac\n  done\n  ";

/// What stands in libraries and programs for the folders of the builder.
const SOURCES: &str = "/jeton";
const REGISTRY: &str = "/cargo";

/// What builds for another platform.
pub(crate) struct Toolchain<'w> {
    pub(super) workspace: &'w Workspace,
    /// The folder of zig, and of the programs that call it for one platform.
    folder: PathBuf,
    /// The folders of the builder, and what stands for them.
    folders: Vec<(String, String)>,
}

impl<'w> Toolchain<'w> {
    /// Installs zig, and Rust's standard library for these platforms.
    pub(crate) fn set_up(workspace: &'w Workspace, targets: &[&Target]) -> Result<Self, Error> {
        let folder = workspace.target().join("package/zig");
        let folders = vec![
            (cargo_home()?, REGISTRY.to_owned()),
            (
                workspace.target().display().to_string(),
                format!("{SOURCES}/target"),
            ),
            (workspace.root().display().to_string(), SOURCES.to_owned()),
        ];
        let toolchain = Self {
            workspace,
            folder,
            folders,
        };
        toolchain.add_standard_libraries(targets)?;
        if targets.iter().any(|target| target.zig.is_some()) {
            let zig = toolchain.install()?;
            for target in targets {
                toolchain.write_compilers(target, &zig)?;
            }
        }
        Ok(toolchain)
    }

    pub(crate) fn add_standard_libraries(&self, targets: &[&Target]) -> Result<(), Error> {
        let root = output(self.workspace.command("rustc").args(["--print", "sysroot"]))?;
        let libraries = Path::new(root.trim()).join("lib/rustlib");
        let missing: Vec<_> = targets
            .iter()
            .map(|target| target.triple)
            .filter(|triple| !libraries.join(triple).exists())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let mut rustup = self.workspace.command("rustup");
        run_command(rustup.args(["target", "add"]).args(missing))
    }

    /// Installs the programs, and returns the path of zig.
    fn install(&self) -> Result<PathBuf, Error> {
        let python = interpreter(&self.folder.join("venv"));
        let installed = self.folder.join("installed");
        let programs = PROGRAMS.join("\n");
        if fs::read_to_string(&installed).ok().as_ref() != Some(&programs) {
            fs::create_dir_all(&self.folder).map_err(|error| failed(&self.folder, &error))?;
            create_environment(self.workspace, &self.folder.join("venv"))?;
            let mut install = pip(self.workspace, &python);
            run_command(install.args(["install", "--no-deps"]).args(PROGRAMS))?;
            fs::write(&installed, programs).map_err(|error| failed(&installed, &error))?;
        }
        let code = "import ziglang; print(ziglang.__path__[0])";
        let package = output(self.workspace.command(python).args(["-c", code]))?;
        Ok(Path::new(package.trim()).join("zig"))
    }

    /// Writes the programs that cargo and build scripts call. They accept no arguments in front, so that the platform is
    /// in the program.
    fn write_compilers(&self, target: &Target, zig: &Path) -> Result<(), Error> {
        let Some(name) = target.zig else {
            return Ok(());
        };
        let (zig, cache) = (zig.display(), self.folder.join("cache"));
        let settings = format!(
            "#!/bin/sh\nexport CARGO_ZIGBUILD_ZIG_PATH='{zig}'\nexport CARGO_ZIGBUILD_CACHE_DIR='{0}' \
             ZIG_GLOBAL_CACHE_DIR='{0}' ZIG_LOCAL_CACHE_DIR='{0}'\n",
            cache.display()
        );
        let zigbuild = self.folder.join("venv/bin/cargo-zigbuild");
        // zig removes debug information and adds checks unless it is told otherwise.
        let options = format!("-g -fno-sanitize=all -target {name}");
        for program in ["cc", "c++"] {
            let text = format!(
                "{settings}{COMPILE}exec '{zig}' {program} {options} \"$@\" ;;\nesac\n\
                 exec '{}' zig {program} -- {options} \"$@\"\n",
                zigbuild.display()
            );
            self.write_program(target, program, &text)?;
        }
        let text = format!("{settings}exec '{zig}' ar \"$@\"\n");
        self.write_program(target, "ar", &text)
    }

    fn write_program(&self, target: &Target, name: &str, text: &str) -> Result<(), Error> {
        let file = self.program(target, name);
        // Another build may run it.
        if fs::read_to_string(&file).is_ok_and(|found| found == text) {
            return Ok(());
        }
        fs::write(&file, text).map_err(|error| failed(&file, &error))?;
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&file, mode).map_err(|error| failed(&file, &error))
    }

    /// Returns the path of `cc`, `c++` or `ar` for a platform that zig builds for.
    pub(crate) fn program(&self, target: &Target, name: &str) -> PathBuf {
        self.folder.join(format!("{name}-{}", target.triple))
    }

    /// Lets a command that runs cargo build for the platform. The caller passes `--target`. The result has no path and no
    /// time of the builder.
    pub(crate) fn apply<'c>(
        &self,
        command: &'c mut Command,
        target: &Target,
        flags: &[&str],
    ) -> &'c mut Command {
        let mut rust: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let mut c = vec!["-g0".to_owned()];
        for (from, to) in &self.folders {
            rust.push(format!("--remap-path-prefix={from}={to}"));
            c.push(format!("-ffile-prefix-map={from}={to}"));
        }
        let name = target.triple.replace('-', "_");
        if target.zig.is_some() {
            // The linker's id of a build is a hash of paths too.
            rust.push("-Clink-arg=-Wl,--build-id=none".to_owned());
            let linker = format!("CARGO_TARGET_{}_LINKER", name.to_uppercase());
            command.env(linker, self.program(target, "cc"));
            command.env(format!("CC_{name}"), self.program(target, "cc"));
            command.env(format!("CXX_{name}"), self.program(target, "c++"));
            command.env(format!("AR_{name}"), self.program(target, "ar"));
            command.env(format!("CFLAGS_{name}"), c.join(" "));
            command.env(format!("CXXFLAGS_{name}"), c.join(" "));
        }
        command
            .env("CARGO_ENCODED_RUSTFLAGS", rust.join("\u{1f}"))
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_TARGET_DIR", self.target())
    }

    /// Returns the folder of cargo's files.
    pub(crate) fn target(&self) -> PathBuf {
        self.workspace.target().join("package")
    }

    /// Fails if the file contains a folder of the builder.
    pub(crate) fn check_folders(&self, file: &Path) -> Result<(), Error> {
        let bytes = fs::read(file).map_err(|error| failed(file, &error))?;
        for (folder, _) in &self.folders {
            let folder = folder.as_bytes();
            let found = bytes.windows(folder.len()).position(|part| part == folder);
            if let Some(at) = found {
                let end = bytes.len().min(at + 120);
                return Err(Error::Failed(format!(
                    "{} contains a folder of the builder: {}",
                    file.display(),
                    String::from_utf8_lossy(&bytes[at..end]).escape_debug()
                )));
            }
        }
        Ok(())
    }
}

fn cargo_home() -> Result<String, Error> {
    if let Ok(home) = std::env::var("CARGO_HOME") {
        return Ok(home);
    }
    let home = std::env::var("HOME");
    let home = home.map_err(|_| Error::Usage("neither CARGO_HOME nor HOME is set".into()))?;
    Ok(format!("{home}/.cargo"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_the_platforms_that_are_built_here() {
        let names = |name: &str| Target::named(name).map(|found| found.len());
        assert_eq!(names("all").ok(), Some(4));
        assert_eq!(names("aarch64-unknown-linux-musl").ok(), Some(1));
        assert!(names("x86_64-apple-darwin").is_err_and(|error| {
            error
                .to_string()
                .contains("expected one of: all, x86_64-unknown-linux-gnu")
        }));
    }

    #[test]
    fn library_with_a_folder_of_the_builder_is_refused() {
        let workspace = Workspace::here();
        let toolchain = Toolchain {
            workspace: &workspace,
            folder: PathBuf::new(),
            folders: vec![("/home/me/jeton".into(), SOURCES.into())],
        };
        let folder = tempfile::tempdir().expect("the temporary folder is writable");
        let file = folder.path().join("library");
        let check = |text: &str| {
            fs::write(&file, text).expect("the temporary folder is writable");
            toolchain.check_folders(&file)
        };
        assert!(check("a library with /jeton/src/main.rs").is_ok());
        let found = check("a library with /home/me/jeton/src/main.rs");
        assert!(found.is_err_and(|error| error.to_string().contains("folder of the builder")));
    }
}
