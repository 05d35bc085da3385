//! The library for Python, in `sdk/python`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::libraries::Build;
use super::{KEY_SERVER, key_server};
use crate::command::{Error, Workspace, run as run_command, succeeds};
use crate::counted;
use crate::tally::Format;

/// The sources, and what is not copied.
const SOURCES: &str = "sdk/python/python/jeton";
const NOT_COPIED: &str = "__pycache__";

/// What the tests need.
const REQUIREMENTS: &str = "sdk/python/requirements-test.txt";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Builds and tests it.
pub(crate) fn run(workspace: &Workspace) -> Result<(), Error> {
    let tests = Tests::set_up(workspace)?;
    let key_server = key_server(workspace)?;
    let pytest = |name: &str, arguments: &[&str]| {
        let arguments = [&["-m", "pytest", "-q"], arguments].concat();
        let mut pytest = tests.command(&tests.interpreter, &arguments);
        pytest.env(KEY_SERVER, &key_server);
        counted::run(name, Format::Pytest, &mut pytest)
    };
    pytest("sdk/python/tests", &["tests"])?;
    pytest(
        "examples of jeton's modules",
        &["--doctest-modules", "--pyargs", "jeton"],
    )?;
    tests.other_versions()
}

/// The types of its sources, tests and examples, by two checkers.
pub(crate) fn types(workspace: &Workspace) -> Result<(), Error> {
    let tests = Tests::set_up(workspace)?;
    let cache = workspace.target().join("sdk-python/mypy");
    let cache = format!("--cache-dir={}", cache.display());
    tests.python(&["-m", "mypy", &cache, "-p", "jeton"])?;
    tests.python(&["-m", "mypy", &cache, "tests", "examples"])?;
    let python = format!("--pythonpath={}", tests.interpreter.display());
    tests.python(&["-m", "pyright", &python])
}

/// The stable interface is for these too. They have no packages here, so that they run what needs none.
const OTHER_VERSIONS: [&str; 3] = ["python3.10", "python3.12", "python3.13"];
const WITHOUT_PACKAGES: [&str; 2] = ["examples/readme.py", "examples/remote_keys.py"];

/// The package with a native module that has test hooks, and a Python that has what the tests need.
pub(crate) struct Tests<'w> {
    workspace: &'w Workspace,
    interpreter: PathBuf,
    package: PathBuf,
}

impl<'w> Tests<'w> {
    pub(crate) fn set_up(workspace: &'w Workspace) -> Result<Tests<'w>, Error> {
        let folder = workspace.target().join("sdk-python");
        let package = folder.join("package");
        place(workspace, Build::Tests, &package)?;
        let interpreter = environment(workspace, &folder.join("venv"))?;
        Ok(Tests {
            workspace,
            interpreter,
            package,
        })
    }

    pub(crate) fn interpreter(&self) -> &Path {
        &self.interpreter
    }

    /// The folder that has the package.
    pub(crate) fn package(&self) -> &Path {
        &self.package
    }

    fn other_versions(&self) -> Result<(), Error> {
        for version in OTHER_VERSIONS {
            if !succeeds(self.workspace.command(version).arg("--version")) {
                eprintln!("== {version} is not installed: skipped");
                continue;
            }
            for example in WITHOUT_PACKAGES {
                run_command(&mut self.command(Path::new(version), &[example]))?;
            }
        }
        Ok(())
    }

    fn python(&self, arguments: &[&str]) -> Result<(), Error> {
        run_command(&mut self.command(&self.interpreter, arguments))
    }

    fn command(&self, python: &Path, arguments: &[&str]) -> Command {
        let mut command = self.workspace.command(python);
        command.args(arguments).env("PYTHONPATH", &self.package);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        // One test needs the service.
        let program = self.workspace.target().join("debug/jeton");
        command.env("JETON_PROGRAM", program);
        // The panics that a test asks for need no backtrace.
        command.env("RUST_BACKTRACE", "0");
        command.current_dir(self.workspace.path("sdk/python"));
        command
    }
}

/// Builds the package into a folder for `PYTHONPATH`, for the lab.
pub(crate) fn library(workspace: &Workspace, how: Build) -> Result<(), Error> {
    place(workspace, how, &workspace.target().join("python-library"))
}

/// Builds the native module, and puts the package together as an installation has it.
fn place(workspace: &Workspace, how: Build, package: &Path) -> Result<(), Error> {
    let flags = ["-C", "strip=symbols"];
    let built = how.library(
        workspace,
        "jeton-python",
        ("cdylib", "lib_jeton.so"),
        &flags,
    )?;
    let _ = fs::remove_dir_all(package);
    copy_folder(&workspace.path(SOURCES), &package.join("jeton"))?;
    let module = package.join("jeton/_jeton.abi3.so");
    fs::copy(&built, &module).map_err(|error| failed(&built, &error))?;
    let metadata = package.join(format!("pyjeton-{VERSION}.dist-info"));
    fs::create_dir_all(&metadata).map_err(|error| failed(&metadata, &error))?;
    let text = format!("Metadata-Version: 2.1\nName: pyjeton\nVersion: {VERSION}\n");
    let file = metadata.join("METADATA");
    fs::write(&file, text).map_err(|error| failed(&file, &error))
}

/// A virtual environment with what the tests need. It is created again when the list changes.
fn environment(workspace: &Workspace, folder: &Path) -> Result<PathBuf, Error> {
    let interpreter = interpreter(folder);
    let wanted = workspace.path(REQUIREMENTS);
    let wanted = fs::read_to_string(&wanted).map_err(|error| failed(&wanted, &error))?;
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(interpreter);
    }
    create_environment(workspace, folder)?;
    let mut pip = pip(workspace, &interpreter);
    run_command(pip.args(["install", "--no-deps", "-r", REQUIREMENTS]))?;
    fs::write(&installed, wanted).map_err(|error| failed(&installed, &error))?;
    Ok(interpreter)
}

/// The Python of a virtual environment.
pub(super) fn interpreter(folder: &Path) -> PathBuf {
    folder.join("bin/python")
}

/// Creates an empty virtual environment.
pub(super) fn create_environment(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    let mut venv = workspace.command("python3");
    run_command(venv.args(["-m", "venv", "--clear"]).arg(folder))
}

/// The pip of a virtual environment.
pub(super) fn pip(workspace: &Workspace, interpreter: &Path) -> Command {
    let mut pip = workspace.command(interpreter);
    pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]);
    pip
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), Error> {
    fs::create_dir_all(to).map_err(|error| failed(to, &error))?;
    let entries = fs::read_dir(from).map_err(|error| failed(from, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| failed(from, &error))?;
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && name != NOT_COPIED {
            copy_folder(&path, &to.join(name))?;
        } else if path.is_file() {
            fs::copy(&path, to.join(name)).map_err(|error| failed(&path, &error))?;
        }
    }
    Ok(())
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::Failed(format!("{}: {error}", path.display()))
}
