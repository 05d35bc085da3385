//! `cargo xtask package`: what users get, in `dist/`, with checksums and a list of what is inside.

mod built;
mod c;
mod check;
mod choice;
mod files;
mod go;
mod image;
mod java;
mod lab;
mod library;
mod node;
mod programs;
mod python;
mod release;
mod service;
mod sizes;
pub(crate) mod target;
mod twice;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::command::{Error, Workspace, output};
use choice::{Choice, Task};
use target::Target;

const FOLDER: &str = "dist";
/// The folder of what a release has.
const RELEASE: &str = "dist/release";

/// The kinds with a folder of their own in `dist`.
const SDKS: [&str; 5] = ["c", "go", "java", "node", "python"];

/// One kind of package.
struct Kind {
    name: &'static str,
    run: fn(&Workspace, targets: &[&'static Target]) -> Result<(), Error>,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "c",
        run: c::run,
    },
    Kind {
        name: "go",
        run: go::run,
    },
    Kind {
        name: "java",
        run: java::run,
    },
    Kind {
        name: "node",
        run: node::run,
    },
    Kind {
        name: "python",
        run: python::run,
    },
    Kind {
        name: "service",
        run: service::run,
    },
    Kind {
        name: "lab",
        run: lab::run,
    },
    Kind {
        name: "release",
        run: release::run,
    },
];

/// Builds the packages, or those that are named.
pub(crate) fn run(workspace: &Workspace, options: &[String]) -> Result<(), Error> {
    let choice = Choice::parse(options)?;
    let targets = choice.targets(workspace)?;
    match choice.task {
        Task::Build => build(workspace, &choice.kinds(), &targets),
        Task::Check => check::run(workspace, &choice.kinds(), &targets),
        Task::Sizes => sizes::run(workspace),
        Task::Twice => twice::run(workspace, &choice.kinds(), &targets),
    }
}

fn build(workspace: &Workspace, kinds: &[&Kind], targets: &[&'static Target]) -> Result<(), Error> {
    if kinds.iter().any(|kind| kind.name == "release") {
        // Before hours of work.
        built::only_commit(workspace)?;
    }
    files::make(&workspace.path(RELEASE))?;
    let commit = built::commit(workspace)?;
    for kind in kinds {
        eprintln!("== package {}", kind.name);
        built::note(workspace, kind.name, None)?;
        (kind.run)(workspace, targets)?;
        built::note(workspace, kind.name, commit.as_deref())?;
    }
    Ok(())
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::Failed(format!("{}: {error}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<PathBuf, Error> {
    fs::copy(from, to).map_err(|error| failed(from, &error))?;
    Ok(to.to_owned())
}

/// Returns the empty folder `dist/jeton-NAME`.
fn empty_folder(workspace: &Workspace, name: &str) -> Result<PathBuf, Error> {
    let folder = built::sdk(workspace, name);
    empty(&folder)?;
    Ok(folder)
}

/// Removes what is in the folder, and creates it.
fn empty(folder: &Path) -> Result<(), Error> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))
}

/// Adds the licences to a folder of `dist`, and the checksums of all files in it.
fn finish(workspace: &Workspace, folder: &Path) -> Result<(), Error> {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&workspace.path(name), &folder.join(name))?;
    }
    write_checksums(workspace, folder, &files_in(folder)?)?;
    eprintln!("== {}", folder.display());
    Ok(())
}

/// Writes the list of crates inside `package` for the platform.
fn write_sbom(
    workspace: &Workspace,
    target: &Target,
    package: &str,
    name: &str,
    file: &Path,
) -> Result<(), Error> {
    fs::write(file, sbom(workspace, target.triple, package, name)?)
        .map_err(|error| failed(file, &error))
}

/// All files below a folder, sorted.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    let entries = fs::read_dir(folder).map_err(|error| failed(folder, &error))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(files_in(&path)?)
        } else {
            files.push(path)
        }
    }
    files.sort();
    Ok(files)
}

fn write_checksums(workspace: &Workspace, folder: &Path, files: &[PathBuf]) -> Result<(), Error> {
    let mut command = workspace.command("sha256sum");
    command.current_dir(folder);
    command.args(
        files
            .iter()
            .filter_map(|file| file.strip_prefix(folder).ok()),
    );
    let text = output(&mut command)?;
    let file = folder.join("SHA256SUMS");
    fs::write(&file, text).map_err(|error| failed(&file, &error))
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    repository: Option<String>,
}

/// The crates inside `package`, which people get as `name`, as CycloneDX 1.5.
fn sbom(workspace: &Workspace, target: &str, package: &str, name: &str) -> Result<String, Error> {
    let metadata = output(&mut workspace.cargo(&[
        "metadata",
        "--locked",
        "--format-version",
        "1",
        "--filter-platform",
        target,
    ]))?;
    let metadata: Metadata = serde_json::from_str(&metadata)
        .map_err(|error| Error::Failed(format!("cargo metadata cannot be read: {error}")))?;
    let tree = output(&mut workspace.cargo(&[
        "tree", "--locked", "-p", package, "--edges", "normal", "--prefix", "none", "--format",
        "{p}", "--target", target,
    ]))?;
    let inside = crates_of(&tree);
    let components = metadata
        .packages
        .iter()
        .filter(|package| inside.contains(&(package.name.clone(), package.version.clone())));
    let components: Vec<Value> = components.map(component).collect();
    let list = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "library", "name": name, "version": env!("CARGO_PKG_VERSION")}},
        "components": components,
    });
    let mut text = format!("{list:#}");
    let _ = writeln!(text);
    Ok(text)
}

/// Names and versions in the lines `name v1.2.3 (…)`.
fn crates_of(tree: &str) -> std::collections::BTreeSet<(String, String)> {
    let of_line = |line: &str| {
        let mut words = line.split(' ');
        let name = words.next()?.to_owned();
        Some((name, words.next()?.strip_prefix('v')?.to_owned()))
    };
    tree.lines().filter_map(of_line).collect()
}

fn component(package: &Package) -> Value {
    let (name, version) = (&package.name, &package.version);
    let mut component = json!({
        "type": "library",
        "name": name,
        "version": version,
        "purl": format!("pkg:cargo/{name}@{version}"),
    });
    if let Some(license) = &package.license {
        component["licenses"] = json!([{"expression": license.replace('/', " OR ")}]);
    }
    if let Some(repository) = &package.repository {
        component["externalReferences"] = json!([{"type": "vcs", "url": repository}]);
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_a_tree_are_read() {
        let tree = "jeton-ffi v0.1.0 (/w)\nbase64ct v1.8.0\nbase64ct v1.8.0 (*)\n\n";
        let found: Vec<_> = crates_of(tree).into_iter().collect();
        let pair = |name: &str, version: &str| (name.to_owned(), version.to_owned());
        assert_eq!(
            found,
            [pair("base64ct", "1.8.0"), pair("jeton-ffi", "0.1.0")]
        );
    }
}
