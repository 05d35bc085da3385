//! `jeton-lab` and its drivers, built: an archive that measures without a compiler and without the network.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::built;
use super::files::{self, Tree};
use super::programs::Static;
use super::target::Target;
use super::{FOLDER, RELEASE, failed, files_in, sbom};
use crate::command::{Error, Workspace, output, run as run_command, shown};

/// How the drivers of a language get into the archive.
type Add = fn(&Archive<'_>, &Driver) -> Result<(), Error>;

const LANGUAGES: [(&str, Add); 5] = [
    ("go", go),
    ("java", java),
    ("node", node),
    ("python", python),
    ("rust", rust),
];

/// The versions of CPython whose compiled modules are in the archive. The lab's drivers need the first one.
const PYTHONS: [&str; 4] = ["3.11", "3.12", "3.13", "3.14"];

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Builds an archive for each platform in `dist/release/`.
pub(super) fn run(workspace: &Workspace, targets: &[&'static Target]) -> Result<(), Error> {
    let tree = Tree::of_commit(workspace)?;
    let release = workspace.path(RELEASE);
    built::remove(workspace, "lab")?;
    for target in targets.iter().filter(|target| !target.is_musl()) {
        let name = format!("jeton-lab-{VERSION}-{}", target.platform());
        let work = workspace.target().join("package/lab");
        let archive = Archive {
            workspace,
            builder: Static::set_up(workspace, target)?,
            folder: work.join(&name),
            work,
        };
        archive.fill()?;
        tree.archive(&archive.folder, &release.join(format!("{name}.tar.gz")))?;
        let _ = fs::remove_dir_all(&archive.folder);
    }
    Ok(())
}

struct Archive<'w> {
    workspace: &'w Workspace,
    builder: Static<'w>,
    /// What is packed.
    folder: PathBuf,
    /// Where drivers are built.
    work: PathBuf,
}

impl Archive<'_> {
    fn fill(&self) -> Result<(), Error> {
        let workspace = self.workspace;
        let _ = fs::remove_dir_all(&self.folder);
        files::make(&self.folder)?;
        let program = self.folder.join("jeton-lab");
        self.builder.build("jeton-lab", "jeton-lab", &program)?;
        self.builder.try_run(&program, &["--version"])?;
        for name in ["LICENSE-MIT", "LICENSE-APACHE", "deploy/lab/README.md"] {
            let file = workspace.path(name);
            let to = self.folder.join(file.file_name().unwrap_or_default());
            files::install(&file, &to, 0o644)?;
        }
        let list = sbom(
            workspace,
            self.builder.target.triple,
            "jeton-lab",
            "jeton-lab",
        )?;
        files::write(&self.folder.join("sbom.cdx.json"), &list)?;
        for (language, add) in LANGUAGES {
            let folder = format!("drivers/{language}");
            for source in workspace.folders_with(&folder, "driver.toml") {
                let driver = Driver::read(self, language, &source)?;
                eprintln!("== {}", driver.path);
                add(self, &driver)?;
            }
        }
        self.copy_tracked("drivers/node/harness")?;
        self.copy_tracked("drivers/python/harness")
    }

    /// Copies the files of a folder that git has, to the same place in the archive.
    fn copy_tracked(&self, folder: &str) -> Result<(), Error> {
        let list = output(self.workspace.command("git").args(["ls-files", folder]))?;
        for name in list.lines() {
            let to = self.folder.join(name);
            files::make(to.parent().unwrap_or(&to))?;
            files::install(&self.workspace.path(name), &to, 0o644)?;
        }
        Ok(())
    }

    /// Finds one of our packages, which must be built before.
    fn package(&self, start: &str, end: &str) -> Result<PathBuf, Error> {
        let is_wanted = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(start) && name.ends_with(end)
        };
        let files = files_in(&self.workspace.path(FOLDER))?;
        let found = files.into_iter().find(is_wanted);
        found.ok_or_else(|| not_built(&format!("{FOLDER}/{start}*{end}")))
    }

    fn unpack_npm(&self, name: &str, to: &Path) -> Result<(), Error> {
        files::make(to)?;
        let package = self.package(name, "")?;
        let mut tar = self.workspace.command("tar");
        tar.args(["--strip-components=1", "-xzf"]);
        run_command(tar.arg(package).arg("-C").arg(to))
    }
}

