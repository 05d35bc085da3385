//! `cargo xtask package --sizes`: the sizes of the packages in `dist/`, beside those of other libraries as the registries
//! have them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::target::{TARGETS, Target};
use super::{FOLDER, empty, failed, files_in, python};
use crate::command::{Error, Workspace, output, run as run_command};

const PAGE: &str = "docs/reference/package-sizes.md";

const TITLE: &str = "# Sizes of the packages\n\n`cargo xtask package --sizes` writes this page from `dist/` and from the \
    registries. *Download* is the size of the files that a package manager fetches for one platform. *Unpacked* is their \
    content. Sizes are in kB (1000 bytes).\n\n";

/// Other libraries: those with whom the guides for moving compare, with what they need.
const PIP: [&str; 2] = ["PyJWT==2.15.1", "cryptography==50.0.2"];
const NPM: [&str; 2] = ["jose@6.2.17", "jsonwebtoken@9.0.3"];
const MAVEN: [&str; 1] = ["com.nimbusds:nimbus-jose-jwt:10.10"];
const GO: [&str; 1] = ["github.com/golang-jwt/jwt/v5@v5.3.1"];

/// The files that one platform needs.
struct Entry {
    language: &'static str,
    name: String,
    files: Vec<PathBuf>,
}

/// Prints the sizes, and writes the page.
pub(super) fn run(workspace: &Workspace) -> Result<(), Error> {
    let work = workspace.target().join("package/sizes");
    empty(&work)?;
    let own = TARGETS.iter().filter(|target| target.wheel.is_some());
    let mut text = TITLE.to_owned();
    text += "## Beside other libraries\nOn Linux x64 with glibc.\n\n";
    let first = own.clone().take(1);
    let mut entries: Vec<_> = first
        .flat_map(|target| packages(workspace, target))
        .collect();
    entries.extend(others(workspace, &work)?);
    entries.sort_by_key(|entry| entry.language);
    text += &table(workspace, &entries)?;
    text += "\n## All platforms\n\n";
    let all: Vec<_> = own.flat_map(|target| packages(workspace, target)).collect();
    text += &table(workspace, &all)?;
    print!("{text}");
    let page = workspace.path(PAGE);
    fs::write(&page, text).map_err(|error| failed(&page, &error))
}

/// The packages of one platform. Those that are not in `dist` are left out.
fn packages(workspace: &Workspace, target: &Target) -> Vec<Entry> {
    let dist = |kind: &str| workspace.path(FOLDER).join(format!("jeton-{kind}"));
    let version = env!("CARGO_PKG_VERSION");
    let module = |inner: &str| {
        let path = super::super::go::PATH;
        dist("go").join(format!("proxy/{path}{inner}/@v/v{version}.zip"))
    };
    let entry = |language: &'static str, files: Vec<PathBuf>| Entry {
        language,
        name: format!("jeton, {}", target.npm),
        files,
    };
    let all = [
        entry(
            "C",
            vec![dist("c").join(format!("jeton-c-{}.tar.gz", target.triple))],
        ),
        entry(
            "Go",
            vec![
                module(""),
                module(&format!("/lib/{}", target.go.unwrap_or_default())),
            ],
        ),
        entry("Java", vec![super::java::jar(&dist("java"))]),
        entry(
            "Node",
            vec![
                dist("node").join(format!("jeton-{version}.tgz")),
                dist("node").join(format!("jeton-{}-{version}.tgz", target.npm)),
            ],
        ),
        entry(
            "Python",
            python::wheel(&dist("python"), target).into_iter().collect(),
        ),
    ];
    let is_built =
        |entry: &Entry| !entry.files.is_empty() && entry.files.iter().all(|file| file.is_file());
    all.into_iter().filter(is_built).collect()
}

