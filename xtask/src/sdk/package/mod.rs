//! `cargo xtask package`: what users of this platform get, in `dist/`, with checksums and a list of what is inside.

mod c;
mod go;
mod java;
mod node;
mod python;
mod service;
mod twice;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::command::{Error, Workspace, output};

const FOLDER: &str = "dist";

/// One kind of package.
struct Kind {
    name: &'static str,
    run: fn(&Workspace, target: &str) -> Result<(), Error>,
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
];

/// The option that builds the service in two folders and compares the results.
const TWICE: &str = "--twice";

/// Builds the packages, or those that are named.
pub(crate) fn run(workspace: &Workspace, names: &[String]) -> Result<(), Error> {
    if names.iter().any(|name| name == TWICE) {
        return match names {
            [name, _] | [_, name] if name == "service" => twice::run(workspace, &host(workspace)?),
            _ => Err(Error::Usage(format!(
                "{TWICE} compares one package: `cargo xtask package service {TWICE}`"
            ))),
        };
    }
    if let Some(name) = (names.iter()).find(|name| KINDS.iter().all(|kind| kind.name != **name)) {
        let all: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
        return Err(Error::Usage(format!(
            "unknown package `{name}`; expected one of: {}",
            all.join(", ")
        )));
    }
    let target = host(workspace)?;
    for kind in KINDS {
        if names.is_empty() || names.iter().any(|name| name == kind.name) {
            eprintln!("== package {}", kind.name);
            (kind.run)(workspace, &target)?;
        }
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

/// The platform that this compiler builds for.
fn host(workspace: &Workspace) -> Result<String, Error> {
    let text = output(workspace.command("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .ok_or_else(|| Error::Failed("rustc names no host".into()))
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