/// A driver of the checkout, and its place in the archive.
struct Driver {
    /// `drivers/go/golang-jwt`.
    path: String,
    /// Its sources.
    source: PathBuf,
    /// Where it is built.
    out: PathBuf,
    /// Its folder in the archive.
    to: PathBuf,
    /// The text of its manifest.
    text: String,
    commands: Commands,
}

/// The commands of a manifest.
#[derive(Deserialize)]
struct Commands {
    needs: Vec<String>,
    build: Vec<Vec<String>>,
    run: Vec<String>,
}

impl Driver {
    fn read(archive: &Archive<'_>, language: &str, source: &Path) -> Result<Self, Error> {
        let name = source.file_name().unwrap_or_default().to_string_lossy();
        let path = format!("drivers/{language}/{name}");
        let file = source.join("driver.toml");
        let text = fs::read_to_string(&file).map_err(|error| failed(&file, &error))?;
        let commands = toml::from_str(&text)
            .map_err(|error| Error::Failed(format!("{}: {error}", file.display())))?;
        let driver = Self {
            source: source.to_owned(),
            out: archive.work.join(format!("{language}-{name}")),
            to: archive.folder.join(&path),
            path,
            text,
            commands,
        };
        files::make(&driver.out)?;
        files::make(&driver.to)?;
        Ok(driver)
    }

    /// Whether it is the driver of jeton itself, whose library is one of our packages.
    fn is_own(&self) -> bool {
        self.path.ends_with("/jeton")
    }

    fn needs(&self, program: &str) -> bool {
        self.commands.needs.iter().any(|need| need == program)
    }

    /// Writes the manifest of the built driver. Nothing is built where it is unpacked.
    fn write_manifest(&self, needs: &[&str], inputs: &[&str], run: &[String]) -> Result<(), Error> {
        let unreadable = |why: String| Error::Failed(format!("{}/driver.toml: {why}", self.path));
        let table: toml::Table =
            toml::from_str(&self.text).map_err(|error| unreadable(error.to_string()))?;
        let mut text = String::new();
        for (key, value) in &table {
            if !["needs", "inputs", "build", "run", "offers"].contains(&key.as_str()) {
                let value =
                    serde_json::to_string(value).map_err(|error| unreadable(error.to_string()))?;
                let _ = writeln!(text, "{key} = {value}");
            }
        }
        let _ = writeln!(
            text,
            "needs = {needs:?}\ninputs = {inputs:?}\nrun = {run:?}\n"
        );
        let offers = self.text.find("[[offers]]");
        text.push_str(&self.text[offers.ok_or_else(|| unreadable("no [[offers]]".into()))?..]);
        files::write(&self.to.join("driver.toml"), &text)
    }

    /// Writes the manifest of a driver that is one static program.
    fn write_program_manifest(&self) -> Result<(), Error> {
        self.write_manifest(&[], &[], &["./driver".to_owned()])
    }
}

/// A static program without cgo. jeton's has the native library in it.
fn go(archive: &Archive<'_>, driver: &Driver) -> Result<(), Error> {
    let target = archive.builder.target;
    let built = driver.out.join("driver");
    // Go does not link again if only the native library has changed.
    let _ = fs::remove_file(&built);
    let command = last(driver)?;
    let (package, arguments) = command.split_last().unwrap_or((&command[0], command));
    let mut go = archive.workspace.command(&arguments[0]);
    go.current_dir(&driver.source).args(
        arguments[1..]
            .iter()
            .map(|argument| argument.replace("{out}", &driver.out.to_string_lossy())),
    );
    if driver.is_own() {
        go.args(["-tags", "netgo,osusergo"]);
        go.args(["-ldflags", "-s -w -linkmode external -extldflags -static"]);
        go.arg("-modfile").arg(packaged_modules(archive, driver)?);
        go.env("CC", target.binutil("gcc"));
    } else {
        go.args(["-ldflags", "-s -w"]);
    }
    go.arg("-buildvcs=false").arg(package);
    go.env("CGO_ENABLED", if driver.is_own() { "1" } else { "0" });
    run_command(go.env("GOOS", "linux").env("GOARCH", target.debian()))?;
    archive.builder.finish(&built, &driver.to.join("driver"))?;
    driver.write_program_manifest()
}

