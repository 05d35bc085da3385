//! The drivers stand alone, each with its own lockfile, so the workspace's checks pass them by.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Outcome, separate_crate};
use crate::command::{BRIEF_JVM, Error, Workspace, on_path, output, run as run_command, succeeds};
use crate::counted;
use crate::sdk;
use crate::setup::{self, is_installed};
use crate::tally::Format;

/// Format, lints and tests of every crate under drivers/rust and servers/rust.
pub(super) fn rust(workspace: &Workspace) -> Result<Outcome, Error> {
    let folders_with = |file| {
        let roots = ["drivers/rust", "servers/rust"];
        roots
            .map(|root| workspace.folders_with(root, file))
            .concat()
    };
    for folder in folders_with("Cargo.toml") {
        separate_crate::format(workspace, &folder)?;
    }
    for folder in folders_with("Cargo.lock") {
        eprintln!("  in {}", shown(workspace, &folder));
        separate_crate::check(workspace, &folder)?;
    }
    Ok(Outcome::Passed)
}

/// Format, lints and tests of the crate that compares the readers of keys.
pub(super) fn key_readers(workspace: &Workspace) -> Result<Outcome, Error> {
    let tools = ["go", "npm", "openssl"];
    if let Some(missing) = tools.iter().find(|tool| on_path(tool).is_none()) {
        return Ok(Outcome::Skipped(format!("{missing} is not installed")));
    }
    let folder = workspace.path("studies/key-readers");
    separate_crate::format(workspace, &folder)?;
    separate_crate::check(workspace, &folder)?;
    Ok(Outcome::Passed)
}

/// gofmt, vet and tests of every module under drivers/go and servers/go.
pub(super) fn go(workspace: &Workspace) -> Result<Outcome, Error> {
    if on_path("go").is_none() {
        return Ok(Outcome::Skipped("go is not installed".into()));
    }
    let roots = ["drivers/go", "servers/go"];
    let unformatted = output(workspace.command("gofmt").arg("-l").args(roots))?;
    if !unformatted.trim().is_empty() {
        return Err(Error::Failed(format!(
            "not formatted; run `gofmt -w` on: {}",
            unformatted.trim().replace('\n', ", ")
        )));
    }
    sdk::go::library_for_tests(workspace)?;
    let modules = roots.map(|root| workspace.folders_with(root, "go.mod"));
    // A driver of another version may have a module only, and the sources of its sibling.
    let has_sources = |folder: &PathBuf| {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        files
            .map(|file| file.path())
            .any(|path| path.extension().is_some_and(|ending| ending == "go"))
    };
    for folder in modules.concat().into_iter().filter(has_sources) {
        eprintln!("  in {}", shown(workspace, &folder));
        let mut vet = workspace.command("go");
        run_command(vet.args(["vet", "./..."]).current_dir(&folder))?;
        let mut test = workspace.command("go");
        test.args(["test", "-json", "./..."]).current_dir(&folder);
        counted::run_any(&shown(workspace, &folder), Format::Go, &mut test)?;
    }
    Ok(Outcome::Passed)
}

/// Lints and tests of every project under drivers/java and servers/java, with the jars of its lock.
pub(super) fn java(workspace: &Workspace) -> Result<Outcome, Error> {
    if let Some(missing) = ["javac", "mvn"].iter().find(|name| on_path(name).is_none()) {
        return Ok(Outcome::Skipped(format!("{missing} is not installed")));
    }
    let roots = ["drivers/java", "servers/java"];
    let projects = roots.map(|root| workspace.folders_with(root, "pom.xml"));
    for folder in projects.concat() {
        eprintln!("  in {}", shown(workspace, &folder));
        // Jars of this checkout.
        if folder.join("local-jars").exists() {
            sdk::java::library_for_tests(workspace)?;
        }
        let out = if folder.starts_with(workspace.path("drivers")) {
            out_of_the_lab(workspace, "java", &folder)
        } else {
            let name = folder.file_name().unwrap_or_default();
            workspace.target().join("servers-java").join(name)
        };
        let mut build = workspace.command("java");
        build.args(BRIEF_JVM);
        build.arg(workspace.path("drivers/java/harness/Build.java"));
        build.arg(out).arg("--test").current_dir(&folder);
        counted::run_any(&shown(workspace, &folder), Format::Sentence, &mut build)?;
    }
    Ok(Outcome::Passed)
}

/// Syntax of every script under drivers/node and servers/node, and the tests of each folder there.
pub(super) fn node(workspace: &Workspace) -> Result<Outcome, Error> {
    for program in ["node", "npm"] {
        if on_path(program).is_none() {
            return Ok(Outcome::Skipped(format!("{program} is not installed")));
        }
    }
    let roots = ["drivers/node", "servers/node"];
    for script in roots.map(|root| scripts(&workspace.path(root))).concat() {
        let script = shown(workspace, &script);
        run_command(workspace.command("node").args(["--check", &script]))?;
    }
    for folder in roots
        .map(|root| workspace.folders_with(root, "package.json"))
        .concat()
    {
        eprintln!("  in {}", shown(workspace, &folder));
        // It imports the library of this checkout.
        if folder.ends_with("drivers/node/jeton") {
            sdk::node::library_for_tests(workspace)?;
        }
        node_packages(workspace, &folder)?;
        let mut test = workspace.command("node");
        test.current_dir(&folder);
        test.args(["--test", "--test-reporter=tap"]);
        counted::run_any(&shown(workspace, &folder), Format::Node, &mut test)?;
    }
    Ok(Outcome::Passed)
}