/// Fetches other libraries into a folder each.
fn others(workspace: &Workspace, work: &Path) -> Result<Vec<Entry>, Error> {
    let mut entries = Vec::new();
    let mut add = |language, name: &str, files| {
        let name = name.replace(':', " ");
        entries.push(Entry {
            language,
            name,
            files,
        });
    };
    let folder = work.join("pip");
    let mut pip = workspace.command("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--only-binary", ":all:"]);
    run_command(pip.arg("-d").arg(&folder).args(PIP))?;
    add(
        "Python",
        &PIP.join(", ").replace("==", " "),
        files_in(&folder)?,
    );
    for name in NPM {
        let folder = work.join(name.split('@').next().unwrap_or(name));
        add("Node", name, npm(workspace, &folder, name)?);
    }
    for name in MAVEN {
        let folder = work.join("maven");
        let mut maven = workspace.command("mvn");
        maven.args(["--quiet", "--batch-mode", "dependency:copy"]);
        maven.arg(format!("-Dartifact={name}"));
        run_command(maven.arg(format!("-DoutputDirectory={}", folder.display())))?;
        add("Java", name, files_in(&folder)?);
    }
    for name in GO {
        let mut go = workspace.command("go");
        let text = output(
            go.args(["mod", "download", "-json", name])
                .current_dir(work),
        )?;
        let module: Module = serde_json::from_str(&text)
            .map_err(|error| Error::Failed(format!("go mod download: {error}")))?;
        add("Go", name, vec![module.zip]);
    }
    Ok(entries)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Module {
    zip: PathBuf,
}

#[derive(Deserialize)]
struct Lock {
    packages: std::collections::BTreeMap<String, Locked>,
}

#[derive(Deserialize)]
struct Locked {
    #[serde(default)]
    version: String,
}

/// Fetches the package and all that it needs.
fn npm(workspace: &Workspace, folder: &Path, name: &str) -> Result<Vec<PathBuf>, Error> {
    empty(folder)?;
    let npm = |arguments: &[&str]| {
        let mut npm = workspace.command("npm");
        npm.args(arguments).args(["--silent", "--ignore-scripts"]);
        npm.current_dir(folder);
        npm
    };
    output(&mut npm(&["install", "--package-lock-only", name]))?;
    let lock = folder.join("package-lock.json");
    let text = fs::read_to_string(&lock).map_err(|error| failed(&lock, &error))?;
    let lock: Lock = serde_json::from_str(&text)
        .map_err(|error| Error::Failed(format!("{}: {error}", lock.display())))?;
    let locked = lock.packages.iter().filter_map(|(path, locked)| {
        let name = path.rsplit_once("node_modules/")?.1;
        Some(format!("{name}@{}", locked.version))
    });
    let names: Vec<String> = locked.collect();
    let mut pack = npm(&["pack"]);
    output(pack.args(&names))?;
    let files = files_in(folder)?;
    let is_package = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "tgz");
    Ok(files.into_iter().filter(is_package).collect())
}

fn table(workspace: &Workspace, entries: &[Entry]) -> Result<String, Error> {
    let mut text =
        "| language | package | files | download | unpacked |\n|---|---|---:|---:|---:|\n"
            .to_owned();
    for entry in entries {
        let (mut download, mut content) = (0, 0);
        for file in &entry.files {
            let metadata = fs::metadata(file).map_err(|error| failed(file, &error))?;
            download += metadata.len();
            content += unpacked(workspace, file)?;
        }
        let Entry {
            language,
            name,
            files,
        } = entry;
        let _ = writeln!(
            text,
            "| {language} | {name} | {} | {} | {} |",
            files.len(),
            kilobytes(download),
            kilobytes(content)
        );
    }
    Ok(text)
}

fn kilobytes(bytes: u64) -> u64 {
    bytes.div_ceil(1000)
}

/// The size of the files in an archive.
fn unpacked(workspace: &Workspace, archive: &Path) -> Result<u64, Error> {
    let is_tar = archive
        .extension()
        .is_some_and(|ending| ending == "tgz" || ending == "gz");
    let (program, options) = if is_tar {
        ("tar", "-tvzf")
    } else {
        ("unzip", "-Zl")
    };
    let text = output(workspace.command(program).arg(options).arg(archive))?;
    // Both lists have the size in a column of each file.
    let column = if is_tar { 2 } else { 3 };
    let size = |line: &str| line.split_whitespace().nth(column)?.parse::<u64>().ok();
    let files = text.lines().filter(|line| line.starts_with('-'));
    Ok(files.filter_map(size).sum())
}