/// Writes a go.mod with the native libraries of our packages, and returns its path. Those beside the sources are of tests.
fn packaged_modules(archive: &Archive<'_>, driver: &Driver) -> Result<PathBuf, Error> {
    let libraries = super::go::libraries(archive.workspace);
    let name = archive.builder.target.go.unwrap_or_default();
    let library = libraries.join(name).join("libjeton.a");
    if !library.is_file() {
        return Err(not_built(&library.display().to_string()));
    }
    let from = driver.source.join("go.mod");
    let text = fs::read_to_string(&from).map_err(|error| failed(&from, &error))?;
    // Go writes the path into the program. One below the checkout is the same for all builders.
    let inner = libraries.strip_prefix(archive.workspace.root());
    let folder = inner.map_or_else(
        |_| format!("=> {}/", libraries.display()),
        |inner| format!("=> ../../../{}/", inner.display()),
    );
    let to = driver.out.join("go.mod");
    files::write(&to, &text.replace("=> ../../../sdk/go/lib/", &folder))?;
    Ok(to)
}

/// Removes a driver whose code would be compiled where it is unpacked, or does not run there.
fn leave_out(driver: &Driver, why: &str) -> Result<(), Error> {
    eprintln!("== {} is left out: {why}", driver.path);
    fs::remove_dir_all(&driver.to).map_err(|error| failed(&driver.to, &error))
}

fn not_built(what: &str) -> Error {
    Error::Usage(format!(
        "{what} is missing; first run `cargo xtask package go java node python` with the same targets"
    ))
}

fn rust(archive: &Archive<'_>, driver: &Driver) -> Result<(), Error> {
    let (target, built) = archive.builder.folders("release");
    let mut cargo = archive.workspace.cargo(&[]);
    cargo.current_dir(&driver.source).args(
        last(driver)?[1..]
            .iter()
            .map(|argument| argument.replace("{target}", &target.to_string_lossy())),
    );
    if driver.needs("pkg-config") {
        let target = archive.builder.target;
        if !target.is_native() {
            return leave_out(driver, "OpenSSL is here for this machine only");
        }
        // Its OpenSSL becomes part of the program.
        let libraries = format!("/usr/lib/{}-linux-gnu", target.processor());
        cargo
            .env("OPENSSL_STATIC", "1")
            .env("OPENSSL_LIB_DIR", libraries);
        cargo.env("OPENSSL_INCLUDE_DIR", "/usr/include");
    }
    run_command(archive.builder.apply(&mut cargo))?;
    let name = Path::new(&driver.commands.run[0])
        .file_name()
        .unwrap_or_default();
    archive
        .builder
        .finish(&built.join(name), &driver.to.join("driver"))?;
    driver.write_program_manifest()
}

/// Classes and jars, which need a Java runtime.
fn java(archive: &Archive<'_>, driver: &Driver) -> Result<(), Error> {
    let lock = driver.source.join("jars.lock");
    let jars = fs::read_to_string(&lock).map_err(|error| failed(&lock, &error))?;
    if !archive.builder.target.is_native() && jars.contains("-linux-") {
        return leave_out(driver, "its native library is here for this machine only");
    }
    let command = last(driver)?;
    let mut build = archive.workspace.command(&command[0]);
    build.current_dir(&driver.source).args(
        command[1..]
            .iter()
            .map(|argument| argument.replace("{out}", &driver.out.to_string_lossy())),
    );
    run_command(&mut build)?;
    for part in ["classes", "lib"] {
        let mut copy = archive.workspace.command("cp");
        run_command(copy.arg("-r").arg(driver.out.join(part)).arg(&driver.to))?;
    }
    let run = driver.commands.run.iter();
    let run: Vec<String> = run.map(|part| part.replace("{out}/", "")).collect();
    driver.write_manifest(&["java"], &[], &run)
}