/// What the lockfile in that folder names, if there is one and it is not there yet.
pub(super) fn node_packages(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    if !folder.join("package-lock.json").is_file() || is_installed(folder) {
        return Ok(());
    }
    run_command(workspace.command("npm").current_dir(folder).args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
    ]))
}

/// The tests of the harness, of the guide in docs/, and of every driver under drivers/python.
pub(super) fn python(workspace: &Workspace) -> Result<Outcome, Error> {
    if on_path("python3").is_none() {
        return Ok(Outcome::Skipped("python3 is not installed".into()));
    }
    let recent = "import sys; sys.exit(sys.version_info < (3, 11))";
    if !succeeds(workspace.command("python3").args(["-c", recent])) {
        return Ok(Outcome::Skipped("python3 is older than 3.11".into()));
    }
    if !succeeds(workspace.command("python3").args(setup::PYTHON_VENV)) {
        return Err(Error::Usage(
            "python3 cannot make a venv: run `cargo xtask setup`".into(),
        ));
    }
    let test = |folder: &Path, python: &Path, modules: Option<&Path>| {
        eprintln!("  in {}", shown(workspace, folder));
        let mut tests = workspace.command(python);
        if let Some(modules) = modules {
            tests.env("PYTHONPATH", modules);
        }
        tests
            .current_dir(folder)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        tests.args(["-W", "ignore", "-m", "unittest", "discover"]);
        counted::run_any(&shown(workspace, folder), Format::Unittest, &mut tests).map(drop)
    };
    test(
        &workspace.path("drivers/python/harness"),
        Path::new("python3"),
        None,
    )?;
    for folder in workspace.folders_with("drivers/python", "driver.toml") {
        // The library of this tree is built, and not installed.
        if folder.ends_with("jeton") {
            let built = sdk::python::Tests::set_up(workspace)?;
            test(&folder, built.interpreter(), Some(built.package()))?;
            continue;
        }
        let Some(python) = python_of(workspace, &folder)? else {
            let folder = shown(workspace, &folder);
            counted::skipped(&format!(
                "{folder}: no python3 is new enough for its library"
            ));
            continue;
        };
        let venv = out_of_the_lab(workspace, "python", &folder).join("venv");
        let python = venv_with_packages(workspace, &python, &folder, &venv)?;
        test(&folder, &python, None)?;
    }
    Ok(Outcome::Passed)
}

/// The Python of a driver: that on `PATH`, or one of pyenv if the library needs a newer one.
fn python_of(workspace: &Workspace, folder: &Path) -> Result<Option<PathBuf>, Error> {
    #[derive(Deserialize)]
    struct Manifest {
        oldest_runtime: Option<String>,
    }
    let manifest = folder.join("driver.toml");
    let failed = |why: String| Error::Failed(format!("{}: {why}", shown(workspace, &manifest)));
    let text = std::fs::read_to_string(&manifest).map_err(|error| failed(error.to_string()))?;
    let read: Manifest = toml::from_str(&text).map_err(|error| failed(error.to_string()))?;
    let Some(oldest) = read.oldest_runtime else {
        return Ok(Some("python3".into()));
    };
    let oldest = oldest.replace('.', ", ");
    let recent = format!("import sys; sys.exit(sys.version_info < ({oldest}))");
    let others = setup::runtimes::pythons().into_iter().rev();
    let others = others.map(|version| version.join("bin/python3"));
    Ok(std::iter::once("python3".into())
        .chain(others)
        .find(|python| succeeds(workspace.command(python).args(["-c", &recent]))))
}

/// The Python of a venv with the packages of the folder's requirements.txt.
pub(super) fn python_with_packages(
    workspace: &Workspace,
    folder: &Path,
    venv: &Path,
) -> Result<PathBuf, Error> {
    venv_with_packages(workspace, Path::new("python3"), folder, venv)
}

fn venv_with_packages(
    workspace: &Workspace,
    base: &Path,
    folder: &Path,
    venv: &Path,
) -> Result<PathBuf, Error> {
    let mut build = workspace.command(base);
    build.arg(workspace.path("drivers/python/harness/build.py"));
    run_command(build.arg(venv).current_dir(folder))?;
    Ok(venv.join("bin/python"))
}

/// Where the lab builds a driver. It has the same builder, which then finds its work done.
fn out_of_the_lab(workspace: &Workspace, language: &str, folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let drivers = workspace.target().join("jeton-drivers");
    drivers.join(format!("{language}-{name}"))
}

fn scripts(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() && !path.ends_with("node_modules") {
            found.extend(scripts(&path));
        } else if path
            .extension()
            .is_some_and(|ending| ending == "mjs" || ending == "js" || ending == "cjs")
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn shown(workspace: &Workspace, path: &Path) -> String {
    path.strip_prefix(workspace.root())
        .unwrap_or(path)
        .display()
        .to_string()
}