/// The sources and `node_modules`, which need Node.
fn node(archive: &Archive<'_>, driver: &Driver) -> Result<(), Error> {
    archive.copy_tracked(&driver.path)?;
    if driver.is_own() {
        let library = archive.folder.join("sdk/node");
        let platform = archive.builder.target.npm;
        archive.unpack_npm(&format!("jeton-{VERSION}.tgz"), &library)?;
        let native = library.join("node_modules/@jeton").join(platform);
        archive.unpack_npm(&format!("jeton-{platform}-{VERSION}.tgz"), &native)?;
    } else {
        let command = last(driver)?;
        let mut npm = archive.workspace.command(&command[0]);
        npm.current_dir(&driver.to).args(&command[1..]);
        // Also where npm installs what only one platform needs.
        npm.args(["--os=linux", "--libc=glibc"]);
        run_command(npm.arg(format!("--cpu={}", archive.builder.target.node())))?;
        let _ = fs::remove_dir_all(driver.to.join("node_modules/.bin"));
    }
    driver.write_manifest(&["node"], &["../harness"], &driver.commands.run)
}

/// The sources and the packages, which need Python.
fn python(archive: &Archive<'_>, driver: &Driver) -> Result<(), Error> {
    archive.copy_tracked(&driver.path)?;
    let vendor = driver.to.join("vendor");
    files::make(&vendor)?;
    if driver.is_own() {
        let processor = archive.builder.target.processor();
        let wheel = archive.package("pyjeton-", &format!("manylinux_2_28_{processor}.whl"))?;
        let mut unzip = archive.workspace.command("python3");
        unzip.args(["-m", "zipfile", "-e"]);
        run_command(unzip.arg(wheel).arg(&vendor))?;
    } else {
        let mut installed = 0;
        for version in PYTHONS {
            if install_for(archive, driver, version, &vendor)? {
                installed += 1;
            } else {
                let path = &driver.path;
                eprintln!("== {path}: a package has no wheel for Python {version}");
            }
        }
        if installed == 0 {
            return leave_out(driver, "pip would have to compile a package");
        }
    }
    let run = ["env", "PYTHONPATH=vendor", "python3", "driver.py"];
    driver.write_manifest(&["python3"], &["../harness"], &run.map(str::to_owned))
}

/// Adds the packages of a driver for one version of CPython. Returns false if one of them has no wheel for it. The files of
/// compiled modules have its version in their names, so that those of all versions are in one folder.
fn install_for(
    archive: &Archive<'_>,
    driver: &Driver,
    version: &str,
    vendor: &Path,
) -> Result<bool, Error> {
    let one = driver.out.join(version);
    let _ = fs::remove_dir_all(&one);
    let processor = archive.builder.target.processor();
    let mut pip = archive.workspace.command("python3");
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]);
    pip.args([
        "--no-deps",
        "--no-compile",
        "--only-binary=:all:",
        // pip compares a package with its own version. Compiled modules have theirs in their names.
        "--ignore-requires-python",
        "--python-version",
        version,
    ]);
    // pip takes the names of platforms as they are; newer ones do not include older ones.
    let glibcs = (17..=28).rev().map(|minor| format!("manylinux_2_{minor}"));
    for glibc in glibcs.chain(["manylinux2014".to_owned()]) {
        pip.args(["--platform", &format!("{glibc}_{processor}")]);
    }
    pip.arg("--target").arg(&one).arg("-r");
    pip.arg(driver.source.join("requirements.txt"));
    let line = shown(&pip);
    let ended = pip.output();
    let ended = ended.map_err(|error| Error::Usage(format!("`{line}` did not start: {error}")))?;
    let said = String::from_utf8_lossy(&ended.stderr);
    // pip says the same without a network.
    if said.contains("No matching distribution found") && !said.contains("Retrying") {
        return Ok(false);
    }
    if !ended.status.success() {
        return Err(Error::Failed(format!(
            "`{line}` ended with {}: {said}",
            ended.status
        )));
    }
    let _ = fs::remove_dir_all(one.join("bin"));
    let mut copy = archive.workspace.command("cp");
    run_command(copy.arg("-r").arg(one.join(".")).arg(vendor))?;
    Ok(true)
}

/// The command that builds the driver. Commands before it build jeton's library for its language, which is a package.
fn last(driver: &Driver) -> Result<&[String], Error> {
    let command = driver
        .commands
        .build
        .last()
        .filter(|command| !command.is_empty());
    command
        .map(Vec::as_slice)
        .ok_or_else(|| Error::Failed(format!("{}/driver.toml has no build command", driver.path)))
}
